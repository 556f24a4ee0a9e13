//! What is wrong with policies that can be read.

use upheld_model::tree::Value;
use upheld_model::{Diagnostic, Files, Label, NodeRef, SourceId, Span};

/// Something that is wrong, and what could go because of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// What is wrong, and where.
    pub problem: Diagnostic,
    /// What it is about, in the same words as long as it is the same: without counts, and without whoever else has a part in it.
    /// The message, if it has none of these.
    pub about: Option<String>,
    /// What could go without a change of any result, whatever objects there are.
    pub could_go: Option<CouldGo>,
}

/// Something that could go without a change of any result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CouldGo {
    /// A policy: a document, or an item of a list.
    Policy(NodeRef),
    /// A comment.
    Comment(SourceId, Span),
}

impl CouldGo {
    /// Whether one of some places is in it.
    pub fn holds(self, files: &Files, places: &[Label]) -> bool {
        let (source, span) = match self {
            Self::Policy(at) => (at.source, files.value(at).map(Value::span)),
            Self::Comment(source, span) => (source, Some(span)),
        };
        let is_within = |place: &Label| {
            place.source == source && span.is_some_and(|own| own.start <= place.span.start && place.span.end <= own.end)
        };
        places.iter().any(is_within)
    }
}

impl From<Diagnostic> for Finding {
    fn from(problem: Diagnostic) -> Self {
        Self { problem, about: None, could_go: None }
    }
}

impl Finding {
    /// Says what it is about.
    #[must_use]
    pub fn about(self, about: impl Into<String>) -> Self {
        Self { about: Some(about.into()), ..self }
    }

    /// Says which policy could go.
    #[must_use]
    pub fn without(self, policy: NodeRef) -> Self {
        Self { could_go: Some(CouldGo::Policy(policy)), ..self }
    }
}
