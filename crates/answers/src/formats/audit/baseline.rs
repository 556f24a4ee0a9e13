//! An earlier audit that a later one is compared with: as SARIF, or as the JSON of `upheld audit -o json`.

use std::collections::BTreeMap;

use serde_json::Value as Json;

use crate::report::compliance::{Absent, Audit, BaselineState, Check, Compared};

/// What the fingerprint of a violation is called in SARIF. The number changes if ever the fingerprint is made differently.
pub(super) const FINGERPRINT: &str = "violation/v1";

/// The violations of an earlier run, by fingerprint.
#[derive(Clone, Debug, Default)]
pub struct Baseline {
    known: BTreeMap<String, Known>,
}

/// A violation as it was.
#[derive(Clone, Debug)]
struct Known {
    content: Content,
    policy: String,
    message: String,
    /// All that SARIF had of it.
    result: Option<Json>,
}

/// What makes a violation another one than it was. Fixes are not part of it: they depend on everything else.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Content {
    state: String,
    level: String,
    a: Vec<String>,
    b: Vec<String>,
    waiver: Option<String>,
}

impl Content {
    fn of(check: &Check) -> Self {
        Self {
            state: check.state.name().to_owned(),
            level: check.level.name().to_owned(),
            a: check.a.values.clone(),
            b: check.b.values.clone(),
            waiver: check.waiver.as_ref().map(|waiver| waiver.id.clone()),
        }
    }
}

impl Baseline {
    /// Reads what an earlier run printed. A violation that was gone by then is no part of it.
    pub fn read(text: &str) -> Result<Self, String> {
        let report: Json = serde_json::from_str(text).map_err(|error| format!("this is not JSON: {error}"))?;
        let known = match (report.get("runs").and_then(Json::as_array), report.get("kind").and_then(Json::as_str)) {
            (Some(runs), _) => {
                let results = runs.iter().filter_map(|run| run.get("results")?.as_array()).flatten();
                let there = |result: &&Json| text_at(result, "baselineState") != "absent";
                results.filter(there).filter_map(of_result).collect()
            }
            (None, Some("AuditReport")) => {
                let violations = report.get("violations").and_then(Json::as_array);
                violations.into_iter().flatten().filter_map(of_violation).collect()
            }
            (None, _) => return Err("this is no audit: it has neither `runs` nor the kind `AuditReport`".to_owned()),
        };
        Ok(Self { known })
    }

    /// Says of every violation of an audit whether it was there before, and which are gone.
    #[must_use]
    pub fn compared(&self, mut audit: Audit) -> Audit {
        let mut compared = Compared::default();
        let mut gone = self.known.clone();
        for check in &mut audit.checks {
            let (state, count) = match gone.remove(&check.id) {
                None => (BaselineState::New, &mut compared.new),
                Some(before) if before.content == Content::of(check) => {
                    (BaselineState::Unchanged, &mut compared.unchanged)
                }
                Some(_) => (BaselineState::Updated, &mut compared.updated),
            };
            *count += 1;
            check.baseline_state = Some(state);
        }
        let absent =
            gone.into_iter().map(|(id, Known { policy, message, result, .. })| Absent { id, policy, message, result });
        compared.absent = absent.collect();
        Audit { baseline: Some(compared), ..audit }
    }
}

fn of_result(result: &Json) -> Option<(String, Known)> {
    let id = result.get("partialFingerprints")?.get(FINGERPRINT)?.as_str()?.to_owned();
    let properties = result.get("properties")?;
    let waiver = properties.get("waiver").and_then(|waiver| waiver.get("id")).and_then(Json::as_str);
    let level = match (text_at(properties, "level"), text_at(result, "level")) {
        ("", "error") => "enforce",
        ("", "warning") => "warn",
        ("", "note") => "audit",
        (level, _) => level,
    };
    let content = Content {
        state: text_at(properties, "state").to_owned(),
        level: level.to_owned(),
        a: texts(properties.get("aValues")),
        b: texts(properties.get("bValues")),
        waiver: waiver.map(str::to_owned),
    };
    let message = result.get("message").map_or("", |message| text_at(message, "text")).to_owned();
    Some((id, Known { content, policy: text_at(result, "ruleId").to_owned(), message, result: Some(result.clone()) }))
}

fn of_violation(violation: &Json) -> Option<(String, Known)> {
    let id = violation.get("id")?.as_str()?.to_owned();
    let values = |side: &str| texts(violation.get(side).and_then(|side| side.get("values")));
    let waiver = violation.get("waiver").and_then(|waiver| waiver.get("id")).and_then(Json::as_str);
    let content = Content {
        state: text_at(violation, "state").to_owned(),
        level: text_at(violation, "level").to_owned(),
        a: values("a"),
        b: values("b"),
        waiver: waiver.map(str::to_owned),
    };
    let (policy, message) = (text_at(violation, "policy").to_owned(), text_at(violation, "message").to_owned());
    Some((id, Known { content, policy, message, result: None }))
}

fn text_at<'j>(value: &'j Json, name: &str) -> &'j str {
    value.get(name).and_then(Json::as_str).unwrap_or_default()
}

fn texts(list: Option<&Json>) -> Vec<String> {
    list.and_then(Json::as_array).into_iter().flatten().filter_map(|text| text.as_str().map(str::to_owned)).collect()
}
