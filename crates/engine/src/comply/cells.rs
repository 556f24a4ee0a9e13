//! Pairs that rules cannot tell apart: what counts, counts them together.

use rustc_hash::{FxHashMap, FxHashSet};

use super::Comply;
use super::facts::{ObjectId, Pair};
use super::family::Verdict;
use super::listing::{Filter, Tally, ones};
use super::pairs::{RuleBits, RuleSlot};
use super::profile::PairKind;
use crate::partition::Partition;

/// What rules can tell of a pair. Pairs that are alike fare alike, whenever one asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PairKey {
    kind: PairKind,
    /// The signatures of both sides.
    signatures: (u32, u32),
}

impl Comply {
    /// What rules can tell of a pair; nothing if a waiver names one of its sides, or where they meet, or if policies leave
    /// that alone.
    pub fn pair_key(&self, pair: Pair) -> Option<PairKey> {
        let named = |object: ObjectId| self.waivers.mention(&self.reference(object));
        self.pair_key_except(pair, |object| self.waivers.mention_any() && named(object))
    }

    fn pair_key_except(&self, pair: Pair, named: impl Fn(ObjectId) -> bool) -> Option<PairKey> {
        let table = self.table(pair.kind)?;
        let mut objects = [Some(pair.a), Some(pair.b), pair.scope].into_iter().flatten();
        if objects.any(named) || self.is_exempt(pair.scope) {
            return None;
        }
        Some(PairKey { kind: pair.kind, signatures: table.signatures_of(pair.a, pair.b) })
    }

    /// All pairs within a filter, in cells.
    pub fn cells<'c>(&'c self, filter: &'c Filter) -> Cells<'c> {
        let named = self.waivers.objects().filter_map(|object| self.lookup(object).ok()).collect();
        let mut cells = Cells { comply: self, filter, named, all: Vec::new(), known: FxHashMap::default() };
        for pair in self.pairs(filter) {
            cells.add(pair);
        }
        cells
    }
}

/// Pairs in cells with equal answers.
#[derive(Debug)]
pub struct Cells<'c> {
    comply: &'c Comply,
    filter: &'c Filter,
    /// The objects that some waiver names.
    named: FxHashSet<ObjectId>,
    all: Vec<Cell>,
    known: FxHashMap<Key, usize>,
}

/// What tells a cell from others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Key {
    PairKey(PairKey),
    /// A waiver may be about this one alone.
    Alone(Pair),
}

/// A set of pairs with equal answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell {
    representative: Pair,
    size: usize,
}

impl Cells<'_> {
    fn add(&mut self, pair: Pair) {
        let next = self.all.len();
        let cell = *self.known.entry(self.key(pair)).or_insert(next);
        match self.all.get_mut(cell) {
            Some(known) => known.size += 1,
            None => self.all.push(Cell { representative: pair, size: 1 }),
        }
    }

    fn key(&self, pair: Pair) -> Key {
        let pair_key = self.comply.pair_key_except(pair, |object| self.named.contains(&object));
        pair_key.map_or(Key::Alone(pair), Key::PairKey)
    }

    /// How many pairs there are that any rule within the filter is about, each counted once for its scope.
    pub fn judged_pairs(&self) -> usize {
        let judged = |Pair { kind, a, b, .. }: Pair| {
            self.comply.table(kind).is_some_and(|table| {
                let signatures = table.signatures_of(a, b);
                let judges = |rule: &RuleSlot| {
                    table.applies(rule, signatures) && self.comply.keeps_rule(self.filter, rule.entry)
                };
                table.rules().any(judges)
            })
        };
        let judged = self.all.iter().filter(|own| judged(own.representative));
        judged.map(|own| own.size).sum()
    }

    /// How every policy fares, in the order of their names; those that are off speak about nothing.
    pub fn tallies(&self) -> Vec<Tally> {
        let Self { comply, filter, all, .. } = self;
        let wanted = |name: &str| filter.policy.as_ref().is_none_or(|wanted| wanted == name);
        let policies = comply.policies().into_iter().filter(|policy| wanted(&policy.id));
        let none = |policy| Tally { policy, pairs: 0, holds: 0, without_evidence: 0, violated: 0 };
        let mut tallies: Vec<Tally> = policies.map(|policy| none(policy.id.clone())).collect();
        for (kind, table) in (0..).map(PairKind).zip(&comply.tables) {
            let cells: Vec<&Cell> = all.iter().filter(|own| own.representative.kind == kind).collect();
            for (bits, bit, rule) in table.bits.iter().flat_map(placed) {
                let name = comply.policies.rule(rule.entry).map(|own| &own.policy.id);
                let Some(tally) = tallies.iter_mut().find(|tally| Some(&tally.policy) == name) else { continue };
                tally.pairs = 0;
                for Cell { representative: Pair { a, b, .. }, size } in &cells {
                    let signatures = table.signatures_of(*a, *b);
                    if !table.applies(rule, signatures) {
                        continue;
                    }
                    tally.pairs += size;
                    if table.is_violated(bits, bit, signatures, &comply.lists) {
                        tally.violated += size;
                        continue;
                    }
                    tally.holds += size;
                    if Verdict::held(rule.strategy, table.values(rule, signatures)).is_without_evidence() {
                        tally.without_evidence += size;
                    }
                }
            }
        }
        tallies
    }
}

fn placed(bits: &RuleBits) -> impl Iterator<Item = (&RuleBits, usize, &RuleSlot)> {
    ones(bits.in_force()).filter_map(move |bit| Some((bits, bit, bits.rule(bit)?)))
}

impl Partition for Cells<'_> {
    type Question<'p>
        = Pair
    where
        Self: 'p;
    type Cell = Cell;

    fn cells(&self) -> impl Iterator<Item = Cell> {
        self.all.iter().copied()
    }

    fn representative(&self, cell: Cell) -> Pair {
        cell.representative
    }

    fn size(&self, cell: Cell) -> u64 {
        cell.size as u64
    }

    fn locate(&self, pair: Pair) -> Option<Cell> {
        self.all.get(*self.known.get(&self.key(pair))?).copied()
    }
}
