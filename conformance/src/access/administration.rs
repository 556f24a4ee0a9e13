//! `buntime-http`: requests to the seed's administration API, one after the other.

use anyhow::Context;
use serde_json::{Value as Json, json};

use crate::case::Case;
use crate::difference::differences;
use crate::outcome::Outcome;
use crate::served::{Answer, Server};

/// Where the seed's API is mounted.
const BASE: &str = "/authz";

pub(super) fn run(case: &Case) -> anyhow::Result<Outcome> {
    let server = Server::start(&[])?;
    let settings = json!({
        "combiningAlgorithm": case.field("algorithm"), "defaultEffect": case.field("default_effect"),
    });
    server.put(&[settings])??;
    for policy in case.field("given_policies").as_array().into_iter().flatten() {
        let stored = server.post(&format!("{BASE}/api/policies"), policy)?;
        if stored.status != 201 {
            return Ok(Outcome::Failed(vec![format!("a given policy got {}: {}", stored.status, stored.text)]));
        }
    }
    let correct = case.field("strict").get("steps").and_then(Json::as_array);
    let mut lines = Vec::new();
    for (number, step) in case.field("steps").as_array().into_iter().flatten().enumerate() {
        let answer = ask(&server, step.get("request").context("a step has no request")?)?;
        let corrected = correct.and_then(|steps| steps.get(number)).filter(|step| !step.is_null());
        let expected = corrected.or(step.get("expect")).unwrap_or(&Json::Null);
        // What the seed fails on because of what it took before, a correct server never had.
        let seed_fails = expected.get("status").and_then(Json::as_u64).is_some_and(|status| status >= 500);
        let found = if seed_fails && correct.is_some() { survived(&answer) } else { compare(expected, &answer) };
        lines.extend(found.into_iter().map(|line| format!("step {number}: {line}")));
    }
    Ok(if lines.is_empty() { Outcome::Passed } else { Outcome::Failed(lines) })
}

fn ask(server: &Server, request: &Json) -> anyhow::Result<Answer> {
    let text = |name: &str| request.get(name).and_then(Json::as_str);
    let method = text("method").context("a request has no method")?;
    let path = format!("{BASE}{}", text("path").context("a request has no path")?);
    let body = text("raw").map(str::to_owned).or_else(|| Some(request.get("json")?.to_string()));
    match body {
        Some(body) => server.ask(method, &path, &[("content-type", "application/json")], &body),
        None => server.ask(method, &path, &[], ""),
    }
}

fn survived(answer: &Answer) -> Vec<String> {
    let failed = answer.status >= 500;
    failed.then(|| format!("status: the server fails as the seed does: {}", answer.text)).into_iter().collect()
}

fn compare(expected: &Json, answer: &Answer) -> Vec<String> {
    let body = answer.json();
    let part = |name: &str| expected.get(name);
    let mut lines = Vec::new();
    if let Some(status) = part("status").filter(|status| **status != answer.status) {
        lines.push(format!("status: expected {status}, got {}: {}", answer.status, answer.text));
    }
    if let Some(least) =
        part("status_at_least").and_then(Json::as_u64).filter(|least| u64::from(answer.status) < *least)
    {
        lines.push(format!("status: expected at least {least}, got {}: {}", answer.status, answer.text));
    }
    if let Some(whole) = part("json") {
        lines.extend(differences(whole, &body));
    }
    for (path, value) in part("fields").and_then(Json::as_object).into_iter().flatten() {
        let found = at(&body, path).cloned().unwrap_or_default();
        lines.extend(differences(&json!({path: value}), &json!({path: found})));
    }
    let length = |value: Option<&Json>| value.and_then(Json::as_array).map(Vec::len);
    if let Some(wanted) = part("length") {
        lines.extend(differences(wanted, &json!(length(Some(&body)))));
    }
    for (path, wanted) in part("lengths").and_then(Json::as_object).into_iter().flatten() {
        lines.extend(differences(wanted, &json!(length(at(&body, path)))));
    }
    let ids: Vec<&Json> = body.as_array().into_iter().flatten().filter_map(|policy| policy.get("id")).collect();
    for id in part("ids_include").and_then(Json::as_array).into_iter().flatten() {
        if !ids.contains(&id) {
            lines.push(format!("ids: {id} is missing in {body}"));
        }
    }
    lines
}

/// A value by its dotted path; numbers are places in lists.
fn at<'j>(body: &'j Json, path: &str) -> Option<&'j Json> {
    path.split('.').try_fold(body, |value, step| match value {
        Json::Array(items) => items.get(step.parse::<usize>().ok()?),
        other => other.get(step),
    })
}
