//! Family *select*: policies with selectors for the two ends of a connection; the most specific one stands, or all count.
//!
//! - match: of each side, any selector of the policy matches any part of the object (`fit`, `index`)
//! - rank: tags and exact values of the best matching selectors, then what the policy itself brings (`rank`)
//! - resolve: `first` is a maximum, not a sort; `all` keeps everything (`resolve`)
//!
//! Bulk questions go through [`cells`] and [`matrix`]; `reference` is the naive twin that tests and benches compare with.

pub mod cells;
mod fit;
mod index;
pub mod matrix;
mod rank;
#[cfg(any(test, feature = "reference"))]
pub mod reference;
mod resolve;
#[cfg(test)]
mod tests;

use rustc_hash::FxHashMap;
use upheld_model::{Id, Policy, Selector, Side, Sym, Symbols, TagSet, Timestamp};

use self::fit::Fitness;
use self::index::{ListId, Matching, SideIndex, Wants, reading_order};
pub use self::rank::{Column, Specificity, TooManyBits};
use self::rank::{LaidOut, Layout};
use crate::ask::{EntryId, Family, Fit, Hit, Place, Scratch, ask};
use crate::kind::{Grants, Resolve, SelectKind};
use crate::ladder::Ladder;
use crate::snapshot::PolicyId;
use crate::witness::{Silent, Witness};

/// One statement of a policy: its selector lists, or one selector of a list that the kind splits.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The policy.
    pub policy: PolicyId,
    /// Which selector of the split list, if the kind splits one.
    pub split: Option<usize>,
    name: Sym,
    created: Option<Timestamp>,
    lists: [ListId; 2],
    grants: Box<[Wants]>,
    /// What the rungs read of the entry alone, in the order of the ladder.
    fixed: Box<[i64]>,
}

/// Who is connected with whom. A side that is not asked about restricts nothing.
#[derive(Clone, Copy, Debug)]
pub struct Question<'q> {
    /// The parts of the caller; any of them may match.
    pub source: Option<&'q [TagSet]>,
    /// The parts of the called one that are meant; any of them may match.
    pub destination: Option<&'q [TagSet]>,
}

impl<'q> Question<'q> {
    fn side(&self, side: Side) -> Option<&'q [TagSet]> {
        match side {
            Side::Source => self.source,
            Side::Destination => self.destination,
        }
    }
}

/// What stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Selected {
    /// The best entry that certainly matches.
    pub winner: Option<EntryId>,
    /// How many count: at most one under `first`; under `all` they are the first hits of the scratch, best first.
    pub kept: usize,
    /// A missing fact could change this.
    pub undecided: bool,
    /// Whether the winner's own list of clients has the caller.
    pub granted: Granted,
}

/// Whether the winner speaks about the caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Granted {
    /// The kind has no such list, or the caller was not asked about, or nothing won.
    NotAsked,
    /// It does.
    Yes,
    /// It does not.
    No,
    /// A fact is missing.
    Unknown,
}

/// The policies of one kind in one scope, compiled and indexed.
#[derive(Debug)]
pub struct Select {
    kind: SelectKind,
    entries: Vec<Entry>,
    sides: [SideIndex; 2],
    layout: Layout,
    /// What each entry brings to its rank.
    keys: Vec<u64>,
    by_ordinal: Vec<u32>,
    /// Entries by source and destination list, best first.
    pairs: FxHashMap<(ListId, ListId), Vec<u32>>,
}

/// Room to work in.
#[derive(Debug, Default)]
pub struct SelectScratch {
    matching: [Vec<Matching>; 2],
}

impl Select {
    /// Compiles the policies of one kind and scope; they come in the order of their identity.
    pub fn compile(
        kind: &SelectKind,
        policies: &[(PolicyId, &Policy)],
        symbols: &Symbols,
    ) -> Result<Self, TooManyBits> {
        // Pieces of one policy share even their name.
        let rank = if kind.split.is_some() { kind.rank.clone().with_identity() } else { kind.rank.clone() };
        let kind = SelectKind { rank, ..kind.clone() };
        let mut sides = Side::BOTH.map(|side| SideIndex::new(kind.side(side).cloned()));
        let mut entries: Vec<Entry> = Vec::with_capacity(policies.len());
        let mut most_tags = 0_usize;
        for (place, (id, policy)) in policies.iter().enumerate() {
            let pieces = match kind.split {
                Some(field) => (0..policy.selectors(field).len()).map(Some).collect(),
                None => vec![None],
            };
            for split in pieces {
                let selectors_of = |field: Sym| match split {
                    Some(piece) if kind.split == Some(field) => {
                        policy.selectors(field).get(piece..=piece).unwrap_or_default()
                    }
                    _ => policy.selectors(field),
                };
                let lists = sides.each_mut().map(|side| {
                    let written = side.field().map_or(&[][..], selectors_of);
                    most_tags = written.iter().map(|selector| selector.wants().len()).fold(most_tags, usize::max);
                    side.intern(written, symbols)
                });
                let fixed = (kind.rank.rungs().iter())
                    .map(|rung| fixed_column(rung.column, policy, &selectors_of, place, entries.len()))
                    .collect();
                let grants = kind.grants.and_then(Grants::field).map_or(&[][..], selectors_of);
                let grants = grants.iter().map(|selector| reading_order(selector, symbols)).collect();
                let (policy, name, created) = (*id, policy.name, policy.created);
                entries.push(Entry { policy, split, name, created, lists, grants, fixed });
            }
        }
        let fixed = |entry: usize, column| {
            let rung = kind.rank.position(column);
            entries.get(entry).zip(rung).and_then(|(entry, rung)| entry.fixed.get(rung)).copied().unwrap_or_default()
        };
        let LaidOut { layout, keys, by_ordinal } = Layout::lay_out(&kind.rank, entries.len(), most_tags as u64, fixed)?;
        for side in &mut sides {
            side.finish(|specificity| layout.pack_side(specificity));
        }
        let pairs = pairs_of(&entries, &keys);
        Ok(Self { kind, entries, sides, layout, keys, by_ordinal, pairs })
    }

    /// The entries that count for a question, best first.
    pub fn standing(&self, question: &Question<'_>, scratch: &mut Scratch<Self>) -> Vec<&Entry> {
        let selected = ask(self, question, scratch, &mut Silent);
        match self.kind.resolve {
            Resolve::First => selected.winner.and_then(|entry| self.entry(entry)).into_iter().collect(),
            Resolve::All => scratch.hits().iter().take(selected.kept).filter_map(|hit| self.entry(hit.entry)).collect(),
        }
    }

    /// One entry.
    pub fn entry(&self, id: EntryId) -> Option<&Entry> {
        self.entries.get(id.index())
    }

    /// How it ranks.
    pub fn ladder(&self) -> &Ladder<Column> {
        &self.kind.rank
    }

    /// The three choices.
    pub fn kind(&self) -> &SelectKind {
        &self.kind
    }

    /// How many entries there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    fn side(&self, side: Side) -> &SideIndex {
        let [source, destination] = &self.sides;
        match side {
            Side::Source => source,
            Side::Destination => destination,
        }
    }

    /// The index speaks about known facts on every side that the kind looks at; other questions sweep.
    fn needs_sweep(&self, question: &Question<'_>) -> bool {
        let looked_at = Side::BOTH.into_iter().filter(|side| self.kind.side(*side).is_some());
        looked_at
            .map(|side| question.side(side))
            .any(|parts| parts.is_none_or(|parts| parts.iter().any(TagSet::has_unknown)))
    }

    /// How an entry fits the question, side by side.
    fn fitness(&self, entry: &Entry, question: &Question<'_>) -> Fitness {
        let [source, destination] = entry.lists;
        let source = self.side(Side::Source).fitness(source, question.source, Side::Source);
        let destination = self.side(Side::Destination).fitness(destination, question.destination, Side::Destination);
        source.and(destination, |specificity| self.layout.pack(specificity))
    }
}

impl Family for Select {
    type Question<'q> = Question<'q>;
    type Measure = Specificity;
    type Answer = Selected;
    type Scratch = SelectScratch;

    fn entries(&self) -> impl Iterator<Item = EntryId> {
        (0..self.entries.len()).map(Id::new)
    }

    fn find<W: Witness<Specificity>>(
        &self,
        question: &Question<'_>,
        scratch: &mut SelectScratch,
        hits: &mut Vec<Hit<Specificity>>,
    ) {
        if self.needs_sweep(question) {
            for (index, entry) in self.entries.iter().enumerate() {
                let fitness = self.fitness(entry, question);
                hits.extend(fitness.fits().map(|fit| Hit::new(Id::new(index), Place::default(), fit)));
            }
            return;
        }
        let [sources, destinations] = &mut scratch.matching;
        self.side(Side::Source).matching(question.source.unwrap_or_default(), sources);
        self.side(Side::Destination).matching(question.destination.unwrap_or_default(), destinations);
        let only_best = !W::RECORDS && self.kind.resolve == Resolve::First;
        for source in sources.iter() {
            for destination in destinations.iter() {
                let Some(bucket) = self.pairs.get(&(source.list, destination.list)) else { continue };
                let measure = source.specificity.plus(destination.specificity);
                let count = if only_best { 1 } else { bucket.len() };
                let entries = bucket.iter().take(count).map(|&entry| Id::new(entry as usize));
                hits.extend(entries.map(|entry| Hit::new(entry, Place::default(), Fit::Yes(measure))));
            }
        }
    }

    fn check<W: Witness<Specificity>>(
        &self,
        id: EntryId,
        question: &Question<'_>,
        witness: &mut W,
        mut sit: impl FnMut(Place, Fit<Specificity>),
    ) {
        let Some(entry) = self.entry(id) else { return };
        let fitness = self.fitness(entry, question);
        if !fitness.matches() {
            witness.miss(id, fitness.distance, || fitness.reason);
        }
        for fit in fitness.fits() {
            sit(Place::default(), fit);
        }
    }

    fn resolve<W: Witness<Specificity>>(
        &self,
        question: &Question<'_>,
        _: &mut SelectScratch,
        hits: &mut Vec<Hit<Specificity>>,
        witness: &mut W,
    ) -> Selected {
        match self.kind.resolve {
            Resolve::First => self.resolve_first(question, hits, witness),
            Resolve::All => self.resolve_all(question, hits, witness),
        }
    }
}

/// What a rung of the entry alone reads. Policies come in the order of their names, so a place is a name's rank.
fn fixed_column<'p>(
    column: Column,
    policy: &Policy,
    selectors_of: &impl Fn(Sym) -> &'p [Selector],
    place: usize,
    entry: usize,
) -> i64 {
    let first = |field: Sym| {
        selectors_of(field).first().map(|selector| fit::specificity_of(selector.wants())).unwrap_or_default()
    };
    match column {
        Column::Tags | Column::ExactTags | Column::WildTags => 0,
        Column::TagsIn(field) => i64::from(first(field).tags()),
        Column::ExactTagsIn(field) => i64::from(first(field).exact),
        Column::Created => policy.created.map_or(i64::MIN, |Timestamp(nanoseconds)| nanoseconds),
        Column::Number(field) => policy.number(field).unwrap_or(i64::MIN),
        Column::Name => i64::try_from(place).unwrap_or(i64::MAX),
        Column::Identity => i64::try_from(entry).unwrap_or(i64::MAX),
    }
}

fn pairs_of(entries: &[Entry], keys: &[u64]) -> FxHashMap<(ListId, ListId), Vec<u32>> {
    let mut pairs: FxHashMap<(ListId, ListId), Vec<u32>> = FxHashMap::default();
    let mut best_first: Vec<usize> = (0..entries.len()).collect();
    best_first.sort_by_key(|&entry| std::cmp::Reverse(keys.get(entry).copied()));
    for index in best_first {
        let Some(Entry { lists: [source, destination], .. }) = entries.get(index) else { continue };
        pairs.entry((*source, *destination)).or_default().push(u32::try_from(index).unwrap_or(u32::MAX));
    }
    pairs
}
