//! What became of cases.

use std::fmt;
use std::ops::AddAssign;

use serde_json::Value as Json;

use crate::difference::differences;

/// What became of one case.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// The engine says what the case expects.
    Passed,
    /// It says something else: how that differs, line by line.
    Failed(Vec<String>),
    /// It was not asked, for this reason.
    Skipped(String),
}

impl Outcome {
    /// Compares what a case expects with what came out.
    pub(crate) fn compare(expected: &Json, actual: &Json) -> Self {
        let differences = differences(expected, actual);
        if differences.is_empty() { Self::Passed } else { Self::Failed(differences) }
    }

    /// The case could not be put to the engine.
    pub(crate) fn failed(problem: &anyhow::Error) -> Self {
        Self::Failed(vec![format!("{problem:#}")])
    }
}

/// How many of each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) passed: usize,
    pub(crate) failed: usize,
    pub(crate) skipped: usize,
}

impl Tally {
    /// Counts outcomes.
    pub(crate) fn of<'o>(outcomes: impl Iterator<Item = &'o Outcome>) -> Self {
        let mut tally = Self::default();
        for outcome in outcomes {
            match outcome {
                Outcome::Passed => tally.passed += 1,
                Outcome::Failed(_) => tally.failed += 1,
                Outcome::Skipped(_) => tally.skipped += 1,
            }
        }
        tally
    }
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.skipped += other.skipped;
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} passed, {} failed, {} skipped", self.passed, self.failed, self.skipped)
    }
}
