//! The family comply: from checks of two related objects to a report.

use serde::Serialize;
use serde_json::{Map, Value as Json, json};
use upheld_engine::words::comply::out_of_scope;
use upheld_model::{Code, State};

use super::compliance::{Check, CheckState, Side, values};
use super::{About, At, Candidate, Detail, Fact, Family, Outcome, Phrase, Report, Sentence, Verdict, each_once};

/// What only related objects have.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RelationDetail {
    /// Whether they are related; else they are only held against each other.
    pub related: bool,
    /// Every rule that is about the two, with values, causes, waivers and fixes.
    pub checks: Vec<Check>,
    /// Policies that are cut to other objects.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub out_of_scope: Vec<OutOfScope>,
    /// Policies that are about other pairs, or switched off.
    pub others: Vec<String>,
}

/// A policy that does not count for two objects, because it is cut to others.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct OutOfScope {
    /// The policy.
    pub policy: String,
    /// Why not.
    pub reason: Phrase,
    /// Where it was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<At>,
}

impl OutOfScope {
    /// Made of the code and of what the object counts as.
    pub fn new(policy: &str, code: Code, subject: &str, at: Option<At>) -> Self {
        let parameters = Map::from_iter([("subject".to_owned(), json!(subject))]);
        let reason = Phrase { code: code.text().into(), parameters, text: out_of_scope(code, subject) };
        Self { policy: policy.to_owned(), reason, at }
    }
}

/// What rules say about two objects.
pub fn relation(kind: &str, semantics: &str, (a, b): (String, String), mut detail: RelationDetail) -> Report {
    detail.checks.iter_mut().for_each(Check::complete);
    let verdict = verdict(&detail.checks);
    let skipped = detail.out_of_scope.iter().map(skipped);
    let candidates: Vec<Candidate> = detail.checks.iter().map(candidate).chain(skipped).collect();
    Report {
        family: Family::Comply,
        kind: kind.to_owned(),
        semantics: Some(semantics.to_owned()),
        headline: headline(&a, &b, &detail).into(),
        about: about(a, b),
        verdict,
        outcome: if detail.checks.is_empty() { Outcome::Default } else { Outcome::Aggregated },
        policies: each_once(detail.checks.iter().map(|check| check.policy.clone())),
        summary: verdict.word().to_owned(),
        result: json!(verdict.word()),
        fields: Vec::new(),
        rung: None,
        ranking: None,
        candidates,
        left_out: 0,
        default: None,
        notes: Vec::new(),
        next: Vec::new(),
        detail: Some(Detail::Relation(Box::new(detail))),
    }
}

fn about(a: String, b: String) -> About {
    let what = if a == b { a.clone() } else { format!("{a} ~ {b}") };
    About { what, from: Some(a), to: Some(b), ..About::default() }
}

/// The worst that a rule ended in.
fn verdict(checks: &[Check]) -> Verdict {
    let any = |state: CheckState| checks.iter().any(|check| check.state == state);
    if any(CheckState::Hard) {
        Verdict::Hard
    } else if any(CheckState::Soft) {
        Verdict::Soft
    } else if any(CheckState::Waived) {
        Verdict::Waived
    } else if checks.is_empty() {
        Verdict::Unset
    } else {
        Verdict::Pass
    }
}

fn headline(a: &str, b: &str, detail: &RelationDetail) -> Sentence {
    let (a, b, related) = (a.to_owned(), b.to_owned(), detail.related);
    let in_state = |wanted: &[CheckState]| -> Vec<&Check> {
        detail.checks.iter().filter(|check| wanted.contains(&check.state)).collect()
    };
    let names = |checks: &[&Check]| checks.iter().map(|check| check.policy.clone()).collect();
    let violated = in_state(&[CheckState::Hard, CheckState::Soft]);
    let waived = in_state(&[CheckState::Waived]);
    match violated.as_slice() {
        _ if detail.checks.is_empty() => Sentence::NoRule { a, b, related },
        [] if !waived.is_empty() => {
            let waivers = each_once(waived.iter().filter_map(|check| Some(check.waiver.as_ref()?.id.clone())));
            Sentence::Waived { a, b, policies: names(&waived), waivers, related }
        }
        [] => Sentence::Complies { a, b, rules: detail.checks.len(), related },
        [one] => Sentence::Violates { a, b, policies: names(&violated), because: Some(reason(one)), related },
        _ => Sentence::Violates { a, b, policies: names(&violated), because: None, related },
    }
}

fn candidate(check: &Check) -> Candidate {
    let because = reason(check);
    let because = match &check.waiver {
        Some(waiver) => {
            Phrase { text: format!("{}; {}", because.text, waiver.sentence()), ..because }.with("waiver", json!(waiver))
        }
        None => because,
    };
    Candidate {
        state: match check.state {
            CheckState::Pass => State::Pass,
            CheckState::Soft => State::Soft,
            CheckState::Hard => State::Hard,
            CheckState::Waived => State::Off,
        },
        policy: check.policy.clone(),
        scope: None,
        item: None,
        facts: if check.is_about_one() {
            vec![Fact::plain("tag", tagged(&check.a)), Fact::plain("allowed", allowed(&check.b))]
        } else {
            vec![Fact::plain("one side", tagged(&check.a)), Fact::plain("other side", tagged(&check.b))]
        },
        distance: None,
        reason: because,
        at: check.a.at.clone(),
        fields: Vec::new(),
    }
}

/// A policy that is cut to other objects.
fn skipped(own: &OutOfScope) -> Candidate {
    Candidate {
        state: State::Skip,
        policy: own.policy.clone(),
        scope: None,
        item: None,
        facts: Vec::new(),
        distance: Some(1),
        reason: own.reason.clone(),
        at: own.at.clone(),
        fields: Vec::new(),
    }
}

/// Why a rule ended so, with the values of both sides.
fn reason(check: &Check) -> Phrase {
    let side = |side: &Side| json!({"ref": side.reference, "tag": side.tag, "values": side.values});
    let parameters: Map<String, Json> = [("a", side(&check.a)), ("b", side(&check.b))]
        .into_iter()
        .map(|(name, side)| (name.to_owned(), side))
        .collect();
    Phrase { code: check.reason.code.clone(), parameters, text: check.reason.text.clone() }
}

/// What a policy allows: `{dev, test}`, or anything.
fn allowed(side: &Side) -> String {
    if side.values.is_empty() { "any value".to_owned() } else { format!("{{{}}}", values(&side.values)) }
}

/// `environment {dev, test}`.
fn tagged(side: &Side) -> String {
    format!("{} {} {{{}}}", side.kind, side.tag, values(&side.values))
}
