//! What is wrong with policies themselves: findings that are exact on the set alone, and those that are counted over what was read.
//!
//! ```text
//! what was odd on reading ─┐
//! selection                │   can it ever win, does a name decide, does it match anything
//! values, relations        │
//! requests of logs         ├─▶ findings ──(allowed)──▶ those that no comment in the document allows
//! what dialects find       ┘                                │
//!                                                           └──▶ names, by which runs are compared, and fixes
//! ```

mod allowed;
mod counted;
mod effective;
mod fixes;
mod known;
mod named;
mod required;
mod selection;
#[cfg(test)]
mod tests;
mod values;

use upheld_dialects::dialect::Finding;
use upheld_dialects::dialects;
use upheld_engine::Snapshot;
use upheld_model::tree::{Kind, Value};
use upheld_model::{Diagnostic, Fault, Label, NodeRef, Severity, Span};
use upheld_report::Refused;
use upheld_report::compliance::{BaselineState, Compared};

use self::allowed::Allowances;
pub use self::fixes::{Fix, Fixes};
use self::named::Names;
use crate::World;
use crate::formats::FindingsBaseline;
pub use crate::formats::audit::Among;
use crate::replay::KnownRequests;

/// What was found.
#[derive(Debug, Default)]
pub struct Linted {
    /// Findings that nobody allowed, by place.
    pub findings: Vec<LintFinding>,
    /// How many were allowed by comments.
    pub allowed: usize,
    /// How many policies were looked at.
    pub policies: usize,
    /// What it comes to beside an earlier run.
    pub baseline: Option<Compared>,
}

/// One finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LintFinding {
    /// Its fingerprint: the same in every run.
    pub id: String,
    /// What is wrong, and where.
    pub problem: Diagnostic,
    /// How it is ended without a change of any result, if that is known.
    pub fix: Option<Fix>,
    /// Whether an earlier run had it.
    pub baseline_state: Option<BaselineState>,
}

impl LintFinding {
    /// Its code.
    pub fn code(&self) -> &'static str {
        self.problem.fault.code()
    }

    /// What is wrong, and how it is ended, in one line.
    pub fn sentence(&self) -> String {
        match &self.fix {
            Some(fix) => format!("{} (fix: {})", self.problem.message, fix.text()),
            None => self.problem.message.clone(),
        }
    }
}

impl Linted {
    /// Only findings of these codes, or of those that begin so; all of them if none is named.
    #[must_use]
    fn only(mut self, codes: &[String]) -> Self {
        let is_wanted = |code: &str| codes.is_empty() || codes.iter().any(|only| code.starts_with(only.as_str()));
        self.findings.retain(|finding| is_wanted(finding.code()));
        if let Some(compared) = &mut self.baseline {
            let count = |state| self.findings.iter().filter(|finding| finding.baseline_state == Some(state)).count();
            compared.absent.retain(|gone| is_wanted(&gone.policy));
            compared.new = count(BaselineState::New);
            compared.unchanged = count(BaselineState::Unchanged);
            compared.updated = count(BaselineState::Updated);
        }
        self
    }

    /// How many findings are of a severity.
    pub fn count(&self, severity: Severity) -> usize {
        self.findings.iter().filter(|finding| finding.problem.severity == severity).count()
    }

    /// `3 findings (1 error, 2 warnings) in 41 policies; 1 more is allowed.`
    pub fn sentence(&self) -> String {
        let counted = |count: usize, noun: &str| format!("{count} {noun}{}", if count == 1 { "" } else { "s" });
        let parts =
            [Severity::Error, Severity::Warning, Severity::Note].map(|severity| (self.count(severity), severity));
        let parts: Vec<String> = (parts.into_iter())
            .filter(|(count, _)| *count > 0)
            .map(|(count, severity)| counted(count, severity.word()))
            .collect();
        let policies = if self.policies == 1 { "1 policy".to_owned() } else { format!("{} policies", self.policies) };
        let allowed = match self.allowed {
            0 => String::new(),
            1 => "; 1 more is allowed".to_owned(),
            count => format!("; {count} more are allowed"),
        };
        match parts.as_slice() {
            [] => format!("No findings in {policies}{allowed}."),
            parts => {
                format!("{} ({}) in {policies}{allowed}.", counted(self.findings.len(), "finding"), parts.join(", "))
            }
        }
    }
}

/// Which findings are wanted.
#[derive(Clone, Debug, Default)]
pub struct LintWanted {
    /// Only these codes, or all that begin so; all of them if none is named.
    pub only: Vec<String>,
    /// Kinds whose policies have to reach everything that they could.
    pub require: Vec<String>,
    /// Whether every policy has to say whose it is.
    pub require_owner: bool,
    /// Requests that somebody made, if there is a log of them.
    pub known: Option<KnownRequests>,
    /// An earlier run.
    pub baseline: Option<FindingsBaseline>,
}

impl LintWanted {
    /// Codes of what was not looked for.
    fn not_asked(&self) -> Vec<&'static str> {
        let asked = [
            (Fault::Uncovered, !self.require.is_empty()),
            (Fault::NoOwner, self.require_owner),
            (Fault::DefaultDecides, self.known.is_some()),
            (Fault::IdlePolicy, self.known.is_some()),
        ];
        asked.into_iter().filter(|(_, asked)| !asked).map(|(fault, _)| fault.code()).collect()
    }
}

/// Which findings fail a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failing {
    /// Those that are at least as bad; none if nothing is said.
    pub least: Option<Severity>,
    /// Among which.
    pub among: Among,
}

impl Failing {
    /// Whether a finding fails the run.
    pub fn fails(self, finding: &LintFinding) -> bool {
        let is_new = finding.baseline_state.is_none_or(|state| state == BaselineState::New);
        self.least.is_some_and(|least| finding.problem.severity >= least) && (self.among == Among::All || is_new)
    }

    /// Those that fail the run.
    pub fn of(self, linted: &Linted) -> impl Iterator<Item = &LintFinding> {
        linted.findings.iter().filter(move |finding| self.fails(finding))
    }
}

impl World<'_> {
    /// What is wrong with the policies. `warnings` is what was odd when they were read. A kind that nobody knows is refused.
    pub fn lint(&self, warnings: &[Diagnostic], wanted: &LintWanted) -> Result<Linted, Refused> {
        let snapshot = self.snapshot();
        let about_documents = warnings.iter().cloned().chain(self.warnings());
        let mut found: Vec<Finding> = about_documents.map(Finding::from).collect();
        found.extend(selection::findings(snapshot));
        found.extend(effective::findings(self));
        found.extend(counted::findings(self));
        found.extend(required::findings(self, wanted)?);
        found.extend(known::findings(self, wanted));
        found.extend(dialects().flat_map(|dialect| dialect.findings(snapshot)));
        let allowances = Allowances::of(snapshot.files(), self.options().now);
        let (mut findings, allowed) = allowances.cut(found);
        findings.extend(allowances.findings(&wanted.not_asked()));
        let place = |finding: &Finding| {
            let label = finding.problem.label.as_ref();
            let file = label.and_then(|label| snapshot.files().get(label.source)).map(|file| file.name.clone());
            (file, label.map(|label| label.span), finding.problem.fault, finding.problem.message.clone())
        };
        findings.sort_by_cached_key(place);
        findings.dedup();
        let mut names = Names::of(snapshot);
        let twice = written_twice(&findings);
        let finished = |finding: Finding| LintFinding {
            id: names.name(&finding),
            // Who goes makes room for another one of the same name.
            fix: finding
                .could_go
                .filter(|goes| !goes.holds(snapshot.files(), &twice))
                .and_then(|goes| Fix::of(snapshot.files(), goes)),
            problem: finding.problem,
            baseline_state: None,
        };
        let findings = findings.into_iter().map(finished).collect();
        let linted = Linted { findings, allowed, policies: snapshot.policies().len(), baseline: None };
        Ok(match &wanted.baseline {
            Some(earlier) => earlier.compared(linted),
            None => linted,
        }
        .only(&wanted.only))
    }
}

/// Where documents stand that have an identity twice.
fn written_twice(findings: &[Finding]) -> Vec<Label> {
    let twice = findings.iter().map(|finding| &finding.problem).filter(|problem| problem.fault == Fault::DefinedTwice);
    twice.flat_map(|problem| problem.label.iter().chain(&problem.related)).cloned().collect()
}

/// A finding at the first line of a document.
fn at_document(snapshot: &Snapshot, finding: Diagnostic, at: NodeRef, text: &str) -> Diagnostic {
    match label(snapshot, at, text) {
        Some(Label { source, span, text }) => finding.at(source, span, text),
        None => finding,
    }
}

/// With another document that has a part in it.
fn beside(snapshot: &Snapshot, finding: Diagnostic, at: NodeRef, text: &str) -> Diagnostic {
    match label(snapshot, at, text) {
        Some(Label { source, span, text }) => finding.related(source, span, text),
        None => finding,
    }
}

fn label(snapshot: &Snapshot, at: NodeRef, text: &str) -> Option<Label> {
    let document = snapshot.files().value(at)?;
    Some(Label { source: at.source, span: named(document), text: text.to_owned() })
}

/// The name of a document, or its first line.
fn named(document: Value<'_>) -> Span {
    let inner = document.get("metadata").filter(|metadata| metadata.kind() == Kind::Map).and_then(own_name);
    let found = own_name(document).or(inner).or_else(|| document.entries().next());
    found.map_or(document.span(), |(key, value)| {
        let end = if matches!(value.kind(), Kind::Map | Kind::List) { key.span().end } else { value.span().end };
        Span { start: key.span().start, end }
    })
}

fn own_name(map: Value<'_>) -> Option<(Value<'_>, Value<'_>)> {
    map.entries().find(|(key, _)| ["name", "id"].contains(&key.text()))
}
