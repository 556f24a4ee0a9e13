//! `authzen-cert`: requests of the certification scenario of `AuthZEN`.

use anyhow::Context;
use serde_json::{Value as Json, json};

use super::service::{Endpoint, Response, Service};
use super::{fits, missing, set_difference};
use crate::case::Case;
use crate::outcome::Outcome;
use crate::served::{Answer, both};

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
    let directory = directory(&case.beside("fixture.json")?)?;
    let in_library = in_library(case, &directory)?;
    Ok(both(in_library, served(case, &directory)))
}

/// What the call of a library shows of a case.
fn in_library(case: &Case, directory: &Json) -> anyhow::Result<Outcome> {
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
    let service = Service::new(POLICIES, directory)?;
    let seen = || match service.call(endpoint, request)? {
        Response::Good(body) => Ok(Seen { status: 200, body, answer: None }),
        Response::Bad(reason) => Ok(Seen { status: 400, body: json!({"error": reason}), answer: None }),
    };
    judge_all(case, seen)
}

/// What a server answers.
fn served(case: &Case, directory: &Json) -> anyhow::Result<Outcome> {
    let server = Service::served(POLICIES, directory)?;
    let (method, path) = (case.text("method")?, case.text("path")?);
    let given = case.field("headers").as_object().into_iter().flatten();
    let mut headers: Vec<(&str, &str)> =
        given.filter_map(|(name, value)| Some((name.as_str(), value.as_str()?))).collect();
    let body = match case.field("raw").as_str() {
        Some(raw) => raw.to_owned(),
        None if case.says("json") => case.field("json").to_string(),
        None => String::new(),
    };
    if header(case.field("headers"), "Content-Type").is_none() && !body.is_empty() {
        headers.push(("Content-Type", "application/json"));
    }
    let seen = || {
        let answer = server.ask(method, path, &headers, &body)?;
        Ok(Seen { status: answer.status, body: answer.json(), answer: Some(answer) })
    };
    judge_all(case, seen)
}

/// What was seen of an answer.
#[derive(PartialEq)]
struct Seen {
    status: u16,
    body: Json,
    /// Over HTTP, all of it.
    answer: Option<Answer>,
}

/// Asks as often as a case wants.
fn judge_all(case: &Case, ask: impl Fn() -> anyhow::Result<Seen>) -> anyhow::Result<Outcome> {
    let seen = ask()?;
    let expected = case.field("expect").as_object().context("the case expects nothing")?;
    let mut problems = Vec::new();
    let mut unseen = Vec::new();
    for (name, expected) in expected {
        match judge(name, expected, &seen) {
            Judged::Right => {}
            Judged::Wrong(lines) => problems.extend(lines),
            Judged::Unseen => unseen.push(name.as_str()),
        }
    }
    for repeated in [expected.get("repeat"), Some(case.field("repeat"))].into_iter().flatten() {
        for _ in 1..repeated.as_u64().unwrap_or(1) {
            let again = ask()?;
            if (again.status, &again.body) != (seen.status, &seen.body) {
                problems.push("repeat: another answer to the same request".to_owned());
            }
        }
    }
    Ok(match (problems.is_empty(), unseen.is_empty()) {
        (false, _) => Outcome::Failed(problems),
        (true, true) => Outcome::Passed,
        (true, false) => Outcome::Skipped(format!("what is shown is right; there is no {}", unseen.join(", "))),
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

    fn unless(right: bool, problem: impl FnOnce() -> String) -> Self {
        if right { Self::Right } else { Self::Wrong(vec![problem()]) }
    }
}

fn judge(name: &str, expected: &Json, seen: &Seen) -> Judged {
    let Seen { status, body, answer } = seen;
    let items = || expected.as_array().map_or(&[][..], Vec::as_slice);
    match name {
        "status" if answer.is_some() || matches!(expected.as_u64(), Some(200 | 400)) => {
            Judged::unless(*expected == *status, || format!("status: expected {expected}, got {status}: {body}"))
        }
        "decision" | "evaluations" => {
            let actual = body.get(name).unwrap_or(&Json::Null);
            Judged::unless(fits(expected, actual), || format!("{name}: expected {expected}, got {actual}"))
        }
        "results" => Judged::of(set_difference(items(), body)),
        "results_include" => {
            let missing = missing(items(), body);
            Judged::of(missing.into_iter().map(|wanted| format!("results: {wanted} is missing in {body}")).collect())
        }
        "results_array" => {
            let right = body.get("results").is_some_and(Json::is_array);
            Judged::unless(right, || format!("results: expected a list in {body}"))
        }
        "page_optional" => {
            let right = body.get("page").is_none_or(|page| page.get("next_token").is_some_and(Json::is_string));
            Judged::unless(right, || format!("page: expected a token in {body}"))
        }
        "repeat" => Judged::Right,
        _ => answer.as_ref().map_or(Judged::Unseen, |answer| judge_answer(name, expected, answer, body)),
    }
}

/// What only a server shows.
fn judge_answer(name: &str, expected: &Json, answer: &Answer, body: &Json) -> Judged {
    let items = || expected.as_array().into_iter().flatten().filter_map(Json::as_str);
    match name {
        "response_headers" => {
            let wanted = expected.as_object().into_iter().flatten();
            let wrong = wanted.filter(|(name, value)| answer.header(name) != value.as_str());
            Judged::of(wrong.map(|(name, value)| format!("{name}: expected {value}")).collect())
        }
        "content_type" => {
            let content = answer.header("content-type").unwrap_or_default();
            let essence = content.split(';').next().unwrap_or_default().trim();
            Judged::unless(*expected == essence, || format!("Content-Type: expected {expected}, got {content}"))
        }
        "required_fields" => {
            let missing = items().filter(|field| body.get(field).is_none());
            Judged::of(missing.map(|field| format!("{field} is missing in {body}")).collect())
        }
        "optional_fields" => Judged::Right,
        "urls_https" => {
            let urls = body.as_object().into_iter().flatten().filter_map(|(_, value)| value.as_str());
            let wrong = urls.filter(|url| !url.starts_with("https://"));
            Judged::of(wrong.map(|url| format!("`{url}` is not of https")).collect())
        }
        _ => Judged::Unseen,
    }
}

fn directory(fixture: &str) -> anyhow::Result<Json> {
    let fixture: Json = serde_json::from_str(fixture).context("the fixture is no JSON")?;
    let mut directory = json!({"kind": "Directory"});
    for field in ["subjects", "resources", "actions"] {
        if let (Some(entities), Some(directory)) = (fixture.get(field), directory.as_object_mut()) {
            directory.insert(field.to_owned(), entities.clone());
        }
    }
    Ok(directory)
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
