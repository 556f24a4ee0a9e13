//! All policies of a snapshot.

use std::sync::Arc;

use upheld_model::{Policy, Table};

use super::PolicyId;

/// Policies by type, scope and name. Those that decide requests come last: they change often, and the ids of all others
/// must not depend on them.
#[derive(Clone, Debug, Default)]
pub struct Policies {
    others: Arc<Table<Policy>>,
    deciding: Arc<Table<Policy>>,
}

impl Policies {
    /// Of two sorted parts.
    pub(super) fn new(others: Table<Policy>, deciding: Table<Policy>) -> Self {
        Self { others: Arc::new(others), deciding: Arc::new(deciding) }
    }

    /// With other policies that decide.
    pub(super) fn with_deciding(&self, deciding: Table<Policy>) -> Self {
        Self { others: Arc::clone(&self.others), deciding: Arc::new(deciding) }
    }

    /// With others that do not decide.
    pub(super) fn with_others(&self, others: Table<Policy>) -> Self {
        Self { others: Arc::new(others), deciding: Arc::clone(&self.deciding) }
    }

    /// The policy, unless the id is of another snapshot.
    pub fn get(&self, id: PolicyId) -> Option<&Policy> {
        match id.index().checked_sub(self.others.len()) {
            None => self.others.get(id),
            Some(index) => self.deciding.get(PolicyId::new(index)),
        }
    }

    /// All of them with their ids.
    pub fn iter(&self) -> impl Iterator<Item = (PolicyId, &Policy)> {
        let all = (0..self.len()).map(PolicyId::new);
        let (others, deciding) = (self.others.as_slice(), self.deciding.as_slice());
        all.zip(others.iter().chain(deciding))
    }

    /// Those that decide requests.
    pub fn deciding(&self) -> &[Policy] {
        self.deciding.as_slice()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.others.len() + self.deciding.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
