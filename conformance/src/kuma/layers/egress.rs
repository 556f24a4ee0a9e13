//! `v2-egress-*`: what a zone egress does for an external service.

use anyhow::Context;
use serde_json::{Value as Json, json};
use upheld_dialects::kuma::egress::Egress;
use upheld_model::Role;

use super::V2;
use super::scene::{Cast, compare, refused};
use crate::case::Case;
use crate::outcome::Outcome;

/// The one listener that there is.
const LISTENER: &str = ":0";

pub(super) fn run(case: &Case, kind: &str) -> anyhow::Result<Outcome> {
    let mut cast = Cast::default();
    cast.add(case.documents("es.yaml")?);
    cast.add(case.documents("policies.yaml")?);
    let scene = cast.read(V2)?;
    let parts = scene.snapshot().objects().iter().flat_map(|(_, object)| &object.parts);
    let service =
        parts.into_iter().find(|part| part.role == Role::Whole).context("the case has no external service")?;
    let Some(rules) = scene.rules(kind)? else {
        return Ok(compare(&case.document("golden.yaml")?, &json!({"Rules": null, "InboundRules": null})));
    };
    let egress = Egress::of(&rules, &service.tags).map_err(refused)?;
    let inbound = match &egress.inbound {
        Some(listed) => json!({LISTENER: scene.inbound_rules(&rules, listed)?}),
        None => Json::Null,
    };
    let actual = json!({"Rules": {LISTENER: scene.subset_rules(&rules, &egress.clients)?}, "InboundRules": inbound});
    Ok(compare(&case.document("golden.yaml")?, &actual))
}
