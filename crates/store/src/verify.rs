//! Is a store what was written into it?

use crate::history::Walk;
use crate::{BadHistory, Chain, Digest, Revision, Store, StoreError};

/// How many entries are read at once.
const PAGE: usize = 500;

/// A store that is whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Verified {
    /// The last revision.
    pub revision: Revision,
    /// The oldest that is known.
    pub oldest: Revision,
    /// The digest after the last one.
    pub digest: Digest,
    /// The fingerprint of everything up to it.
    pub chain: Chain,
    /// How many documents there are.
    pub documents: usize,
    /// How many entries were gone through.
    pub entries: usize,
}

/// Why a store is not what was written into it.
#[derive(Debug, thiserror::Error)]
pub enum NotWhole {
    /// The history contradicts itself.
    #[error(transparent)]
    History(#[from] BadHistory),
    /// Entries are missing at its end.
    #[error("the log ends with revision {found}, and its head says {head}")]
    Short {
        /// The last entry.
        found: Revision,
        /// What the head says.
        head: Revision,
    },
    /// The head has the fingerprint of something else.
    #[error("the {what} of the head is not that of revision {revision}")]
    Head {
        /// What differs.
        what: &'static str,
        /// The last revision.
        revision: Revision,
    },
    /// The documents that are read are not those that the log comes to.
    #[error("the documents at revision {0} are not those that the log comes to")]
    Documents(Revision),
    /// It could not be read.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Reads everything, counts every digest and every link of the chain anew, and compares the documents that are served with those that the log comes
/// to. What is appended meanwhile is not looked at.
pub async fn verify(store: &dyn Store) -> Result<Verified, NotWhole> {
    let head = store.head().await?;
    let mut walk = Walk::new(store.state(Some(head.oldest)).await?, head.oldest_chain)?;
    let mut entries = 0;
    while walk.state.revision() < head.revision {
        let page = store.entries(walk.state.revision(), PAGE).await?;
        let known = page.iter().take_while(|entry| entry.revision <= head.revision);
        let before = entries;
        for entry in known {
            walk.step(entry)?;
            entries += 1;
        }
        if entries == before {
            return Err(NotWhole::Short { found: walk.state.revision(), head: head.revision });
        }
    }
    let (revision, Walk { state, chain }) = (head.revision, walk);
    for (what, is_same) in [("digest", state.digest() == head.digest), ("chain", chain == head.chain)] {
        if !is_same {
            return Err(NotWhole::Head { what, revision });
        }
    }
    if store.state(Some(revision)).await? != state {
        return Err(NotWhole::Documents(revision));
    }
    let (documents, digest) = (state.len(), state.digest());
    Ok(Verified { revision, oldest: head.oldest, digest, chain, documents, entries })
}
