//! A history as a file: JSON, one object a line, so that it can be looked at and compressed with common tools.
//!
//! ```text
//! {"upheld":"history","version":2,"revision":9,"digest":"…","oldest":4,"oldestDigest":"…","chain":"…","oldestChain":"…","documents":2}
//! {"document":{"key":"…","revision":3,"text":"…"}}       documents of the oldest known state, in order
//! {"entry":{"revision":5,"time":"…",…,"changes":[…]}}     everything since
//! {"signature":{"algorithm":"ed25519","key":"…","value":"…"}}   over every byte before it, if it is signed
//! ```

mod export;
mod import;
mod line;
mod signature;

pub use export::{Exported, export};
pub use import::{Imported, check_export, import};
pub use signature::{KeyName, Signed, SigningKey, UnreadableKey, VerifyingKey};

use crate::{BadHistory, Revision, StoreError};

/// Why a history cannot be written or read.
#[derive(Debug, thiserror::Error)]
pub enum TransferError {
    /// The store says no.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The file cannot be read or written.
    #[error("cannot read or write the history: {0}")]
    Io(#[from] std::io::Error),
    /// A line that should not be there.
    #[error("line {line}: {reason}")]
    Line {
        /// Counted from one.
        line: usize,
        /// What is wrong.
        reason: String,
    },
    /// The end is missing, or the header speaks of something else.
    #[error("it has {found} {what} where its first line announces {announced}")]
    Announced {
        /// Of what.
        what: &'static str,
        /// How much the header says.
        announced: String,
        /// How much there is.
        found: String,
    },
    /// The lines contradict each other.
    #[error(transparent)]
    History(#[from] BadHistory),
    /// Nobody says who wrote it.
    #[error("it is not signed, and only a history that `{0}` signed is accepted")]
    NotSigned(KeyName),
    /// Somebody else wrote it, or it was altered.
    #[error("its signature is not one of `{wanted}` over what it says; it names the key `{named}`")]
    WrongSignature {
        /// Whose it must be.
        wanted: KeyName,
        /// Whose it says to be.
        named: KeyName,
    },
    /// There is something in the store already.
    #[error("the store already has {0} revisions; a history can only be imported into an empty store")]
    NotEmpty(Revision),
}
