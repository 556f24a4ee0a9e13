//! Up to 64 rules: for each signature a word a rule, for each pair one word with a bit a rule.

use rustc_hash::FxHashMap;
use upheld_model::{Sym, ValuesId};

use super::super::lists::{Lists, NO_VALUES};
use super::super::policy::Strategy;
use super::super::profile::Swapped;
use super::signatures::Signatures;
use crate::ask::EntryId;

/// The rules that one word has room for.
const ROOM: usize = 64;

/// Words that are compared at once.
const GROUP: usize = 8;

/// The bit of sides without values.
const EMPTY: u64 = 1 << 63;

/// Up to 64 rules and what each pair violates of them.
#[derive(Clone, Debug, Default)]
pub(in crate::comply) struct RuleBits {
    rules: Vec<Option<RuleSlot>>,
    /// By pair: a bit for each rule that it violates.
    pub(in crate::comply) words: Vec<u64>,
    /// By side, the words of all signatures, row by row; equal ranges of two rows are compared at once.
    rows: [Vec<u64>; 2],
    /// How many words a row has.
    width: usize,
    /// The rules that are in force.
    force: u64,
    /// The rules that want something in common; the others want nothing too much.
    intersections: u64,
    /// The rules that know more values than bits.
    doubtful: u64,
}

/// A rule at its place.
#[derive(Clone, Debug)]
pub(in crate::comply) struct RuleSlot {
    pub(in crate::comply) entry: EntryId,
    pub(in crate::comply) swapped: Swapped,
    pub(in crate::comply) strategy: Strategy,
    /// The places of its tags among those that its sides look at.
    columns: [usize; 2],
    bits: Bits,
    force: Force,
}

/// Whether a rule is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Force {
    Yes,
    /// Its policy is gone; the place is kept until the change stands.
    Retired,
}

/// Which bit stands for which value of a rule: the first values have bits of their own, all others share some.
#[derive(Clone, Debug, Default)]
struct Bits {
    known: FxHashMap<Sym, u8>,
}

/// How many values have bits of their own.
const OWN: usize = 48;

/// The bits that stand for one value only, or for none.
const OWN_BITS: u64 = EMPTY | ((1 << OWN) - 1);

impl Bits {
    fn word(&mut self, values: &[Sym]) -> u64 {
        if values.is_empty() {
            return EMPTY;
        }
        values.iter().fold(0, |word, value| {
            let count = self.known.len();
            let next = if count < 63 { count } else { OWN + (count - OWN) % (63 - OWN) };
            let bit = *self.known.entry(*value).or_insert_with(|| u8::try_from(next).unwrap_or(0));
            word | 1 << bit
        })
    }

    /// Whether a bit can stand for several values.
    fn are_shared(&self) -> bool {
        self.known.len() > 63
    }
}

impl RuleSlot {
    pub(super) fn new(entry: EntryId, swapped: Swapped, strategy: Strategy, columns: [usize; 2]) -> Self {
        Self { entry, swapped, strategy, columns, bits: Bits::default(), force: Force::Yes }
    }

    /// Whether it is looked at.
    pub(in crate::comply) fn is_in_force(&self) -> bool {
        self.force == Force::Yes
    }

    /// Whether it looks at one of these tags of a side.
    fn looks_at(&self, side: usize, columns: &[usize]) -> bool {
        self.columns.get(side).is_some_and(|own| columns.contains(own))
    }

    /// The values that it looks at on a side.
    pub(super) fn value(&self, side: usize, signatures: &Signatures, signature: u32) -> ValuesId {
        self.columns.get(side).map_or(NO_VALUES, |column| signatures.value(signature, *column))
    }

    /// The word of a signature: two words have a bit in common exactly if an intersection holds, or a subset does not.
    fn word(&mut self, side: usize, row: &[ValuesId], lists: &Lists) -> u64 {
        let list = self.columns.get(side).and_then(|column| row.get(*column)).copied().unwrap_or(NO_VALUES);
        let word = self.bits.word(lists.get(list));
        // What the first side of the policy does not have is too much, wherever it stands in the pair.
        let authority = usize::from(self.swapped == Swapped::Yes);
        if self.strategy == Strategy::Subset && side == authority { !word } else { word }
    }

    /// Whether it holds by the values themselves, where words cannot tell.
    fn holds(&self, sides: &[Signatures; 2], a: u32, b: u32, lists: &Lists) -> bool {
        let [left, right] = sides;
        let values = self.swapped.turn([self.value(0, left, a), self.value(1, right, b)]);
        lists.hold(self.strategy, values)
    }
}

impl RuleBits {
    pub(super) fn new(pairs: usize) -> Self {
        Self { words: vec![0; pairs], ..Self::default() }
    }

    /// A rule at its place.
    pub(in crate::comply) fn rule(&self, bit: usize) -> Option<&RuleSlot> {
        self.rules.get(bit)?.as_ref()
    }

    /// The rules that are in force.
    pub(in crate::comply) fn in_force(&self) -> u64 {
        self.force
    }

    /// All rules with their places.
    pub(super) fn rules(&self) -> impl Iterator<Item = (usize, &RuleSlot)> {
        self.rules.iter().enumerate().filter_map(|(bit, rule)| rule.as_ref().map(|rule| (bit, rule)))
    }

    /// A place for a rule, if there is one.
    pub(super) fn free_bit(&self) -> Option<usize> {
        let hole = self.rules.iter().position(Option::is_none);
        hole.or_else(|| (self.rules.len() < ROOM).then_some(self.rules.len()))
    }

    /// Puts a rule in its place and lets it learn all signatures.
    pub(super) fn put(&mut self, bit: usize, rule: RuleSlot, sides: &[Signatures; 2], lists: &Lists) {
        while self.rules.len() <= bit {
            self.rules.push(None);
        }
        self.widen(sides);
        let flag = 1 << bit;
        self.force |= flag;
        match rule.strategy {
            Strategy::Intersection => self.intersections |= flag,
            Strategy::Subset => self.intersections &= !flag,
        }
        let Some(place) = self.rules.get_mut(bit) else { return };
        let rule = place.insert(rule);
        for ((side, signatures), rows) in sides.iter().enumerate().zip(&mut self.rows) {
            for (own, row) in rows.chunks_exact_mut(self.width).zip(signatures.rows()) {
                if let Some(word) = own.get_mut(bit) {
                    *word = rule.word(side, row, lists);
                }
            }
        }
        self.doubtful = if rule.bits.are_shared() { self.doubtful | flag } else { self.doubtful & !flag };
    }

    /// Makes room in the rows for all rules, and for some more.
    fn widen(&mut self, sides: &[Signatures; 2]) {
        if self.rules.len() <= self.width {
            return;
        }
        let width = self.rules.len().next_multiple_of(GROUP);
        for (rows, signatures) in self.rows.iter_mut().zip(sides) {
            let mut wider = vec![0; signatures.len() * width];
            let narrow = rows.chunks_exact(self.width.max(1));
            for (new, old) in wider.chunks_exact_mut(width).zip(narrow) {
                for (new, old) in new.iter_mut().zip(old) {
                    *new = *old;
                }
            }
            *rows = wider;
        }
        self.width = width;
    }

    /// Learns the next signature of a side.
    pub(super) fn learn(&mut self, side: usize, row: &[ValuesId], lists: &Lists) {
        let Some(rows) = self.rows.get_mut(side) else { return };
        let start = rows.len();
        rows.resize(start + self.width, 0);
        let Some(own) = rows.get_mut(start..) else { return };
        for (bit, (rule, word)) in self.rules.iter_mut().zip(own).enumerate() {
            if let Some(rule) = rule {
                *word = rule.word(side, row, lists);
                if rule.bits.are_shared() {
                    self.doubtful |= 1 << bit;
                }
            }
        }
    }

    /// Learns the next signature of a side, which differs from another one only in some tags.
    pub(super) fn learn_like(&mut self, side: usize, like: u32, row: &[ValuesId], columns: &[usize], lists: &Lists) {
        let Some(rows) = self.rows.get_mut(side) else { return };
        let start = self.width.saturating_mul(like as usize);
        if rows.get(start..start.saturating_add(self.width)).is_none() {
            return self.learn(side, row, lists);
        }
        rows.extend_from_within(start..start.saturating_add(self.width));
        let next = rows.len() - self.width;
        let Some(own) = rows.get_mut(next..) else { return };
        for (bit, (rule, word)) in self.rules.iter_mut().zip(own).enumerate() {
            if let Some(rule) = rule.as_mut().filter(|rule| rule.looks_at(side, columns)) {
                *word = rule.word(side, row, lists);
                if rule.bits.are_shared() {
                    self.doubtful |= 1 << bit;
                }
            }
        }
    }

    /// The rules that look at some tags of a side.
    pub(in crate::comply) fn looking_at(&self, side: usize, columns: &[usize]) -> u64 {
        let rules = self.rules().filter(|(_, rule)| rule.is_in_force() && rule.looks_at(side, columns));
        rules.fold(0, |word, (bit, _)| word | 1 << bit)
    }

    /// Whether two signatures violate a rule.
    pub(super) fn is_violated(&self, bit: usize, sides: &[Signatures; 2], a: u32, b: u32, lists: &Lists) -> bool {
        let [left, right] = self.words_of(bit, a, b);
        self.violates(bit, left, right).or_else(|| self.holds_by_values(bit, sides, a, b, lists))
    }

    /// Forgets the signatures of a side.
    pub(super) fn forget(&mut self, side: usize) {
        if let Some(rows) = self.rows.get_mut(side) {
            rows.clear();
        }
    }

    /// Takes a rule out of force.
    pub(in crate::comply) fn retire(&mut self, bit: usize) {
        if let Some(Some(rule)) = self.rules.get_mut(bit) {
            rule.force = Force::Retired;
            self.force &= !(1 << bit);
        }
    }

    /// Gives back the places of rules that are out of force.
    pub(super) fn drop_retired(&mut self) {
        for rule in &mut self.rules {
            if rule.as_ref().is_some_and(|rule| rule.force == Force::Retired) {
                *rule = None;
            }
        }
    }

    /// What two signatures violate.
    #[inline]
    pub(super) fn verdict(&self, sides: &[Signatures; 2], a: u32, b: u32, lists: &Lists) -> u64 {
        let [left, right] = &self.rows;
        // A row is made of whole groups, which the machine compares without asking how long they are.
        let (left, _) = row(left, self.width, a).as_chunks::<GROUP>();
        let (right, _) = row(right, self.width, b).as_chunks::<GROUP>();
        let (mut meet, mut shift) = (0, 0_u32);
        for (left, right) in left.iter().zip(right) {
            let mut group = 0;
            for (bit, (left, right)) in left.iter().zip(right).enumerate() {
                group |= u64::from(left & right != 0) << bit;
            }
            meet |= group << shift;
            shift += 8;
        }
        let violated = (meet ^ self.intersections) & self.force;
        if self.doubtful & !violated == 0 { violated } else { self.without_doubt(violated, sides, a, b, lists) }
    }

    /// Looks at the values of rules that know more of them than bits.
    fn without_doubt(&self, mut violated: u64, sides: &[Signatures; 2], a: u32, b: u32, lists: &Lists) -> u64 {
        let mut doubts = self.doubtful & self.force & !violated;
        while doubts != 0 {
            let bit = doubts.trailing_zeros() as usize;
            doubts &= doubts - 1;
            let [left, right] = self.words_of(bit, a, b);
            if self.is_settled(bit, left, right) {
                continue;
            }
            if self.rule(bit).is_some_and(|rule| !rule.holds(sides, a, b, lists)) {
                violated |= 1 << bit;
            }
        }
        violated
    }

    fn words_of(&self, bit: usize, a: u32, b: u32) -> [u64; 2] {
        let [left, right] = &self.rows;
        let word = |rows: &[u64], signature| row(rows, self.width, signature).get(bit).copied().unwrap_or(0);
        [word(left, a), word(right, b)]
    }

    /// Whether a rule that words do not exclude holds for certain: a value of its own is common, or no value is too much
    /// that could hide behind another.
    #[inline]
    fn is_settled(&self, bit: usize, left: u64, right: u64) -> bool {
        if self.intersections >> bit & 1 == 1 {
            return left & right & OWN_BITS != 0;
        }
        // The word of the side that has the say is turned round, so the other is the one with few bits.
        let affected = self.rule(bit).map_or(right, |rule| if rule.swapped == Swapped::Yes { left } else { right });
        affected & !OWN_BITS == 0
    }

    /// The words of one rule for all signatures of a side.
    pub(super) fn column(&self, side: usize, bit: usize) -> Vec<u64> {
        let rows = self.rows.get(side).map_or(&[][..], Vec::as_slice);
        rows.chunks_exact(self.width.max(1)).map(|row| row.get(bit).copied().unwrap_or(0)).collect()
    }

    /// Whether a rule is violated, given what [`Self::column`] says of two signatures.
    #[inline]
    pub(super) fn violates(&self, bit: usize, left: u64, right: u64) -> Certain {
        let meet = left & right != 0;
        match (meet == (self.intersections >> bit & 1 == 0), self.doubtful >> bit & 1) {
            (true, _) => Certain::Violated,
            (false, 0) => Certain::Holds,
            (false, _) if self.is_settled(bit, left, right) => Certain::Holds,
            (false, _) => Certain::AskValues,
        }
    }

    /// Whether a rule holds by the values themselves.
    pub(super) fn holds_by_values(&self, bit: usize, sides: &[Signatures; 2], a: u32, b: u32, lists: &Lists) -> bool {
        self.rule(bit).is_some_and(|rule| rule.holds(sides, a, b, lists))
    }
}

/// What words can tell of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Certain {
    Violated,
    Holds,
    /// The values have to be looked at.
    AskValues,
}

impl Certain {
    /// Whether it is violated; the values are asked whether it holds only where words cannot tell.
    pub(super) fn or_else(self, holds: impl FnOnce() -> bool) -> bool {
        match self {
            Self::Violated => true,
            Self::Holds => false,
            Self::AskValues => !holds(),
        }
    }
}

#[inline]
fn row(rows: &[u64], width: usize, signature: u32) -> &[u64] {
    let start = width.saturating_mul(signature as usize);
    rows.get(start..start.saturating_add(width)).unwrap_or(&[])
}
