//! An audit in the Static Analysis Results Interchange Format, version 2.1.0.

use std::collections::BTreeMap;

use serde::{Serialize, Serializer};
use serde_json::{Map, Value as Json, json};

use super::super::baseline;
use super::baseline::FINGERPRINT;
use crate::report::At;
use crate::report::compliance::{Absent, AppliedWaiver, Audit, Check, Level, PolicyLine, Side, word};

pub(crate) const SCHEMA: &str =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";
/// The whole log. Beside an earlier run, results say what is new, and what is gone is reported.
pub(super) fn document(audit: &Audit) -> impl Serialize + '_ {
    let rules: Vec<Json> = audit.policies.iter().map(rule).collect();
    let errors = audit
        .errors
        .iter()
        .map(|error| notification("error", &format!("{}: {}", error.policy, error.message), error.at.as_ref()));
    let gaps = audit.gaps.iter().map(|unseen| notification("warning", &unseen.gap.text, unseen.at.as_ref()));
    let notifications: Vec<Json> = errors.chain(gaps).collect();
    let run = Run {
        tool: json!({"driver": {
            "name": "upheld",
            "semanticVersion": env!("CARGO_PKG_VERSION"),
            "rules": rules,
        }}),
        automation_details: json!({"id": "upheld/audit/"}),
        invocations: [json!({
            "executionSuccessful": audit.errors.is_empty(),
            "endTimeUtc": audit.now,
            "toolExecutionNotifications": notifications,
        })],
        column_kind: "unicodeCodePoints",
        results: Results(audit),
        properties: json!({
            "semantics": audit.semantics,
            "answer": audit.answer,
            "pairs": audit.pairs,
            "summary": audit.summary,
            "overview": audit.overview,
            "filters": audit.filters,
        }),
    };
    Log { schema: SCHEMA, version: "2.1.0", runs: [run] }
}

#[derive(Serialize)]
struct Log<'a> {
    #[serde(rename = "$schema")]
    schema: &'static str,
    version: &'static str,
    runs: [Run<'a>; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Run<'a> {
    tool: Json,
    automation_details: Json,
    invocations: [Json; 1],
    column_kind: &'static str,
    results: Results<'a>,
    properties: Json,
}

/// What violates and what did, made one by one as they are written: there can be many.
struct Results<'a>(&'a Audit);

impl Serialize for Results<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(audit) = self;
        let indices: BTreeMap<&str, usize> = audit.policies.iter().map(|policy| policy.id.as_str()).zip(0..).collect();
        let gone = audit.baseline.iter().flat_map(|compared| &compared.absent).map(|gone| absent(gone, &indices));
        serializer.collect_seq(audit.violations().map(|check| result(check, &indices)).chain(gone))
    }
}

/// What could not be judged or looked at.
fn notification(level: &str, text: &str, at: Option<&At>) -> Json {
    let mut told = json!({"level": level, "message": message(text)});
    if let Some(at) = at {
        set(&mut told, "locations", json!([{"physicalLocation": physical(at)}]));
    }
    told
}

/// A policy. All are listed, also silent ones, so that findings of theirs are closed.
fn rule(policy: &PolicyLine) -> Json {
    let sides: Vec<String> = policy.sides().map(|side| format!("{} ({})", side.kind, side.tags.join(", "))).collect();
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

fn result(check: &Check, indices: &BTreeMap<&str, usize>) -> Json {
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
    if let Some(state) = check.baseline_state {
        set(&mut result, "baselineState", json!(state));
    }
    result
}

/// A violation of the earlier run that is gone.
fn absent(gone: &Absent, indices: &BTreeMap<&str, usize>) -> Json {
    let mut result = baseline::absent(gone, FINGERPRINT);
    if let Some(index) = indices.get(gone.policy.as_str()) {
        set(&mut result, "ruleIndex", json!(index));
    }
    result
}

fn properties(check: &Check) -> Json {
    let mut properties = json!({
        "state": check.state,
        "level": check.level,
        "rule": check.rule,
        "strategy": check.strategy,
        "code": check.reason.code,
        "aTag": check.a.tag,
        "aValues": check.a.values,
        "bTag": check.b.tag,
        "bValues": check.b.values,
    });
    let optional = [
        ("severity", json!(check.severity)),
        ("workspace", json!(check.workspace)),
        ("firstSeen", json!(check.first_seen)),
        ("cause", json!(check.cause)),
        ("waiver", json!(check.waiver)),
        ("howToFix", json!(check.how_to_fix)),
        ("noFix", json!(check.no_fix)),
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
