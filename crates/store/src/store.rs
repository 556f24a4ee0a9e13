//! The one trait behind which the log is kept.

use std::fmt;

use futures::future::BoxFuture;
use jiff::Timestamp;
use tokio::sync::watch;

use crate::machine::Moment;
use crate::{
    AcceptedLoss, Batch, Chain, Digest, Entry, EntrySummary, FramesBehind, History, IdempotencyKey, Loss, Revision,
    State,
};

/// Where the log is kept.
pub trait Store: fmt::Debug + Send + Sync {
    /// The end of the log.
    fn head(&self) -> BoxFuture<'_, Result<Head>>;

    /// The fold of the log up to a revision, or of all of it.
    fn state(&self, at: Option<Revision>) -> BoxFuture<'_, Result<State>>;

    /// The digest after a revision.
    fn digest(&self, at: Revision) -> BoxFuture<'_, Result<Digest>>;

    /// At most `limit` entries after a revision, in order.
    fn entries(&self, after: Revision, limit: usize) -> BoxFuture<'_, Result<Vec<Entry>>>;

    /// At most `limit` entries after a revision, in order, each with at most `keys` of its changes. The cost follows the answer: no text of
    /// a document is read, and no other change of these entries.
    fn summaries(&self, after: Revision, limit: usize, keys: usize) -> BoxFuture<'_, Result<Vec<EntrySummary>>>;

    /// Adds an entry. When this returns, the entry is durable; when it fails, there is no trace of it, except after
    /// [`StoreError::Unreachable`], where nobody can know: ask again under the same idempotency key.
    fn append(&self, batch: Batch) -> BoxFuture<'_, Result<Appended>>;

    /// The revision that a request came to before, if it was made before under this key.
    fn remembered(&self, key: &IdempotencyKey) -> BoxFuture<'_, Result<Option<Revision>>>;

    /// Notes that a request changed nothing, under its key: it came to the last revision. A request that was made before came to what it came to then.
    /// Where the request was judged by a revision, and the log goes on after it, that is a conflict and nothing is noted.
    fn remember(&self, key: IdempotencyKey, seen: Option<Revision>, time: Timestamp)
    -> BoxFuture<'_, Result<Revision>>;

    /// Forgets how documents came to be as they were at a revision; the state from there on, and the entries after it, stay.
    fn compact(&self, up_to: Revision) -> BoxFuture<'_, Result<()>>;

    /// Takes over the history of another store, all of it or nothing. Only a store without revisions can.
    fn restore(&self, history: History) -> BoxFuture<'_, Result<()>>;

    /// Follows the end of the log: also what other servers append is reported here, soon.
    fn follow(&self) -> watch::Receiver<Revision>;

    /// When it last said where the log ends, again and again as long as it can be reached. `None` for a store that is part of this process,
    /// and never out of reach.
    fn contact(&self) -> Option<watch::Receiver<Contact>> {
        None
    }

    /// What kind of store it is, for logs and answers: `memory`, `sqlite` or `postgres`. Never has a password in it.
    fn name(&self) -> &'static str;

    /// Whether a write would be kept, found out by one that changes nothing.
    fn try_write(&self) -> BoxFuture<'_, Result<()>> {
        Box::pin(std::future::ready(Ok(())))
    }

    /// What there is to say besides about whether it is whole.
    fn remarks(&self) -> BoxFuture<'_, Result<Vec<Remark>>> {
        Box::pin(std::future::ready(Ok(Vec::new())))
    }

    /// Ends all use of it: when this is done, everything is in its place, and files can be copied.
    fn close(&self) -> BoxFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }
}

/// The end of the log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Head {
    /// The last revision.
    pub revision: Revision,
    /// The digest after it.
    pub digest: Digest,
    /// The fingerprint of everything up to it.
    pub chain: Chain,
    /// The oldest revision whose state is still known.
    pub oldest: Revision,
    /// The fingerprint of everything up to that one.
    pub oldest_chain: Chain,
}

/// What there is to say about a store that is whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Remark {
    /// Revisions were lost before, and that was accepted.
    Loss(AcceptedLoss),
    /// The write-ahead log had transactions that were never acknowledged.
    Frames(FramesBehind),
}

impl fmt::Display for Remark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Loss(loss) => loss.fmt(f),
            Self::Frames(frames) => write!(f, "{frames}; none of it was acknowledged"),
        }
    }
}

/// An answer of a store to the question where the log ends.
#[derive(Clone, Copy, Debug)]
pub struct Contact {
    /// The end of the log.
    pub head: Head,
    /// When it was asked: what was written later may be missing.
    pub at: Moment,
}

/// What became of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Appended {
    /// It is this entry.
    Now(Revision, Digest),
    /// It already was this entry, under the same idempotency key.
    Before(Revision),
}

/// Of a store.
pub type Result<T> = std::result::Result<T, StoreError>;

/// Why a store cannot do something.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Somebody else was faster.
    #[error("the log is already at revision {0}")]
    Conflict(Revision),
    /// The same idempotency key for something else.
    #[error("the idempotency key `{0}` was used for another request")]
    KeyReused(String),
    /// It is not known any more.
    #[error("revision {asked} was compacted away; the oldest known is {oldest}")]
    Compacted {
        /// The revision in question.
        asked: Revision,
        /// The oldest that is known.
        oldest: Revision,
    },
    /// It is not there yet.
    #[error("there is no revision {asked} yet; the last is {last}")]
    Future {
        /// The revision in question.
        asked: Revision,
        /// The last one.
        last: Revision,
    },
    /// The log is not the one that was read: it was put back to an earlier state, or to that of somebody else.
    #[error(
        "the store is not the one that was read up to revision {own}: it ends with revision {last} and has another history"
    )]
    Diverged {
        /// The revision up to which it was read.
        own: Revision,
        /// Where it ends now.
        last: Revision,
    },
    /// Another file is in the place of one that is open, or none.
    #[error("`{file}` was replaced or removed while the store was open, which goes up to revision {own}")]
    Replaced {
        /// The revision up to which it was written.
        own: Revision,
        /// The name of the file.
        file: String,
    },
    /// What was acknowledged is not all there.
    #[error("{0}")]
    Lost(Box<Loss>),
    /// No store can keep it.
    #[error("the batch cannot be stored: {0}")]
    Refused(String),
    /// Written by a newer program, or damaged.
    #[error("the store cannot be used: {0}")]
    Unusable(String),
    /// The database does not answer.
    #[error("the store does not answer: {0}")]
    Unreachable(String),
}

impl StoreError {
    /// Whether the store is not the one any more that was read.
    pub fn is_other_store(&self) -> bool {
        matches!(self, Self::Diverged { .. } | Self::Replaced { .. })
    }
}
