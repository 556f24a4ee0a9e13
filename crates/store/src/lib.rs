//! Revisions: an append-only log of changes to documents, and the state that is its fold.
//!
//! ```text
//! Batch ──append──▶ Entry 1, Entry 2, … (the log)   log, store
//!                         └──fold──▶ State          state
//! ```
//!
//! One trait, three homes: [`Memory`] forgets, [`Sqlite`] keeps a file, [`Postgres`] serves many servers at once; the last
//! two have schema and statements in common (`log`). [`export`] and [`import`] carry a history from one to another, and
//! [`Retention`] says how much of it is kept. Every entry carries the digest of its state and a [`Chain`] over everything before it, and
//! [`verify()`] holds a store against them.
//! The head that was acknowledged last is in two files beside the one of [`Sqlite`], too: one that ends before it is refused.
//! Nothing acknowledged is ever lost, nothing half-applied is ever seen, and a batch counts only on top of the revision that
//! its author saw.

mod batch;
mod chain;
mod digest;
mod entry;
mod hex;
mod history;
mod key;
mod log;
pub mod machine;
mod memory;
mod postgres;
mod retention;
mod sqlite;
mod state;
mod store;
#[cfg(feature = "testing")]
pub mod testing;
mod transfer;
mod verify;

pub use batch::{Batch, IdempotencyKey};
pub use chain::Chain;
pub use digest::Digest;
pub use entry::{Change, Entry, EntrySummary, KeyChange};
pub use history::{BadHistory, History};
pub use key::{BadKey, Key, Part};
pub use memory::Memory;
pub use postgres::Postgres;
pub use retention::Retention;
pub use sqlite::{
    Acceptance, AcceptedLoss, Acknowledgement, Evidence, FramesBehind, HEAD_FILES, Loss, STORE_FILE, Sqlite,
};
pub use state::{Difference, Document, State};
pub use store::{Appended, Contact, Head, Remark, Result, Store, StoreError};
pub use transfer::{
    Exported, Imported, KeyName, Signed, SigningKey, TransferError, UnreadableKey, VerifyingKey, check_export, export,
    import,
};
pub use verify::{NotWhole, Verified, verify};

/// The number of an entry of the log; zero is before the first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
#[serde(transparent)]
pub struct Revision(pub u64);

impl Revision {
    /// Before the first entry.
    pub const ZERO: Self = Self(0);

    /// The one after this.
    #[must_use]
    pub fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }
}

impl std::fmt::Display for Revision {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

impl std::str::FromStr for Revision {
    type Err = std::num::ParseIntError;

    fn from_str(text: &str) -> std::result::Result<Self, Self::Err> {
        text.parse().map(Self)
    }
}
