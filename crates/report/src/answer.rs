//! The answer to a question: a report for each kind of policy and each thing that it is about.

use serde_json::Value as Json;
use upheld_engine::Snapshot;
use upheld_model::Diagnostic;
use upheld_model::nearest::{did_you_mean, nearest};

use crate::stamp::{self, Stamp};
use crate::{Outcome, Report, is_within};

/// All reports that a question leads to.
#[derive(Debug, Default)]
pub struct Answer {
    /// What was asked about, in words.
    pub about: String,
    /// One for each kind of policy and each thing. Those that hold for the same are beside each other.
    pub reports: Vec<Report>,
    /// Kinds that have policies here, but need the other end of a connection, too.
    pub incomplete: Vec<String>,
    /// Remarks for people.
    pub notes: Vec<String>,
    /// What is odd about the documents that the answer rests on.
    pub warnings: Vec<Diagnostic>,
}

impl Answer {
    /// Reports about one thing.
    pub fn about(what: impl Into<String>, reports: Vec<Report>) -> Self {
        Self { about: what.into(), reports, ..Self::default() }
    }

    /// Together with another answer to the same question.
    #[must_use]
    pub fn with(mut self, other: Self) -> Self {
        self.reports.extend(other.reports);
        self.incomplete.extend(other.incomplete);
        self.notes.extend(other.notes);
        self.warnings.extend(other.warnings);
        self
    }

    /// The policies that the results come from, `Kind/policy`, each once.
    pub fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for report in &self.reports {
            for name in report.standing() {
                let name = format!("{}/{name}", report.kind);
                if !names.contains(&name) {
                    names.push(name);
                }
            }
        }
        names
    }

    /// Reports that hold for the same things, in their order.
    pub fn groups(&self) -> Vec<(&[String], Vec<&Report>)> {
        let mut groups: Vec<(&[String], Vec<&Report>)> = Vec::new();
        for report in &self.reports {
            match groups.iter_mut().find(|(known, _)| *known == report.about.holds_for.as_slice()) {
                Some((_, reports)) => reports.push(report),
                None => groups.push((&report.about.holds_for, vec![report])),
            }
        }
        groups
    }

    /// The whole document.
    pub fn document(&self, snapshot: &Snapshot) -> Json {
        stamp::document(snapshot, "Explanation", &self.reports)
    }

    /// Where the answer comes from.
    pub fn stamp(&self, snapshot: &Snapshot) -> Stamp {
        Stamp::new(snapshot, self.reports.iter().filter_map(|report| report.semantics.as_deref()))
    }

    /// With one field of each result, and those below it.
    #[must_use]
    pub fn only(mut self, path: Option<&str>) -> Self {
        let Some(path) = path else { return self };
        for report in &mut self.reports {
            let known: Vec<String> = report.fields.iter().map(|field| field.path.clone()).collect();
            report.fields.retain(|field| is_within(&field.path, path));
            if report.fields.is_empty() && report.outcome != Outcome::Undecided {
                let near = nearest(path, known.iter().map(String::as_str));
                let hint = near.map(|name| format!("; {}", did_you_mean(name))).unwrap_or_default();
                self.notes.push(format!("note: {}: `{path}` is not set{hint}", report.kind));
            }
        }
        self
    }
}
