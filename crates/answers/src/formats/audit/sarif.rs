//! An audit in the Static Analysis Results Interchange Format, version 2.1.0.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value as Json, json};

use crate::report::At;
use crate::report::compliance::{AppliedWaiver, Audit, Check, Level, PolicyLine, Side, word};

const SCHEMA: &str = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";
/// What the fingerprint of a violation is called. The number changes if ever the fingerprint is made differently.
const FINGERPRINT: &str = "violation/v1";

/// The results of a previous run, by fingerprint.
#[derive(Clone, Debug, Default)]
pub struct Baseline {
    results: BTreeMap<String, Json>,
}

impl Baseline {
    /// Reads what an earlier run printed. A violation that was gone by then is no part of it.
    pub fn read(text: &str) -> Result<Self, String> {
        let log: Json = serde_json::from_str(text).map_err(|error| format!("this is not JSON: {error}"))?;
        let runs = log.get("runs").and_then(Json::as_array).ok_or("this is not SARIF: it has no `runs`")?;
        let results = runs.iter().filter_map(|run| run.get("results")?.as_array()).flatten();
        let known = results
            .filter(|result| result.get("baselineState").and_then(Json::as_str) != Some("absent"))
            .filter_map(|result| Some((fingerprint(result)?.to_owned(), result.clone())));
        Ok(Self { results: known.collect() })
    }
}

fn fingerprint(result: &Json) -> Option<&str> {
    result.get("partialFingerprints")?.get(FINGERPRINT)?.as_str()
}

/// The whole log. With a previous run, results say what is new, and what is gone is reported.
pub(super) fn document(audit: &Audit, previous: Option<&Baseline>) -> Json {
    let indices: BTreeMap<&str, usize> = audit.policies.iter().map(|policy| policy.id.as_str()).zip(0..).collect();
    let mut results: Vec<Json> = audit.violations().map(|check| result(check, &indices, previous)).collect();
    if let Some(previous) = previous {
        let found: BTreeSet<&str> = audit.violations().map(|check| check.id.as_str()).collect();
        let gone = previous.results.iter().filter(|(id, _)| !found.contains(id.as_str()));
        results.extend(gone.map(|(_, result)| absent(result, &indices)));
    }
    let rules: Vec<Json> = audit.policies.iter().map(rule).collect();
    let notifications: Vec<Json> = audit
        .errors
        .iter()
        .map(|error| {
            let mut told =
                json!({"level": "error", "message": message(&format!("{}: {}", error.policy, error.message))});
            if let Some(at) = &error.at {
                set(&mut told, "locations", json!([{"physicalLocation": physical(at)}]));
            }
            told
        })
        .collect();
    json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "upheld",
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "rules": rules,
            }},
            "automationDetails": {"id": "upheld/audit/"},
            "invocations": [{
                "executionSuccessful": audit.errors.is_empty(),
                "endTimeUtc": audit.now,
                "toolExecutionNotifications": notifications,
            }],
            "columnKind": "unicodeCodePoints",
            "results": results,
            "properties": {
                "semantics": audit.semantics,
                "answer": audit.answer,
                "pairs": audit.pairs,
                "summary": audit.summary,
                "filters": audit.filters,
            },
        }],
    })
}

/// A policy. All are listed, also silent ones, so that findings of theirs are closed.
fn rule(policy: &PolicyLine) -> Json {
    let sides = [&policy.a, &policy.b].map(|side| format!("{} ({})", side.kind, side.tags.join(", ")));
    let brief = format!("{}: {}", policy.strategy, sides.join(" and "));
    let configuration = match policy.level {
        Level::Off => json!({"enabled": false}),
        level => json!({"level": level_name(level)}),
    };
    let mut rule = json!({
        "id": policy.id,
        "shortDescription": message(&brief),
        "defaultConfiguration": configuration,
        "properties": {"level": policy.level, "strategy": policy.strategy, "pairs": policy.pairs},
    });
    if let Some(description) = &policy.description {
        set(&mut rule, "fullDescription", message(description));
    }
    if let Some(hint) = &policy.how_to_fix {
        set(&mut rule, "help", message(hint));
    }
    if let (Some(severity), Some(properties)) = (policy.severity, rule.get_mut("properties")) {
        set(properties, "severity", json!(severity));
    }
    rule
}

fn result(check: &Check, indices: &BTreeMap<&str, usize>, previous: Option<&Baseline>) -> Json {
    let mut result = json!({
        "ruleId": check.policy,
        "level": level_name(check.level),
        "message": message(&check.message),
        "locations": [location(&check.b)],
        "relatedLocations": [related(&check.a)],
        "partialFingerprints": {FINGERPRINT: check.id},
        "properties": properties(check),
    });
    if let Some(index) = indices.get(check.policy.as_str()) {
        set(&mut result, "ruleIndex", json!(index));
    }
    if let Some(waiver) = &check.waiver {
        set(&mut result, "suppressions", json!([suppression(waiver)]));
    }
    if let Some(previous) = previous {
        let state = match previous.results.get(&check.id) {
            None => "new",
            Some(before) if says_the_same(before, &result) => "unchanged",
            Some(_) => "updated",
        };
        set(&mut result, "baselineState", json!(state));
    }
    result
}

/// Whether two results of one violation tell the same; where it lies in a file may change.
fn says_the_same(before: &Json, now: &Json) -> bool {
    ["level", "message", "suppressions", "properties"].iter().all(|name| before.get(name) == now.get(name))
}

/// A violation of the previous run that is gone.
fn absent(before: &Json, indices: &BTreeMap<&str, usize>) -> Json {
    let mut result = before.clone();
    let index = before.get("ruleId").and_then(Json::as_str).and_then(|policy| indices.get(policy));
    if let Some(fields) = result.as_object_mut() {
        // Rules have other numbers in every run, and a rule may be gone as well.
        fields.shift_remove("ruleIndex");
    }
    if let Some(index) = index {
        set(&mut result, "ruleIndex", json!(index));
    }
    set(&mut result, "baselineState", json!("absent"));
    result
}

fn properties(check: &Check) -> Json {
    let mut properties = json!({
        "state": check.state,
        "rule": check.rule,
        "strategy": check.strategy,
        "code": check.reason.code,
        "aTag": check.a.tag,
        "aValues": check.a.values,
        "bTag": check.b.tag,
        "bValues": check.b.values,
    });
    let optional = [
        ("workspace", json!(check.workspace)),
        ("firstSeen", json!(check.first_seen)),
        ("cause", json!(check.cause)),
        ("waiver", json!(check.waiver)),
        ("howToFix", json!(check.how_to_fix)),
    ];
    for (name, value) in optional.into_iter().filter(|(_, value)| !value.is_null()) {
        set(&mut properties, name, value);
    }
    for (name, list) in [("nearMiss", json!(check.near_miss)), ("fixes", json!(check.fixes))] {
        if list.as_array().is_some_and(|list| !list.is_empty()) {
            set(&mut properties, name, list);
        }
    }
    properties
}

fn suppression(waiver: &AppliedWaiver) -> Json {
    json!({"kind": "external", "status": "accepted", "justification": waiver.reason, "properties": {"waiver": waiver.id}})
}

fn location(side: &Side) -> Json {
    let mut location = Map::new();
    if let Some(at) = &side.at {
        location.insert("physicalLocation".to_owned(), physical(at));
    }
    let logical = json!({"name": side.name, "fullyQualifiedName": side.reference, "kind": "resource"});
    location.insert("logicalLocations".to_owned(), json!([logical]));
    Json::Object(location)
}

fn related(side: &Side) -> Json {
    let mut related = location(side);
    set(&mut related, "id", json!(1));
    set(&mut related, "message", message(&format!("the other side: {}", word(&side.reference))));
    related
}

fn physical(at: &At) -> Json {
    let region = json!({"startLine": at.line().max(1), "startColumn": at.column().max(1)});
    json!({"artifactLocation": {"uri": uri(at.file())}, "region": region})
}

/// The name of a file as a relative reference: what has a meaning in addresses is encoded.
fn uri(file: &str) -> String {
    file.replace('\\', "/").bytes().fold(String::new(), |mut uri, byte| {
        if byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte) {
            uri.push(char::from(byte));
        } else {
            uri.push_str(&format!("%{byte:02X}"));
        }
        uri
    })
}

/// A text for people. Brackets would begin a link.
fn message(text: &str) -> Json {
    json!({"text": text.replace('[', "\\[").replace(']', "\\]")})
}

fn level_name(level: Level) -> &'static str {
    match level {
        Level::Enforce => "error",
        Level::Warn => "warning",
        Level::Audit => "note",
        Level::Off => "none",
    }
}

fn set(object: &mut Json, name: &str, value: Json) {
    if let Some(fields) = object.as_object_mut() {
        fields.insert(name.to_owned(), value);
    }
}
