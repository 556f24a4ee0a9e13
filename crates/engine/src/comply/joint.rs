//! All pairs of two subjects, the rules about them, and which rules each pair violates.
//!
//! Objects with the same values in the tags that rules look at share a signature, so a rule is held against signatures,
//! and each signature has for each rule one word: a bit for each value, and one for having none. Two sides have a value
//! in common if their words do; where a rule knows more values than bits, words only exclude, and the values themselves
//! decide. What a pair violates is one word for 64 rules.

mod plane;
mod signatures;
mod sweep;

use upheld_model::Sym;

pub(super) use self::plane::{Plane, RuleSlot};
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

/// A rule to be added; tags stand in the order of the pair.
#[derive(Clone, Copy, Debug)]
pub(super) struct NewRule {
    pub(super) policy: usize,
    pub(super) rule: usize,
    pub(super) turned: Turned,
    pub(super) strategy: Strategy,
    pub(super) keys: [Sym; 2],
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
            for plane in &mut self.planes {
                plane.learn(side, row, lists);
            }
        }
    }

    /// Gives an object whose values of some tags changed its signature; says where these tags stand among those that are
    /// looked at.
    pub(super) fn sign_changed(
        &mut self,
        side: usize,
        object: ObjectId,
        changed: &[Sym],
        lists: &Lists,
        values: impl Fn(Sym) -> ListId,
    ) -> Vec<usize> {
        let Some(signatures) = self.sides.get_mut(side) else { return Vec::new() };
        let (before, columns) = (signatures.of(object), signatures.columns(changed));
        if columns.is_empty() {
            return columns;
        }
        if let Some(row) = signatures.sign(object, values) {
            for plane in &mut self.planes {
                plane.learn_like(side, before, row, &columns, lists);
            }
        }
        columns
    }

    /// Forgets the signatures of a side; all its objects have to be signed again.
    pub(super) fn forget(&mut self, side: usize) {
        if let Some(signatures) = self.sides.get_mut(side) {
            signatures.forget();
        }
        for plane in &mut self.planes {
            plane.forget(side);
        }
    }

    /// Adds a rule, or puts it in the place that it had; the pairs are not held against it yet. A side whose tag nobody
    /// looked at before is stale then.
    pub(super) fn add(&mut self, new: NewRule, place: Option<(usize, usize)>, lists: &Lists) -> (usize, usize) {
        let NewRule { policy, rule, turned, strategy, keys } = new;
        let mut columns = [0, 0];
        for ((column, key), side) in columns.iter_mut().zip(keys).zip(&mut self.sides) {
            *column = side.column(key);
        }
        let (plane, bit) = place.unwrap_or_else(|| self.free_place());
        if self.planes.len() <= plane {
            self.planes.push(Plane::new(self.pairs.len()));
        }
        if let Some(plane) = self.planes.get_mut(plane) {
            plane.put(bit, RuleSlot::new(policy, rule, turned, strategy, columns), &self.sides, lists);
        }
        (plane, bit)
    }

    fn free_place(&self) -> (usize, usize) {
        let free = |(number, plane): (usize, &Plane)| plane.free_bit().map(|bit| (number, bit));
        self.planes.iter().enumerate().find_map(free).unwrap_or((self.planes.len(), 0))
    }

    /// All rules with their places.
    pub(super) fn rules(&self) -> impl Iterator<Item = (usize, usize, &RuleSlot)> {
        let planes = self.planes.iter().enumerate();
        planes.flat_map(|(number, plane)| plane.rules().map(move |(bit, rule)| (number, bit, rule)))
    }

    /// Gives back the places of rules that are out of force.
    pub(super) fn drop_retired(&mut self) {
        self.planes.iter_mut().for_each(Plane::drop_retired);
    }

    /// A rule at its place.
    pub(super) fn rule(&self, plane: usize, bit: usize) -> Option<&RuleSlot> {
        self.planes.get(plane)?.rule(bit)
    }

    /// What a pair of objects violates, whether or not there is such a pair.
    pub(super) fn verdict(&self, plane: &Plane, a: ObjectId, b: ObjectId, lists: &Lists) -> u64 {
        let (a, b) = self.signatures_of(a, b);
        plane.verdict(&self.sides, a, b, lists)
    }

    /// The signatures of two objects.
    pub(super) fn signatures_of(&self, a: ObjectId, b: ObjectId) -> (u32, u32) {
        let [left, right] = &self.sides;
        (left.of(a), right.of(b))
    }

    /// The values that a rule looks at on both sides, in the order of its policy.
    pub(super) fn values(&self, rule: &RuleSlot, a: ObjectId, b: ObjectId) -> [ListId; 2] {
        let [left, right] = &self.sides;
        let (first, second) = (rule.value(0, left, left.of(a)), rule.value(1, right, right.of(b)));
        if rule.turned == Turned::Yes { [second, first] } else { [first, second] }
    }
}
