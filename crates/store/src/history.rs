//! A whole history, as it travels from one store to another.

use crate::{Chain, Entry, Revision, State, StoreError, batch};

/// A state and the entries that follow it, with digests and a chain that are right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct History {
    base: State,
    base_chain: Chain,
    entries: Vec<Entry>,
    end: State,
}

/// A history that contradicts itself.
#[derive(Debug, thiserror::Error)]
pub enum BadHistory {
    /// Documents or entries are missing or altered.
    #[error("the digest of revision {0} is not the digest of its documents")]
    Digest(Revision),
    /// What a revision says is not what was written, or something before it is not.
    #[error("revision {0} does not follow from what comes before it")]
    Chain(Revision),
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
    pub fn new(base: State, base_chain: Chain, entries: Vec<Entry>) -> Result<Self, BadHistory> {
        let mut walk = Walk::new(base.clone(), base_chain)?;
        for entry in &entries {
            walk.step(entry)?;
        }
        Ok(Self { base, base_chain, entries, end: walk.state })
    }

    /// The fingerprint of everything before the first entry.
    pub fn base_chain(&self) -> Chain {
        self.base_chain
    }

    /// The fingerprint of everything.
    pub fn chain(&self) -> Chain {
        self.entries.last().map_or(self.base_chain, |entry| entry.chain)
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

/// Goes through a history, and counts every digest and every link of the chain anew.
#[derive(Debug)]
pub(crate) struct Walk {
    pub(crate) state: State,
    pub(crate) chain: Chain,
}

impl Walk {
    /// From a state on.
    pub(crate) fn new(base: State, chain: Chain) -> Result<Self, BadHistory> {
        if base.recount() != base.digest() {
            return Err(BadHistory::Digest(base.revision()));
        }
        if let Some((_, young)) = base.iter().find(|(_, document)| document.revision > base.revision()) {
            return Err(BadHistory::Young(young.revision));
        }
        Ok(Self { state: base, chain })
    }

    /// Over one entry more.
    pub(crate) fn step(&mut self, entry: &Entry) -> Result<(), BadHistory> {
        let after = self.state.revision();
        if entry.revision != after.next() {
            return Err(BadHistory::Order { after, found: entry.revision });
        }
        batch::check_changes(&entry.changes).map_err(|error| BadHistory::Change(entry.revision, error))?;
        self.state.apply(entry);
        if self.state.digest() != entry.digest {
            return Err(BadHistory::Digest(entry.revision));
        }
        if entry.chain_after(self.chain) != entry.chain {
            return Err(BadHistory::Chain(entry.revision));
        }
        self.chain = entry.chain;
        Ok(())
    }
}
