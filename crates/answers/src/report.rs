//! What an answer says, ready to be printed: made from a ruling, seen by all renderers, and the JSON that programs get.

mod asked;
pub mod compliance;
mod decision;
mod explanation;
mod gateway;
mod layered;
mod payload;
mod tested;

pub(crate) use asked::asked as request_asked;
pub use decision::{Candidate as DecisionCandidate, Decision, Detail, Holds, Otherwise, Part, decide};
pub(crate) use explanation::{Asked, explain};
pub use explanation::{Candidate, Explanation, Note, Outcome};
pub use gateway::{EffectiveField, GatewayReport, LostField, Source};
pub(crate) use gateway::{finished, replaced, tell as tell_gateway, tell_ruling};
pub(crate) use layered::{AskedLayers, explain as explain_layers};
pub use payload::{Field, is_within, leaves};
pub use tested::{Coverage, CoveredClause, CoveredPolicy, Difference, Summary, TestReport, TestState, Tested};

use serde::Serialize;
use upheld_model::{Files, NodeRef};

/// A place in a file.
#[derive(Clone, Debug, Default, Serialize, PartialEq, Eq)]
pub struct At {
    file: String,
    line: usize,
    column: usize,
}

impl At {
    /// The place of a value.
    pub fn of(files: &Files, node: NodeRef) -> Option<Self> {
        let place = files.locate(node)?;
        Some(Self { file: place.file.to_owned(), line: place.line, column: place.column })
    }

    /// The name of the file.
    pub fn file(&self) -> &str {
        &self.file
    }

    /// The line, from one.
    pub fn line(&self) -> usize {
        self.line
    }

    /// The column in characters, from one.
    pub fn column(&self) -> usize {
        self.column
    }
}

impl std::fmt::Display for At {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}
