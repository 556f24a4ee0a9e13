//! Ranking: a ladder of rungs, each of which reads one integer.
//!
//! A rung is a key and not a comparator, so every ladder is a total preorder and a document can name it. Most of a
//! ladder is spent at load: what depends on the entry alone becomes a dense number. A whole rank is one `u64`, a sum of
//! what the entry, its source selector and its destination selector bring; sums keep the order, so the best selector of
//! each side can be chosen on its own.

use std::cmp::Reverse;

use upheld_model::{Code, Sym};

use crate::select::Specificity;

/// What a rung reads.
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

/// Which end of a column is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Best {
    /// The highest number.
    Highest,
    /// The lowest number.
    Lowest,
}

/// One ranking key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Rung {
    /// What it reads.
    pub column: Column,
    /// Which end is better.
    pub best: Best,
}

impl Rung {
    /// The reason that it gives.
    pub fn code(self) -> Code {
        match (self.column, self.best) {
            (Column::Tags, _) => Code::SelectMoreTags,
            (Column::ExactTags, _) => Code::SelectMoreExact,
            (Column::WildTags, _) => Code::SelectFewerWildcards,
            (Column::TagsIn(_), _) => Code::SelectAudienceTags,
            (Column::ExactTagsIn(_), _) => Code::SelectAudienceExact,
            (Column::Created, Best::Highest) => Code::SelectNewer,
            (Column::Created, Best::Lowest) => Code::SelectOlder,
            (Column::Number(_), Best::Highest) => Code::SelectHigherField,
            (Column::Number(_), Best::Lowest) => Code::SelectLowerField,
            (Column::Name, _) => Code::SelectNameOrder,
            (Column::Identity, _) => Code::SelectIdentity,
        }
    }

    /// Whether a win here says nothing about the policies: it flips when one is renamed.
    pub fn arbitrary(self) -> bool {
        matches!(self.column, Column::Name | Column::Identity)
    }

    fn better(self, mine: i64, theirs: i64) -> std::cmp::Ordering {
        match self.best {
            Best::Highest => mine.cmp(&theirs),
            Best::Lowest => theirs.cmp(&mine),
        }
    }
}

/// Rungs, the one that counts most first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ladder {
    rungs: Vec<Rung>,
}

impl Ladder {
    /// A ladder of these rungs. Unless it ends with the name, the identity is added: the last rung must separate any
    /// two, else the order of arrival would show.
    pub fn new(mut rungs: Vec<Rung>) -> Self {
        let complete = rungs.last().is_some_and(|rung| rung.arbitrary());
        if !complete {
            rungs.push(Rung { column: Column::Identity, best: Best::Lowest });
        }
        Self { rungs }
    }

    /// The rungs in order.
    pub fn rungs(&self) -> &[Rung] {
        &self.rungs
    }

    /// The first rung on which two differ, with its number.
    pub(crate) fn separate(
        &self,
        mine: impl Fn(Column) -> i64,
        theirs: impl Fn(Column) -> i64,
    ) -> Option<(usize, Rung)> {
        self.rungs
            .iter()
            .enumerate()
            .find(|(_, rung)| rung.better(mine(rung.column), theirs(rung.column)).is_ne())
            .map(|(number, rung)| (number, *rung))
    }
}

/// Where each rung sits in the packed rank.
#[derive(Clone, Debug, Default)]
pub(crate) struct Layout {
    columns: Vec<PackedColumn>,
    ordinal_mask: u64,
}

#[derive(Clone, Copy, Debug)]
struct PackedColumn {
    column: Column,
    best: Best,
    shift: u32,
    /// The most that one side can bring.
    most: u64,
}

/// A rank needs more than 64 bits: more policies, or more tags in one selector, than a kind can hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooManyBits;

impl Layout {
    /// Lays out a ladder for `entries` entries. `most_tags` is the most tags of one selector; `fixed` reads what depends
    /// on the entry alone. Returns what each entry brings to its rank, and the entries by ordinal.
    pub(crate) fn new(
        ladder: &Ladder,
        entries: usize,
        most_tags: u64,
        fixed: impl Fn(usize, Column) -> i64,
    ) -> Result<(Self, Vec<u64>, Vec<u32>), TooManyBits> {
        let mut layout = Self::default();
        let mut keys = vec![0_u64; entries];
        let mut shift = 0_u32;
        let mut order: Vec<usize> = (0..entries).collect();
        // From the last rung to the first, so that each knows how many bits lie below it. Neighbouring rungs of the
        // entry alone become one dense number.
        let groups = grouped(ladder.rungs());
        let mut lowest = true;
        for group in groups.iter().rev() {
            match group {
                Group::Match(rung) => {
                    let bits = bits_for(2 * most_tags);
                    layout.columns.push(PackedColumn { column: rung.column, best: rung.best, shift, most: most_tags });
                    shift += bits;
                }
                Group::Fixed(rungs) => {
                    let compare = |a: &usize, b: &usize| {
                        rungs
                            .iter()
                            .map(|rung| rung.better(fixed(*a, rung.column), fixed(*b, rung.column)))
                            .find(|order| order.is_ne())
                            .unwrap_or(std::cmp::Ordering::Equal)
                    };
                    // Worst first: the better one gets the higher number. Entries arrive in the order of their
                    // identity; in the lowest group that order separates what the rungs leave equal.
                    order.sort_by(|a, b| compare(a, b).then_with(|| Reverse(a).cmp(&Reverse(b))));
                    let mut rank = 0_u64;
                    let mut previous: Option<usize> = None;
                    for &entry in &order {
                        if let Some(previous) = previous
                            && (lowest || compare(&previous, &entry).is_ne())
                        {
                            rank += 1;
                        }
                        if let Some(key) = keys.get_mut(entry) {
                            *key |= rank.checked_shl(shift).unwrap_or(0);
                        }
                        previous = Some(entry);
                    }
                    let bits = bits_for(rank);
                    if lowest {
                        layout.ordinal_mask = (1_u64 << bits.min(63)) - 1;
                    }
                    shift += bits;
                }
            }
            if shift > 62 {
                return Err(TooManyBits);
            }
            lowest = false;
        }
        let mut by_ordinal: Vec<u32> = vec![0; entries];
        for (entry, key) in keys.iter_mut().enumerate() {
            let ordinal = usize::try_from(*key & layout.ordinal_mask).unwrap_or(usize::MAX);
            if let Some(slot) = by_ordinal.get_mut(ordinal) {
                *slot = u32::try_from(entry).unwrap_or(u32::MAX);
            }
        }
        Ok((layout, keys, by_ordinal))
    }

    /// What a whole match, both sides together, brings to the rank.
    pub(crate) fn pack(&self, specificity: Specificity) -> u64 {
        self.packed(specificity, 2)
    }

    /// What the match of one side brings to the rank; the sum over both sides is that of the whole.
    pub(crate) fn pack_side(&self, specificity: Specificity) -> u64 {
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

    /// The place of the entry in the order of what depends on it alone.
    pub(crate) fn ordinal(&self, key: u64) -> usize {
        usize::try_from(key & self.ordinal_mask).unwrap_or(usize::MAX)
    }
}

enum Group {
    Match(Rung),
    Fixed(Vec<Rung>),
}

/// Groups neighbouring rungs of the entry alone. The last group is always of this sort: ladders end with one.
fn grouped(rungs: &[Rung]) -> Vec<Group> {
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
