//! A history as a file: JSON, one object a line, so that it can be looked at and compressed with common tools.
//!
//! ```text
//! {"upheld":"history","version":2,"revision":9,"digest":"…","oldest":4,"oldestDigest":"…","chain":"…","oldestChain":"…","documents":2}
//! {"document":{"key":"…","revision":3,"text":"…"}}       documents of the oldest known state, in order
//! {"entry":{"revision":5,"time":"…",…,"changes":[…]}}     everything since
//! ```

mod export;
mod import;
mod line;

pub use export::{Exported, export};
pub use import::{Imported, check_export, import};

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
    /// There is something in the store already.
    #[error("the store already has {0} revisions; a history can only be imported into an empty store")]
    NotEmpty(Revision),
}
