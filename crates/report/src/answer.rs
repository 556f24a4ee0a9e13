//! The answer to a question: a report for each kind of policy and each thing that it is about.

use std::collections::BTreeSet;

use serde_json::Value as Json;
use upheld_engine::Snapshot;
use upheld_model::nearest::{did_you_mean, nearest};
use upheld_model::tree::Span;
use upheld_model::{Diagnostic, Fault, Files, Label, NodeRef, SourceId, Value};

use crate::stamp::{self, Stamp};
use crate::{At, Outcome, Report, Skipped};

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
    /// What is odd about the documents that were read, where that was asked for.
    pub warnings: Vec<Diagnostic>,
    /// Documents that the answer rests on, besides those that reports name.
    pub documents: Vec<NodeRef>,
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
        self.documents.extend(other.documents);
        self
    }

    /// Those of some warnings that concern this answer, because they are about a document that it rests on, and how many others
    /// there are. What is about no document concerns everybody, and so does what lets more through than its author may think.
    pub fn concerning<'w>(
        &self,
        files: &Files,
        warnings: impl IntoIterator<Item = &'w Diagnostic>,
    ) -> (Vec<&'w Diagnostic>, usize) {
        let places: Vec<(SourceId, Span)> = self.documents.iter().filter_map(|at| document(files, *at)).collect();
        let named: BTreeSet<(&str, usize)> = self.reports.iter().flat_map(Report::places).map(At::line_of).collect();
        let concerns_label = |label: &Label| {
            let Some(file) = files.get(label.source) else { return true };
            let documents = file.tree.documents().map(Value::span);
            let Some(span) = documents.into_iter().find(|span| contains(*span, label.span)) else { return true };
            let lines = file.tree.position(span.start).0..=file.tree.position(span.end).0;
            places.contains(&(label.source, span))
                || named.iter().any(|(name, line)| *name == file.name && lines.contains(line))
        };
        let concerns = |warning: &&Diagnostic| {
            let Some(label) = warning.label.as_ref().filter(|_| warning.fault != Fault::FailsOpen) else { return true };
            // Of two definitions, the answer rests on the one that counts.
            let twice = warning.fault == Fault::DefinedTwice;
            concerns_label(label) || (twice && warning.related.iter().any(concerns_label))
        };
        let (concerning, others): (Vec<&Diagnostic>, Vec<&Diagnostic>) = warnings.into_iter().partition(concerns);
        (concerning, others.len())
    }

    /// All documents that the answer rests on, those that reports name among them.
    pub fn rests_on(&self, files: &Files) -> BTreeSet<NodeRef> {
        let named: BTreeSet<(&str, usize)> = self.reports.iter().flat_map(Report::places).map(At::line_of).collect();
        let mut all: BTreeSet<NodeRef> = self.documents.iter().copied().collect();
        let names = |name: &str| named.iter().any(|(file, _)| *file == name);
        for (source, file) in files.iter().filter(|(_, file)| names(&file.name)) {
            let is_named = |document: &Value<'_>| {
                let span = document.span();
                let lines = file.tree.position(span.start).0..=file.tree.position(span.end).0;
                named.iter().any(|(name, line)| *name == file.name && lines.contains(line))
            };
            let documents = file.tree.documents().filter(is_named);
            all.extend(documents.map(|document| NodeRef { source, node: document.number() }));
        }
        all
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

    /// With some of the policies that do not match in each report.
    #[must_use]
    pub fn with_skipped(mut self, skipped: &Skipped) -> Self {
        self.reports = self.reports.into_iter().map(|report| report.with_skipped(skipped)).collect();
        self
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
            report.fields =
                std::mem::take(&mut report.fields).into_iter().filter_map(|field| field.below(path)).collect();
            if report.fields.is_empty() && report.outcome != Outcome::Undecided {
                let near = nearest(path, known.iter().map(String::as_str));
                let hint = near.map(|name| format!("; {}", did_you_mean(name))).unwrap_or_default();
                self.notes.push(format!("note: {}: `{path}` is not set{hint}", report.kind));
            }
        }
        self
    }
}

/// The document that a value stands in.
fn document(files: &Files, at: NodeRef) -> Option<(SourceId, Span)> {
    let value = files.value(at)?.span();
    let documents = files.get(at.source)?.tree.documents();
    documents.map(Value::span).find(|span| contains(*span, value)).map(|span| (at.source, span))
}

fn contains(outer: Span, inner: Span) -> bool {
    outer.start <= inner.start && inner.end <= outer.end
}
