//! Tables that only grow, and that many indexes share.

use std::sync::Arc;

/// So many items may lie beside a frozen table; then they are added to a copy of it.
const MOST_RECENT: usize = 512;

/// What a table of which most is shared must be able to do.
pub(super) trait Growing: Clone + Default {
    /// How many items there are.
    fn len(&self) -> usize;

    /// Adds the items of another table behind its own, with no more memory than they need.
    fn append(&mut self, other: Self);

    /// Gives back memory that is not needed.
    fn shrink(&mut self);
}

/// A table of which most is frozen and shared; what came since lies beside it and is copied with a clone. Items are numbered
/// through, so that they keep their numbers when the recent ones are frozen, too.
#[derive(Clone, Debug, Default)]
pub(super) struct Layered<T> {
    pub(super) frozen: Arc<T>,
    pub(super) recent: T,
}

impl<T: Growing> Layered<T> {
    /// How many items there are.
    pub(super) fn len(&self) -> usize {
        self.frozen.len() + self.recent.len()
    }

    /// The number of an item, given how it is found in a table.
    #[inline]
    pub(super) fn find(&self, find: impl Fn(&T) -> Option<u32>) -> Option<u32> {
        match find(&self.frozen) {
            None if self.recent.len() > 0 => find(&self.recent).map(|number| number + self.frozen_len()),
            found => found,
        }
    }

    /// The layer that an item is in, and its number there.
    #[inline]
    pub(super) fn layer(&self, number: u32) -> (&T, usize) {
        match (number as usize).checked_sub(self.frozen.len()) {
            None => (&self.frozen, number as usize),
            Some(number) => (&self.recent, number),
        }
    }

    /// Adds an item to those that are recent, given how it gets its number there.
    pub(super) fn add(&mut self, add: impl FnOnce(&mut T) -> u32) -> u32 {
        add(&mut self.recent) + self.frozen_len()
    }

    /// Freezes all, or only if there are too many recent items to be copied again and again.
    pub(super) fn settle(&mut self, when: Settle) {
        if when == Settle::Now || self.recent.len() > MOST_RECENT {
            let mut recent = std::mem::take(&mut self.recent);
            if self.frozen.len() == 0 {
                recent.shrink();
                self.frozen = Arc::new(recent);
            } else {
                Arc::make_mut(&mut self.frozen).append(recent);
            }
        }
    }

    /// How many items lie beside those that are shared with another table.
    #[cfg(test)]
    pub(super) fn unshared(&self, other: &Self) -> usize {
        if Arc::ptr_eq(&self.frozen, &other.frozen) { self.recent.len() } else { self.len() }
    }

    fn frozen_len(&self) -> u32 {
        u32::try_from(self.frozen.len()).unwrap_or(u32::MAX)
    }
}

/// When recent items are frozen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Settle {
    /// At once: all was built anew.
    Now,
    /// When there are many of them.
    Later,
}
