//! Policies, and where their rules stand.

use std::sync::Arc;

use smol_str::SmolStr;

use super::super::facts::{ObjectId, Slot};
use super::super::listing::slot;
use super::super::pairs::{Compared, NewRule};
use super::super::policies::RulePlace;
use super::super::policy::Level;
use super::super::profile::PairKind;
use super::super::selection::{Columns, Picks};
use super::super::{Comply, Policy};
use super::{Retired, Undo};
use crate::ask::EntryId;

impl Comply {
    /// Step: adds, replaces or removes the policy of a name.
    pub fn put_policy(&mut self, name: &SmolStr, policy: Option<Arc<Policy>>) {
        let before = Arc::make_mut(&mut self.policies).put(name, policy, &self.profile);
        self.journal.push(Undo::Policy { name: name.clone(), before });
        let old: Vec<(EntryId, RulePlace)> = self.places_of(name);
        let kept = self.compile(name);
        for kind in self.pair_kinds() {
            self.sign_again(kind);
        }
        for (entry, place) in old.into_iter().filter(|(_, place)| !kept.contains(place)) {
            self.retire(place);
            if self.policies.place(entry) == Some(place) {
                Arc::make_mut(&mut self.policies).stand(entry, None);
            }
        }
        for place in kept {
            self.judge_rule(place);
        }
    }

    /// Where the rules of a policy stand.
    fn places_of(&self, name: &str) -> Vec<(EntryId, RulePlace)> {
        let entries = self.policies.entries_of(name).iter();
        entries.filter_map(|entry| Some((*entry, self.policies.place(*entry)?))).collect()
    }

    /// Takes a rule out; nothing violates it any more. It keeps its place until the change stands, so that what was violated
    /// before can still be reported.
    fn retire(&mut self, RulePlace { table, word, bit }: RulePlace) {
        let Some(own) = self.table(table).and_then(|table| table.bits.get(word)) else { return };
        let violating = own.words.iter().enumerate().filter(|(_, word)| **word >> bit & 1 == 1);
        let cleared: Vec<(Slot, u64)> =
            violating.map(|(place, word)| (slot(table, place), word & !(1 << bit))).collect();
        for (slot, cleared) in cleared {
            self.set_word(slot, word, cleared);
        }
        if let Some(own) = self.tables.get_mut(usize::from(table.0)).and_then(|table| table.bits.get_mut(word)) {
            own.retire(bit);
            self.retired = Retired::Some;
        }
    }

    /// Puts the rules of a policy in their places, those that they have if they have any, and says which these are; pairs
    /// are not held against them yet, and sides that look at a new tag are stale.
    pub(in crate::comply) fn compile(&mut self, name: &str) -> Vec<RulePlace> {
        let Some(policy) = self.policies.get(name).cloned() else { return Vec::new() };
        let Some((kind, swapped)) = self.profile.pair(policy.a, policy.b).filter(|_| policy.level != Level::Off) else {
            return Vec::new();
        };
        let entries = self.policies.entries_of(name).to_vec();
        let values = self.values(&policy.values);
        let [first, second] = &policy.only;
        let [first, second] = [first, second].map(|own| Picks::of(own, |text| self.key(text)).map(Arc::new));
        let only = swapped.turn([first, second]);
        let mut places = Vec::with_capacity(policy.rules.len());
        for (rule, entry) in policy.rules.iter().zip(entries) {
            let other =
                if policy.strategy.is_alone() { Compared::Values(values) } else { Compared::Tag(self.key(&rule.b)) };
            let compared = swapped.turn([Compared::Tag(self.key(&rule.a)), other]);
            let new = NewRule { entry, swapped, strategy: policy.strategy, compared, only: only.clone() };
            let Some(own) = self.tables.get_mut(usize::from(kind.0)) else { continue };
            let old = self.policies.place(entry).filter(|place| place.table == kind);
            let (word, bit) = own.add(new, old.map(|place| (place.word, place.bit)), &self.lists);
            let place = RulePlace { table: kind, word, bit };
            Arc::make_mut(&mut self.policies).stand(entry, Some(place));
            places.push(place);
        }
        places
    }

    /// Signs all objects of the sides that look at something new.
    pub(in crate::comply) fn sign_again(&mut self, kind: PairKind) {
        for side in 0..2 {
            let stale = self.table(kind).and_then(|table| table.sides.get(side));
            if stale.is_none_or(|signatures| !signatures.is_stale()) {
                continue;
            }
            let Some(subject) = self.side_of(kind, side) else { continue };
            let Some(table) = self.tables.get_mut(usize::from(kind.0)) else { continue };
            table.forget(side);
            let kinds = &self.profile.kinds;
            let described = Columns { objects: &self.objects, profile: &self.profile, lists: &self.lists };
            for (place, object) in self.objects.iter().enumerate() {
                if kinds.get(usize::from(object.kind.0)).is_some_and(|kind| kind.subject == subject) {
                    table.sign(side, ObjectId::new(place), described);
                }
            }
        }
    }
}
