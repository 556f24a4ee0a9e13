//! What tests came to, and what they leave untested.

use std::collections::BTreeSet;

use serde::Serialize;
use serde_json::{Value as Json, json};

use super::{At, MutationReport, Proof};

/// All cases of a run.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TestReport {
    /// How many cases ended how.
    pub summary: Summary,
    /// All cases, in order.
    pub cases: Vec<Tested>,
    /// What they leave untested, if that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub coverage: Option<Coverage>,
    /// Changes of policies that they do not notice, if that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mutation: Option<MutationReport>,
}

/// How many cases ended how.
#[derive(Clone, Copy, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Summary {
    /// As expected.
    pub passed: usize,
    /// Otherwise.
    pub failed: usize,
    /// Not asked.
    pub skipped: usize,
    /// Invariants of which nobody can tell whether they hold.
    #[serde(skip_serializing_if = "is_none")]
    pub undecided: usize,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
fn is_none(count: &usize) -> bool {
    *count == 0
}

/// One case, and what became of it.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Tested {
    /// What it is called.
    pub name: String,
    /// How it ended.
    pub state: TestState,
    /// Where it was written.
    pub at: At,
    /// Words to choose it by.
    pub tags: Vec<String>,
    /// What was asked.
    pub asked: Json,
    /// What was to come out.
    pub expected: Json,
    /// What came out otherwise.
    pub differences: Vec<Difference>,
    /// The sentence that answers, why there is no answer, or why it was not asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub because: Option<String>,
    /// Of an invariant: whether it holds, and what speaks against it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proof: Option<Proof>,
}

/// How a case ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum TestState {
    /// As expected.
    Passed,
    /// Otherwise.
    Failed,
    /// It was not asked.
    Skipped,
    /// Nobody can tell.
    Undecided,
}

impl TestState {
    /// Whether a run with such a case is not good.
    pub fn is_bad(self) -> bool {
        matches!(self, Self::Failed | Self::Undecided)
    }
}

/// A part of an answer that is not what was expected.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Difference {
    /// The way to the part.
    pub path: String,
    /// What was to come out.
    pub expected: Json,
    /// Null if the answer has no such part.
    pub actual: Json,
}

/// The path of what an invariant comes to.
pub const INVARIANT: &str = "invariant";

/// What the cases that were run decide and make true.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Coverage {
    /// How many policies a case decides.
    pub decided: usize,
    /// How many there are.
    pub of: usize,
    /// In hundredths, rounded down.
    pub percent: usize,
    /// What was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at_least: Option<u8>,
    /// All policies.
    pub policies: Vec<CoveredPolicy>,
    /// All parts of policies that decide requests.
    pub clauses: Vec<CoveredClause>,
}

/// A policy, and how many cases it decides.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CoveredPolicy {
    /// Its kind.
    pub kind: String,
    /// Its name.
    pub policy: String,
    /// How many cases it stands in.
    pub cases: usize,
    /// Where it was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<At>,
}

/// An alternative or a condition of a policy that decides requests, and in how many cases it is true.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CoveredClause {
    /// The kind of the policy.
    pub kind: String,
    /// Its name.
    pub policy: String,
    /// Which list of the policy it is in.
    pub clause: &'static str,
    /// Its place there.
    pub index: usize,
    /// What it asks.
    pub asks: String,
    /// For how many cases it is true.
    pub cases: usize,
    /// Where it was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<At>,
}

impl Summary {
    /// Counts cases.
    pub fn of<'t>(cases: impl IntoIterator<Item = &'t Tested>) -> Self {
        cases.into_iter().fold(Self::default(), |mut summary, case| {
            *match case.state {
                TestState::Passed => &mut summary.passed,
                TestState::Failed => &mut summary.failed,
                TestState::Skipped => &mut summary.skipped,
                TestState::Undecided => &mut summary.undecided,
            } += 1;
            summary
        })
    }

    /// How many cases there are.
    pub fn all(self) -> usize {
        self.passed + self.failed + self.skipped + self.undecided
    }
}

impl TestReport {
    /// The whole document that programs get.
    pub fn document(&self, digest: &str) -> Json {
        let mut document = json!({"apiVersion": "upheld/v1", "kind": "TestReport", "snapshot": digest});
        if let (Some(document), Json::Object(report)) = (document.as_object_mut(), json!(self)) {
            document.extend(report);
        }
        document
    }

    /// How the run ends: as expected if every case came out so, enough policies are decided, and every change of them is noticed.
    pub fn ends(&self) -> TestState {
        let is_short = self.coverage.as_ref().is_some_and(Coverage::is_short);
        let survived = self.mutation.as_ref().is_some_and(|mutation| !mutation.survivors.is_empty());
        match self.summary {
            Summary { failed: 0, undecided: 0, .. } if !is_short && !survived => TestState::Passed,
            Summary { failed: 0, .. } if !is_short && !survived => TestState::Undecided,
            _ => TestState::Failed,
        }
    }
}

impl Coverage {
    /// Whether fewer policies are decided than was asked for.
    pub fn is_short(&self) -> bool {
        // Not by the rounded number: 79.9 is less than 80 all the same.
        self.at_least.is_some_and(|least| self.decided * 100 < usize::from(least) * self.of)
    }

    /// Policies that no case decides.
    pub fn undecided(&self) -> impl Iterator<Item = &CoveredPolicy> {
        self.policies.iter().filter(|policy| policy.cases == 0)
    }

    /// Parts that are never true, of policies that are decided; of the others they are no news.
    pub fn never_true(&self) -> impl Iterator<Item = &CoveredClause> {
        let undecided: BTreeSet<(&str, &str)> =
            self.undecided().map(|policy| (policy.kind.as_str(), policy.policy.as_str())).collect();
        let is_news =
            move |clause: &&CoveredClause| !undecided.contains(&(clause.kind.as_str(), clause.policy.as_str()));
        self.clauses.iter().filter(|clause| clause.cases == 0).filter(is_news)
    }
}
