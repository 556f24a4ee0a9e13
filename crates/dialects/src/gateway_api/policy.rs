//! A policy with its stanzas.

use std::cmp::Ordering;
use std::sync::Arc;

use smol_str::SmolStr;
use upheld_engine::merge::{Extent, Side};
use upheld_model::{Config, Timestamp};

/// A policy that is attached somewhere.
#[derive(Clone, Debug)]
pub struct Policy {
    /// Its kind; kinds never meet.
    pub kind: SmolStr,
    /// Its namespace; empty if it has none.
    pub namespace: SmolStr,
    /// Its name.
    pub name: SmolStr,
    /// What its kind ranks it by before its age, the lowest first.
    pub rank: Vec<i64>,
    /// When it was created; unknown counts as before everything.
    pub created: Option<Timestamp>,
    /// What it says.
    pub says: Vec<Saying>,
}

/// One stanza: `defaults`, `overrides`, or what stands in neither.
#[derive(Clone, Debug)]
pub struct Saying {
    /// On which side; `None` leaves it to the profile.
    pub side: Option<Side>,
    /// As a whole or by field; `None` leaves it to the profile.
    pub extent: Option<Extent>,
    /// What it says.
    pub config: Arc<Config>,
}

impl Policy {
    /// Namespace and name as one text. Compared as one, `a-b/x` comes before `a/x`.
    pub fn identity(&self) -> String {
        if self.namespace.is_empty() { self.name.to_string() } else { format!("{}/{}", self.namespace, self.name) }
    }

    /// By the rungs of its kind, then the older one first, then by identity.
    pub fn by_age(&self, other: &Self) -> Ordering {
        let age = self.rank.cmp(&other.rank).then_with(|| self.created.cmp(&other.created));
        age.then_with(|| self.identity().cmp(&other.identity()))
    }
}

impl Saying {
    /// What stands in no stanza.
    pub const fn bare(config: Arc<Config>) -> Self {
        Self { side: None, extent: None, config }
    }

    /// A stanza that leaves open how it meets others.
    pub const fn on(side: Side, config: Arc<Config>) -> Self {
        Self { side: Some(side), extent: None, config }
    }
}
