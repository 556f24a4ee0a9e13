//! What the log is made of.

use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{Digest, Key, Revision};

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
    /// What changed, in order.
    pub changes: Vec<Change>,
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
