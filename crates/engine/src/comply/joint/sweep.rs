//! Holding many pairs against rules at once.

use super::super::lists::Lists;
use super::{Joint, Pair};

/// A word that no memo entry has: that all 64 rules are violated is found out again each time.
const UNKNOWN: u64 = u64::MAX;

impl Joint {
    /// What every pair violates of the rules of a plane, from scratch.
    pub(in crate::comply) fn sweep(&self, plane: usize, lists: &Lists) -> Vec<u64> {
        let Some(plane) = self.planes.get(plane) else { return Vec::new() };
        let [left, right] = &self.sides;
        let combinations = left.len().saturating_mul(right.len());
        // A memo pays where pairs repeat the same two signatures.
        if combinations <= self.pairs.len() {
            let mut memo = vec![UNKNOWN; combinations];
            let width = right.len();
            let mut verdict = |pair: &Pair| {
                if pair.count == 0 {
                    return 0;
                }
                let (a, b) = (left.of(pair.a), right.of(pair.b));
                match memo.get_mut(a as usize * width + b as usize) {
                    Some(known) if *known != UNKNOWN => *known,
                    Some(entry) => {
                        *entry = self.verdict_of(plane, a, b, lists);
                        *entry
                    }
                    None => self.verdict_of(plane, a, b, lists),
                }
            };
            return self.pairs.iter().map(&mut verdict).collect();
        }
        let mut words = vec![0; self.pairs.len()];
        for bit in 0..plane.rules.len() {
            self.sweep_rule(plane, bit, lists, |place, violated| {
                if let (Some(word), true) = (words.get_mut(place), violated) {
                    *word |= 1 << bit;
                }
            });
        }
        words
    }

    /// Holds every pair against one rule.
    pub(in crate::comply) fn sweep_rule(
        &self,
        plane: &super::Plane,
        bit: usize,
        lists: &Lists,
        mut tell: impl FnMut(usize, bool),
    ) {
        let Some(rule) = plane.rules.get(bit).and_then(Option::as_ref).filter(|rule| rule.is_in_force()) else {
            return;
        };
        let [left, right] = &self.sides;
        for (place, pair) in self.pairs.iter().enumerate() {
            if pair.count > 0 {
                tell(place, !self.holds(rule, left.of(pair.a), right.of(pair.b), lists));
            }
        }
    }

    /// What pairs that share the object on one side violate: each signature of the other side is judged once.
    pub(in crate::comply) fn sweep_around(
        &self,
        plane: usize,
        side: usize,
        places: &[u32],
        lists: &Lists,
        mut tell: impl FnMut(u32, u64),
    ) {
        let Some(plane) = self.planes.get(plane) else { return };
        let [left, right] = &self.sides;
        // Judging directly is cheaper than a memo that is hardly used.
        let size = if places.len() < 64 {
            0
        } else if side == 0 {
            right.len()
        } else {
            left.len()
        };
        let mut memo = vec![UNKNOWN; size];
        for place in places {
            let Some(pair) = self.pairs.get(*place as usize) else { continue };
            let (a, b) = (left.of(pair.a), right.of(pair.b));
            let word = match memo.get_mut(if side == 0 { b } else { a } as usize) {
                Some(known) if *known != UNKNOWN => *known,
                Some(entry) => {
                    *entry = self.verdict_of(plane, a, b, lists);
                    *entry
                }
                None => self.verdict_of(plane, a, b, lists),
            };
            tell(*place, word);
        }
    }
}
