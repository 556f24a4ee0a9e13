//! What is to become an entry.

use jiff::Timestamp;

use crate::{Change, Revision};

/// Changes that happen together or not at all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Batch {
    /// The revision that its author saw; if the log went on since, nothing happens.
    pub after: Revision,
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
