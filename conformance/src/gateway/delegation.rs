//! Whether a route may hand over to another: by its references to parents, and by what it matches.

use anyhow::Context;
use serde_json::json;
use upheld_dialects::gateways::gateway_api::inherit::{accepts_parent, agrees};
use upheld_dialects::gateways::gateway_api::matches::Match;
use upheld_dialects::gateways::gateway_api::resources::ParentReference;
use upheld_model::tree::Value;

use super::values::{parsed, source};
use crate::case::Case;
use crate::outcome::Outcome;

pub(super) fn run_attach(case: &Case) -> anyhow::Result<Outcome> {
    let written = parsed(case.field("childParentRefs"));
    let namespace = case.text("childNamespace")?;
    let items = written.tree.documents().flat_map(Value::items);
    let references: Vec<_> = items.map(|item| ParentReference::of(item, namespace)).collect();
    let parent = case.text("parent")?.split_once('/').context("the parent has no namespace")?;
    Ok(Outcome::compare(case.expected(), &json!(accepts_parent(&references, parent))))
}

pub(super) fn run_match(case: &Case) -> anyhow::Result<Outcome> {
    let read = |field| -> anyhow::Result<Match> {
        let written = parsed(case.field(field));
        let document = written.tree.documents().next().context("a part of the case is empty")?;
        Ok(Match::of_http(source(), document))
    };
    Ok(Outcome::compare(case.expected(), &json!(agrees(&read("parent")?, &read("child")?))))
}
