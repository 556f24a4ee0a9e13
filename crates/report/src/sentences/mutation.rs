//! What is otherwise in a policy that was changed on purpose, and how many of such changes tests notice.

use serde::{Deserialize, Serialize};

use super::{Phrase, counted, phrase};

/// A change of a policy, or how many of them are noticed.
#[expect(missing_docs, reason = "fields of sentences are named for what stands in their place")]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "code", content = "parameters", rename_all_fields = "camelCase")]
pub enum Mutated {
    /// The effect is turned round.
    #[serde(rename = "mutation.effect")]
    Effect { was: String, becomes: String },
    /// The policy is taken away.
    #[serde(rename = "mutation.removed")]
    Removed,
    /// One of several alternatives is taken away.
    #[serde(rename = "mutation.alternative")]
    Alternative { clause: String, asks: String },
    /// A clause fits all.
    #[serde(rename = "mutation.everything")]
    Everything { clause: String, asks: String },
    /// An alternative asks for one thing less.
    #[serde(rename = "mutation.test")]
    Test { clause: String, was: String, becomes: String },
    /// A test asks for one value less, or for a wider pattern.
    #[serde(rename = "mutation.values")]
    Values { field: String, was: String, becomes: String },
    /// A condition is taken away.
    #[serde(rename = "mutation.condition")]
    Condition { asks: String },
    /// An obligation or advice is taken away.
    #[serde(rename = "mutation.duty")]
    Duty { binding: String, id: String },
    /// The priority is that of policies that name none.
    #[serde(rename = "mutation.priority")]
    Priority { was: f64 },
    /// The default effect is turned round.
    #[serde(rename = "mutation.default")]
    Default { was: String, becomes: String },
    /// A set has no target.
    #[serde(rename = "mutation.target")]
    Target { asks: String },

    /// How many changes tests notice.
    #[serde(rename = "mutation.noticed")]
    Noticed { noticed: usize, of: usize, tests: usize },
}

impl Mutated {
    /// In words.
    pub fn text(&self) -> String {
        match self {
            Self::Effect { was, becomes } => format!("effect {becomes} instead of {was}"),
            Self::Removed => "without the policy".to_owned(),
            Self::Alternative { clause, asks } => format!("{clause} without {asks}"),
            Self::Everything { clause, asks } => format!("any {clause} instead of {asks}"),
            Self::Test { clause, was, becomes } => format!("{clause} {becomes} instead of {was}"),
            Self::Values { field, was, becomes } => format!("{field} {becomes} instead of {was}"),
            Self::Condition { asks } => format!("without the condition {asks}"),
            Self::Duty { binding, id } => format!("without the {binding} {id}"),
            Self::Priority { was } => format!("priority 0 instead of {was}"),
            Self::Default { was, becomes } => format!("default effect {becomes} instead of {was}"),
            Self::Target { asks } => format!("without the target {asks}"),
            Self::Noticed { of: 0, .. } => "There are no access policies to change.".to_owned(),
            Self::Noticed { of, tests: 0, .. } => {
                let changes = counted(*of, "change", "changes");
                format!("No test that passes asks access policies, so {changes} would not be noticed.")
            }
            Self::Noticed { noticed, of, tests } => {
                let (changes, tests) = (counted(*of, "change", "changes"), counted(*tests, "test", "tests"));
                let verb = if *noticed == 1 { "is" } else { "are" };
                format!("{noticed} of {changes} {verb} noticed by {tests}.")
            }
        }
    }
}

impl From<Mutated> for Phrase {
    fn from(mutated: Mutated) -> Self {
        phrase(&mutated, mutated.text())
    }
}
