//! What the log is made of.

use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::chain::Said;
use crate::{Chain, Digest, Key, Revision};

/// One revision: everything in it happened at once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Entry {
    /// Its number.
    pub revision: Revision,
    /// When it was written.
    pub time: Timestamp,
    /// Who wrote it.
    pub actor: String,
    /// Why, in the words of the author.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The fingerprint of the state after it.
    pub digest: Digest,
    /// The fingerprint of everything up to it; [`Chain::START`] if the program that wrote it kept none.
    #[serde(default)]
    pub chain: Chain,
    /// What changed, in order.
    pub changes: Vec<Change>,
}

/// An entry without the texts of its documents: who wrote it, how much it changed, and the first keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntrySummary {
    /// Its number.
    pub revision: Revision,
    /// When it was written.
    pub time: Timestamp,
    /// Who wrote it.
    pub actor: String,
    /// Why, in the words of the author.
    pub message: Option<String>,
    /// The fingerprint of the state after it.
    pub digest: Digest,
    /// How many documents it put.
    pub puts: usize,
    /// How many documents it deleted.
    pub deletions: usize,
    /// The first changes, in order.
    pub first: Vec<KeyChange>,
}

/// A change without the text of the document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeyChange {
    /// A document was put.
    Put(Key),
    /// A document was deleted.
    Delete(Key),
}

impl From<&Change> for KeyChange {
    fn from(change: &Change) -> Self {
        match change {
            Change::Put { key, .. } => Self::Put(key.clone()),
            Change::Delete { key } => Self::Delete(key.clone()),
        }
    }
}

impl Entry {
    /// All but the texts, with at most `keys` changes by their keys.
    pub fn summary(&self, keys: usize) -> EntrySummary {
        let Self { revision, time, actor, message, digest, chain: _, changes } = self;
        let puts = changes.iter().filter(|change| matches!(change, Change::Put { .. })).count();
        EntrySummary {
            revision: *revision,
            time: *time,
            actor: actor.clone(),
            message: message.clone(),
            digest: *digest,
            puts,
            deletions: changes.len() - puts,
            first: changes.iter().take(keys).map(KeyChange::from).collect(),
        }
    }

    /// The fingerprint that it must have after another one.
    #[must_use]
    pub fn chain_after(&self, before: Chain) -> Chain {
        let Self { revision, time, actor, message, digest, chain: _, changes } = self;
        let (revision, time, digest, message) = (*revision, *time, *digest, message.as_deref());
        before.after(Said { revision, time, actor, message, digest, changes })
    }
}

/// A change of one document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Change {
    /// A document is there from now on, in the place of the one with its key.
    Put {
        /// Which.
        key: Key,
        /// What it says, as JSON.
        text: Arc<str>,
    },
    /// A document is gone.
    Delete {
        /// Which.
        key: Key,
    },
}

impl Change {
    /// Which document it is about.
    pub fn key(&self) -> &Key {
        match self {
            Self::Put { key, .. } | Self::Delete { key } => key,
        }
    }
}
