//! A whole history, as it travels from one store to another.

use crate::{Entry, Revision, State, StoreError, batch};

/// A state and the entries that follow it, with digests that are right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct History {
    base: State,
    entries: Vec<Entry>,
    end: State,
}

/// A history that contradicts itself.
#[derive(Debug, thiserror::Error)]
pub enum BadHistory {
    /// Documents or entries are missing or altered.
    #[error("the digest of revision {0} is not the digest of its documents")]
    Digest(Revision),
    /// An entry is missing, or one too much.
    #[error("revision {found} follows revision {after}")]
    Order {
        /// The one before.
        after: Revision,
        /// The one that is there.
        found: Revision,
    },
    /// A document that is younger than the state in which it is.
    #[error("a document of revision {0} cannot be in the state of an earlier one")]
    Young(Revision),
    /// A change that no store can keep.
    #[error("revision {0}: {1}")]
    Change(Revision, StoreError),
}

impl History {
    /// Of a state and the entries after it. Counts every digest anew.
    pub fn new(base: State, entries: Vec<Entry>) -> Result<Self, BadHistory> {
        if base.recount() != base.digest() {
            return Err(BadHistory::Digest(base.revision()));
        }
        if let Some((_, young)) = base.iter().find(|(_, document)| document.revision > base.revision()) {
            return Err(BadHistory::Young(young.revision));
        }
        let mut end = base.clone();
        for entry in &entries {
            if entry.revision != end.revision().next() {
                return Err(BadHistory::Order { after: end.revision(), found: entry.revision });
            }
            batch::check_changes(&entry.changes).map_err(|error| BadHistory::Change(entry.revision, error))?;
            end.apply(entry);
            if end.digest() != entry.digest {
                return Err(BadHistory::Digest(entry.revision));
            }
        }
        Ok(Self { base, entries, end })
    }

    /// The state before the first entry.
    pub fn base(&self) -> &State {
        &self.base
    }

    /// What happened since.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The state after the last entry.
    pub fn end(&self) -> &State {
        &self.end
    }

    /// The last revision.
    pub fn revision(&self) -> Revision {
        self.end.revision()
    }

    /// The state before the first entry, the entries, and the state after the last.
    pub(crate) fn into_parts(self) -> (State, Vec<Entry>, State) {
        (self.base, self.entries, self.end)
    }
}
