//! Whether something was seen before, for lists that are short nearly always.

use std::hash::Hash;

use rustc_hash::FxHashSet;
use smallvec::SmallVec;

/// So many are compared one by one: that takes less than to hash them, and no memory of its own.
const FEW: usize = 8;

/// Items that were seen.
#[derive(Clone, Debug)]
pub struct Uniques<T> {
    few: SmallVec<[T; FEW]>,
    /// All of them, once there are more.
    many: FxHashSet<T>,
}

impl<T> Default for Uniques<T> {
    fn default() -> Self {
        Self { few: SmallVec::new(), many: FxHashSet::default() }
    }
}

impl<T: Copy + Eq + Hash> Uniques<T> {
    /// Whether an item comes for the first time.
    #[inline]
    pub fn is_new(&mut self, item: T) -> bool {
        if !self.many.is_empty() {
            return self.many.insert(item);
        }
        if self.few.contains(&item) {
            return false;
        }
        if self.few.len() < FEW {
            self.few.push(item);
        } else {
            self.many.extend(self.few.drain(..));
            self.many.insert(item);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn an_item_is_new_once(items in prop::collection::vec(0..24_u8, 0..60)) {
            let (mut seen, mut set) = (Uniques::default(), BTreeSet::new());
            for item in items {
                prop_assert_eq!(seen.is_new(item), set.insert(item));
            }
        }
    }
}
