//! How questions are answered.

use upheld_model::Timestamp;
use upheld_report::Skipped;

/// What holds for all questions of an asker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Only this mesh.
    pub mesh: Option<String>,
    /// Editions of the rules: the same as the snapshot was loaded with.
    pub semantics: Vec<String>,
    /// The time of asking.
    pub now: Timestamp,
    /// The kind of policies that decides requests where a question names none; unless it is set, the only one that has policies.
    pub deciding_kind: Option<String>,
    /// Which policies that do not match are listed in each report.
    pub skipped: Skipped,
}

impl Options {
    /// Nothing but a time: all meshes, the usual editions, the usual number of policies that do not match.
    pub fn at(now: Timestamp) -> Self {
        Self { mesh: None, semantics: Vec::new(), now, deciding_kind: None, skipped: Skipped::default() }
    }
}
