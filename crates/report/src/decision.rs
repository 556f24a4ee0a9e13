//! What a request gets: the one answer that every surface gives, each in its own shape.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::Value as Json;
use upheld_engine::decide::{
    Algorithm, Binding, By, Decide, Decided, Duty as Written, Measure, Outcome, Path, Readings, Request, Strictness,
    Truth, Value as Evaluated,
};
use upheld_engine::{EntryId, Hit};
use upheld_model::Files;
use upheld_model::tree::{Kind, Value};

use crate::sentences::undecided::{self, Undecided};

/// What a request gets, who decided, why, and what is to be done along with it.
#[derive(Clone, Debug)]
pub struct Decision<'d> {
    /// What becomes of it.
    pub outcome: Outcome,
    /// The policy that decided; the default and algorithms have no name.
    pub policy: Option<&'d str>,
    /// What the policy says about itself, or why there is none.
    pub reason: Option<Cow<'d, str>>,
    /// What must be done along with it; whoever cannot must take the answer for a denial.
    pub obligations: Vec<Duty>,
    /// What may be done along with it.
    pub advice: Vec<Duty>,
}

/// Something to be done along with a decision.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Duty {
    /// Its name.
    pub id: String,
    /// What sort: `step-up`, `notification`, `session_termination`, `custom`.
    #[serde(rename = "type")]
    pub kind: String,
    /// The policy that asks for it; sets have no name here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// With what.
    #[serde(skip_serializing_if = "Json::is_null")]
    pub properties: Json,
}

impl<'d> Decision<'d> {
    /// What was decided, given all policies that matched.
    pub fn of(files: &Files, decide: &'d Decide, request: &Request, decided: &Decided, hits: &[Hit<Measure>]) -> Self {
        let rule = match decided.by {
            By::Policy(entry) => decide.rule(entry),
            By::Default | By::Algorithm | By::Nobody => None,
        };
        let reason = match decided.by {
            By::Policy(_) => rule.and_then(|rule| rule.description.as_deref()).map(Cow::Borrowed),
            By::Default => Some(match uncertain(decide, decided, hits).as_slice() {
                [] => Cow::Borrowed(nothing_applies(decide, decided)),
                policies => Cow::Owned(undecided::by_default(policies, decided.outcome.word())),
            }),
            By::Algorithm => Some(Cow::Borrowed(decide.algorithm().word())),
            By::Nobody => Some(Cow::Owned(undecided::sentence(&why_undecided(decide, request, hits)))),
        };
        let (obligations, advice) = match decided.outcome {
            Outcome::Undecided => (Vec::new(), Vec::new()),
            Outcome::Permit | Outcome::Deny | Outcome::Foreign => duties(files, decide, request, hits),
        };
        let policy = rule.map(|rule| rule.name.as_str());
        Self { outcome: decided.outcome, policy, reason, obligations, advice }
    }

    /// A request about which nothing can be asked.
    pub fn undecided(reason: impl Into<Cow<'d, str>>) -> Self {
        let reason = Some(reason.into());
        Self { outcome: Outcome::Undecided, policy: None, reason, obligations: Vec::new(), advice: Vec::new() }
    }

    /// A request that is denied before any policy is asked.
    pub fn refused(reason: &'d str) -> Self {
        Self { outcome: Outcome::Deny, ..Self::undecided(reason) }
    }
}

/// What must and what may be done along with a decision.
pub(crate) fn duties(
    files: &Files,
    decide: &Decide,
    request: &Request,
    hits: &[Hit<Measure>],
) -> (Vec<Duty>, Vec<Duty>) {
    let (mut obligations, mut advice) = (Vec::new(), Vec::new());
    for (duty, from) in decide.duties(request, hits) {
        let from = from.and_then(|entry| decide.rule(entry)).map(|rule| rule.name.to_string());
        match duty.binding {
            Binding::Obligation => obligations.push(Duty::of(files, duty, from)),
            Binding::Advice => advice.push(Duty::of(files, duty, from)),
        }
    }
    (obligations, advice)
}

impl Duty {
    fn of(files: &Files, duty: &Written, from: Option<String>) -> Self {
        let document = duty.at.and_then(|at| files.value(at));
        let get = |field: &str| document?.get(field).filter(|value| value.kind() != Kind::Null);
        Self {
            id: duty.id.to_string(),
            kind: get("type").map_or("custom", Value::text).to_owned(),
            from,
            properties: get("properties").and_then(|value| serde_json::to_value(value).ok()).unwrap_or_default(),
        }
    }
}

/// The original has two sentences; which one depends on the algorithm.
fn nothing_applies(decide: &Decide, decided: &Decided) -> &'static str {
    let collects = decide.algorithm() != Algorithm::FirstApplicable;
    if decide.strictness() == Strictness::Compat && collects && decided.about {
        "No permit or deny decision"
    } else {
        "No applicable policy"
    }
}

/// Where the default decides although policies may apply: these policies. Their effect is that of the default.
pub(crate) fn uncertain(decide: &Decide, decided: &Decided, hits: &[Hit<Measure>]) -> Vec<String> {
    match (decided.by, decided.value) {
        (By::Default, Evaluated::Unknown(_)) => {
            let same = |entry| decide.rule(entry).is_some_and(|rule| rule.effect == decide.default_effect());
            unknown_among(decide, hits, same)
        }
        _ => Vec::new(),
    }
}

/// The policies that may or may not apply, in their order.
pub fn unknown_policies(decide: &Decide, hits: &[Hit<Measure>]) -> Vec<String> {
    unknown_among(decide, hits, |_| true)
}

fn unknown_among(decide: &Decide, hits: &[Hit<Measure>], counts: impl Fn(EntryId) -> bool) -> Vec<String> {
    let mut unknown: Vec<_> = (hits.iter())
        .filter(|hit| hit.measure.applies() == Truth::Error && counts(hit.entry))
        .filter_map(|hit| Some((hit.entry, decide.rule(hit.entry)?.name.to_string())))
        .collect();
    unknown.sort_unstable_by_key(|(entry, _)| *entry);
    unknown.into_iter().map(|(_, name)| name).collect()
}

fn why_undecided(decide: &Decide, request: &Request, hits: &[Hit<Measure>]) -> Undecided {
    if decide.takes_too_much(hits) {
        return Undecided::Steps(decide.load().most_steps());
    }
    if decide.is_too_doubtful(request, hits) {
        return Undecided::Doubts { problem: undecided::problem_of_path(decide, request) };
    }
    let policies = unknown_policies(decide, hits);
    let mut room = Readings::default();
    let path = decide.asked(request, &mut room).path;
    let bad = if matches!(path, Path::Unknown) { decide.bad_path(request) } else { None };
    match (path, bad) {
        (Path::Several(readings), _) => {
            Undecided::Readings { readings: readings.iter().map(ToString::to_string).collect(), policies }
        }
        (_, Some(bad)) if !policies.is_empty() => Undecided::Path { problem: bad.sentence().to_owned(), policies },
        _ if policies.is_empty() => Undecided::Conflict,
        _ => Undecided::Facts { policies },
    }
}
