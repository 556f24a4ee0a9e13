//! What policies become when one of them, or a set, is another one in the same place; in whatever set it is.

use std::sync::Arc;

use super::order::Edit;
use super::{Decide, Policy};
use crate::ask::EntryId;
use crate::decide::rule::{Rule, Set};

impl Decide {
    /// With another policy in the place of one. Its priority must be the same, because it decides the place.
    #[must_use]
    pub fn with_rule(&self, entry: EntryId, rule: Rule) -> Option<Self> {
        let slot = self.order.slot(entry.index())?;
        let (before, set) = (self.shared_rule(entry.index())?, self.head(entry)?.set);
        let index = Arc::new(self.index.with(&[(slot, before.as_ref())], &[(slot, &rule)]));
        let mut policies = self.policies.clone();
        *policies.get_mut(slot as usize)? = Policy::new(Arc::new(rule), set);
        Some(Self { policies, index, ..self.clone() })
    }

    /// Without a policy.
    #[must_use]
    pub fn without_rule(&self, entry: EntryId) -> Option<Self> {
        let slot = self.order.slot(entry.index())?;
        let before = self.shared_rule(entry.index())?;
        let index = Arc::new(self.index.with(&[(slot, before.as_ref())], &[]));
        let (order, _) = self.order.with(&[(entry.index(), Edit::Remove)]);
        let mut changed = Self { order, index, ..self.clone() };
        changed.policies.get_mut(slot as usize)?.rule = None;
        for node in &mut changed.nodes {
            node.start -= u32::from(entry.index() < node.start as usize);
        }
        Some(changed)
    }

    /// With another set in the place of one. Its priority must be the same, and its members are.
    #[must_use]
    pub fn with_set(&self, number: usize, set: Set) -> Option<Self> {
        let mut changed = self.clone();
        *Arc::make_mut(&mut changed.sets).get_mut(number)? = Set { members: Vec::new(), ..set };
        Some(changed)
    }
}
