//! Up to 64 rules: for each signature a word a rule, for each pair one word with a bit a rule.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use upheld_model::{Pages, Sym, ValuesId};

use super::super::listing::ones;
use super::super::policy::Strategy;
use super::super::profile::Swapped;
use super::super::value_lists::{NO_VALUES, ValueLists};
use super::Compared;
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
    rules: Vec<Option<Arc<RuleSlot>>>,
    /// By pair: a bit for each rule that it violates.
    pub(in crate::comply) words: Pages<u64, 1024>,
    /// By side and signature, a word for each rule; equal ranges of two rows are compared at once.
    rows: [Pages<Arc<[u64]>>; 2],
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
    /// What it looks at on both sides; tags by their columns.
    compared: [Compared<usize>; 2],
    /// The columns that say whether its policy counts for an object.
    only: [Option<usize>; 2],
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
    /// The word of values; nothing if some have no bit yet.
    fn known(&self, values: &[Sym]) -> Option<u64> {
        if values.is_empty() {
            return Some(EMPTY);
        }
        values.iter().try_fold(0, |word, value| Some(word | 1 << self.known.get(value)?))
    }

    /// Gives bits to all values that have none.
    fn learn(&mut self, values: &[Sym]) {
        for value in values {
            let count = self.known.len();
            let next = if count < 63 { count } else { OWN + (count - OWN) % (63 - OWN) };
            self.known.entry(*value).or_insert_with(|| u8::try_from(next).unwrap_or(0));
        }
    }

    /// Whether a bit can stand for several values.
    fn are_shared(&self) -> bool {
        self.known.len() > 63
    }
}

impl RuleSlot {
    pub(super) fn new(entry: EntryId, swapped: Swapped, strategy: Strategy, compared: [Compared<usize>; 2]) -> Self {
        Self { entry, swapped, strategy, compared, only: [None; 2], bits: Bits::default(), force: Force::Yes }
    }

    /// Cut to the objects that columns say.
    pub(super) fn cut_to(self, only: [Option<usize>; 2]) -> Self {
        Self { only, ..self }
    }

    /// The column that says whether its policy counts for an object of a side.
    pub(in crate::comply) fn only(&self, side: usize) -> Option<usize> {
        *self.only.get(side)?
    }

    /// Whether its policy counts for two signatures.
    pub(super) fn applies(&self, sides: &[Signatures; 2], a: u32, b: u32) -> bool {
        let both = self.only.iter().zip(sides).zip([a, b]);
        both.into_iter().all(|((only, side), signature)| only.is_none_or(|own| side.value(signature, own) != NO_VALUES))
    }

    /// Whether it is looked at.
    pub(in crate::comply) fn is_in_force(&self) -> bool {
        self.force == Force::Yes
    }

    /// Whether it looks at one of these columns of a side.
    fn looks_at(&self, side: usize, columns: &[usize]) -> bool {
        let compared = matches!(self.compared.get(side), Some(Compared::Tag(own)) if columns.contains(own));
        compared || self.only(side).is_some_and(|own| columns.contains(&own))
    }

    /// The values that it looks at on a side.
    pub(super) fn value(&self, side: usize, signatures: &Signatures, signature: u32) -> ValuesId {
        match self.compared.get(side) {
            Some(Compared::Tag(column)) => signatures.value(signature, *column),
            Some(Compared::Values(values)) => *values,
            None => NO_VALUES,
        }
    }

    /// The word of a signature: two words have a bit in common exactly if an intersection holds, or another strategy does not;
    /// where the policy does not count, so that the rule holds. Whoever shares the rule does not see what it learns.
    fn word(rule: &mut Arc<Self>, side: usize, row: &[ValuesId], lists: &ValueLists) -> u64 {
        let is_selected = |own: usize| row.get(own).is_some_and(|selected| *selected != NO_VALUES);
        if !rule.only(side).is_none_or(is_selected) {
            return if rule.strategy == Strategy::Intersection { u64::MAX } else { 0 };
        }
        let list = match rule.compared.get(side) {
            Some(Compared::Tag(column)) => row.get(*column).copied().unwrap_or(NO_VALUES),
            Some(Compared::Values(values)) => *values,
            None => NO_VALUES,
        };
        let values = lists.get(list);
        // Which value it is does not matter there.
        if rule.strategy == Strategy::Present {
            return if side == rule.authority() || values.is_empty() { EMPTY } else { 0 };
        }
        let word = rule.bits.known(values).unwrap_or_else(|| {
            let bits = &mut Arc::make_mut(rule).bits;
            bits.learn(values);
            bits.known(values).unwrap_or(EMPTY)
        });
        if side == rule.authority() { rule.too_much(word) } else { word }
    }

    /// The side that says what the other may have: the first of the policy, wherever it stands in the pair; of single objects
    /// the policy itself.
    fn authority(&self) -> usize {
        usize::from(self.strategy.is_alone() || self.swapped == Swapped::Yes)
    }

    /// What the side that has the say does not have is too much.
    fn too_much(&self, word: u64) -> u64 {
        match self.strategy {
            Strategy::Intersection => word,
            Strategy::Subset => !word,
            Strategy::Among => !word & !EMPTY,
            Strategy::Present | Strategy::PresentAmong => !word | EMPTY,
        }
    }

    /// Whether it holds by the values themselves, where words cannot tell.
    fn holds(&self, sides: &[Signatures; 2], a: u32, b: u32, lists: &ValueLists) -> bool {
        if !self.applies(sides, a, b) {
            return true;
        }
        let [left, right] = sides;
        let values = self.swapped.turn([self.value(0, left, a), self.value(1, right, b)]);
        lists.hold(self.strategy, values)
    }
}

impl RuleBits {
    pub(super) fn new(pairs: usize) -> Self {
        Self { words: std::iter::repeat_n(0, pairs).collect(), ..Self::default() }
    }

    /// A rule at its place.
    pub(in crate::comply) fn rule(&self, bit: usize) -> Option<&RuleSlot> {
        self.rules.get(bit)?.as_deref()
    }

    /// The rules that are in force.
    pub(in crate::comply) fn in_force(&self) -> u64 {
        self.force
    }

    /// All rules with their places.
    pub(super) fn rules(&self) -> impl Iterator<Item = (usize, &RuleSlot)> {
        self.rules.iter().enumerate().filter_map(|(bit, rule)| rule.as_deref().map(|rule| (bit, rule)))
    }

    /// A place for a rule, if there is one.
    pub(super) fn free_bit(&self) -> Option<usize> {
        let hole = self.rules.iter().position(Option::is_none);
        hole.or_else(|| (self.rules.len() < ROOM).then_some(self.rules.len()))
    }

    /// Puts a rule in its place and lets it learn all signatures.
    pub(super) fn put(&mut self, bit: usize, rule: RuleSlot, sides: &[Signatures; 2], lists: &ValueLists) {
        while self.rules.len() <= bit {
            self.rules.push(None);
        }
        self.widen(sides);
        let flag = 1 << bit;
        self.force |= flag;
        match rule.strategy {
            Strategy::Intersection => self.intersections |= flag,
            Strategy::Subset | Strategy::Present | Strategy::Among | Strategy::PresentAmong => {
                self.intersections &= !flag;
            }
        }
        let Some(place) = self.rules.get_mut(bit) else { return };
        let rule = place.insert(Arc::new(rule));
        for ((side, signatures), rows) in sides.iter().enumerate().zip(&mut self.rows) {
            for (id, row) in signatures.rows().enumerate() {
                let word = RuleSlot::word(rule, side, row, lists);
                if let Some(own) = rows.get_mut(id).and_then(|own| Arc::make_mut(own).get_mut(bit)) {
                    *own = word;
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
            let wider = |id: usize| {
                let mut row = rows.get(id).map_or_else(Vec::new, |row| row.to_vec());
                row.resize(width, 0);
                Arc::from(row)
            };
            *rows = (0..signatures.len()).map(wider).collect();
        }
        self.width = width;
    }

    /// Learns the next signature of a side.
    pub(super) fn learn(&mut self, side: usize, row: &[ValuesId], lists: &ValueLists) {
        let all = self.rules().fold(0, |word, (bit, _)| word | 1 << bit);
        self.learn_rules(side, std::iter::repeat_n(0, self.width).collect(), row, all, lists);
    }

    /// Learns the next signature of a side, which differs from another one only in some tags.
    pub(super) fn learn_like(
        &mut self,
        side: usize,
        like: u32,
        row: &[ValuesId],
        columns: &[usize],
        lists: &ValueLists,
    ) {
        let known = self.rows.get(side).and_then(|rows| rows.get(like as usize));
        let Some(known) = known.map(Arc::clone) else { return self.learn(side, row, lists) };
        let looking = self.rules().filter(|(_, rule)| rule.looks_at(side, columns));
        let looking = looking.fold(0, |word, (bit, _)| word | 1 << bit);
        self.learn_rules(side, known, row, looking, lists);
    }

    fn learn_rules(&mut self, side: usize, mut words: Arc<[u64]>, row: &[ValuesId], rules: u64, lists: &ValueLists) {
        let own = Arc::make_mut(&mut words);
        for bit in ones(rules) {
            let Some(Some(rule)) = self.rules.get_mut(bit) else { continue };
            if let Some(word) = own.get_mut(bit) {
                *word = RuleSlot::word(rule, side, row, lists);
            }
            if rule.bits.are_shared() {
                self.doubtful |= 1 << bit;
            }
        }
        if let Some(rows) = self.rows.get_mut(side) {
            rows.push(words);
        }
    }

    /// The rules that look at some tags of a side.
    pub(in crate::comply) fn looking_at(&self, side: usize, columns: &[usize]) -> u64 {
        let rules = self.rules().filter(|(_, rule)| rule.is_in_force() && rule.looks_at(side, columns));
        rules.fold(0, |word, (bit, _)| word | 1 << bit)
    }

    /// Whether two signatures violate a rule.
    pub(super) fn is_violated(&self, bit: usize, sides: &[Signatures; 2], a: u32, b: u32, lists: &ValueLists) -> bool {
        let [left, right] = self.words_of(bit, a, b);
        self.violates(bit, left, right).or_else(|| self.holds_by_values(bit, sides, a, b, lists))
    }

    /// Forgets the signatures of a side.
    pub(super) fn forget(&mut self, side: usize) {
        if let Some(rows) = self.rows.get_mut(side) {
            *rows = Pages::default();
        }
    }

    /// Takes a rule out of force.
    pub(in crate::comply) fn retire(&mut self, bit: usize) {
        if let Some(Some(rule)) = self.rules.get_mut(bit) {
            Arc::make_mut(rule).force = Force::Retired;
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
    pub(super) fn verdict(&self, sides: &[Signatures; 2], a: u32, b: u32, lists: &ValueLists) -> u64 {
        let [left, right] = &self.rows;
        let (left, right) = (row(left, a), row(right, b));
        let (mut meet, mut shift) = (0, 0_u32);
        // A row is made of whole groups, which the machine compares without asking how long they are.
        for (left, right) in left.as_chunks::<GROUP>().0.iter().zip(right.as_chunks::<GROUP>().0) {
            let mut group = 0;
            for (bit, (left, right)) in left.iter().zip(right).enumerate() {
                group |= u64::from(left & right != 0) << bit;
            }
            meet |= group << shift;
            shift += 8;
        }
        let violated = (meet ^ self.intersections) & self.force;
        let doubts = self.doubtful & self.force & !violated;
        if doubts == 0 { violated } else { violated | self.broken(doubts, [left, right], sides, (a, b), lists) }
    }

    /// Those of some doubtful rules that do not hold: their values are looked at where words cannot tell.
    fn broken(
        &self,
        mut doubts: u64,
        [left, right]: [&[u64]; 2],
        sides: &[Signatures; 2],
        (a, b): (u32, u32),
        lists: &ValueLists,
    ) -> u64 {
        let mut broken = 0;
        while doubts != 0 {
            let bit = doubts.trailing_zeros() as usize;
            doubts &= doubts - 1;
            let (Some(left), Some(right)) = (left.get(bit), right.get(bit)) else { continue };
            let holds = || self.rule(bit).is_none_or(|rule| rule.holds(sides, a, b, lists));
            if !self.is_settled(bit, *left, *right) && !holds() {
                broken |= 1 << bit;
            }
        }
        broken
    }

    fn words_of(&self, bit: usize, a: u32, b: u32) -> [u64; 2] {
        let [left, right] = &self.rows;
        let word = |rows, signature| row(rows, signature).get(bit).copied().unwrap_or(0);
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
        let affected = self.rule(bit).map_or(right, |rule| if rule.authority() == 1 { left } else { right });
        affected & !OWN_BITS == 0
    }

    /// How many pages are not those of the same word of another table.
    pub(super) fn unshared(&self, other: &Self) -> usize {
        let Self { rules: _, words, rows, width: _, force: _, intersections: _, doubtful: _ } = self;
        let rows: usize = rows.iter().zip(&other.rows).map(|(own, other)| own.unshared(other)).sum();
        words.unshared(&other.words) + rows
    }

    /// The words of one rule for all signatures of a side.
    pub(super) fn column(&self, side: usize, bit: usize) -> Vec<u64> {
        let rows = self.rows.get(side).into_iter().flat_map(Pages::iter);
        rows.map(|row| row.get(bit).copied().unwrap_or(0)).collect()
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
    pub(super) fn holds_by_values(
        &self,
        bit: usize,
        sides: &[Signatures; 2],
        a: u32,
        b: u32,
        lists: &ValueLists,
    ) -> bool {
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
fn row(rows: &Pages<Arc<[u64]>>, signature: u32) -> &[u64] {
    rows.get(signature as usize).map_or(&[], |row| row)
}
