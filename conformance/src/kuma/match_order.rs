//! `unit-http-match-order` and `unit-inbound-match-order`: matches with names, and the order of the names.

use std::sync::Arc;

use anyhow::Context;
use serde_json::{Value as Json, json};
use upheld_dialects::kuma::{http_match, inbound_match};
use upheld_model::Config;

use super::config;
use crate::case::Case;
use crate::outcome::Outcome;

/// `unit-http-match-order`
pub(super) fn run_http(case: &Case) -> anyhow::Result<Outcome> {
    let any_request = config(&json!({}))?;
    in_order(case, |conf| http_match::precedence(conf.unwrap_or(&any_request)))
}

/// `unit-inbound-match-order`
pub(super) fn run_inbound(case: &Case) -> anyhow::Result<Outcome> {
    in_order(case, inbound_match::precedence)
}

fn in_order<K: Ord>(case: &Case, precedence: impl Fn(Option<&Config>) -> K) -> anyhow::Result<Outcome> {
    let mut named: Vec<(&Json, Option<Arc<Config>>)> = Vec::new();
    for item in case.field("input").as_array().context("the case has no list of matches")? {
        let name = item.get("name").context("a match has no name")?;
        let conf = item.get("match").filter(|conf| !conf.is_null());
        named.push((name, conf.map(config).transpose()?));
    }
    named.sort_by_key(|(_, conf)| precedence(conf.as_deref()));
    let names: Vec<&Json> = named.into_iter().map(|(name, _)| name).collect();
    Ok(Outcome::compare(case.expected(), &json!(names)))
}
