//! What each pair violates, and the list of those that violate anything, kept true.

use std::sync::Arc;

use super::super::facts::{NeighbourPair, ObjectId, Pair, Slot};
use super::super::listing::slot;
use super::super::pairs::{Changed, PairTable};
use super::super::policies::RulePlace;
use super::super::selection::Columns;
use super::super::{Comply, PairKind};
use super::Touch;

impl Comply {
    /// All pairs of two subjects.
    pub(in crate::comply) fn table(&self, kind: PairKind) -> Option<&PairTable> {
        self.tables.get(usize::from(kind.0))
    }

    /// The pair at a place.
    pub(in crate::comply) fn pair_at(&self, slot: Slot) -> Option<Pair> {
        Some(self.table(slot.table)?.rows.get(slot.place as usize)?.pair(slot.table))
    }

    /// What a pair violates of the rules of a word.
    pub(in crate::comply) fn word(&self, slot: Slot, word: usize) -> u64 {
        let bits = self.table(slot.table).and_then(|table| table.bits.get(word));
        bits.and_then(|bits| bits.words.get(slot.place as usize)).copied().unwrap_or(0)
    }

    /// Writes down what a pair violates.
    pub(super) fn set_word(&mut self, slot: Slot, word: usize, rules: u64) {
        let Some(table) = self.tables.get_mut(usize::from(slot.table.0)) else { return };
        let Some(own) = table.bits.get_mut(word) else { return };
        let before = own.words.get(slot.place as usize).copied().unwrap_or(rules);
        if before == rules {
            return;
        }
        if let Some(known) = own.words.get_mut(slot.place as usize) {
            *known = rules;
        }
        self.touched.push(Touch { slot, word, before });
        let violates = table.bits.iter().any(|bits| bits.words.get(slot.place as usize).is_some_and(|w| *w != 0));
        let listed = table.listed.get(slot.place as usize).is_some_and(|place| *place != u32::MAX);
        let scope = table.rows.get(slot.place as usize).and_then(|row| row.scope);
        match (listed, violates) {
            (false, true) => self.enlist(slot, scope),
            (true, false) => self.delist(slot, scope),
            _ => {}
        }
    }

    fn enlist(&mut self, slot: Slot, scope: Option<ObjectId>) {
        let number = ObjectId::list(scope);
        self.violating.reach(number + 1, Arc::default);
        let Some(list) = self.violating.get_mut(number).map(Arc::make_mut) else { return };
        let place = u32::try_from(list.len()).unwrap_or(u32::MAX);
        list.push(slot);
        self.list_at(slot, place);
    }

    fn delist(&mut self, slot: Slot, scope: Option<ObjectId>) {
        let table = self.table(slot.table);
        let Some(place) = table.and_then(|table| table.listed.get(slot.place as usize)).copied() else { return };
        let Some(list) = self.violating.get_mut(ObjectId::list(scope)).map(Arc::make_mut) else { return };
        if (place as usize) < list.len() {
            list.swap_remove(place as usize);
        }
        let moved = list.get(place as usize).copied();
        self.list_at(slot, u32::MAX);
        if let Some(moved) = moved {
            self.list_at(moved, place);
        }
    }

    fn list_at(&mut self, slot: Slot, place: u32) {
        let table = self.tables.get_mut(usize::from(slot.table.0));
        if let Some(own) = table.and_then(|table| table.listed.get_mut(slot.place as usize)) {
            *own = place;
        }
    }

    /// Holds every pair against every rule, from scratch.
    pub(in crate::comply) fn sweep_all(&mut self) {
        for kind in self.pair_kinds() {
            let Some(table) = self.table(kind) else { continue };
            let mut violating: Vec<(usize, usize, u64)> = Vec::new();
            for (word, bits) in table.bits.iter().enumerate() {
                table.sweep(bits, &self.lists, |place, rules| violating.push((word, place, rules)));
            }
            for (word, place, rules) in violating {
                self.set_word(slot(kind, place), word, rules);
            }
        }
    }

    pub(super) fn judge_pair(&mut self, slot: Slot) {
        let Some(table) = self.table(slot.table) else { return };
        let Some(row) = table.rows.get(slot.place as usize).copied() else { return };
        for word in 0..table.bits.len() {
            let Some(table) = self.table(slot.table) else { return };
            let Some(bits) = table.bits.get(word) else { return };
            let signatures = table.signatures_of(row.a, row.b);
            let rules = if row.count == 0 { 0 } else { table.verdict(bits, signatures, &self.lists) };
            self.set_word(slot, word, rules);
        }
    }

    /// Signs an object of which something changed, and holds its pairs against the rules that look at that.
    pub(super) fn judge_changed(&mut self, object: ObjectId, changed: Changed<'_>) {
        let Some(subject) = self.subject_of(object) else { return };
        for kind in self.pair_kinds() {
            for side in 0..2 {
                if self.side_of(kind, side) == Some(subject) {
                    self.judge_side(kind, side, object, changed);
                }
            }
        }
    }

    fn judge_side(&mut self, kind: PairKind, side: usize, object: ObjectId, changed: Changed<'_>) {
        let Some(table) = self.tables.get_mut(usize::from(kind.0)) else { return };
        let described = Columns { objects: &self.objects, profile: &self.profile, lists: &self.lists };
        let columns = table.sign_changed(side, object, changed, described);
        if columns.is_empty() {
            return;
        }
        let here = |near: &&NeighbourPair| near.table == kind && usize::from(near.side) == side;
        let near = self.near.get(object.index()).map_or(&[][..], |near| &near.pairs);
        let around: Vec<NeighbourPair> = near.iter().filter(here).copied().collect();
        let mut changed: Vec<(usize, u32, u64)> = Vec::new();
        for (word, bits) in table.bits.iter().enumerate() {
            let rules = bits.looking_at(side, &columns);
            if rules == 0 {
                continue;
            }
            table.sweep_around(bits, rules, object, &around, &self.lists, |place, violated| {
                let before = bits.words.get(place as usize).copied().unwrap_or(0);
                if before & rules != violated {
                    changed.push((word, place, before & !rules | violated));
                }
            });
        }
        for (word, place, rules) in changed {
            self.set_word(Slot { table: kind, place }, word, rules);
        }
    }

    /// Holds every pair against a rule.
    pub(super) fn judge_rule(&mut self, RulePlace { table: kind, word, bit }: RulePlace) {
        let Some(table) = self.table(kind) else { return };
        let Some(bits) = table.bits.get(word) else { return };
        let mut changed: Vec<(Slot, u64)> = Vec::new();
        table.sweep_rule(bits, bit, &self.lists, |place, violated| {
            let before = bits.words.get(place).copied().unwrap_or(0);
            if (before >> bit & 1 == 1) != violated {
                changed.push((slot(kind, place), before ^ 1 << bit));
            }
        });
        for (slot, rules) in changed {
            self.set_word(slot, word, rules);
        }
    }
}
