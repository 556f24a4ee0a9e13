//! All pairs of two subjects, the rules about them, and which rules each pair violates.
//!
//! Objects with the same values in the tags that rules look at, for which the same policies count, share a signature, so a rule is held against signatures,
//! and each signature has for each rule one word: a bit for each value, and one for having none. Two sides have a value
//! in common if their words do; where a rule knows more values than bits, words only exclude, and the values themselves
//! decide. What a pair violates is one word for 64 rules.

mod rule_bits;
mod signatures;
mod sweep;

use std::sync::Arc;

use upheld_model::{Pages, Sym, ValuesId};

pub(super) use self::rule_bits::{RuleBits, RuleSlot};
use self::signatures::Signatures;
use super::policy::Strategy;
use super::profile::Swapped;
use super::selection::{Column, Columns, Picks};
use super::value_lists::ValueLists;
use super::{ObjectId, Pair, PairKind};
use crate::ask::EntryId;

/// A pair of objects, made by one or more relationships.
#[derive(Clone, Copy, Debug)]
pub(super) struct PairRow {
    pub(super) a: ObjectId,
    pub(super) b: ObjectId,
    /// Where it lives.
    pub(super) scope: Option<ObjectId>,
    /// How many relationships make it; none is a free place.
    pub(super) count: u32,
}

impl PairRow {
    /// As those outside call it.
    pub(super) fn pair(&self, kind: PairKind) -> Pair {
        let Self { a, b, scope, count: _ } = *self;
        Pair { kind, a, b, scope }
    }
}

/// All pairs of two subjects.
#[derive(Clone, Debug)]
pub(super) struct PairTable {
    pub(super) sides: [Signatures; 2],
    pub(super) rows: Pages<PairRow, 1024>,
    pub(super) bits: Vec<RuleBits>,
    /// Where each pair stands in the list of its scope; `u32::MAX` for those that comply.
    pub(super) listed: Pages<u32, 1024>,
    pub(super) free: Pages<u32>,
}

/// A rule to be added; what belongs to its sides stands in the order of the pair.
#[derive(Clone, Debug)]
pub(super) struct NewRule {
    pub(super) entry: EntryId,
    pub(super) swapped: Swapped,
    pub(super) strategy: Strategy,
    pub(super) compared: [Compared<Sym>; 2],
    /// The objects that its policy is cut to.
    pub(super) only: [Option<Arc<Picks>>; 2],
}

/// What changed of an object.
#[derive(Clone, Copy, Debug)]
pub(super) enum Changed<'c> {
    /// The values of these tags.
    Tags(&'c [Sym]),
    /// Where it lives.
    Scope,
}

/// What a rule looks at on a side.
#[derive(Clone, Copy, Debug)]
pub(super) enum Compared<T> {
    /// A tag of the object.
    Tag(T),
    /// Values of the policy, whatever the object is.
    Values(ValuesId),
}

impl PairTable {
    pub(super) fn new() -> Self {
        Self::of([Signatures::default(), Signatures::default()])
    }

    /// For objects with themselves: on the second side rules look at nothing of them.
    pub(super) fn alone() -> Self {
        Self::of([Signatures::default(), Signatures::unsigned()])
    }

    fn of(sides: [Signatures; 2]) -> Self {
        Self { sides, rows: Pages::default(), bits: Vec::new(), listed: Pages::default(), free: Pages::default() }
    }

    /// A place for a pair.
    pub(super) fn place(&mut self, row: PairRow) -> u32 {
        if let Some(free) = self.free.pop() {
            if let Some(place) = self.rows.get_mut(free as usize) {
                *place = row;
            }
            return free;
        }
        let place = u32::try_from(self.rows.len()).unwrap_or(u32::MAX);
        self.rows.push(row);
        self.listed.push(u32::MAX);
        for bits in &mut self.bits {
            bits.words.push(0);
        }
        place
    }

    /// Gives an object its signature.
    pub(super) fn sign(&mut self, side: usize, object: ObjectId, described: Columns<'_>) {
        let Some(signatures) = self.sides.get_mut(side) else { return };
        if let Some(row) = signatures.sign(object, |column| described.read(object, column)) {
            for bits in &mut self.bits {
                bits.learn(side, &row, described.lists);
            }
        }
    }

    /// Gives an object of which something changed its signature; says which columns look at that.
    pub(super) fn sign_changed(
        &mut self,
        side: usize,
        object: ObjectId,
        changed: Changed<'_>,
        described: Columns<'_>,
    ) -> Vec<usize> {
        let Some(signatures) = self.sides.get_mut(side) else { return Vec::new() };
        let before = signatures.of(object);
        let columns = match changed {
            Changed::Tags(keys) => signatures.columns(keys),
            Changed::Scope => signatures.scope_columns(),
        };
        if columns.is_empty() {
            return columns;
        }
        if let Some(row) = signatures.sign(object, |column| described.read(object, column)) {
            for bits in &mut self.bits {
                bits.learn_like(side, before, &row, &columns, described.lists);
            }
        }
        columns
    }

    /// Forgets the signatures of a side; all its objects have to be signed again.
    pub(super) fn forget(&mut self, side: usize) {
        if let Some(signatures) = self.sides.get_mut(side) {
            signatures.forget();
        }
        for bits in &mut self.bits {
            bits.forget(side);
        }
    }

    /// Adds a rule, or puts it in the place that it had; the pairs are not held against it yet. A side whose tag nobody
    /// looked at before is stale then.
    pub(super) fn add(&mut self, new: NewRule, place: Option<(usize, usize)>, lists: &ValueLists) -> (usize, usize) {
        let NewRule { entry, swapped, strategy, compared, only } = new;
        let [left, right] = &mut self.sides;
        let ([first, second], [left_only, right_only]) = (compared, only);
        let compared = [compared_column(left, first), compared_column(right, second)];
        let picked =
            |side: &mut Signatures, only: Option<Arc<Picks>>| only.map(|picks| side.column(Column::Selected(picks)));
        let only = [picked(left, left_only), picked(right, right_only)];
        let (word, bit) = place.unwrap_or_else(|| self.free_place());
        if self.bits.len() <= word {
            self.bits.push(RuleBits::new(self.rows.len()));
        }
        if let Some(bits) = self.bits.get_mut(word) {
            bits.put(bit, RuleSlot::new(entry, swapped, strategy, compared).cut_to(only), &self.sides, lists);
        }
        (word, bit)
    }

    fn free_place(&self) -> (usize, usize) {
        let free = |(word, bits): (usize, &RuleBits)| bits.free_bit().map(|bit| (word, bit));
        self.bits.iter().enumerate().find_map(free).unwrap_or((self.bits.len(), 0))
    }

    /// Whether the policy of a rule counts for a pair of objects.
    pub(super) fn applies(&self, rule: &RuleSlot, (a, b): (u32, u32)) -> bool {
        rule.applies(&self.sides, a, b)
    }

    /// All rules that are in force.
    pub(super) fn rules(&self) -> impl Iterator<Item = &RuleSlot> {
        self.bits.iter().flat_map(RuleBits::rules).map(|(_, rule)| rule).filter(|rule| rule.is_in_force())
    }

    /// Gives back the places of rules that are out of force.
    pub(super) fn drop_retired(&mut self) {
        self.bits.iter_mut().for_each(RuleBits::drop_retired);
    }

    /// A rule at its place, also if it is out of force.
    pub(super) fn rule(&self, word: usize, bit: usize) -> Option<&RuleSlot> {
        self.bits.get(word)?.rule(bit)
    }

    /// What a pair of objects violates, whether or not there is such a pair.
    #[inline]
    pub(super) fn verdict(&self, bits: &RuleBits, (a, b): (u32, u32), lists: &ValueLists) -> u64 {
        bits.verdict(&self.sides, a, b, lists)
    }

    /// Whether two signatures violate a rule.
    pub(super) fn is_violated(&self, bits: &RuleBits, bit: usize, (a, b): (u32, u32), lists: &ValueLists) -> bool {
        bits.is_violated(bit, &self.sides, a, b, lists)
    }

    /// The signatures of two objects.
    #[inline]
    pub(super) fn signatures_of(&self, a: ObjectId, b: ObjectId) -> (u32, u32) {
        let [left, right] = &self.sides;
        (left.of(a), right.of(b))
    }

    /// How many pages are not those of another table.
    pub(super) fn unshared(&self, other: &Self) -> usize {
        let Self { sides, rows, bits, listed, free } = self;
        let sides: usize = sides.iter().zip(&other.sides).map(|(own, other)| own.unshared(other)).sum();
        let bits: usize = bits.iter().zip(&other.bits).map(|(own, other)| own.unshared(other)).sum();
        sides + rows.unshared(&other.rows) + bits + listed.unshared(&other.listed) + free.unshared(&other.free)
    }

    /// The values that a rule looks at on both sides, in the order of its policy.
    pub(super) fn values(&self, rule: &RuleSlot, (a, b): (u32, u32)) -> [ValuesId; 2] {
        let [left, right] = &self.sides;
        let values = [rule.value(0, left, a), rule.value(1, right, b)];
        rule.swapped.turn(values)
    }
}

fn compared_column(side: &mut Signatures, compared: Compared<Sym>) -> Compared<usize> {
    match compared {
        Compared::Tag(key) => Compared::Tag(side.column(Column::Tag(key))),
        Compared::Values(values) => Compared::Values(values),
    }
}
