//! Policies, and where their rules stand.

use smol_str::SmolStr;

use super::super::facts::{ObjectId, Slot};
use super::super::joint::NewRule;
use super::super::listing::slot;
use super::super::policy::Level;
use super::super::profile::Turned;
use super::super::{Comply, Policy};
use super::{Retired, RulePlace, Undo};

impl Comply {
    /// Step: adds, replaces or removes a policy.
    pub(in crate::comply) fn put_policy(&mut self, name: SmolStr, policy: Option<Box<Policy>>, place: Option<usize>) {
        let place = place.or_else(|| self.policy_places.get(&name).copied()).unwrap_or(self.policies.len());
        while self.policies.len() <= place {
            self.policies.push(None);
        }
        let Some(own) = self.policies.get_mut(place) else { return };
        let before = std::mem::replace(own, policy.map(|policy| *policy));
        match own {
            Some(_) => drop(self.policy_places.insert(name.clone(), place)),
            None => drop(self.policy_places.remove(&name)),
        }
        self.journal.push(Undo::Policy { name, policy: before.map(Box::new), place });
        let known = self.places_of(place);
        let kept = self.compile(place, &known);
        for number in 0..self.joints.len() {
            self.sign_again(number);
        }
        for gone in known.iter().filter(|known| !kept.contains(known)) {
            self.retire(*gone);
        }
        for place in kept {
            self.judge_rule(place);
        }
    }

    /// Where the rules of a policy stand.
    pub(in crate::comply) fn places_of(&self, policy: usize) -> Vec<RulePlace> {
        let joints = self.joints.iter().enumerate();
        let places = joints.flat_map(|(joint, own)| {
            let rules = own.rules().filter(|(_, _, rule)| rule.policy == policy && rule.is_in_force());
            rules.map(move |(plane, bit, _)| RulePlace { joint, plane, bit })
        });
        places.collect()
    }

    /// Takes a rule out; nothing violates it any more. It keeps its place until the change stands, so that what was violated
    /// before can still be told.
    pub(in crate::comply) fn retire(&mut self, RulePlace { joint, plane, bit }: RulePlace) {
        let Some(own) = self.joints.get(joint).and_then(|joint| joint.planes.get(plane)) else { return };
        let violating = own.words.iter().enumerate().filter(|(_, word)| **word >> bit & 1 == 1);
        let cleared: Vec<(Slot, u64)> =
            violating.map(|(place, word)| (slot(joint, place), word & !(1 << bit))).collect();
        for (slot, word) in cleared {
            self.set_word(slot, plane, word);
        }
        if let Some(own) = self.joints.get_mut(joint).and_then(|joint| joint.planes.get_mut(plane)) {
            own.retire(bit);
            self.retired = Retired::Some;
        }
    }

    /// Puts the rules of a policy in their places, those that they have if they have any, and says which these are; pairs
    /// are not held against them yet, and sides that look at a new tag are stale.
    pub(in crate::comply) fn compile(&mut self, place: usize, known: &[RulePlace]) -> Vec<RulePlace> {
        let Some(policy) = self.policies.get(place).and_then(Option::as_ref) else { return Vec::new() };
        let Some((pair, turned)) = self.profile.pair(policy.a, policy.b).filter(|_| policy.level != Level::Off) else {
            return Vec::new();
        };
        let (strategy, rules) = (policy.strategy, policy.rules.clone());
        let joint = usize::from(pair.0);
        let mut places = Vec::with_capacity(rules.len());
        for (rule, tags) in rules.iter().enumerate() {
            let keys = [self.symbols.intern(&tags.a), self.symbols.intern(&tags.b)];
            let [first, second] = keys;
            let keys = if turned == Turned::Yes { [second, first] } else { keys };
            let new = NewRule { policy: place, rule, turned, strategy, keys };
            let Some(own) = self.joints.get_mut(joint) else { continue };
            let same = |known: &&RulePlace| {
                known.joint == joint && own.rule(known.plane, known.bit).is_some_and(|known| known.rule == rule)
            };
            let old = known.iter().find(same).map(|known| (known.plane, known.bit));
            let (plane, bit) = own.add(new, old, &self.lists);
            places.push(RulePlace { joint, plane, bit });
        }
        places
    }

    /// Signs all objects of the sides that look at a new tag.
    pub(in crate::comply) fn sign_again(&mut self, number: usize) {
        for side in 0..2 {
            let stale = self.joints.get(number).and_then(|joint| joint.sides.get(side));
            if stale.is_none_or(|signatures| !signatures.is_stale()) {
                continue;
            }
            let Some(subject) = self.sides_of(number, side) else { continue };
            let Some(joint) = self.joints.get_mut(number) else { continue };
            joint.forget(side);
            let kinds = &self.profile.kinds;
            for (place, object) in self.objects.iter().enumerate() {
                if kinds.get(usize::from(object.kind.0)).is_some_and(|kind| kind.subject == subject) {
                    joint.sign(side, ObjectId::new(place), &self.lists, |key| object.values(key));
                }
            }
        }
    }
}
