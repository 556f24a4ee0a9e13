//! `authzen-cert`: requests of the certification scenario of `AuthZEN`.

use anyhow::Context;
use serde_json::{Value as Json, json};

use super::service::{Endpoint, Response, Service};
use super::{fits, missing, set_difference};
use crate::case::Case;
use crate::outcome::Outcome;

/// The eight decisions of the fixture, in its order.
const POLICIES: &str = "
- id: alice-and-bob-read-record-1
  effect: permit
  subjects: [{type: user, id: [alice, bob]}]
  resources: [{type: record, id: record-1}]
  actions: [{operation: read}]
- id: alice-writes-record-1
  effect: permit
  subjects: [{type: user, id: alice}]
  resources: [{type: record, id: record-1}]
  actions: [{operation: write}]
- id: bob-does-not-write-record-1
  effect: deny
  subjects: [{type: user, id: bob}]
  resources: [{type: record, id: record-1}]
  actions: [{operation: write}]
- id: alice-does-not-write-archives
  effect: deny
  subjects: [{type: user, id: alice}]
  resources: [{property: {name: status, value: archived}}]
  actions: [{operation: write}]
- id: admins-write-archives
  effect: permit
  subjects: [{role: admin}]
  resources: [{property: {name: status, value: archived}}]
  actions: [{operation: write}]
- id: alice-deletes-record-1-softly
  effect: permit
  subjects: [{type: user, id: alice}]
  resources: [{type: record, id: record-1}]
  actions: [{operation: delete, property: {name: soft, value: true}}]
- id: alice-does-not-delete-record-1-for-good
  effect: deny
  subjects: [{type: user, id: alice}]
  resources: [{type: record, id: record-1}]
  actions: [{operation: delete, property: {name: soft, value: false}}]
";

pub(super) fn run(case: &Case) -> anyhow::Result<Outcome> {
    let skipped = |reason: String| Ok(Outcome::Skipped(reason));
    let path = case.text("path")?;
    let Some(endpoint) = Endpoint::of(path).filter(|_| case.field("method") == "POST") else {
        return skipped(format!("{} {path} is for a server", case.field("method").as_str().unwrap_or_default()));
    };
    if let Some(content) = header(case.field("headers"), "Content-Type").filter(|content| !is_json(content)) {
        return skipped(format!("a library sees no Content-Type: {content}"));
    }
    let raw = case.field("raw").as_str();
    let parsed = raw.map(serde_json::from_str::<Json>);
    let request = match &parsed {
        Some(Ok(request)) => request,
        Some(Err(_)) => return skipped("a library takes no body that is not JSON".to_owned()),
        None => case.field("json"),
    };
    let service = service(&case.beside("fixture.json")?)?;
    let response = service.call(endpoint, request)?;
    let expected = case.field("expect").as_object().context("the case expects nothing")?;
    let mut problems = Vec::new();
    let mut unseen = Vec::new();
    for (name, expected) in expected {
        match judge(name, expected, &response) {
            Judged::Right => {}
            Judged::Wrong(lines) => problems.extend(lines),
            Judged::Unseen => unseen.push(name.as_str()),
        }
    }
    for repeated in [expected.get("repeat"), Some(case.field("repeat"))].into_iter().flatten() {
        for _ in 1..repeated.as_u64().unwrap_or(1) {
            if service.call(endpoint, request)? != response {
                problems.push("repeat: another answer to the same request".to_owned());
            }
        }
    }
    Ok(match (problems.is_empty(), unseen.is_empty()) {
        (false, _) => Outcome::Failed(problems),
        (true, true) => Outcome::Passed,
        (true, false) => Outcome::Skipped(format!("what a library shows is right; it has no {}", unseen.join(", "))),
    })
}

/// What an expectation comes to.
enum Judged {
    Right,
    Wrong(Vec<String>),
    /// Only a server shows it.
    Unseen,
}

impl Judged {
    fn of(problems: Vec<String>) -> Self {
        if problems.is_empty() { Self::Right } else { Self::Wrong(problems) }
    }
}

fn judge(name: &str, expected: &Json, response: &Response) -> Judged {
    let (status, body) = match response {
        Response::Good(body) => (200, body),
        Response::Bad(reason) => (400, &json!({"error": reason})),
    };
    let items = || expected.as_array().map_or(&[][..], Vec::as_slice);
    match name {
        "status" if matches!(expected.as_u64(), Some(200 | 400)) => {
            let right = *expected == status;
            Judged::of(
                (!right).then(|| format!("status: expected {expected}, got {status}: {body}")).into_iter().collect(),
            )
        }
        "decision" | "evaluations" => {
            let actual = body.get(name).unwrap_or(&Json::Null);
            let wrong = (!fits(expected, actual)).then(|| format!("{name}: expected {expected}, got {actual}"));
            Judged::of(wrong.into_iter().collect())
        }
        "results" => Judged::of(set_difference(items(), body)),
        "results_include" => {
            let missing = missing(items(), body);
            Judged::of(missing.into_iter().map(|wanted| format!("results: {wanted} is missing in {body}")).collect())
        }
        "results_array" => {
            let right = body.get("results").is_some_and(Json::is_array);
            Judged::of((!right).then(|| format!("results: expected a list in {body}")).into_iter().collect())
        }
        "page_optional" => {
            let right = body.get("page").is_none_or(|page| page.get("next_token").is_some_and(Json::is_string));
            Judged::of((!right).then(|| format!("page: expected a token in {body}")).into_iter().collect())
        }
        "repeat" => Judged::Right,
        _ => Judged::Unseen,
    }
}

fn service(fixture: &str) -> anyhow::Result<Service> {
    let fixture: Json = serde_json::from_str(fixture).context("the fixture is no JSON")?;
    let mut directory = json!({"kind": "Directory"});
    for field in ["subjects", "resources", "actions"] {
        if let (Some(entities), Some(directory)) = (fixture.get(field), directory.as_object_mut()) {
            directory.insert(field.to_owned(), entities.clone());
        }
    }
    Service::new(POLICIES, &directory)
}

/// A header of a request; their names have no case.
fn header<'c>(headers: &'c Json, name: &str) -> Option<&'c str> {
    let mut headers = headers.as_object().into_iter().flatten();
    headers.find(|(given, _)| given.eq_ignore_ascii_case(name)).and_then(|(_, value)| value.as_str())
}

fn is_json(content: &str) -> bool {
    let kind = content.split(';').next().unwrap_or_default();
    kind.trim().eq_ignore_ascii_case("application/json")
}
