//! The first few of many by a key, where the others are only counted.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// The first few of all that were offered, by their keys; of equal ones those that came first.
#[derive(Debug)]
pub(crate) struct Shortlist<K, T> {
    most: usize,
    offered: usize,
    /// The last of those that are kept is on top.
    kept: BinaryHeap<Kept<K, T>>,
}

#[derive(Debug)]
struct Kept<K, T> {
    key: K,
    number: usize,
    item: T,
}

impl<K: Ord, T> Shortlist<K, T> {
    /// A list of so many at most.
    pub(crate) fn of(most: usize) -> Self {
        Self { most, offered: 0, kept: BinaryHeap::new() }
    }

    /// Takes something if it is among the first. It is made only then.
    pub(crate) fn offer(&mut self, key: K, item: impl FnOnce() -> T) {
        let number = self.offered;
        self.offered += 1;
        if self.kept.len() >= self.most {
            if self.kept.peek().is_none_or(|last| last.key <= key) {
                return;
            }
            self.kept.pop();
        }
        self.kept.push(Kept { key, number, item: item() });
    }

    /// How many were offered and are not kept.
    pub(crate) fn left_out(&self) -> usize {
        self.offered - self.kept.len()
    }

    /// Those that are kept, in order.
    pub(crate) fn into_items(self) -> impl Iterator<Item = T> {
        self.kept.into_sorted_vec().into_iter().map(|kept| kept.item)
    }
}

impl<K: Ord, T> Ord for Kept<K, T> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key.cmp(&other.key).then(self.number.cmp(&other.number))
    }
}

impl<K: Ord, T> PartialOrd for Kept<K, T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<K: Ord, T> PartialEq for Kept<K, T> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl<K: Ord, T> Eq for Kept<K, T> {}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::Shortlist;

    proptest! {
        #[test]
        fn a_shortlist_is_the_beginning_of_all_in_order(keys in prop::collection::vec(0_u8..6, 0..40), most in 0_usize..12) {
            let mut list = Shortlist::of(most);
            for (number, key) in keys.iter().enumerate() {
                list.offer(*key, || (*key, number));
            }
            let mut all: Vec<(u8, usize)> = keys.iter().copied().zip(0..).collect();
            all.sort_by_key(|(key, _)| *key);
            prop_assert_eq!(list.left_out(), all.len().saturating_sub(most));
            all.truncate(most);
            prop_assert_eq!(list.into_items().collect::<Vec<_>>(), all);
        }
    }
}
