//! What two snapshots of policies do not share.

use std::sync::Arc;

use super::{Decide, Policy};
use crate::ask::EntryId;

impl Decide {
    /// The policies that are on one side only, for policies of which one came out of the other without a set inside; nothing if too
    /// little is shared to tell. What the two share is not looked at.
    pub(in crate::decide) fn unshared_rules(&self, other: &Self) -> Option<(Vec<EntryId>, Vec<EntryId>)> {
        if self.sets.len() > 1 || other.sets.len() > 1 {
            return None;
        }
        let most = self.order.len() / 4;
        let rule = |decide: &Self, slot: usize| match decide.policies.get(slot) {
            Some(Policy { rule: Some(rule), .. }) => Some(Arc::as_ptr(rule)),
            _ => None,
        };
        let (longer, shorter) =
            (self.policies.len().max(other.policies.len()), self.policies.len().min(other.policies.len()));
        let differing = self.policies.differing(&other.policies).filter(|slot| *slot < shorter).chain(shorter..longer);
        let (mut own, mut others) = (Vec::new(), Vec::new());
        for slot in differing {
            let (one, two) = (rule(self, slot), rule(other, slot));
            if one == two {
                continue;
            }
            let place =
                |decide: &Self| u32::try_from(slot).ok().map(|slot| EntryId::new(decide.order.place(slot) as usize));
            own.extend(one.and_then(|_| place(self)));
            others.extend(two.and_then(|_| place(other)));
            if own.len() + others.len() > most {
                return None;
            }
        }
        own.sort_unstable();
        others.sort_unstable();
        Some((own, others))
    }
}
