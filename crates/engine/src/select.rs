//! Family *select*: policies with selectors for the two ends of a connection; the most specific one stands, or all count.
//!
//! - match: of each side, any selector of the policy matches any part of the object ([`fit`], [`index`])
//! - rank: tags and exact values of the best matching selectors, then what the policy itself brings ([`crate::ladder`])
//! - resolve: `first` is a maximum, not a sort; `all` keeps everything
//!
//! Bulk questions go through [`matrix`]; [`reference`] is the naive twin that tests and benches compare with.

mod fit;
mod index;
pub mod matrix;
#[cfg(any(test, feature = "reference"))]
pub mod reference;
#[cfg(test)]
mod tests;

use rustc_hash::FxHashMap;
use upheld_model::{Code, Id, Param, Policy, Reason, Selector, Side, State, Sym, Symbols, TagSet, Timestamp};

use self::fit::Fitness;
use self::index::{SelectorId, SideIndex};
use crate::ask::{EntryId, Family, Fit, Hit, Scratch, ask};
use crate::kind::{Counts, Resolve, SelectKind};
use crate::ladder::{Column, Ladder, Layout, TooManyBits};
use crate::snapshot::PolicyId;
use crate::witness::{Silent, Witness};

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
    fn fullness(self) -> (u32, u16) {
        (self.tags(), self.exact)
    }

    pub(crate) fn column(self, column: Column) -> u32 {
        match column {
            Column::Tags => self.tags(),
            Column::ExactTags => u32::from(self.exact),
            Column::WildTags => u32::from(self.wild),
            _ => 0,
        }
    }
}

/// One statement of a policy: its selector lists, or one selector of a list that the kind splits.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The policy.
    pub policy: PolicyId,
    /// Which selector of the split list, if the kind splits one.
    pub split: Option<usize>,
    name: Sym,
    created: Option<Timestamp>,
    selectors: [Box<[SelectorId]>; 2],
    grants: Box<[Selector]>,
    /// What the rungs of the entry alone read, in the order of the ladder.
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

    /// The index speaks about known facts on both sides; other questions sweep.
    fn needs_sweep(&self) -> bool {
        Side::BOTH.iter().any(|side| self.side(*side).is_none_or(|parts| parts.iter().any(TagSet::has_unknown)))
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
    /// Entries by source and destination selector, best first.
    pairs: FxHashMap<(SelectorId, SelectorId), Vec<u32>>,
}

/// Room to work in.
#[derive(Debug, Default)]
pub struct SelectScratch {
    matching: [Vec<SelectorId>; 2],
    /// Where an entry stands among the hits of this question.
    seen: FxHashMap<u32, usize>,
}

impl Select {
    /// Compiles the policies of one kind and scope; they come in the order of their identity.
    pub fn compile(
        kind: &SelectKind,
        policies: &[(PolicyId, &Policy)],
        symbols: &Symbols,
    ) -> Result<Self, TooManyBits> {
        let mut sides = Side::BOTH.map(|side| SideIndex::new(kind.side(side).cloned()));
        let mut entries = Vec::with_capacity(policies.len());
        let mut most_tags = 0_usize;
        for (place, (id, policy)) in policies.iter().enumerate() {
            let list = |field: Sym| {
                let list = policy.selectors.iter().find(|list| list.field == field);
                list.map_or(&[][..], |list| list.selectors.as_slice())
            };
            let pieces = match kind.split {
                Some(field) => (0..list(field).len()).map(Some).collect(),
                None => vec![None],
            };
            for split in pieces {
                let selectors_of = |field: Sym| match split {
                    Some(piece) if kind.split == Some(field) => list(field).get(piece..=piece).unwrap_or_default(),
                    _ => list(field),
                };
                let mut selectors = [Box::default(), Box::default()];
                for (slot, side) in selectors.iter_mut().zip(&mut sides) {
                    let written = side.field().map_or(&[][..], selectors_of);
                    most_tags = written.iter().map(|selector| selector.wants().len()).fold(most_tags, usize::max);
                    *slot = side.intern(written, symbols);
                }
                let fixed = (kind.rank.rungs().iter())
                    .map(|rung| fixed_column(rung.column, policy, &selectors_of, place, entries.len()))
                    .collect();
                let grants = kind.grants.map(|field| selectors_of(field).into()).unwrap_or_default();
                let (policy, name, created) = (*id, policy.name, policy.created);
                entries.push(Entry { policy, split, name, created, selectors, grants, fixed });
            }
        }
        let (layout, keys, by_ordinal) = Layout::new(&kind.rank, entries.len(), most_tags as u64, |entry, column| {
            let rung = kind.rank.rungs().iter().position(|rung| rung.column == column);
            let fixed = entries.get(entry).zip(rung).and_then(|(entry, rung)| entry.fixed.get(rung));
            fixed.copied().unwrap_or_default()
        })?;
        for side in &mut sides {
            side.finish(|specificity| layout.pack_side(specificity));
        }
        let pairs = pairs_of(&entries, &keys);
        Ok(Self { kind: kind.clone(), entries, sides, layout, keys, by_ordinal, pairs })
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
    pub fn ladder(&self) -> &Ladder {
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

    /// Which of two matches of one entry counts: the better rank, then the fuller one.
    fn preference(&self, measure: Specificity) -> (u64, (u32, u16)) {
        (self.layout.pack(measure), measure.fullness())
    }

    fn key(&self, entry: EntryId, measure: Specificity) -> u64 {
        self.keys.get(entry.index()).copied().unwrap_or_default() + self.layout.pack(measure)
    }

    /// How an entry fits the question, side by side.
    fn fitness(&self, entry: &Entry, question: &Question<'_>) -> Fitness {
        let [source, destination] = &entry.selectors;
        let source = self.side(Side::Source).fitness(source, question.source, Side::Source);
        let destination = self.side(Side::Destination).fitness(destination, question.destination, Side::Destination);
        source.and(destination, |specificity| self.layout.pack(specificity))
    }

    /// What a rung reads of a hit.
    fn read(&self, hit: &Hit<Specificity>, column: Column) -> i64 {
        if column.of_match() {
            return i64::from(hit.measure.column(column));
        }
        let rung = self.kind.rank.rungs().iter().position(|rung| rung.column == column);
        let entry = self.entry(hit.entry);
        entry.zip(rung).and_then(|(entry, rung)| entry.fixed.get(rung)).copied().unwrap_or_default()
    }

    /// On which rung two hits differ, seen from the first.
    fn separation(&self, mine: &Hit<Specificity>, theirs: &Hit<Specificity>) -> Option<(usize, Reason)> {
        let (number, rung) =
            self.kind.rank.separate(|column| self.read(mine, column), |column| self.read(theirs, column))?;
        let count = |hit| match self.read(hit, rung.column) {
            // What the document does not say ranks below all numbers.
            i64::MIN => Param::Nothing,
            number => Param::Number(number),
        };
        let created = |hit: &Hit<Specificity>| Param::Time(self.entry(hit.entry).and_then(|e| e.created));
        let params = match rung.column {
            Column::Created => [created(mine), created(theirs), Param::Nothing],
            Column::Number(field) => [count(mine), count(theirs), Param::Text(field)],
            Column::Name | Column::Identity => {
                let other = self.entry(theirs.entry).map_or(Param::Nothing, |entry| Param::Text(entry.name));
                [other, Param::Nothing, Param::Nothing]
            }
            _ => [count(mine), count(theirs), Param::Nothing],
        };
        Some((number, Reason::new(rung.code(), &params)))
    }

    fn granted<W: Witness<Specificity>>(
        &self,
        winner: Option<EntryId>,
        question: &Question<'_>,
        witness: &mut W,
    ) -> Granted {
        let (Some(_), Some(parts)) = (self.kind.grants, question.source) else { return Granted::NotAsked };
        let Some(entry) = winner.and_then(|winner| self.entry(winner)) else { return Granted::NotAsked };
        match fit::any_selector(&entry.grants, parts, Side::Source) {
            fit::Found::Yes => Granted::Yes,
            fit::Found::Unknown(reason) => {
                witness.note(|| reason);
                Granted::Unknown
            }
            fit::Found::No(reason) => {
                witness.note(|| reason);
                Granted::No
            }
        }
    }

    fn resolve_first<W: Witness<Specificity>>(
        &self,
        question: &Question<'_>,
        hits: &mut [Hit<Specificity>],
        witness: &mut W,
    ) -> Selected {
        let ranked = hits.iter().map(|hit| (self.key(hit.entry, hit.measure), hit));
        let winner = ranked.clone().filter(|(_, hit)| hit.certain).max_by_key(|(key, _)| *key);
        let winner = winner.map(|(key, hit)| (key, hit.entry));
        // An uncertain hit of the winner itself cannot take the win away; one of another entry that ranks above can.
        let undecided = ranked
            .filter(|(_, hit)| !hit.certain)
            .any(|(key, hit)| winner.is_none_or(|(winning, entry)| key > winning && hit.entry != entry));
        let winner = winner.map(|(_, entry)| entry);
        if W::RECORDS {
            self.tell_first(winner, undecided, question, hits, witness);
        }
        let granted = self.granted(winner, question, witness);
        Selected { winner, kept: usize::from(winner.is_some()), undecided, granted }
    }

    fn tell_first<W: Witness<Specificity>>(
        &self,
        winner: Option<EntryId>,
        undecided: bool,
        question: &Question<'_>,
        hits: &mut [Hit<Specificity>],
        witness: &mut W,
    ) {
        self.sort(hits);
        let winning = hits.iter().find(|hit| hit.certain && Some(hit.entry) == winner).copied();
        let mut after = hits.iter().skip_while(|hit| !(hit.certain && Some(hit.entry) == winner));
        let runner_up = after.find(|hit| Some(hit.entry) != winner);
        if let Some(winning) = winning {
            let separation =
                runner_up.filter(|_| !undecided).and_then(|runner_up| self.separation(&winning, runner_up));
            let alone = if undecided { Code::SelectCertain } else { Code::SelectOnly };
            if let Some((rung, _)) = separation {
                witness.decided(rung);
            }
            witness.state(winning.entry, State::Won, Some(winning.measure), || {
                separation.map_or(Reason::new(alone, &[]), |(_, reason)| reason)
            });
        }
        for hit in hits.iter().filter(|hit| Some(hit.entry) != winner) {
            match winning {
                Some(winning) if hit.certain => {
                    witness.state(hit.entry, State::Lost, Some(hit.measure), || {
                        let separation = self.separation(hit, &winning);
                        separation.map_or(Reason::new(Code::SelectIdentity, &[]), |(_, reason)| reason)
                    });
                }
                _ if certainly_hit(hit.entry, hits) => {}
                _ => self.tell_unknown(hit, question, witness),
            }
        }
    }

    fn resolve_all<W: Witness<Specificity>>(
        &self,
        question: &Question<'_>,
        hits: &mut Vec<Hit<Specificity>>,
        witness: &mut W,
    ) -> Selected {
        self.sort(hits);
        let uncertain: Vec<_> =
            hits.iter().filter(|hit| !hit.certain && !certainly_hit(hit.entry, hits)).copied().collect();
        hits.retain(|hit| hit.certain);
        if W::RECORDS {
            for hit in hits.iter() {
                let aggregate = || Reason::new(Code::SelectAggregate, &[]);
                witness.state(hit.entry, State::Kept, Some(hit.measure), aggregate);
            }
            for hit in &uncertain {
                self.tell_unknown(hit, question, witness);
            }
        }
        let winner = hits.first().map(|hit| hit.entry);
        Selected { winner, kept: hits.len(), undecided: !uncertain.is_empty(), granted: Granted::NotAsked }
    }

    /// Best first.
    fn sort(&self, hits: &mut [Hit<Specificity>]) {
        hits.sort_by_key(|hit| std::cmp::Reverse((self.key(hit.entry, hit.measure), hit.certain)));
    }

    fn tell_unknown<W: Witness<Specificity>>(&self, hit: &Hit<Specificity>, question: &Question<'_>, witness: &mut W) {
        let Some(entry) = self.entry(hit.entry) else { return };
        let reason = self.fitness(entry, question).reason;
        witness.state(hit.entry, State::Unknown, Some(hit.measure), || reason);
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
        if question.needs_sweep() {
            for (index, entry) in self.entries.iter().enumerate() {
                for fit in self.fitness(entry, question).fits() {
                    hits.push(hit(Id::new(index), fit));
                }
            }
            return;
        }
        let SelectScratch { matching: [sources, destinations], seen } = scratch;
        self.side(Side::Source).matching(question.source.unwrap_or_default(), sources);
        self.side(Side::Destination).matching(question.destination.unwrap_or_default(), destinations);
        let only_best = !W::RECORDS && self.kind.resolve == Resolve::First;
        seen.clear();
        for &source in sources.iter() {
            for &destination in destinations.iter() {
                let Some(bucket) = self.pairs.get(&(source, destination)) else { continue };
                let of = |side, selector| self.side(side).specificity(selector);
                let measure = of(Side::Source, source).plus(of(Side::Destination, destination));
                if only_best {
                    let best = bucket.first().map(|&entry| Id::new(entry as usize));
                    hits.extend(best.map(|entry| Hit { entry, certain: true, measure }));
                    continue;
                }
                for &entry in bucket {
                    let found = Hit { entry: Id::new(entry as usize), certain: true, measure };
                    match seen.get(&entry).and_then(|&place| hits.get_mut(place)) {
                        Some(known) if self.preference(known.measure) >= self.preference(measure) => {}
                        Some(known) => *known = found,
                        None => {
                            seen.insert(entry, hits.len());
                            hits.push(found);
                        }
                    }
                }
            }
        }
    }

    fn check<W: Witness<Specificity>>(
        &self,
        id: EntryId,
        question: &Question<'_>,
        witness: &mut W,
        mut sit: impl FnMut(Fit<Specificity>),
    ) {
        let Some(entry) = self.entry(id) else { return };
        let fitness = self.fitness(entry, question);
        if !fitness.matches() {
            witness.miss(id, fitness.distance, || fitness.reason);
        }
        for fit in fitness.fits() {
            sit(fit);
        }
    }

    fn resolve<W: Witness<Specificity>>(
        &self,
        question: &Question<'_>,
        hits: &mut Vec<Hit<Specificity>>,
        witness: &mut W,
    ) -> Selected {
        match self.kind.resolve {
            Resolve::First => self.resolve_first(question, hits, witness),
            Resolve::All => self.resolve_all(question, hits, witness),
        }
    }
}

fn certainly_hit(entry: EntryId, hits: &[Hit<Specificity>]) -> bool {
    hits.iter().any(|hit| hit.certain && hit.entry == entry)
}

fn hit(entry: EntryId, fit: Fit<Specificity>) -> Hit<Specificity> {
    match fit {
        Fit::Yes(measure) => Hit { entry, certain: true, measure },
        Fit::Unknown(measure) => Hit { entry, certain: false, measure },
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
    let first = |field: Sym| selectors_of(field).first().map(fit::specificity).unwrap_or_default();
    match column {
        Column::Tags | Column::ExactTags | Column::WildTags => 0,
        Column::TagsIn(field) => i64::from(first(field).tags()),
        Column::ExactTagsIn(field) => i64::from(first(field).exact),
        Column::Created => policy.created.map_or(i64::MIN, |Timestamp(nanoseconds)| nanoseconds),
        Column::Number(field) => {
            let number = policy.numbers.iter().find(|(known, _)| *known == field);
            number.map_or(i64::MIN, |(_, number)| *number)
        }
        Column::Name => i64::try_from(place).unwrap_or(i64::MAX),
        Column::Identity => i64::try_from(entry).unwrap_or(i64::MAX),
    }
}

fn pairs_of(entries: &[Entry], keys: &[u64]) -> FxHashMap<(SelectorId, SelectorId), Vec<u32>> {
    let mut pairs: FxHashMap<(SelectorId, SelectorId), Vec<u32>> = FxHashMap::default();
    let mut best_first: Vec<usize> = (0..entries.len()).collect();
    best_first.sort_by_key(|&entry| std::cmp::Reverse(keys.get(entry).copied()));
    for index in best_first {
        let Some(Entry { selectors: [sources, destinations], .. }) = entries.get(index) else { continue };
        for &source in sources {
            for &destination in destinations {
                pairs.entry((source, destination)).or_default().push(u32::try_from(index).unwrap_or(u32::MAX));
            }
        }
    }
    pairs
}

impl Counts {
    pub(crate) fn of(self, specificity: Specificity) -> Specificity {
        match self {
            Self::Yes => specificity,
            Self::No => Specificity::default(),
        }
    }
}
