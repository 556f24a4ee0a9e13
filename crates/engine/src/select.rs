//! Family *select*: policies with selectors for the two ends of a connection; the most specific one stands, or all count.
//!
//! - match: of each side, any selector of the policy matches any part of the object (`fit`, `index`)
//! - rank: tags and exact values of the best matching selectors, then what the policy itself brings (`rank`, `ordinals`)
//! - resolve: `first` is a maximum, not a sort; `all` keeps everything (`resolve`)
//!
//! Policies come and go (`update`): a clone shares what it does not change.
//!
//! Bulk questions go through [`cells`] and [`matrix`]; `reference` is the naive twin that tests and benches compare with.

pub mod cells;
pub mod chances;
mod concerned;
mod fit;
mod index;
mod interning;
pub mod matrix;
mod ordinals;
mod rank;
#[cfg(any(test, feature = "reference"))]
pub mod reference;
mod resolve;
#[cfg(test)]
mod tests;
mod update;

use std::sync::Arc;

use upheld_model::{Id, Pages, Side, Sym, TagSet, Timestamp};

pub use self::concerned::Concerned;
use self::fit::Fitness;
use self::index::{ListId, Matching, SideIndex, Wants};
use self::ordinals::Ordinals;
pub use self::rank::{Column, Specificity, TooManyBits};
use crate::ask::{EntryId, Family, Fit, Hit, Place, Scratch, ask};
use crate::buckets::FlatBuckets;
use crate::kind::{Resolve, SelectKind};
use crate::ladder::Ladder;
use crate::snapshot::PolicyId;
use crate::witness::{Silent, Witness};
use crate::work;

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
    /// What the rungs read of the entry alone, in the order of the ladder; places in orders are not among it, for they move.
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

/// The policies of one kind in one scope, indexed. A clone shares what it does not change.
#[derive(Clone, Debug)]
pub struct Select {
    kind: SelectKind,
    entries: Entries,
    /// Ids that no entry has.
    free: Vec<u32>,
    /// How many policies there are; one may have no entry.
    policies: usize,
    sides: [SideIndex; 2],
    ordinals: Ordinals,
    /// Entries by source and destination list, best first.
    pairs: FlatBuckets<(ListId, ListId), u32>,
}

/// Entries by id; nothing where one was that is gone.
type Entries = Pages<Option<Arc<Entry>>>;

/// Room to work in.
#[derive(Debug, Default)]
pub struct SelectScratch {
    matching: [Vec<Matching>; 2],
}

impl Select {
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
        self.entries.get(id.index())?.as_deref()
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
        self.ordinals.by_identity().len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many policies there are.
    pub fn policies(&self) -> usize {
        self.policies
    }

    /// How many pages and shards two indexes do not share: what a change has copied.
    pub fn unshared(&self, other: &Self) -> usize {
        let sides = self.sides.iter().zip(&other.sides).map(|(own, other)| own.unshared(other));
        self.entries.unshared(&other.entries) + self.pairs.unshared(&other.pairs) + sides.sum::<usize>()
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
        source.and(destination, |specificity| self.ordinals.layout().pack(specificity))
    }
}

impl Family for Select {
    type Question<'q> = Question<'q>;
    type Measure = Specificity;
    type Answer = Selected;
    type Scratch = SelectScratch;

    fn entries(&self) -> impl Iterator<Item = EntryId> {
        self.ordinals.by_identity().iter().map(|entry| Id::new(*entry as usize))
    }

    fn find<W: Witness<Specificity>>(
        &self,
        question: &Question<'_>,
        scratch: &mut SelectScratch,
        hits: &mut Vec<Hit<Specificity>>,
    ) {
        if self.needs_sweep(question) {
            for id in self.entries() {
                let Some(entry) = self.entry(id) else { continue };
                let fitness = self.fitness(entry, question);
                hits.extend(fitness.fits().map(|fit| Hit::new(id, Place::default(), fit)));
            }
            return;
        }
        let [sources, destinations] = &mut scratch.matching;
        self.side(Side::Source).matching(question.source.unwrap_or_default(), sources);
        self.side(Side::Destination).matching(question.destination.unwrap_or_default(), destinations);
        let only_best = !W::RECORDS && self.kind.resolve == Resolve::First;
        for source in sources.iter() {
            for destination in destinations.iter() {
                // Most pairs have no policy.
                let Some(bucket) = self.pairs.find(&(source.list, destination.list)) else { continue };
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
        work::step();
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
