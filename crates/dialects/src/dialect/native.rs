//! Addresses and shapes of an original system: what its own API would answer.

use serde_json::Value as Json;
use upheld_engine::Snapshot;

/// One address.
#[derive(Clone, Copy, Debug)]
pub struct Endpoint {
    /// The path, with names in braces.
    pub path: &'static str,
    /// What it answers.
    pub summary: &'static str,
}

/// Why there is no answer, as the original says it.
#[derive(Clone, Debug, PartialEq)]
pub struct NativeProblem {
    /// The status of HTTP.
    pub status: u16,
    /// The body.
    pub body: Json,
    /// The same in a sentence.
    pub message: String,
}

/// The API of an original system, read-only.
pub trait Native: Sync {
    /// The name of the system.
    fn system(&self) -> &'static str;

    /// How all of its paths begin.
    fn prefix(&self) -> &'static str;

    /// The addresses that it has.
    fn endpoints(&self) -> &'static [Endpoint];

    /// The editions that it shows unless somebody chose others of this system.
    fn editions(&self) -> &'static [&'static str];

    /// What a `GET` answers; the path comes with its query.
    fn get(&self, snapshot: &Snapshot, path: &str) -> Result<Json, NativeProblem>;

    /// How it says that something went wrong before anybody looked.
    fn problem(&self, status: u16, title: &str, detail: &str) -> Json;
}
