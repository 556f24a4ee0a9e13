//! All pairs of two subjects, the rules about them, and which rules each pair violates.
//!
//! Objects with the same values in the tags that rules look at share a signature, so a rule is held against signatures,
//! and each signature has for each rule one word: a bit for each value, and one for having none. Two sides have a value
//! in common if their words do; where a rule knows more values than bits, words only exclude, and the values themselves
//! decide. What a pair violates is one word for 64 rules.

mod signatures;
mod sweep;

use upheld_model::Sym;

use self::signatures::Signatures;
use super::ObjectId;
use super::lists::{ListId, Lists};
use super::policy::Strategy;
use super::profile::Turned;

/// A pair of objects, made by one or more relationships.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pair {
    pub(super) a: ObjectId,
    pub(super) b: ObjectId,
    /// Where it lives; [`ObjectId::NONE`] is nowhere.
    pub(super) scope: ObjectId,
    /// How many relationships make it; none is a free place.
    pub(super) count: u32,
}

/// The rules that one word has room for.
pub(super) const PLANE: usize = 64;

/// A rule at its place.
#[derive(Clone, Debug)]
pub(super) struct RuleSlot {
    pub(super) policy: usize,
    pub(super) rule: usize,
    pub(super) turned: Turned,
    strategy: Strategy,
    /// The places of its tags among those that its sides look at.
    columns: [usize; 2],
    /// The words of the signatures of each side.
    masks: [Vec<u64>; 2],
    bits: Bits,
    /// How many pairs violate it.
    pub(super) violations: usize,
    force: Force,
}

/// Whether a rule is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Force {
    Yes,
    /// Its policy is gone; the place is kept until the change stands.
    Retired,
}

/// Which bit stands for which value of a rule.
#[derive(Clone, Debug, Default)]
struct Bits {
    known: rustc_hash::FxHashMap<Sym, u8>,
    /// Whether each bit stands for one value only.
    shared: Shared,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Shared {
    #[default]
    No,
    Yes,
}

/// The bit of sides without values.
const EMPTY: u64 = 1 << 63;

impl Bits {
    fn word(&mut self, values: &[Sym]) -> u64 {
        if values.is_empty() {
            return EMPTY;
        }
        values.iter().fold(0, |word, value| {
            let next = self.known.len();
            let bit = *self.known.entry(*value).or_insert_with(|| {
                if next >= 63 {
                    self.shared = Shared::Yes;
                }
                u8::try_from(next % 63).unwrap_or(0)
            });
            word | 1 << bit
        })
    }
}

/// Up to 64 rules and what each pair violates of them.
#[derive(Clone, Debug, Default)]
pub(super) struct Plane {
    pub(super) rules: Vec<Option<RuleSlot>>,
    /// By pair: a bit for each rule that it violates.
    pub(super) words: Vec<u64>,
}

/// All pairs of two subjects.
#[derive(Clone, Debug)]
pub(super) struct Joint {
    pub(super) sides: [Signatures; 2],
    pub(super) pairs: Vec<Pair>,
    pub(super) planes: Vec<Plane>,
    /// Where each pair stands in the list of its scope; `u32::MAX` for those that comply.
    pub(super) listed: Vec<u32>,
    pub(super) free: Vec<u32>,
}

impl Joint {
    pub(super) fn new() -> Self {
        Self {
            sides: [Signatures::default(), Signatures::default()],
            pairs: Vec::new(),
            planes: Vec::new(),
            listed: Vec::new(),
            free: Vec::new(),
        }
    }

    /// A place for a pair.
    pub(super) fn place(&mut self, pair: Pair) -> u32 {
        if let Some(free) = self.free.pop() {
            if let Some(slot) = self.pairs.get_mut(free as usize) {
                *slot = pair;
            }
            return free;
        }
        let place = u32::try_from(self.pairs.len()).unwrap_or(u32::MAX);
        self.pairs.push(pair);
        self.listed.push(u32::MAX);
        for plane in &mut self.planes {
            plane.words.push(0);
        }
        place
    }

    /// Gives an object the signature of its values; `values` finds them by tag.
    pub(super) fn sign(&mut self, side: usize, object: ObjectId, lists: &Lists, values: impl Fn(Sym) -> ListId) {
        let Some(signatures) = self.sides.get_mut(side) else { return };
        if let Some(row) = signatures.sign(object, values) {
            for rule in self.planes.iter_mut().flat_map(|plane| plane.rules.iter_mut().flatten()) {
                rule.learn(side, row, lists);
            }
        }
    }

    /// Forgets the signatures of a side; all its objects have to be signed again.
    pub(super) fn forget(&mut self, side: usize) {
        if let Some(signatures) = self.sides.get_mut(side) {
            signatures.forget();
        }
        for rule in self.planes.iter_mut().flat_map(|plane| plane.rules.iter_mut().flatten()) {
            if let Some(masks) = rule.masks.get_mut(side) {
                masks.clear();
            }
        }
    }

    /// Adds a rule; the pairs are not held against it yet. A side whose tag nobody looked at before is stale then.
    pub(super) fn add(&mut self, new: NewRule, lists: &Lists) -> (usize, usize) {
        let NewRule { policy, rule, turned, strategy, keys } = new;
        let mut columns = [0, 0];
        for ((column, key), side) in columns.iter_mut().zip(keys).zip(&mut self.sides) {
            *column = side.column(key);
        }
        let mut slot = RuleSlot {
            policy,
            rule,
            turned,
            strategy,
            columns,
            masks: [Vec::new(), Vec::new()],
            bits: Bits::default(),
            violations: 0,
            force: Force::Yes,
        };
        for side in 0..2 {
            let Some(signatures) = self.sides.get(side) else { continue };
            for row in signatures.rows() {
                slot.learn(side, row, lists);
            }
        }
        let (plane, bit) = self.free_bit();
        while self.planes.len() <= plane {
            self.planes.push(Plane { rules: Vec::new(), words: vec![0; self.pairs.len()] });
        }
        if let Some(plane) = self.planes.get_mut(plane) {
            while plane.rules.len() <= bit {
                plane.rules.push(None);
            }
            if let Some(own) = plane.rules.get_mut(bit) {
                *own = Some(slot);
            }
        }
        (plane, bit)
    }

    fn free_bit(&self) -> (usize, usize) {
        for (number, plane) in self.planes.iter().enumerate() {
            if let Some(bit) = plane.rules.iter().position(Option::is_none) {
                return (number, bit);
            }
            if plane.rules.len() < PLANE {
                return (number, plane.rules.len());
            }
        }
        (self.planes.len(), 0)
    }

    /// All rules with their places.
    pub(super) fn rules(&self) -> impl Iterator<Item = (usize, usize, &RuleSlot)> {
        self.planes.iter().enumerate().flat_map(|(number, plane)| {
            let rules = plane.rules.iter().enumerate();
            rules.filter_map(move |(bit, rule)| rule.as_ref().map(|rule| (number, bit, rule)))
        })
    }

    /// Gives back the places of rules that are out of force.
    pub(super) fn drop_retired(&mut self) {
        for rule in self.planes.iter_mut().flat_map(|plane| &mut plane.rules) {
            if rule.as_ref().is_some_and(|rule| rule.force == Force::Retired) {
                *rule = None;
            }
        }
    }

    /// A rule at its place.
    pub(super) fn rule(&self, plane: usize, bit: usize) -> Option<&RuleSlot> {
        self.planes.get(plane)?.rules.get(bit)?.as_ref()
    }

    /// What a pair of objects violates, whether or not there is such a pair.
    pub(super) fn verdict(&self, plane: &Plane, a: ObjectId, b: ObjectId, lists: &Lists) -> u64 {
        let [left, right] = &self.sides;
        self.verdict_of(plane, left.of(a), right.of(b), lists)
    }

    /// The signatures of two objects.
    pub(super) fn signatures_of(&self, a: ObjectId, b: ObjectId) -> (u32, u32) {
        let [left, right] = &self.sides;
        (left.of(a), right.of(b))
    }

    /// What two signatures violate.
    fn verdict_of(&self, plane: &Plane, a: u32, b: u32, lists: &Lists) -> u64 {
        let mut word = 0;
        for (bit, rule) in plane.rules.iter().enumerate() {
            if let Some(rule) = rule
                && rule.force == Force::Yes
                && !self.holds(rule, a, b, lists)
            {
                word |= 1 << bit;
            }
        }
        word
    }

    /// Whether a rule holds between two signatures.
    #[inline]
    fn holds(&self, rule: &RuleSlot, a: u32, b: u32, lists: &Lists) -> bool {
        let [left, right] = &rule.masks;
        let left = left.get(a as usize).copied().unwrap_or(EMPTY);
        let right = right.get(b as usize).copied().unwrap_or(EMPTY);
        let possible = match rule.strategy {
            Strategy::Intersection => left & right != 0,
            // The first side of the policy has the say, wherever it stands in the pair.
            Strategy::Subset if rule.turned == Turned::No => right & !left == 0,
            Strategy::Subset => left & !right == 0,
        };
        possible && (rule.bits.shared == Shared::No || self.certain(rule, a, b, lists))
    }

    /// The values themselves, where words cannot tell.
    fn certain(&self, rule: &RuleSlot, a: u32, b: u32, lists: &Lists) -> bool {
        let [left, right] = &self.sides;
        let [column_a, column_b] = rule.columns;
        let left = lists.set(left.value(a, column_a));
        let right = lists.set(right.value(b, column_b));
        if left.is_empty() || right.is_empty() {
            return left.is_empty() && right.is_empty();
        }
        match (rule.strategy, rule.turned) {
            (Strategy::Intersection, _) => share(left, right),
            (Strategy::Subset, Turned::No) => contains(left, right),
            (Strategy::Subset, Turned::Yes) => contains(right, left),
        }
    }

    /// The values that a rule looks at on both sides, in the order of its policy.
    pub(super) fn values(&self, rule: &RuleSlot, a: ObjectId, b: ObjectId) -> [ListId; 2] {
        let [left, right] = &self.sides;
        let [column_a, column_b] = rule.columns;
        let values = [left.value(left.of(a), column_a), right.value(right.of(b), column_b)];
        match (rule.turned, values) {
            (Turned::No, values) => values,
            (Turned::Yes, [left, right]) => [right, left],
        }
    }
}

/// A rule to be added; tags stand in the order of the pair.
#[derive(Clone, Copy, Debug)]
pub(super) struct NewRule {
    pub(super) policy: usize,
    pub(super) rule: usize,
    pub(super) turned: Turned,
    pub(super) strategy: Strategy,
    pub(super) keys: [Sym; 2],
}

impl RuleSlot {
    /// Whether it is looked at.
    pub(super) fn is_in_force(&self) -> bool {
        self.force == Force::Yes
    }

    /// Takes it out of force.
    pub(super) fn retire(&mut self) {
        self.force = Force::Retired;
    }

    /// Learns the next signature of a side.
    fn learn(&mut self, side: usize, row: &[ListId], lists: &Lists) {
        let list = self.columns.get(side).and_then(|column| row.get(*column)).copied().unwrap_or_default();
        let word = self.bits.word(lists.get(list));
        if let Some(masks) = self.masks.get_mut(side) {
            masks.push(word);
        }
    }
}

/// Whether two ordered lists have a value in common.
fn share(mut a: &[Sym], mut b: &[Sym]) -> bool {
    while let (Some((first, rest)), Some((other, others))) = (a.split_first(), b.split_first()) {
        match first.cmp(other) {
            std::cmp::Ordering::Equal => return true,
            std::cmp::Ordering::Less => a = rest,
            std::cmp::Ordering::Greater => b = others,
        }
    }
    false
}

/// Whether an ordered list has all values of another.
fn contains(mut all: &[Sym], some: &[Sym]) -> bool {
    for wanted in some {
        loop {
            let Some((first, rest)) = all.split_first() else { return false };
            all = rest;
            match first.cmp(wanted) {
                std::cmp::Ordering::Equal => break,
                std::cmp::Ordering::Less => {}
                std::cmp::Ordering::Greater => return false,
            }
        }
    }
    true
}
