//! What tests came to, and what they leave untested.

use std::collections::BTreeSet;

use serde::Serialize;
use serde_json::Value as Json;

use super::At;

/// All cases of a run.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TestReport {
    pub(crate) summary: Summary,
    pub(crate) cases: Vec<Tested>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) coverage: Option<Coverage>,
}

/// How many cases ended how.
#[derive(Clone, Copy, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Summary {
    pub(crate) passed: usize,
    pub(crate) failed: usize,
    pub(crate) skipped: usize,
}

/// One case, and what became of it.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Tested {
    pub(crate) name: String,
    pub(crate) state: TestState,
    pub(crate) at: At,
    pub(crate) tags: Vec<String>,
    /// What was asked.
    pub(crate) asked: Json,
    /// What was to come out.
    pub(crate) expected: Json,
    /// What came out otherwise.
    pub(crate) differences: Vec<Difference>,
    /// The sentence that answers, why there is no answer, or why it was not asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) because: Option<String>,
}

/// How a case ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum TestState {
    Passed,
    Failed,
    Skipped,
}

/// A part of an answer that is not what was expected.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Difference {
    /// The way to the part.
    pub(crate) path: String,
    pub(crate) expected: Json,
    /// Null if the answer has no such part.
    pub(crate) actual: Json,
}

/// What the cases that were run decide and make true.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Coverage {
    /// How many policies a case decides.
    pub(crate) decided: usize,
    /// How many there are.
    pub(crate) of: usize,
    /// In hundredths, rounded down.
    pub(crate) percent: usize,
    /// What was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) at_least: Option<u8>,
    pub(crate) policies: Vec<CoveredPolicy>,
    pub(crate) clauses: Vec<CoveredClause>,
}

/// A policy, and how many cases it decides.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CoveredPolicy {
    pub(crate) kind: String,
    pub(crate) policy: String,
    pub(crate) cases: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) at: Option<At>,
}

/// An alternative or a condition of a policy that decides requests, and in how many cases it is true.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CoveredClause {
    pub(crate) kind: String,
    pub(crate) policy: String,
    pub(crate) clause: &'static str,
    pub(crate) index: usize,
    pub(crate) asks: String,
    pub(crate) cases: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) at: Option<At>,
}

impl Summary {
    /// Counts cases.
    pub(crate) fn of<'t>(cases: impl IntoIterator<Item = &'t Tested>) -> Self {
        cases.into_iter().fold(Self::default(), |mut summary, case| {
            *match case.state {
                TestState::Passed => &mut summary.passed,
                TestState::Failed => &mut summary.failed,
                TestState::Skipped => &mut summary.skipped,
            } += 1;
            summary
        })
    }

    /// How many cases there are.
    pub(crate) fn all(self) -> usize {
        self.passed + self.failed + self.skipped
    }
}

impl TestReport {
    /// Whether every case came out as expected and enough policies are decided.
    pub(crate) fn is_good(&self) -> bool {
        self.summary.failed == 0 && !self.coverage.as_ref().is_some_and(Coverage::is_short)
    }
}

impl Coverage {
    /// Whether fewer policies are decided than was asked for.
    pub(crate) fn is_short(&self) -> bool {
        // Not by the rounded number: 79.9 is less than 80 all the same.
        self.at_least.is_some_and(|least| self.decided * 100 < usize::from(least) * self.of)
    }

    /// Policies that no case decides.
    pub(crate) fn undecided(&self) -> impl Iterator<Item = &CoveredPolicy> {
        self.policies.iter().filter(|policy| policy.cases == 0)
    }

    /// Parts that are never true, of policies that are decided; of the others they are no news.
    pub(crate) fn never_true(&self) -> impl Iterator<Item = &CoveredClause> {
        let undecided: BTreeSet<(&str, &str)> =
            self.undecided().map(|policy| (policy.kind.as_str(), policy.policy.as_str())).collect();
        let is_news =
            move |clause: &&CoveredClause| !undecided.contains(&(clause.kind.as_str(), clause.policy.as_str()));
        self.clauses.iter().filter(|clause| clause.cases == 0).filter(is_news)
    }
}
