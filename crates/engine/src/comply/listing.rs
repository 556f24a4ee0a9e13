//! What violates now: pair by pair, scope by scope, and how every policy fares.

use std::collections::{BTreeMap, BTreeSet};

use smol_str::SmolStr;
use upheld_model::Timestamp;

use super::Comply;
use super::facts::{ObjectId, Pair, Slot};
use super::family::{Complied, Question};
use super::finding::{Finding, FindingId};
use super::profile::{Kind, PairKind};
use crate::ask::{EntryId, Scratch};
use crate::ruling::Ruling;

/// What a listing is cut to; nothing is cut by what is left out.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    /// Only pairs that live in one of these.
    pub scopes: Option<Vec<ObjectId>>,
    /// Only pairs with this object.
    pub object: Option<ObjectId>,
    /// Only pairs with an object of one of these kinds.
    pub kinds: Option<Vec<Kind>>,
    /// Only this policy.
    pub policy: Option<SmolStr>,
}

/// Each of them once.
fn distinct(scopes: &[ObjectId]) -> BTreeSet<ObjectId> {
    scopes.iter().copied().collect()
}

/// How a policy fares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tally {
    /// The policy.
    pub policy: SmolStr,
    /// How many pairs it speaks about.
    pub pairs: usize,
    /// How many times a rule of it holds.
    pub holds: usize,
    /// How many of these because neither side has the tag.
    pub without_evidence: usize,
    /// How many times a rule of it does not hold.
    pub violated: usize,
}

/// A pair that violates rules, by its place; it means something until the next change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Violating {
    slot: Slot,
    word: u32,
    /// A bit for each rule.
    rules: u64,
}

impl Violating {
    /// How many rules it violates.
    pub fn len(self) -> usize {
        self.rules.count_ones() as usize
    }

    /// Never: it violates one rule or more.
    pub fn is_empty(self) -> bool {
        self.rules == 0
    }
}

/// The bits of a word.
pub(super) fn ones(mut word: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let bit = (word != 0).then(|| word.trailing_zeros() as usize)?;
        word &= word - 1;
        Some(bit)
    })
}

impl Comply {
    /// Every violation, those that a waiver covers too, in order.
    pub fn violations(&self, now: Timestamp) -> Vec<Finding> {
        self.violations_within(&Filter::default(), now, |_| false)
    }

    /// The violations of one scope, in order. It takes as long as the answer is.
    pub fn violations_in(&self, scope: Option<ObjectId>, now: Timestamp) -> Vec<Finding> {
        self.named_in_order(self.violating_in(scope), &Filter::default(), now, |_| false)
    }

    /// The violations within a filter, in order; `accepted` says which of them refuse nothing any more.
    pub fn violations_within(
        &self,
        filter: &Filter,
        now: Timestamp,
        accepted: impl Fn(FindingId) -> bool,
    ) -> Vec<Finding> {
        let slots = match (filter.object, &filter.scopes) {
            (Some(object), _) => self.violating_around(object),
            (None, Some(scopes)) => {
                distinct(scopes).into_iter().flat_map(|scope| self.violating_in(Some(scope))).collect()
            }
            (None, None) => self.violating(),
        };
        self.named_in_order(slots, filter, now, accepted)
    }

    /// Those within a filter that another state may not have, in order. It takes as long as the two differ, where one was made of the
    /// other and both have the same policies and waivers.
    pub fn violations_unlike(
        &self,
        other: &Self,
        filter: &Filter,
        now: Timestamp,
        accepted: impl Fn(FindingId) -> bool,
    ) -> Vec<Finding> {
        match self.differing_pairs(other) {
            Some(mut places) => {
                places.retain(|slot| self.rules_violated_at(*slot).next().is_some());
                self.named_in_order(places, filter, now, accepted)
            }
            None => self.violations_within(filter, now, accepted),
        }
    }

    fn named_in_order(
        &self,
        slots: Vec<Slot>,
        filter: &Filter,
        now: Timestamp,
        accepted: impl Fn(FindingId) -> bool,
    ) -> Vec<Finding> {
        let (mut found, mut scratch, mut before) = (Vec::new(), Scratch::default(), Vec::new());
        for slot in slots {
            let Some(pair) = self.pair_at(slot).filter(|pair| self.keeps(filter, pair)) else { continue };
            before.clear();
            let rules = self.rules_violated_at(slot).filter(|entry| self.keeps_rule(filter, *entry));
            before.extend(rules.filter(|entry| accepted(FindingId { pair, entry: *entry })));
            let question = Question { accepted: &before, ..self.question(pair, now) };
            self.violated_by(&question, &mut scratch, |state, hit| {
                if self.keeps_rule(filter, hit.entry) {
                    found.extend(self.named(pair, hit.entry, &hit.measure, state, now));
                }
            });
        }
        found.sort();
        found
    }

    /// Every pair within a filter held against every rule about it, in order: what passes as well as what violates.
    pub fn checks(&self, filter: &Filter, now: Timestamp) -> Vec<Finding> {
        let mut checks = Vec::new();
        for pair in self.pairs(filter) {
            let question = self.question(pair, now);
            checks.extend(self.findings_of(&question, &Ruling::matched(self, &question)));
        }
        checks.retain(|check| filter.policy.as_ref().is_none_or(|wanted| check.policy == *wanted));
        checks.sort();
        checks
    }

    /// Two objects held against every rule about them, in order, whether or not they are related.
    pub fn findings_between(&self, one: ObjectId, other: ObjectId, now: Timestamp) -> Vec<Finding> {
        let mut findings = Vec::new();
        for pair in self.pairs_between(one, other) {
            let question = self.question(pair, now);
            findings.extend(self.findings_of(&question, &Ruling::explain(self, &question)));
        }
        findings.sort();
        findings
    }

    /// All violations by what they are, in no particular order.
    pub fn violation_ids(&self) -> Vec<FindingId> {
        let mut found = Vec::new();
        for slot in self.violating() {
            let Some(pair) = self.pair_at(slot) else { continue };
            found.extend(self.rules_violated_at(slot).map(|entry| FindingId { pair, entry }));
        }
        found
    }

    /// How many violations of every policy end how, at a moment; `accepted` says which of them refuse nothing any more. Nobody is named.
    pub fn violations_by_policy(
        &self,
        now: Timestamp,
        accepted: impl Fn(FindingId) -> bool,
    ) -> BTreeMap<SmolStr, Complied> {
        let (mut counts, mut scratch, mut before) =
            (BTreeMap::<EntryId, Complied>::new(), Scratch::default(), Vec::new());
        for slot in self.violating() {
            let Some(pair) = self.pair_at(slot) else { continue };
            before.clear();
            before.extend(self.rules_violated_at(slot).filter(|entry| accepted(FindingId { pair, entry: *entry })));
            let question = Question { accepted: &before, ..self.question(pair, now) };
            self.violated_by(&question, &mut scratch, |state, hit| {
                counts.entry(hit.entry).or_default().count(state);
            });
        }
        let mut by_policy: BTreeMap<SmolStr, Complied> = BTreeMap::new();
        for (entry, count) in counts {
            let Some((policy, _)) = self.rule_of(entry) else { continue };
            let all = by_policy.entry(policy.id.clone()).or_default();
            *all = all.plus(count);
        }
        by_policy
    }

    /// The next moment after this one at which something is judged otherwise by the clock alone: a waiver begins or ends, or a policy is
    /// enforced from then on.
    pub fn next_turn(&self, now: Timestamp) -> Option<Timestamp> {
        let waivers = self.waivers().iter().flat_map(|own| [own.not_before, own.expires]);
        let moments = waivers.chain(self.each_policy().map(|own| own.enforce_from));
        moments.flatten().filter(|moment| *moment > now).min()
    }

    /// How many violations there are.
    pub fn violation_count(&self) -> usize {
        let words = self.tables.iter().flat_map(|table| &table.bits).flat_map(|bits| bits.words.iter());
        words.map(|word| word.count_ones() as usize).sum()
    }

    /// How many violations an object has a part in.
    pub fn violation_count_of(&self, object: ObjectId) -> usize {
        self.violating_around(object).into_iter().map(|slot| self.rules_violated_at(slot).count()).sum()
    }

    /// The rules that a pair violates; none if no relationship makes it.
    pub fn rules_violated(&self, pair: Pair) -> Vec<EntryId> {
        self.slot_of(pair).map_or_else(Vec::new, |slot| self.rules_violated_at(slot).collect())
    }

    /// Whether a pair violates a rule now.
    pub fn is_violated(&self, id: FindingId) -> bool {
        self.slot_of(id.pair).is_some_and(|slot| self.rules_violated_at(slot).any(|entry| entry == id.entry))
    }

    /// Whether a relationship makes a pair.
    pub fn is_made(&self, pair: Pair) -> bool {
        self.slot_of(pair).is_some()
    }

    fn rules_violated_at(&self, slot: Slot) -> impl Iterator<Item = EntryId> {
        let bits = self.table(slot.table).into_iter().flat_map(|table| &table.bits);
        bits.flat_map(move |bits| {
            let violated = bits.words.get(slot.place as usize).copied().unwrap_or(0);
            ones(violated).filter_map(|bit| Some(bits.rule(bit)?.entry))
        })
    }

    /// The places of all pairs that violate something.
    fn violating(&self) -> Vec<Slot> {
        self.violating.iter().flat_map(|list| list.iter()).copied().collect()
    }

    /// The places of those of one scope.
    pub(super) fn violating_in(&self, scope: Option<ObjectId>) -> Vec<Slot> {
        self.violating.get(ObjectId::list(scope)).map_or_else(Vec::new, |list| list.to_vec())
    }

    /// The pairs of an object that violate something.
    pub fn violating_pairs(&self, object: ObjectId) -> Vec<Pair> {
        self.violating_around(object).into_iter().filter_map(|slot| self.pair_at(slot)).collect()
    }

    /// The places of those with an object.
    fn violating_around(&self, object: ObjectId) -> Vec<Slot> {
        self.near_pairs(object)
            .iter()
            .map(|near| near.slot())
            .filter(|slot| self.rules_violated_at(*slot).next().is_some())
            .collect()
    }

    /// Holds every pair against every rule from scratch, whatever is known already, and lists those that violate. It always
    /// finds what [`Self::violation_ids`] knows.
    pub fn audit(&self) -> Vec<Violating> {
        let mut found = Vec::new();
        for (kind, table) in (0..).map(PairKind).zip(&self.tables) {
            for (word, bits) in (0..).zip(&table.bits) {
                table.sweep(bits, &self.lists, |place, rules| {
                    found.push(Violating { slot: slot(kind, place), word, rules });
                });
            }
        }
        found
    }

    /// What a pair violates, by what it is.
    pub fn ids_of(&self, violating: Violating) -> impl Iterator<Item = FindingId> {
        let Violating { slot, word, rules } = violating;
        let (pair, bits) = (self.pair_at(slot), self.table(slot.table).and_then(|table| table.bits.get(word as usize)));
        ones(rules).filter_map(move |bit| Some(FindingId { pair: pair?, entry: bits?.rule(bit)?.entry }))
    }

    /// All pairs within a filter, in no particular order.
    pub fn pairs(&self, filter: &Filter) -> impl Iterator<Item = Pair> {
        // One object or one scope is asked about more often than everything, and has few of the pairs.
        let near = match (filter.object, &filter.scopes) {
            (Some(object), _) => Some(self.pairs_of(object).collect()),
            (None, Some(scopes)) => {
                Some(distinct(scopes).into_iter().flat_map(|scope| self.pairs_within(scope)).collect::<Vec<_>>())
            }
            (None, None) => None,
        };
        let all = near.is_none().then(|| self.all_pairs());
        let pairs = near.into_iter().flatten().chain(all.into_iter().flatten());
        pairs.filter(move |pair| self.keeps(filter, pair))
    }

    fn all_pairs(&self) -> impl Iterator<Item = Pair> {
        let tables = (0..).map(PairKind).zip(&self.tables);
        let rows = tables.flat_map(|(kind, table)| table.rows.iter().map(move |row| (kind, row)));
        rows.filter(|(_, row)| row.count > 0).map(|(kind, row)| row.pair(kind))
    }

    /// The pairs that count for a scope: what the relationships of all who live there make.
    fn pairs_within(&self, scope: ObjectId) -> Vec<Pair> {
        let mut found = Vec::new();
        for resident in self.residents(scope) {
            found.extend(self.alone(resident).filter(|pair| pair.scope == Some(scope)));
            for (_, link) in self.links_of(resident).filter(|(_, link)| link.a == resident) {
                found.extend(self.made_by(link).filter(|pair| pair.scope == Some(scope)));
            }
        }
        // Several relationships may make one pair.
        found.sort_unstable();
        found.dedup();
        found
    }

    pub(super) fn keeps_rule(&self, filter: &Filter, entry: EntryId) -> bool {
        let wanted = filter.policy.as_ref();
        wanted.is_none_or(|wanted| self.policies.rule(entry).is_some_and(|own| own.policy.id == *wanted))
    }

    fn keeps(&self, filter: &Filter, pair: &Pair) -> bool {
        let of_kind = |kinds: &Vec<Kind>| {
            [pair.a, pair.b].iter().any(|object| self.kind_of(*object).is_some_and(|kind| kinds.contains(&kind)))
        };
        let lives_in = |scopes: &Vec<ObjectId>| pair.scope.is_some_and(|scope| scopes.contains(&scope));
        filter.scopes.as_ref().is_none_or(lives_in)
            && filter.object.is_none_or(|object| pair.a == object || pair.b == object)
            && filter.kinds.as_ref().is_none_or(of_kind)
    }

    /// How many pairs there are, each counted once for its scope.
    pub fn pair_count(&self) -> usize {
        self.tables.iter().map(|table| table.rows.iter().filter(|row| row.count > 0).count()).sum()
    }
}

pub(super) fn slot(table: PairKind, place: usize) -> Slot {
    Slot { table, place: u32::try_from(place).unwrap_or(u32::MAX) }
}
