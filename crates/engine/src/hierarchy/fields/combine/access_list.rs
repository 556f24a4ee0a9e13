//! `{defaultAction: …, rules: […], denyResponse: {statusCode: …, blockedByHeaderName: …, headers: […]}}`: rules are tried in
//! order, so the preferred side comes first. Two lists that contradict each other cannot be one.

use std::sync::Arc;

use upheld_model::config::Config;

use super::super::join::{Beaten, Joined, Parts};
use super::super::origins::united;
use super::{edit, extend};
use crate::hierarchy::answer::Exception;

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

/// What layers of one level say, the best first and preferred.
pub(super) fn combine_all(parts: Parts) -> Option<Joined> {
    let mut parts = parts.into_iter();
    let first = parts.next()?;
    let mut all = Joined::alone(first.by, first.value);
    let mut under: Option<Arc<[usize]>> = None;
    for part in parts {
        if contradict(&all.value, &part.value) {
            let under = under.get_or_insert_with(|| united(&[], &all.origins).as_slice().into()).clone();
            all.over.push(Beaten { by: part.by, value: part.value, under, exception: Exception::None });
        } else {
            append(&mut all.value, &part.value);
            all.origins.push(part.by);
            all.parts.push(part);
            under = None;
        }
    }
    all.origins = united(&[], &all.origins);
    Some(all)
}

/// Adds another list behind the best one; the status is only taken together with the response that has it.
pub(super) fn append(best: &mut Arc<Config>, other: &Config) {
    edit(best, |entries| {
        if let Some(rules) = other.get(RULES) {
            extend(entries, RULES, rules.items());
        }
        let Some(response) = other.get(DENY_RESPONSE) else { return };
        match entries.iter_mut().find(|(name, _)| name == DENY_RESPONSE) {
            Some((_, known)) => append_response(known, response),
            None => entries.push((DENY_RESPONSE.into(), response.clone())),
        }
    });
}

fn append_response(best: &mut Arc<Config>, other: &Config) {
    edit(best, |entries| {
        if let Some(name) = other.get(BLOCKED_BY).filter(|_| entries.iter().all(|(known, _)| known != BLOCKED_BY)) {
            entries.push((BLOCKED_BY.into(), name.clone()));
        }
        if let Some(headers) = other.get(HEADERS) {
            extend(entries, HEADERS, headers.items());
        }
    });
}
