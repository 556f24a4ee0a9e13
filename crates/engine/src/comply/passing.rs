//! What holds, by policy or by scope: for those who list it without keeping it.

use smol_str::SmolStr;
use upheld_model::{State, Timestamp};

use super::Comply;
use super::facts::{ObjectId, Pair};
use super::family::Verdict;
use super::finding::{Finding, FindingId};
use super::listing::Filter;
use super::pairs::{PairTable, RuleBits, RuleSlot};
use super::policies::{RuleOf, RulePlace};
use super::policy::Level;
use super::profile::PairKind;
use crate::ask::EntryId;

/// A rule and a pair, in the order of the policy.
#[derive(Clone, Copy, Debug)]
pub struct Sides<'c> {
    /// The policy.
    pub policy: &'c SmolStr,
    /// The rule, from 0.
    pub rule: usize,
    /// The first side of the policy.
    pub a: ObjectId,
    /// The second side.
    pub b: ObjectId,
    /// Where they meet.
    pub scope: Option<ObjectId>,
}

/// A rule of a policy at its place among those about the same pairs.
#[derive(Clone, Copy)]
struct HeldRule<'t> {
    bits: &'t RuleBits,
    bit: usize,
    rule: &'t RuleSlot,
}

impl Comply {
    /// Where the rules of a policy hold within a filter, in the order of scopes and objects: a few numbers each, however long
    /// their names are.
    pub fn holding(&self, policy: &str, filter: &Filter) -> Vec<FindingId> {
        let wanted = filter.policy.as_ref().is_none_or(|wanted| wanted == policy);
        let Some(known) = self.policy(policy).filter(|known| wanted && known.level != Level::Off) else {
            return Vec::new();
        };
        let Some((kind, _)) = self.profile.pair(known.a, known.b) else { return Vec::new() };
        let Some(table) = self.table(kind) else { return Vec::new() };
        let rules: Vec<HeldRule<'_>> =
            self.policies.entries_of(policy).iter().filter_map(|entry| self.held_rule(table, *entry)).collect();
        let order = self.order_of_objects();
        let place = |object: ObjectId| order.get(object.index()).map_or(0, |place| u128::from(*place) + 1);
        // What they are sorted by in one number: there can be millions of them.
        let mut found: Vec<(u128, FindingId)> = Vec::new();
        for pair in self.pairs_of_kind(kind, filter) {
            let signatures = table.signatures_of(pair.a, pair.b);
            let sides = place(pair.a) << 52 | place(pair.b) << 16;
            let key = pair.scope.map_or(0, place) << 88 | sides;
            for (number, own) in (0..).zip(&rules) {
                let HeldRule { bits, bit, rule } = *own;
                if table.applies(rule, signatures) && !table.is_violated(bits, bit, signatures, &self.lists) {
                    found.push((key | number, FindingId { pair, entry: rule.entry }));
                }
            }
        }
        found.sort_unstable_by_key(|(key, _)| *key);
        found.into_iter().map(|(_, id)| id).collect()
    }

    fn held_rule<'t>(&self, table: &'t PairTable, entry: EntryId) -> Option<HeldRule<'t>> {
        let RulePlace { word, bit, .. } = self.policies.place(entry)?;
        let bits = table.bits.get(word)?;
        Some(HeldRule { bits, bit, rule: bits.rule(bit)? })
    }

    /// The pairs of one kind within a filter.
    fn pairs_of_kind(&self, kind: PairKind, filter: &Filter) -> impl Iterator<Item = Pair> {
        let whole = filter.object.is_none() && filter.scopes.is_none() && filter.kinds.is_none();
        let rows = self.table(kind).filter(|_| whole).into_iter().flat_map(|table| table.rows.iter());
        let all = rows.filter(|row| row.count > 0).map(move |row| row.pair(kind));
        let some = (!whole).then(|| self.pairs(filter).filter(move |pair| pair.kind == kind));
        all.chain(some.into_iter().flatten())
    }

    /// The rules that hold somewhere within a filter between values, by policy and number: where there are none, nothing is proven.
    pub fn rules_with_evidence(&self, filter: &Filter, now: Timestamp) -> Vec<(SmolStr, usize)> {
        let mut waiting: Vec<(EntryId, SmolStr, usize)> = Vec::new();
        for policy in self.policies().into_iter().filter(|policy| policy.level != Level::Off) {
            let entries = self.policies.entries_of(&policy.id).iter().enumerate();
            let wanted = entries.filter(|(_, entry)| self.keeps_rule(filter, **entry));
            waiting.extend(wanted.map(|(number, entry)| (*entry, policy.id.clone(), number)));
        }
        let mut found = Vec::new();
        for pair in self.pairs(filter) {
            waiting.retain(|(entry, policy, number)| {
                let held = self.holding_by(*entry, pair, now);
                let proves = held.is_some_and(|verdict| !verdict.is_without_evidence());
                if proves {
                    found.push((policy.clone(), *number));
                }
                !proves
            });
            if waiting.is_empty() {
                break;
            }
        }
        found.sort_unstable();
        found
    }

    /// Why a rule holds between two objects, if it does and its policy counts for them.
    fn holding_by(&self, entry: EntryId, pair: Pair, now: Timestamp) -> Option<Verdict> {
        let verdict = self.held(entry, pair, now)?.verdict;
        (verdict.holds() && self.is_in_scope(entry, pair)).then_some(verdict)
    }

    /// Which rule and which objects that are, without looking at values.
    pub fn sides_of(&self, id: FindingId) -> Option<Sides<'_>> {
        let RuleOf { policy, number, swapped, .. } = self.policies.rule(id.entry)?;
        let [a, b] = swapped.turn([id.pair.a, id.pair.b]);
        Some(Sides { policy: &policy.id, rule: number, a, b, scope: id.pair.scope })
    }

    /// The same in names.
    pub fn name_held(&self, id: FindingId, now: Timestamp) -> Option<Finding> {
        self.name(id, State::Pass, now)
    }

    /// The scopes in which pairs meet, in order; nothing is the one of those that meet nowhere.
    pub fn meeting_scopes(&self, filter: &Filter) -> Vec<Option<ObjectId>> {
        let mut scopes: Vec<Option<ObjectId>> = self.pairs(filter).map(|pair| pair.scope).collect();
        scopes.sort_unstable();
        scopes.dedup();
        let order = self.order_of_objects();
        scopes.sort_by_key(|scope| scope.and_then(|scope| order.get(scope.index()).copied()));
        scopes
    }

    /// The places of all objects in the order of their references, by number.
    fn order_of_objects(&self) -> Vec<u32> {
        let sorted = self.objects();
        let most = sorted.iter().map(|object| object.index() + 1).max().unwrap_or(0);
        let mut order = vec![u32::MAX; most];
        for (place, object) in (0..).zip(sorted) {
            if let Some(own) = order.get_mut(object.index()) {
                *own = place;
            }
        }
        order
    }
}
