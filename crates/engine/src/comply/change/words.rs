//! What each pair violates, and the list of those that violate anything, kept true.

use upheld_model::Sym;

use super::super::Comply;
use super::super::facts::{NearPair, ObjectId, Slot};
use super::super::listing::slot;
use super::{RulePlace, Touch};

impl Comply {
    pub(in crate::comply) fn word(&self, slot: Slot, plane: usize) -> u64 {
        let plane = self.joints.get(usize::from(slot.joint)).and_then(|joint| joint.planes.get(plane));
        plane.and_then(|plane| plane.words.get(slot.place as usize)).copied().unwrap_or(0)
    }

    /// Writes down what a pair violates.
    pub(in crate::comply) fn set_word(&mut self, slot: Slot, plane: usize, word: u64) {
        let Some(joint) = self.joints.get_mut(usize::from(slot.joint)) else { return };
        let Some(own) = joint.planes.get_mut(plane) else { return };
        let Some(known) = own.words.get_mut(slot.place as usize) else { return };
        if *known == word {
            return;
        }
        let before = std::mem::replace(known, word);
        self.touched.push(Touch { slot, plane, before });
        let violates = joint.planes.iter().any(|plane| plane.words.get(slot.place as usize).is_some_and(|w| *w != 0));
        let listed = joint.listed.get(slot.place as usize).is_some_and(|place| *place != u32::MAX);
        let scope = joint.pairs.get(slot.place as usize).map_or(ObjectId::NONE, |pair| pair.scope);
        match (listed, violates) {
            (false, true) => self.enlist(slot, scope),
            (true, false) => self.delist(slot, scope),
            _ => {}
        }
    }

    pub(in crate::comply) fn enlist(&mut self, slot: Slot, scope: ObjectId) {
        let number = scope.list();
        if self.violating.len() <= number {
            self.violating.resize_with(number + 1, Vec::new);
        }
        let Some(list) = self.violating.get_mut(number) else { return };
        let place = u32::try_from(list.len()).unwrap_or(u32::MAX);
        list.push(slot);
        self.list_at(slot, place);
    }

    pub(in crate::comply) fn delist(&mut self, slot: Slot, scope: ObjectId) {
        let joint = self.joints.get(usize::from(slot.joint));
        let Some(place) = joint.and_then(|joint| joint.listed.get(slot.place as usize)).copied() else { return };
        let Some(list) = self.violating.get_mut(scope.list()) else { return };
        if (place as usize) < list.len() {
            list.swap_remove(place as usize);
        }
        let moved = list.get(place as usize).copied();
        self.list_at(slot, u32::MAX);
        if let Some(moved) = moved {
            self.list_at(moved, place);
        }
    }

    pub(in crate::comply) fn list_at(&mut self, slot: Slot, place: u32) {
        let joint = self.joints.get_mut(usize::from(slot.joint));
        if let Some(own) = joint.and_then(|joint| joint.listed.get_mut(slot.place as usize)) {
            *own = place;
        }
    }

    /// Holds every pair against every rule, from scratch.
    pub(in crate::comply) fn sweep_all(&mut self) {
        for number in 0..self.joints.len() {
            let Some(joint) = self.joints.get(number) else { continue };
            let mut violating: Vec<(usize, usize, u64)> = Vec::new();
            for (plane, own) in joint.planes.iter().enumerate() {
                joint.sweep(own, &self.lists, |place, word| violating.push((plane, place, word)));
            }
            for (plane, place, word) in violating {
                self.set_word(slot(number, place), plane, word);
            }
        }
    }

    pub(in crate::comply) fn judge_pair(&mut self, slot: Slot) {
        let Some(joint) = self.joints.get(usize::from(slot.joint)) else { return };
        let Some(pair) = joint.pairs.get(slot.place as usize).copied() else { return };
        for plane in 0..joint.planes.len() {
            let Some(joint) = self.joints.get(usize::from(slot.joint)) else { return };
            let Some(own) = joint.planes.get(plane) else { return };
            let word = if pair.count == 0 { 0 } else { joint.verdict(own, pair.a, pair.b, &self.lists) };
            self.set_word(slot, plane, word);
        }
    }

    /// Signs an object whose values of some tags changed, and holds its pairs against the rules that look at them.
    pub(in crate::comply) fn judge_changed(&mut self, number: usize, side: usize, object: ObjectId, keys: &[Sym]) {
        let (Some(own), Some(joint)) = (self.objects.get(object.index()), self.joints.get_mut(number)) else { return };
        let columns = joint.sign_changed(side, object, keys, &self.lists, |key| own.values(key));
        let here = |near: &&NearPair| usize::from(near.joint) == number && usize::from(near.side) == side;
        let around: Vec<NearPair> = own.pairs.iter().filter(here).copied().collect();
        let mut changed: Vec<(usize, u32, u64)> = Vec::new();
        for (plane, words) in joint.planes.iter().enumerate() {
            let rules = words.looking_at(side, &columns);
            if rules == 0 {
                continue;
            }
            joint.sweep_around(words, rules, object, &around, &self.lists, |place, violated| {
                let before = words.words.get(place as usize).copied().unwrap_or(0);
                if before & rules != violated {
                    changed.push((plane, place, before & !rules | violated));
                }
            });
        }
        let joint = u8::try_from(number).unwrap_or(u8::MAX);
        for (plane, place, word) in changed {
            self.set_word(Slot { joint, place }, plane, word);
        }
    }

    /// Holds every pair against a rule.
    pub(in crate::comply) fn judge_rule(&mut self, RulePlace { joint, plane, bit }: RulePlace) {
        let Some(own) = self.joints.get(joint) else { return };
        let Some(rules) = own.planes.get(plane) else { return };
        let mut changed: Vec<(Slot, u64)> = Vec::new();
        own.sweep_rule(rules, bit, &self.lists, |place, violated| {
            let before = rules.words.get(place).copied().unwrap_or(0);
            if (before >> bit & 1 == 1) != violated {
                changed.push((slot(joint, place), before ^ 1 << bit));
            }
        });
        for (slot, word) in changed {
            self.set_word(slot, plane, word);
        }
    }
}
