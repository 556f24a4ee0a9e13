//! `{defaultAction: …, rules: […], denyResponse: {statusCode: …, blockedByHeaderName: …, headers: […]}}`: rules are tried in
//! order, so the preferred side comes first. Two lists that contradict each other cannot be one.

use std::sync::Arc;

use smol_str::SmolStr;
use upheld_model::config::{Config, Content};

use super::{chained, with};

const DEFAULT_ACTION: &str = "defaultAction";
const RULES: &str = "rules";
const DENY_RESPONSE: &str = "denyResponse";
const BLOCKED_BY: &str = "blockedByHeaderName";
const STATUS: &str = "statusCode";
const HEADERS: &str = "headers";

/// Whether no list can say what both say.
pub(super) fn contradict(a: &Config, b: &Config) -> bool {
    let same_default = a.get(DEFAULT_ACTION).zip(b.get(DEFAULT_ACTION)).is_some_and(|(a, b)| a == b);
    let differ = |field| {
        let value = |list: &Config| list.get(DENY_RESPONSE).and_then(|response| response.get(field)).cloned();
        value(a).zip(value(b)).is_some_and(|(a, b)| a != b)
    };
    !same_default || differ(STATUS) || differ(BLOCKED_BY)
}

/// Both lists; the status is only taken together with the response that has it.
pub(super) fn joined(best: &Config, other: &Config) -> Arc<Config> {
    let mut entries = best.entries().to_vec();
    if other.get(RULES).is_some() {
        entries = with(&entries, RULES, list(chained(best.get(RULES), other.get(RULES))));
    }
    let response = match (best.get(DENY_RESPONSE), other.get(DENY_RESPONSE)) {
        (Some(best), Some(other)) => Some(joined_response(best, other)),
        (None, Some(other)) => Some(other.clone()),
        (_, None) => None,
    };
    if let Some(response) = response {
        entries = with(&entries, DENY_RESPONSE, response);
    }
    Config::made(Content::Map(entries))
}

fn joined_response(best: &Config, other: &Config) -> Arc<Config> {
    let mut entries: Vec<(SmolStr, Arc<Config>)> = best.entries().to_vec();
    if let (None, Some(name)) = (best.get(BLOCKED_BY), other.get(BLOCKED_BY)) {
        entries = with(&entries, BLOCKED_BY, name.clone());
    }
    if other.get(HEADERS).is_some() {
        entries = with(&entries, HEADERS, list(chained(best.get(HEADERS), other.get(HEADERS))));
    }
    Config::made(Content::Map(entries))
}

fn list(items: Vec<Arc<Config>>) -> Arc<Config> {
    Config::made(Content::List(items))
}
