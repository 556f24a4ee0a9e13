//! The labels: every one that there can be.

use axum::http::{HeaderValue, Method, Response, StatusCode};
use upheld_engine::decide::Outcome;
use upheld_governance::Outcome as Admission;
use upheld_store::StoreError;

/// Where a decision was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Surface {
    /// `/v1/decide`.
    Http,
    /// The Authorization API of `AuthZEN`.
    Authzen,
    /// Envoy's external authorization over gRPC.
    Grpc,
    /// The enforcement point over HTTP.
    Forward,
    /// The seed's administration API.
    Seed,
}

impl Surface {
    /// All, in the order of their places.
    pub(crate) const ALL: [Self; 5] = [Self::Http, Self::Authzen, Self::Grpc, Self::Forward, Self::Seed];

    /// As labels and logs have it.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Authzen => "authzen",
            Self::Grpc => "grpc",
            Self::Forward => "forward",
            Self::Seed => "seed",
        }
    }
}

/// What becomes of a question in a lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum QuestionState {
    /// A thread works on it, and has a place of the lane.
    Working,
    /// It waits for a place.
    Waiting,
}

impl QuestionState {
    /// All, in the order of their places.
    pub(crate) const ALL: [Self; 2] = [Self::Working, Self::Waiting];

    /// As labels have it.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Working => "working",
            Self::Waiting => "waiting",
        }
    }
}

/// What is asked of a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operation {
    Head,
    State,
    Digest,
    Entries,
    Append,
    Remembered,
    Compact,
    Restore,
}

impl Operation {
    /// All, in the order of their places.
    pub(crate) const ALL: [Self; 8] = [
        Self::Head,
        Self::State,
        Self::Digest,
        Self::Entries,
        Self::Append,
        Self::Remembered,
        Self::Compact,
        Self::Restore,
    ];

    /// As labels have it.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Head => "head",
            Self::State => "state",
            Self::Digest => "digest",
            Self::Entries => "entries",
            Self::Append => "append",
            Self::Remembered => "remembered",
            Self::Compact => "compact",
            Self::Restore => "restore",
        }
    }
}

/// What came of reading the files again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reloaded {
    /// They said something else, and that counts now.
    Changed,
    /// They said the same.
    Unchanged,
    /// They are broken; what they said before counts.
    Broken,
}

impl Reloaded {
    /// All, in the order of their places.
    pub(crate) const ALL: [Self; 3] = [Self::Changed, Self::Unchanged, Self::Broken];

    /// As labels and answers have it.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Changed => "changed",
            Self::Unchanged => "unchanged",
            Self::Broken => "broken",
        }
    }
}

/// Whether a write was meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Asked {
    /// It was.
    Write,
    /// Somebody only asked what would become of it.
    DryRun,
}

impl Asked {
    /// Both, in the order of their places.
    pub(super) const ALL: [Self; 2] = [Self::Write, Self::DryRun];

    /// As labels have it.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Write => "write",
            Self::DryRun => "dry-run",
        }
    }
}

/// What can be said of a write.
pub(super) const ADMISSIONS: [Admission; 5] =
    [Admission::Allowed, Admission::Soft, Admission::Blocked, Admission::Forbidden, Admission::Invalid];

/// The place of an outcome among all.
pub(super) fn admission(outcome: Admission) -> usize {
    match outcome {
        Admission::Allowed => 0,
        Admission::Soft => 1,
        Admission::Blocked => 2,
        Admission::Forbidden => 3,
        Admission::Invalid => 4,
    }
}

/// What decisions can be.
pub(super) const OUTCOMES: [Outcome; 4] = [Outcome::Permit, Outcome::Deny, Outcome::Undecided, Outcome::Foreign];

/// The place of an outcome among all.
pub(super) fn place(outcome: Outcome) -> usize {
    match outcome {
        Outcome::Permit => 0,
        Outcome::Deny => 1,
        Outcome::Undecided => 2,
        Outcome::Foreign => 3,
    }
}

/// Why requests are refused whatever they ask.
pub(super) const REFUSALS: [&str; 5] = ["unauthenticated", "too-slow", "too-large", "too-many", "misdirected"];

/// The place of the reason that an answer stands for. A 403 can be a decision: routes tell them apart.
pub(super) fn refusal<B>(answer: &Response<B>) -> Option<usize> {
    // gRPC answers with 200 and says in another header what it means.
    match answer.headers().get("grpc-status").map(HeaderValue::as_bytes) {
        Some(b"16") => return Some(0),
        Some(b"8") => return Some(3),
        _ => {}
    }
    match answer.status() {
        StatusCode::UNAUTHORIZED => Some(0),
        StatusCode::REQUEST_TIMEOUT => Some(1),
        StatusCode::PAYLOAD_TOO_LARGE | StatusCode::URI_TOO_LONG | StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE => {
            Some(2)
        }
        StatusCode::TOO_MANY_REQUESTS => Some(3),
        StatusCode::MISDIRECTED_REQUEST => Some(4),
        _ => None,
    }
}

/// What stores cannot do.
pub(super) const STORE_ERRORS: [&str; 8] =
    ["conflict", "key-reused", "compacted", "future", "refused", "unusable", "unreachable", "diverged"];

/// The place of an error among all.
pub(super) fn store_error(error: &StoreError) -> usize {
    match error {
        StoreError::Conflict(_) => 0,
        StoreError::KeyReused(_) => 1,
        StoreError::Compacted { .. } => 2,
        StoreError::Future { .. } => 3,
        StoreError::Refused(_) => 4,
        StoreError::Unusable(_) | StoreError::Lost(_) => 5,
        StoreError::Unreachable(_) => 6,
        StoreError::Diverged { .. } | StoreError::Replaced { .. } => 7,
    }
}

/// The name of a method; clients can make up as many as they like.
pub(crate) fn method_name(method: &Method) -> &'static str {
    const KNOWN: [&str; 9] = ["GET", "POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS", "CONNECT", "TRACE"];
    KNOWN.into_iter().find(|known| *known == method.as_str()).unwrap_or("other")
}
