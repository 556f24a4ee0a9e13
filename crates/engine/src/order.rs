//! Things in an order, each with its number there, that others come into and go out of.
//!
//! A change copies two flat lists and compares only what comes; so numbers may be dense, and whoever ranks compares numbers.

use std::cmp::Ordering;

/// Ids in an order that does not depend on when they came. Equal ones share a number.
#[derive(Clone, Debug, Default)]
pub(crate) struct Order {
    /// The lowest first.
    sorted: Vec<u32>,
    /// By id; [`ABSENT`] for ids that are not in the order.
    numbers: Vec<u32>,
}

const ABSENT: u32 = u32::MAX;

impl Order {
    /// All ids, the lowest first; equal ones in any order.
    pub(crate) fn sorted(&self) -> &[u32] {
        &self.sorted
    }

    /// The number of an id.
    #[inline]
    pub(crate) fn number(&self, id: u32) -> u32 {
        self.numbers.get(id as usize).copied().unwrap_or(ABSENT)
    }

    /// The highest number; zero if there are none.
    pub(crate) fn highest(&self) -> u32 {
        self.sorted.last().map_or(0, |last| self.number(*last))
    }

    /// Takes ids out and puts others in; an id may go and come at once, as another thing. Those that stay must compare as they
    /// did.
    pub(crate) fn change(&mut self, gone: &[u32], came: &[u32], compare: impl Fn(u32, u32) -> Ordering) {
        self.mark_absent(gone);
        let mut stay = std::mem::take(&mut self.sorted);
        if !gone.is_empty() {
            stay.retain(|id| self.number(*id) != ABSENT);
        }
        self.mark_absent(came);
        let mut came = came.to_vec();
        came.sort_unstable_by(|a, b| compare(*a, *b));
        let mut sorted = Vec::with_capacity(stay.len() + came.len());
        let mut rest = stay.as_slice();
        for id in came {
            let place = rest.partition_point(|known| compare(*known, id).is_lt());
            let (before, after) = rest.split_at_checked(place).unwrap_or_default();
            sorted.extend_from_slice(before);
            sorted.push(id);
            rest = after;
        }
        sorted.extend_from_slice(rest);
        self.number_all(sorted, compare);
    }

    fn mark_absent(&mut self, ids: &[u32]) {
        for id in ids {
            if let Some(number) = self.numbers.get_mut(*id as usize) {
                *number = ABSENT;
            }
        }
    }

    /// Numbers ids from zero, a new number where two neighbours differ; those that were there differ as they did.
    fn number_all(&mut self, sorted: Vec<u32>, compare: impl Fn(u32, u32) -> Ordering) {
        let length = sorted.iter().max().map_or(0, |highest| *highest as usize + 1);
        let mut numbers = vec![ABSENT; length];
        let mut next = 0_u32;
        let mut previous: Option<u32> = None;
        for &id in &sorted {
            let differs = previous.is_some_and(|previous| match (self.number(previous), self.number(id)) {
                (ABSENT, _) | (_, ABSENT) => compare(previous, id).is_ne(),
                (mine, theirs) => mine != theirs,
            });
            next += u32::from(differs);
            if let Some(number) = numbers.get_mut(id as usize) {
                *number = next;
            }
            previous = Some(id);
        }
        (self.sorted, self.numbers) = (sorted, numbers);
    }
}

/// A place as a number. Past all numbers it saturates, and is found nowhere.
#[inline]
pub(crate) fn number(place: usize) -> u32 {
    u32::try_from(place).unwrap_or(ABSENT)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// A thing is an id and what it is compared by.
        #[test]
        fn an_order_that_was_changed_equals_one_that_was_sorted(
            steps in prop::collection::vec((prop::collection::vec(0..12_u32, 0..4), prop::collection::btree_map(0..12_u32, 0..6_u8, 0..4)), 0..12),
        ) {
            let (mut order, mut things) = (Order::default(), BTreeMap::<u32, u8>::new());
            for (gone, came) in steps {
                let gone: Vec<u32> = gone.into_iter().filter(|id| things.remove(id).is_some()).collect();
                let came: BTreeMap<u32, u8> = came.into_iter().filter(|(id, _)| !things.contains_key(id)).collect();
                things.extend(&came);
                let ids: Vec<u32> = came.into_keys().collect();
                order.change(&gone, &ids, |a, b| things[&a].cmp(&things[&b]));
                let mut values: Vec<u8> = things.values().copied().collect();
                values.sort_unstable();
                values.dedup();
                for (id, value) in &things {
                    prop_assert_eq!(order.number(*id) as usize, values.binary_search(value).unwrap());
                }
                let mut listed = order.sorted().to_vec();
                prop_assert!(listed.is_sorted_by_key(|id| things[id]));
                listed.sort_unstable();
                prop_assert_eq!(listed, things.keys().copied().collect::<Vec<_>>());
                prop_assert_eq!(order.highest() as usize, values.len().saturating_sub(1));
            }
        }
    }
}
