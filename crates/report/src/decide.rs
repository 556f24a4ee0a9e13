//! The family decide: from a ruling about one request to a report.

mod changes;
mod detail;
mod headline;
mod rows;

use serde_json::json;
use upheld_engine::decide::{By, Decide, Decided, Effect, Measure, Outcome as Decision, Request};
use upheld_engine::{EntryId, Hit, KindId, PolicyKind, Scratch, Silent, Snapshot, ask};

pub use self::changes::{PatchOperation, WouldFlip};
pub use self::detail::{DecisionDetail, Otherwise};
use super::request::asked;
use super::{About, Candidate, Detail, Family, Holds, Outcome, Phrase, Report, Sentence, Verdict};
use crate::stamp::edition;

/// How much a report of a decision has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// Everything.
    All,
    /// What was decided and by whom, with a headline that says what was missing.
    Headline,
    /// What was decided and by whom: for gates and batches.
    Answer,
}

/// Decides a request and reports it.
pub fn decide(snapshot: &Snapshot, kind: KindId, decide: &Decide, request: &Request, depth: Depth) -> Report {
    let about = About { what: what(request), ..About::default() };
    decide_about(snapshot, kind, decide, request, about, depth)
}

/// The same for a request that stands for something else, in words of its own: what it is, and at which place it is decided.
pub fn decide_about(
    snapshot: &Snapshot,
    kind: KindId,
    decide: &Decide,
    request: &Request,
    about: About,
    depth: Depth,
) -> Report {
    let mut scratch = Scratch::default();
    let decided = ask(decide, &request, &mut scratch, &mut Silent);
    let hits = scratch.hits().to_vec();
    Reporter { snapshot, kind: snapshot.kind(kind), decide, request, about, decided, hits }.report(depth)
}

/// A decision in the words that tests use: `permit` by `admins`, or by `(default)`.
pub fn decision_of(report: &Report) -> (&'static str, Option<&str>) {
    let by_default = report.is_by_default().then_some(DEFAULT);
    (report.verdict.word(), report.policies.first().map(String::as_str).or(by_default))
}

/// What the default effect is called.
const DEFAULT: &str = "(default)";

struct Reporter<'a> {
    snapshot: &'a Snapshot,
    kind: Option<&'a PolicyKind>,
    decide: &'a Decide,
    request: &'a Request,
    about: About,
    decided: Decided,
    hits: Vec<Hit<Measure>>,
}

impl Reporter<'_> {
    fn report(&self, depth: Depth) -> Report {
        let kind = self.kind;
        let all = depth == Depth::All;
        let by_policy = matches!(self.decided.by, By::Policy(_) | By::Algorithm);
        let looks = all || (depth == Depth::Headline && !by_policy);
        let candidates = if looks { self.candidates() } else { Vec::new() };
        let verdict = match self.decided.outcome {
            Decision::Permit => Verdict::Permit,
            Decision::Deny => Verdict::Deny,
            Decision::Undecided => Verdict::Undecided,
            Decision::Foreign => Verdict::Foreign,
        };
        let decider = self.decider().map(|entry| self.name(entry));
        Report {
            family: Family::Decide,
            kind: kind.map(|kind| self.snapshot.text(kind.name).to_owned()).unwrap_or_default(),
            semantics: kind.and_then(|kind| edition(self.snapshot, kind)).map(str::to_owned),
            about: About { request: Some(asked(self.request)), ..self.about.clone() },
            headline: self.headline(&candidates).into(),
            verdict,
            outcome: match self.decided.by {
                By::Policy(_) | By::Algorithm => Outcome::Decided,
                By::Default => Outcome::Default,
                By::Nobody => Outcome::Undecided,
            },
            policies: decider.into_iter().collect(),
            summary: verdict.word().to_owned(),
            result: json!(verdict.word()),
            fields: Vec::new(),
            rung: None,
            ranking: None,
            default: Some(self.default_row(looks)),
            candidates: if all { candidates } else { Vec::new() },
            notes: self.notes().into_iter().map(Phrase::from).collect(),
            next: Vec::new(),
            detail: Some(Detail::Decision(Box::new(self.detail(depth)))),
        }
    }

    fn decider(&self) -> Option<EntryId> {
        match self.decided.by {
            By::Policy(entry) => Some(entry),
            By::Default | By::Algorithm | By::Nobody => None,
        }
    }

    fn name(&self, entry: EntryId) -> String {
        self.decide.rule(entry).map(|rule| rule.name.to_string()).unwrap_or_default()
    }

    fn effect(&self, entry: EntryId) -> Option<Effect> {
        self.decide.rule(entry).map(|rule| rule.effect)
    }
}

/// `alice DELETE /api/audit/123`, as far as that was given.
fn what(request: &Request) -> String {
    use upheld_engine::decide::Maybe;
    let Request { subject, action, resource, .. } = request;
    let known = |part: &Maybe<smol_str::SmolStr>| match part {
        Maybe::Is(text) => Some(text.to_string()),
        Maybe::Unknown | Maybe::Absent => None,
    };
    let verb = known(&action.method).or_else(|| known(&action.operation));
    let object = known(&resource.path).or_else(|| known(&resource.id)).or_else(|| known(&resource.kind));
    let parts: Vec<String> = [known(&subject.id), verb, object].into_iter().flatten().collect();
    if parts.is_empty() { "the request".to_owned() } else { parts.join(" ") }
}
