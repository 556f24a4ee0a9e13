//! Writes that a dialect has a say in: what a program that keeps documents asks before it keeps other ones.

use serde_json::Value as Json;
use smol_str::SmolStr;
use upheld_governance::Outcome;
use upheld_model::Timestamp;
use upheld_report::compliance::Ruled;

use crate::identity::Identity;

/// Somebody who writes documents.
#[derive(Clone, Copy, Debug)]
pub struct DocumentWriter<'w> {
    /// Who it is, for the records.
    pub name: &'w str,
    /// The roles that were proved, not those that anybody claims.
    pub roles: &'w [SmolStr],
}

/// When documents are written.
#[derive(Clone, Copy, Debug)]
pub struct WriteTime {
    /// The moment.
    pub now: Timestamp,
    /// The number that the write gets in the log.
    pub revision: u64,
}

/// What becomes of a write.
#[derive(Clone, Debug)]
pub struct Admitted {
    /// In a word.
    pub outcome: Outcome,
    /// With its reasons: what refuses it, or what it leaves violated.
    pub ruled: Ruled,
    /// Documents that are written with it, and those that are gone with it: what was let through is on record.
    pub records: Vec<RecordChange>,
}

/// A document that somebody writes.
#[derive(Clone, Copy, Debug)]
pub struct WrittenDocument<'w> {
    /// Who it is.
    pub identity: &'w Identity,
    /// What it says, as JSON; nothing if it is deleted.
    pub text: Option<&'w str>,
}

/// A document that keeps a record.
#[derive(Clone, Debug, PartialEq)]
pub enum RecordChange {
    /// It is to be as it is here.
    Put(Json),
    /// It is not needed any more; this is what it said.
    Gone(Json),
}
