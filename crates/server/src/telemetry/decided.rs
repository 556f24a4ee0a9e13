//! The one call that every surface makes when it has decided.

use std::time::Duration;

use upheld_engine::decide::Outcome;
use upheld_store::Revision;

use super::decisions::Line;
use super::{Observed, Surface};
use crate::app::App;

/// A decision, as it is counted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DecisionEvent<'o> {
    /// Where it was asked for.
    pub(crate) surface: Surface,
    /// What it is.
    pub(crate) outcome: Outcome,
    /// The request that asked.
    pub(crate) observed: &'o Observed,
    /// Which one of those that the request asked for.
    pub(crate) place: Option<usize>,
    /// How long it took.
    pub(crate) took: Duration,
}

/// What is written down of a decision beside that.
#[derive(Clone, Debug)]
pub(crate) struct Details {
    /// The revision that decided.
    pub(crate) revision: Revision,
    /// What was asked, as JSON. Secrets in it are hidden before it is written.
    pub(crate) request: String,
    /// The policy that decided.
    pub(crate) policy: Option<String>,
    /// What it says about itself.
    pub(crate) reason: Option<String>,
}

impl App {
    /// Counts a decision and writes it down. The details are only asked for if somebody wants them.
    pub(crate) async fn decided(&self, made: DecisionEvent<'_>, details: impl FnOnce() -> Details) {
        let line = self.count(made, details);
        self.write_down(line).await;
    }

    /// Counts a decision; what comes back is to be written down, where one can wait.
    pub(crate) fn count(&self, made: DecisionEvent<'_>, details: impl FnOnce() -> Details) -> Option<Line> {
        self.metrics.decided(made.surface, made.outcome, made.took);
        self.decisions.line(made, details)
    }

    /// Writes a decision down.
    pub(crate) async fn write_down(&self, line: Option<Line>) {
        if let Some(line) = line {
            self.decisions.write(line).await;
        }
    }
}
