//! What is to become an entry.

use std::collections::BTreeSet;

use jiff::Timestamp;

use crate::{Change, Digest, Result, Revision, StoreError};

/// Changes that happen together or not at all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Batch {
    /// The revision that its author saw; if the log went on since, nothing happens.
    pub after: Revision,
    /// The digest of the state that its author saw; nothing if they saw none. A log that has another one there is another log.
    pub seen: Option<Digest>,
    /// The moment.
    pub time: Timestamp,
    /// Who.
    pub actor: String,
    /// Why.
    pub message: Option<String>,
    /// What changes, in order; one change for each key.
    pub changes: Vec<Change>,
    /// Under which name a repetition is known.
    pub idempotency: Option<IdempotencyKey>,
}

/// The name that a caller gave to a request, so that asking twice does it once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdempotencyKey {
    /// The name.
    pub name: String,
    /// A fingerprint of what was asked: the same name with something else is a mistake.
    pub request: String,
}

impl Batch {
    /// Whether the log is the one that its author saw.
    pub(crate) fn check_seen(&self, digest: Digest) -> Result<()> {
        match self.seen.filter(|seen| *seen != digest) {
            Some(_) => Err(StoreError::Diverged { own: self.after, last: self.after }),
            None => Ok(()),
        }
    }

    /// Whether a store can keep it: one change for each key, and no text with the character NUL, which PostgreSQL cannot keep.
    pub(crate) fn check(&self) -> Result<()> {
        let about = [Some(&self.actor), self.message.as_ref()];
        let names = self.idempotency.iter().flat_map(|key| [&key.name, &key.request]);
        if about.into_iter().flatten().chain(names).any(|text| text.contains('\0')) {
            return Err(StoreError::Refused("a text has the character NUL".to_owned()));
        }
        check_changes(&self.changes)
    }
}

/// The part of the check that is about the changes.
pub(crate) fn check_changes(changes: &[Change]) -> Result<()> {
    let mut keys = BTreeSet::new();
    for change in changes {
        let key = change.key();
        if !keys.insert(key) {
            return Err(StoreError::Refused(format!("{key} is changed twice")));
        }
        let text = match change {
            Change::Put { text, .. } => text,
            Change::Delete { .. } => "",
        };
        if key.as_str().contains('\0') || text.contains('\0') {
            return Err(StoreError::Refused(format!("{} has the character NUL", key.as_str().escape_debug())));
        }
    }
    Ok(())
}
