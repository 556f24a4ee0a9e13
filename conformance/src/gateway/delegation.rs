//! Whether a route may hand over to another: by its references to parents, and by what it matches.

use anyhow::Context;
use serde_json::{Value as Json, json};
use upheld_dialects::gateway_api::delegation::{ParentRef, RouteMatch, accepts_parent, is_within};

use super::values::config;
use crate::case::Case;
use crate::outcome::Outcome;

pub(super) fn run_attach(case: &Case) -> anyhow::Result<Outcome> {
    let mut references = Vec::new();
    for written in case.field("childParentRefs").as_array().into_iter().flatten() {
        references.push(ParentRef::read(&*config(written)?));
    }
    let (namespace, name) = case.text("parent")?.split_once('/').context("the parent has no namespace")?;
    let actual = accepts_parent(case.text("childNamespace")?, &references, namespace, name);
    Ok(Outcome::compare(case.expected(), &json!(actual)))
}

pub(super) fn run_match(case: &Case) -> anyhow::Result<Outcome> {
    let read = |field| -> anyhow::Result<RouteMatch> {
        let written = case.field(field);
        let empty = Json::Object(serde_json::Map::new());
        Ok(RouteMatch::read(&*config(if written.is_null() { &empty } else { written })?))
    };
    let actual = is_within(&read("child")?, &read("parent")?);
    Ok(Outcome::compare(case.expected(), &json!(actual)))
}
