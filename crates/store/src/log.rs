//! The log in a database: schema and statements that SQLite and PostgreSQL have in common. What differs is how a transaction
//! begins, how the head is locked, and how others are reported.

mod append;
mod chain;
mod changes;
mod compact;
mod database;
mod end;
mod link;
mod read;
mod restore;
mod schema;
pub(crate) mod statements;
mod summaries;

pub(crate) use chain::{ChainEnd, chain_at, chain_end, complete};
pub(crate) use database::{Database, Work};
pub(crate) use end::End;
pub(crate) use link::{Columns, Link, Value, implement_link};
pub(crate) use read::{entries, head, last};
pub(crate) use schema::{SchemaError, migrate};
pub(crate) use statements::{HEAD, LOCKED_HEAD};

use jiff::Timestamp;

use crate::{Revision, StoreError};
use append::{append, remember, remembered};
use compact::compact;
use read::{digest_after as digest, state};
use restore::restore;
use summaries::summaries;

/// A time as text, always with the same number of digits, so that texts and times have the same order.
pub(crate) fn time(time: Timestamp) -> String {
    format!("{time:.9}")
}

/// As databases count.
pub(crate) fn number(revision: Revision) -> i64 {
    i64::try_from(revision.0).unwrap_or(i64::MAX)
}

/// As we count.
pub(crate) fn revision(number: i64) -> Result<Revision, StoreError> {
    u64::try_from(number).map(Revision).map_err(|_| damaged("a revision", &number))
}

pub(crate) fn damaged(what: &str, found: &dyn std::fmt::Display) -> StoreError {
    StoreError::Unusable(format!("it is damaged: `{found}` is not {what}"))
}
