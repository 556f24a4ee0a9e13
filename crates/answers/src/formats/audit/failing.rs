//! Which violations fail a run: the same for exit codes and for pipelines that read test results.

use crate::report::compliance::{Audit, BaselineState, Check, CheckState, Level};

/// Which violations count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failing {
    /// The lowest level of policies.
    pub from: Level,
    /// Whether those that were there before count.
    pub among: Among,
}

/// Among which violations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Among {
    /// All.
    All,
    /// Those that an earlier audit did not have.
    New,
}

impl Default for Failing {
    fn default() -> Self {
        Self { from: Level::Enforce, among: Among::All }
    }
}

impl Failing {
    /// Whether a check fails the run.
    pub fn fails(self, check: &Check) -> bool {
        let counts = matches!(check.state, CheckState::Hard | CheckState::Soft) && check.level.reaches(self.from);
        counts && (self.among == Among::All || check.baseline_state == Some(BaselineState::New))
    }

    /// Whether anything does.
    pub fn any(self, audit: &Audit) -> bool {
        audit.violations().any(|check| self.fails(check))
    }
}
