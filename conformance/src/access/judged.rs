//! `buntime-pdp`, `buntime-docs`, `buntime-probes`: what the original system answers, and what a correct one does.

use serde_json::{Value as Json, json};
use upheld_dialects::access::Edition;

use super::world::{Refused, World, document, read_request};
use crate::case::Case;
use crate::difference::differences;
use crate::outcome::Outcome;

/// The original's own tests: its whole answers, and what it asserts of them.
pub(super) fn run_original(case: &Case) -> anyhow::Result<Outcome> {
    judge(case, &[(Edition::Compat, Whole::Yes, "observed"), (Edition::Compat, Whole::No, "expect")])
}

/// Examples of its documentation.
pub(super) fn run_documented(case: &Case) -> anyhow::Result<Outcome> {
    let correct = if case.says("strict") { "strict" } else { "documented" };
    judge(case, &[(Edition::Strict, Whole::No, correct), (Edition::Compat, Whole::Yes, "observed")])
}

/// Edge cases.
pub(super) fn run_probe(case: &Case) -> anyhow::Result<Outcome> {
    judge(case, &[(Edition::Strict, Whole::No, "strict"), (Edition::Compat, Whole::Yes, "observed")])
}

/// Whether an answer may have what a case does not mention.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Whole {
    Yes,
    No,
}

fn judge(case: &Case, fields: &[(Edition, Whole, &str)]) -> anyhow::Result<Outcome> {
    let mut lines = Vec::new();
    let stated = fields.iter().filter(|(.., field)| case.says(field));
    if stated.clone().count() == 0 {
        return Ok(Outcome::Skipped("the case leaves open what is right".to_owned()));
    }
    for (edition, whole, field) in stated {
        let found = compare(case.field(field), *whole, &answer(case, *edition)?);
        lines.extend(found.into_iter().map(|line| format!("{}: {line}", edition.name())));
    }
    Ok(if lines.is_empty() { Outcome::Passed } else { Outcome::Failed(lines) })
}

/// What became of the question of a case.
enum Answer {
    /// The policies were refused.
    NoPolicies(Refused),
    /// The request was.
    NoRequest(Refused),
    /// It was answered.
    Answered(Json),
}

fn answer(case: &Case, edition: Edition) -> anyhow::Result<Answer> {
    let policies = case.field("policies");
    let numbered = edition == Edition::Compat;
    let given = if numbered { with_numbers(policies) } else { policies.clone() };
    let world = match World::read(edition, &document(case.field("algorithm"), case.field("default_effect"), &given)) {
        Ok(world) => world,
        Err(refused) => return Ok(Answer::NoPolicies(refused)),
    };
    Ok(match read_request(edition, case.field("request"))? {
        Ok(request) => {
            let answer = world.answer(&request)?;
            Answer::Answered(if numbered { with_ids(answer, policies) } else { answer })
        }
        Err(refused) => Answer::NoRequest(refused),
    })
}

/// Policies by their places. The evaluator of the original takes a list and hands ids on as they are; only its store looks
/// at them.
fn with_numbers(policies: &Json) -> Json {
    let mut policies = policies.clone();
    for (place, policy) in policies.as_array_mut().into_iter().flatten().enumerate() {
        if let Some(policy) = policy.as_object_mut() {
            policy.insert("id".to_owned(), json!(place.to_string()));
        }
    }
    policies
}

/// An answer with the id of a policy for its place.
fn with_ids(mut answer: Json, policies: &Json) -> Json {
    if let Some(fields) = answer.as_object_mut()
        && let Some(place) = fields.remove("policy").and_then(|place| place.as_str()?.parse::<usize>().ok())
        && let Some(id) = policies.get(place).and_then(|policy| policy.get("id"))
    {
        fields.insert("policy".to_owned(), id.clone());
    }
    answer
}

fn compare(expected: &Json, whole: Whole, answer: &Answer) -> Vec<String> {
    let rejected = expected.get("reject").and_then(Json::as_bool) == Some(true);
    match answer {
        Answer::NoPolicies(refused) if rejected && !refused.located => vec![format!("{refused}, but not where")],
        Answer::NoPolicies(_) if rejected => Vec::new(),
        // Where the original throws there is nothing to reproduce, as long as nothing goes on.
        Answer::NoPolicies(_) | Answer::NoRequest(_) if expected.get("error").is_some() => Vec::new(),
        Answer::NoPolicies(refused) => vec![format!("expected {expected}, but the policies were {refused}")],
        Answer::NoRequest(refused) => vec![format!("expected {expected}, but the request was {refused}")],
        Answer::Answered(answer) if rejected => vec![format!("expected to be refused, got {answer}")],
        Answer::Answered(answer) if expected.get("error").is_some() => {
            let stops = answer.get("effect").and_then(Json::as_str) == Some("deny");
            if stops { Vec::new() } else { vec![format!("the original throws here, got {answer}")] }
        }
        Answer::Answered(answer) if whole == Whole::Yes => differences(expected, answer),
        Answer::Answered(answer) => differences(expected, &mentioned(expected, answer)),
    }
}

/// The fields of an answer that a case mentions.
pub(super) fn mentioned(expected: &Json, answer: &Json) -> Json {
    let names = expected.as_object().into_iter().flatten().map(|(name, _)| name);
    names.filter_map(|name| Some((name.clone(), answer.get(name)?.clone()))).collect()
}
