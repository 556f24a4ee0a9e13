//! The lines of a history.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::signature::Signature;
use crate::{Chain, Digest, Entry, Key, Revision};

/// The version of the format that this program writes.
pub(super) const VERSION: u32 = 2;

/// The version of one that is signed: an older program would not know what to do with its last line.
pub(super) const SIGNED: u32 = 3;

/// The first version with a chain.
pub(super) const CHAINED: u32 = 2;

/// The first line.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Header {
    pub(super) upheld: Mark,
    pub(super) version: u32,
    pub(super) revision: Revision,
    pub(super) digest: Digest,
    pub(super) oldest: Revision,
    pub(super) oldest_digest: Digest,
    #[serde(default)]
    pub(super) chain: Chain,
    #[serde(default)]
    pub(super) oldest_chain: Chain,
    pub(super) documents: usize,
}

/// What tells the file apart from others.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum Mark {
    History,
}

/// The part of the header that every version has.
#[derive(Debug, Deserialize)]
pub(super) struct AnyHeader {
    #[serde(rename = "upheld")]
    pub(super) _upheld: Mark,
    pub(super) version: u32,
}

/// Any other line.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum Line {
    Document(Kept),
    Entry(Entry),
    Signature(Signature),
}

/// A document of the oldest known state.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Kept {
    pub(super) key: Key,
    pub(super) revision: Revision,
    pub(super) text: Arc<str>,
}
