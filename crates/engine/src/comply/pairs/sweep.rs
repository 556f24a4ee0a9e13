//! Holding many pairs against rules at once.

use super::super::facts::{NeighbourPair, ObjectId};
use super::super::listing::ones;
use super::super::value_lists::ValueLists;
use super::{PairTable, RuleBits};
use crate::work;

/// A word that no memo entry has: that all 64 rules are violated is found out again each time.
const UNKNOWN: u64 = u64::MAX;

impl PairTable {
    /// What every pair violates of the rules of a word, from scratch; only those that violate any are reported, in order.
    pub(in crate::comply) fn sweep(&self, bits: &RuleBits, lists: &ValueLists, mut tell: impl FnMut(usize, u64)) {
        let [left, right] = &self.sides;
        let combinations = left.len().saturating_mul(right.len());
        // A memo pays where pairs repeat the same two signatures.
        let mut memo = vec![UNKNOWN; if combinations <= self.rows.len() { combinations } else { 0 }];
        let width = right.len();
        self.each_signed(|place, a, b| {
            let known = memo.get_mut((a as usize).saturating_mul(width).saturating_add(b as usize));
            let word = remembered(known, || bits.verdict(&self.sides, a, b, lists));
            if word != 0 {
                tell(place, word);
            }
        });
    }

    /// Holds every pair against one rule.
    pub(in crate::comply) fn sweep_rule(
        &self,
        bits: &RuleBits,
        bit: usize,
        lists: &ValueLists,
        mut tell: impl FnMut(usize, bool),
    ) {
        let (words, others) = (bits.column(0, bit), bits.column(1, bit));
        self.each_signed(|place, a, b| {
            let word = words.get(a as usize).copied().unwrap_or(0);
            let other = others.get(b as usize).copied().unwrap_or(0);
            let ask = || bits.holds_by_values(bit, &self.sides, a, b, lists);
            tell(place, bits.violates(bit, word, other).or_else(ask));
        });
    }

    /// All pairs with the signatures of their sides.
    fn each_signed(&self, mut tell: impl FnMut(usize, u32, u32)) {
        let [left, right] = &self.sides;
        // Pairs look up objects all over the place: in one piece that is quicker.
        let (left, right) = (left.flat(), right.flat());
        let signature = |flat: &[u32], object: ObjectId| flat.get(object.index()).copied().unwrap_or(u32::MAX);
        let mut place = 0;
        for page in self.rows.slices() {
            work::steps(page.len() as u64);
            for row in page {
                if row.count > 0 {
                    tell(place, signature(&left, row.a), signature(&right, row.b));
                }
                place += 1;
            }
        }
    }

    /// What pairs of an object violate of some rules, all seen from the same side: each signature of the other side is judged
    /// once.
    pub(in crate::comply) fn sweep_around(
        &self,
        bits: &RuleBits,
        rules: u64,
        object: ObjectId,
        around: &[NeighbourPair],
        lists: &ValueLists,
        mut tell: impl FnMut(u32, u64),
    ) {
        let [left, right] = &self.sides;
        let first = around.first().is_some_and(|near| near.side == 0);
        let (own, others) = if first { (left.of(object), right) } else { (right.of(object), left) };
        // Judging directly is cheaper than a memo that is hardly used.
        let mut memo = vec![UNKNOWN; if around.len() < 64 { 0 } else { others.len() }];
        for near in around {
            let other = others.of(near.other);
            let (a, b) = if first { (own, other) } else { (other, own) };
            let violated = || {
                let violated = ones(rules).filter(|bit| bits.is_violated(*bit, &self.sides, a, b, lists));
                violated.fold(0, |word, bit| word | 1 << bit)
            };
            tell(near.place, remembered(memo.get_mut(other as usize), violated));
        }
    }
}

/// What the memo knows, or finds out now.
fn remembered(entry: Option<&mut u64>, verdict: impl FnOnce() -> u64) -> u64 {
    match entry {
        Some(known) if *known != UNKNOWN => *known,
        Some(entry) => {
            *entry = verdict();
            *entry
        }
        None => verdict(),
    }
}
