//! `legacy-inspect`: requests to the older inspection endpoints, and the bodies of their responses.

use anyhow::Context;
use serde_json::Value as Json;
use upheld_dialects::kuma::view;

use super::world::World;
use super::{FROM_04, documents};
use crate::case::Case;
use crate::outcome::Outcome;
use crate::served::{Server, both};

pub(super) fn run(case: &Case) -> anyhow::Result<Outcome> {
    let resources = case.input_list("resources");
    if let Some(reason) = resources.iter().find_map(unresolved) {
        return Ok(Outcome::Skipped(reason));
    }
    let path = case.field("request").get("path").and_then(Json::as_str).context("the case has no request path")?;
    let mut all = Vec::new();
    for (position, resource) in resources.iter().enumerate() {
        all.push(documents::any(resource, position)?);
    }
    let world = World::new(FROM_04, "", &all)?;
    let in_library = Outcome::compare(case.expected(), &view::inspect(&world.snapshot, path)?);
    Ok(both(in_library, served(case, path, &all)))
}

fn served(case: &Case, path: &str, documents: &[Json]) -> anyhow::Result<Outcome> {
    let server = Server::start(&[FROM_04])?;
    server.put(documents)??;
    Ok(Outcome::compare(case.expected(), &server.get(path)?.json()))
}

/// Why a case with this resource cannot be answered, if so.
fn unresolved(resource: &Json) -> Option<String> {
    let kind = resource.get("type").and_then(Json::as_str)?;
    let gateway = resource.pointer("/networking/gateway/type").and_then(Json::as_str);
    if kind.starts_with("MeshGateway") || gateway == Some("BUILTIN") {
        return Some("built-in gateways are not resolved yet".to_owned());
    }
    None
}
