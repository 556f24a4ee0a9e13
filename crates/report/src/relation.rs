//! The family comply: from checks of two related objects to a report.

use serde::Serialize;
use serde_json::{Map, Value as Json, json};
use upheld_model::State;

use super::compliance::{Check, CheckState, Side, values};
use super::{About, Candidate, Detail, Fact, Family, Outcome, Phrase, Report, Sentence, Verdict, each_once};

/// What only related objects have.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RelationDetail {
    /// Whether they are related; else they are only held against each other.
    pub related: bool,
    /// Every rule that is about the two, with values, causes, waivers and fixes.
    pub checks: Vec<Check>,
    /// Policies that are about other pairs, or switched off.
    pub others: Vec<String>,
}

/// What rules say about two objects.
pub fn relation(kind: &str, semantics: &str, (a, b): (String, String), mut detail: RelationDetail) -> Report {
    detail.checks.iter_mut().for_each(Check::complete);
    let verdict = verdict(&detail.checks);
    let candidates: Vec<Candidate> = detail.checks.iter().map(candidate).collect();
    Report {
        family: Family::Comply,
        kind: kind.to_owned(),
        semantics: Some(semantics.to_owned()),
        headline: headline(&a, &b, &detail).into(),
        about: About { what: format!("{a} ~ {b}"), from: Some(a), to: Some(b), ..About::default() },
        verdict,
        outcome: if detail.checks.is_empty() { Outcome::Default } else { Outcome::Aggregated },
        policies: each_once(detail.checks.iter().map(|check| check.policy.clone())),
        summary: verdict.word().to_owned(),
        result: json!(verdict.word()),
        fields: Vec::new(),
        rung: None,
        ranking: None,
        candidates,
        default: None,
        notes: Vec::new(),
        next: Vec::new(),
        detail: Some(Detail::Relation(Box::new(detail))),
    }
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
        facts: vec![Fact::plain("one side", tagged(&check.a)), Fact::plain("other side", tagged(&check.b))],
        distance: None,
        reason: because,
        at: check.a.at.clone(),
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
    Phrase { code: check.reason.code.into(), parameters, text: check.reason.text.clone() }
}

/// `environment {dev, test}`.
fn tagged(side: &Side) -> String {
    format!("{} {} {{{}}}", side.kind, side.tag, values(&side.values))
}
