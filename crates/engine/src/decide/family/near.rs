//! Policies that may be about a path of some patterns.

use super::Decide;
use crate::ask::EntryId;
use crate::decide::glob::Glob;

impl Decide {
    /// The policies that may be about a path that one of these patterns covers, in the order of evaluation; those that ask for no
    /// path among them. There may be some more.
    pub(in crate::decide) fn near<'g>(&self, globs: impl IntoIterator<Item = &'g Glob>) -> Vec<EntryId> {
        let slots = self.index.near(globs);
        let mut near: Vec<EntryId> =
            slots.into_iter().map(|slot| EntryId::new(self.order.place(slot) as usize)).collect();
        near.sort_unstable();
        near
    }
}
