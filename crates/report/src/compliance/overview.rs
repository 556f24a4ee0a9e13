//! How many violations there are, by how bad they are and by where they are: what comes first in every report.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use serde::Serialize;

use super::{Check, CheckState, PolicyLine, Severity};

/// All violations in numbers. By policy they are counted with the policies.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Overview {
    /// By how bad they are, the worst first; those of policies that do not say come last.
    pub by_severity: Vec<BySeverity>,
    /// By where they are, the one with the most first.
    pub by_workspace: Vec<ByWorkspace>,
}

/// Violations that are equally bad.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BySeverity {
    /// How bad.
    pub severity: Option<Severity>,
    /// How many.
    #[serde(flatten)]
    pub counts: Violations,
}

/// Violations of one workspace.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ByWorkspace {
    /// Which one; nothing for what belongs to none.
    pub workspace: Option<String>,
    /// How many.
    #[serde(flatten)]
    pub counts: Violations,
}

/// How many violations ended how.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Violations {
    /// Enforced, and let through by nobody.
    pub hard: usize,
    /// Accepted.
    pub soft: usize,
    /// Excused.
    pub waived: usize,
}

impl Violations {
    fn add(&mut self, state: CheckState) {
        match state {
            CheckState::Hard => self.hard += 1,
            CheckState::Soft => self.soft += 1,
            CheckState::Waived => self.waived += 1,
            CheckState::Pass => {}
        }
    }

    /// In the order of columns.
    pub fn numbers(self) -> [usize; 3] {
        [self.hard, self.soft, self.waived]
    }
}

impl PolicyLine {
    /// How many violations of it there are.
    pub fn violations(&self) -> Violations {
        Violations { hard: self.counts.hard, soft: self.counts.soft, waived: self.counts.waived }
    }
}

impl Overview {
    /// Of all violations.
    pub(super) fn of(checks: &[Check]) -> Self {
        let mut severities: BTreeMap<usize, (Option<Severity>, Violations)> = BTreeMap::new();
        let mut workspaces: BTreeMap<Option<&str>, Violations> = BTreeMap::new();
        for check in checks.iter().filter(|check| check.state != CheckState::Pass) {
            let rank = Severity::rank(check.severity);
            severities.entry(rank).or_insert((check.severity, Violations::default())).1.add(check.state);
            workspaces.entry(check.workspace.as_deref()).or_default().add(check.state);
        }
        let by_severity = severities.into_values().map(|(severity, counts)| BySeverity { severity, counts });
        let by_workspace = workspaces
            .into_iter()
            .map(|(workspace, counts)| ByWorkspace { workspace: workspace.map(str::to_owned), counts });
        let mut by_workspace: Vec<ByWorkspace> = by_workspace.collect();
        by_workspace.sort_by_key(|line| Reverse(line.counts));
        Self { by_severity: by_severity.collect(), by_workspace }
    }
}
