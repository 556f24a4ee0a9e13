//! Documents as users write them, made from the input of a case.
//!
//! Cases name only what matters to them. What our reader requires beyond that is filled in here so that it changes
//! nothing: names that keep the order of the case, empty sections and empty lists of selectors. Notes are left out.

use anyhow::Context;
use serde_json::{Map, Value as Json, json};
use upheld_dialects::document::DEFAULT_MESH;
use upheld_model::Timestamp;

use crate::case::Case;

/// Types of policies that have one list of selectors instead of sources and destinations.
const WITH_SELECTORS: [&str; 3] = ["ProxyTemplate", "TrafficTrace", "VirtualOutbound"];

/// Dataplane and policies of a case. Policies without a mesh are of the mesh of the dataplane.
pub(super) fn connection(case: &Case, policy_type: &str) -> anyhow::Result<Vec<Json>> {
    let mut documents = vec![dataplane(case.input("dataplane"))?];
    for (position, policy) in case.input_list("policies").iter().enumerate() {
        documents.push(self::policy(policy_type, policy, position, mesh(case))?);
    }
    Ok(documents)
}

/// The mesh in which a case plays.
pub(super) fn mesh(case: &Case) -> &str {
    case.input("dataplane").get("mesh").and_then(Json::as_str).unwrap_or(DEFAULT_MESH)
}

/// A Dataplane.
pub(super) fn dataplane(written: &Json) -> anyhow::Result<Json> {
    let mut document = resource("Dataplane", written, "dataplane")?;
    fill(&mut document, "networking", json!({}));
    Ok(Json::Object(document))
}

/// An `ExternalService` of a mesh.
pub(super) fn external_service(written: &Json, position: usize, mesh: &str) -> anyhow::Result<Json> {
    let mut document = resource("ExternalService", written, &numbered("external-service", position))?;
    fill(&mut document, "mesh", json!(mesh));
    fill(&mut document, "tags", json!({}));
    fill(&mut document, "networking", json!({}));
    Ok(Json::Object(document))
}

/// A policy of a mesh.
pub(super) fn policy(kind: &str, written: &Json, position: usize, mesh: &str) -> anyhow::Result<Json> {
    let mut document = resource(kind, written, &numbered("policy", position))?;
    fill(&mut document, "mesh", json!(mesh));
    let fields: &[&str] = if WITH_SELECTORS.contains(&kind) { &["selectors"] } else { &["sources", "destinations"] };
    for field in fields {
        fill(&mut document, field, json!([]));
        for selector in document.get_mut(*field).and_then(Json::as_array_mut).into_iter().flatten() {
            if let Some(selector) = selector.as_object_mut() {
                fill(selector, "match", json!({}));
            }
        }
    }
    Ok(Json::Object(document))
}

/// Any resource of a case that says its own type.
pub(super) fn any(written: &Json, position: usize) -> anyhow::Result<Json> {
    let kind = written.get("type").and_then(Json::as_str).context("a resource of the case has no type")?;
    resource(kind, written, &numbered("resource", position)).map(Json::Object)
}

fn resource(kind: &str, written: &Json, name: &str) -> anyhow::Result<Map<String, Json>> {
    let mut document = Map::from_iter([("type".to_owned(), json!(kind))]);
    let said = written.as_object().into_iter().flatten();
    let said = said.filter(|(key, value)| key.as_str() != "note" && !value.is_null());
    document.extend(said.map(|(key, value)| (key.clone(), value.clone())));
    fill(&mut document, "name", json!(name));
    if let Some(Json::Number(seconds)) = document.get("creationTime") {
        let moment = moment(&seconds.to_string()).with_context(|| format!("`{seconds}` is no time in seconds"))?;
        document.insert("creationTime".to_owned(), json!(moment.to_string()));
    }
    Ok(document)
}

fn fill(document: &mut Map<String, Json>, field: &str, value: Json) {
    if document.get(field).is_none_or(Json::is_null) {
        document.insert(field.to_owned(), value);
    }
}

/// A name in the order of positions.
fn numbered(what: &str, position: usize) -> String {
    format!("{what}-{position:06}")
}

/// The moment of so many seconds since 1970, digit by digit: a float would lose the nanoseconds of today.
fn moment(seconds: &str) -> Option<Timestamp> {
    let (whole, fraction) = seconds.split_once('.').unwrap_or((seconds, ""));
    let nanoseconds: i64 = format!("{fraction:0<9}").get(..9)?.parse().ok()?;
    let nanoseconds = if seconds.starts_with('-') { -nanoseconds } else { nanoseconds };
    let whole: i64 = whole.parse().ok()?;
    whole.checked_mul(1_000_000_000)?.checked_add(nanoseconds).map(Timestamp)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_keep_their_nanoseconds() {
        let examples = [
            ("0", Some("1970-01-01T00:00:00Z")),
            ("0.0", Some("1970-01-01T00:00:00Z")),
            ("1.000000001", Some("1970-01-01T00:00:01.000000001Z")),
            ("1700000000.5", Some("2023-11-14T22:13:20.5Z")),
            ("-1.5", Some("1969-12-31T23:59:58.5Z")),
            ("1e300", None),
        ];
        for (seconds, expected) in examples {
            assert_eq!(moment(seconds).map(|moment| moment.to_string()).as_deref(), expected, "{seconds}");
        }
    }

    #[test]
    fn policies_get_what_the_reader_requires() {
        let written = json!({"creationTime": 1, "sources": [{}], "note": "why"});
        let expected = json!({
            "type": "Timeout", "name": "policy-000002", "mesh": "demo", "creationTime": "1970-01-01T00:00:01Z",
            "sources": [{"match": {}}], "destinations": [],
        });
        assert_eq!(policy("Timeout", &written, 2, "demo").unwrap(), expected);
    }

    #[test]
    fn what_a_case_says_stays() {
        let written = json!({"name": "", "mesh": "other", "selectors": [{"match": {"a": "b"}}]});
        let expected =
            json!({"type": "TrafficTrace", "name": "", "mesh": "other", "selectors": [{"match": {"a": "b"}}]});
        assert_eq!(policy("TrafficTrace", &written, 0, "demo").unwrap(), expected);
    }
}
