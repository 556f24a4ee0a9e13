//! The `AuthZEN` part of the authorization corpus, in the library and over HTTP: one adapter for each family.
//!
//! - [`service`]: policies and a directory, and the calls that paths of HTTP stand for
//! - the others: the policies and the directory of a family, and how its answers are judged

mod certification;
mod interop;
mod service;

use serde_json::Value as Json;

use crate::Adapter;

/// Which adapter reads which family.
pub(crate) const ADAPTERS: [(&str, Adapter); 2] =
    [("authzen-cert", certification::run), ("authzen-interop", interop::run)];

/// What a case writes where either truth is right.
const EITHER: &str = "boolean";

/// Whether an answer says all that is expected; what it says beyond that does not matter.
fn fits(expected: &Json, actual: &Json) -> bool {
    match (expected, actual) {
        (Json::String(either), Json::Bool(_)) if either == EITHER => true,
        (Json::Object(fields), actual) => {
            fields.iter().all(|(name, expected)| actual.get(name).is_some_and(|actual| fits(expected, actual)))
        }
        (Json::Array(items), Json::Array(others)) => {
            items.len() == others.len() && items.iter().zip(others).all(|(item, other)| fits(item, other))
        }
        (expected, actual) => expected == actual,
    }
}

/// What is expected and not among the results of a search.
fn missing<'e>(expected: &'e [Json], answer: &Json) -> Vec<&'e Json> {
    let results = results(answer);
    expected.iter().filter(|wanted| !results.iter().any(|result| fits(wanted, result))).collect()
}

fn results(answer: &Json) -> &[Json] {
    answer.get("results").and_then(Json::as_array).map_or(&[], Vec::as_slice)
}

/// How the results of a search differ from a set.
fn set_difference(expected: &[Json], answer: &Json) -> Vec<String> {
    let missing = missing(expected, answer).into_iter().map(|wanted| format!("results: {wanted} is missing"));
    let results = results(answer).iter();
    let beyond = results.filter(|result| !expected.iter().any(|wanted| fits(wanted, result)));
    missing.chain(beyond.map(|result| format!("results: {result} is not expected"))).collect()
}
