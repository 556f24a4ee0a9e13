//! Ranks of this family: its columns, and a whole rank as one `u64`.
//!
//! Most of a ladder is spent at load: what depends on the entry alone becomes a dense number. A rank is the sum of what the
//! entry, its source selector and its destination selector bring; sums keep the order, so the best selector of each side
//! can be chosen on its own.

use upheld_model::{Code, Sym};

use crate::ladder::{self, Best, Ladder, Rung};

/// How specific a match is: tags of the matching selectors, by kind of value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Specificity {
    /// Matches by an exact value.
    pub exact: u16,
    /// Matches by a wildcard.
    pub wild: u16,
}

impl Specificity {
    /// Both together.
    pub fn tags(self) -> u32 {
        u32::from(self.exact) + u32::from(self.wild)
    }

    /// Source and destination together.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self { exact: self.exact.saturating_add(other.exact), wild: self.wild.saturating_add(other.wild) }
    }

    /// Which of two selectors of one policy is shown where the ladder does not care.
    pub(super) fn fullness(self) -> (u32, u16) {
        (self.tags(), self.exact)
    }

    pub(super) fn column(self, column: Column) -> u32 {
        match column {
            Column::Tags => self.tags(),
            Column::ExactTags => u32::from(self.exact),
            Column::WildTags => u32::from(self.wild),
            _ => 0,
        }
    }
}

/// What a rung of this family reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Column {
    /// Tags of the matching selectors, both sides together.
    Tags,
    /// Those with an exact value.
    ExactTags,
    /// Those with a wildcard.
    WildTags,
    /// Tags of the first selector of a field, matching or not.
    TagsIn(Sym),
    /// Those with an exact value.
    ExactTagsIn(Sym),
    /// When it was created; unknown is before all others.
    Created,
    /// A whole number of the document; absent is lowest.
    Number(Sym),
    /// Place in the order of names.
    Name,
    /// Place in the order of identities: separates any two.
    Identity,
}

impl Column {
    /// Whether it depends on how the question matched, and not on the entry alone.
    pub fn of_match(self) -> bool {
        matches!(self, Self::Tags | Self::ExactTags | Self::WildTags)
    }
}

impl ladder::Column for Column {
    const IDENTITY: Self = Self::Identity;

    fn code(self, best: Best) -> Code {
        match (self, best) {
            (Self::Tags, _) => Code::SelectMoreTags,
            (Self::ExactTags, _) => Code::SelectMoreExact,
            (Self::WildTags, _) => Code::SelectFewerWildcards,
            (Self::TagsIn(_), _) => Code::SelectAudienceTags,
            (Self::ExactTagsIn(_), _) => Code::SelectAudienceExact,
            (Self::Created, Best::Highest) => Code::SelectNewer,
            (Self::Created, Best::Lowest) => Code::SelectOlder,
            (Self::Number(_), Best::Highest) => Code::SelectHigherField,
            (Self::Number(_), Best::Lowest) => Code::SelectLowerField,
            (Self::Name, _) => Code::SelectNameOrder,
            (Self::Identity, _) => Code::SelectIdentity,
        }
    }

    fn arbitrary(self) -> bool {
        matches!(self, Self::Name | Self::Identity)
    }
}

/// A rank needs more than 64 bits: more policies, or more tags in one selector, than a kind can hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooManyBits;

/// Where each rung sits in the packed rank.
#[derive(Clone, Debug, Default)]
pub(super) struct Layout {
    columns: Vec<PackedColumn>,
    /// Where the numbers of entries sit, one for each group of rungs that read the entry alone, the lowest first.
    fixed: Vec<Field>,
    most_tags: u64,
}

#[derive(Clone, Copy, Debug)]
struct PackedColumn {
    column: Column,
    best: Best,
    shift: u32,
    /// The most that one side can bring.
    most: u64,
}

#[derive(Clone, Copy, Debug)]
struct Field {
    shift: u32,
    /// The highest number that fits.
    highest: u64,
}

impl Layout {
    /// Lays out a ladder. `most_tags` is the most tags of one selector, `highest` the highest number in each group of rungs
    /// that read the entry alone, the lowest group first.
    pub(super) fn new(ladder: &Ladder<Column>, most_tags: u64, highest: &[u64]) -> Result<Self, TooManyBits> {
        let mut layout = Self { columns: Vec::new(), fixed: Vec::new(), most_tags };
        let mut highest = highest.iter().copied();
        let mut shift = 0_u32;
        // From the last rung to the first, so that each knows how many bits lie below it.
        for group in grouped(ladder.rungs()).iter().rev() {
            let bits = match group {
                Group::Match(rung) => {
                    let (column, best) = (rung.column, rung.best);
                    layout.columns.push(PackedColumn { column, best, shift, most: most_tags });
                    bits_for(2 * most_tags)
                }
                Group::Fixed(_) => {
                    let bits = bits_for(highest.next().unwrap_or_default());
                    layout.fixed.push(Field { shift, highest: (1_u64 << bits.min(63)) - 1 });
                    bits
                }
            };
            shift += bits;
            if shift > 62 {
                return Err(TooManyBits);
            }
        }
        Ok(layout)
    }

    /// Whether there is room for this.
    pub(super) fn holds(&self, most_tags: u64, highest: &[u64]) -> bool {
        most_tags <= self.most_tags
            && self.fixed.len() == highest.len()
            && self.fixed.iter().zip(highest).all(|(field, highest)| *highest <= field.highest)
    }

    /// What the numbers of an entry bring to its rank, the lowest group first.
    pub(super) fn pack_fixed(&self, numbers: impl Iterator<Item = u64>) -> u64 {
        self.fixed.iter().zip(numbers).fold(0, |packed, (field, number)| packed | (number << field.shift))
    }

    /// What a whole match, both sides together, brings to the rank.
    pub(super) fn pack(&self, specificity: Specificity) -> u64 {
        self.packed(specificity, 2)
    }

    /// What the match of one side brings to the rank; the sum over both sides is that of the whole.
    pub(super) fn pack_side(&self, specificity: Specificity) -> u64 {
        self.packed(specificity, 1)
    }

    fn packed(&self, specificity: Specificity, sides: u64) -> u64 {
        self.columns.iter().fold(0, |packed, column| {
            let value = u64::from(specificity.column(column.column));
            let value = match column.best {
                Best::Highest => value,
                Best::Lowest => (sides * column.most).saturating_sub(value),
            };
            packed + (value << column.shift)
        })
    }

    /// The number of the entry in the lowest group.
    pub(super) fn ordinal(&self, key: u64) -> usize {
        let mask = self.fixed.first().map_or(0, |lowest| lowest.highest);
        usize::try_from(key & mask).unwrap_or(usize::MAX)
    }

    pub(super) fn most_tags(&self) -> u64 {
        self.most_tags
    }
}

pub(super) enum Group {
    Match(Rung<Column>),
    Fixed(Vec<Rung<Column>>),
}

/// Groups neighbouring rungs of the entry alone: they become one dense number. The last group is always of this sort.
pub(super) fn grouped(rungs: &[Rung<Column>]) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for &rung in rungs {
        match groups.last_mut() {
            _ if rung.column.of_match() => groups.push(Group::Match(rung)),
            Some(Group::Fixed(fixed)) => fixed.push(rung),
            _ => groups.push(Group::Fixed(vec![rung])),
        }
    }
    groups
}

fn bits_for(highest: u64) -> u32 {
    u64::BITS - highest.leading_zeros()
}
