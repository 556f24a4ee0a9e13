//! `unit-resolve-targetref` and `unit-route-ref-namespace`: what a reference means.

use anyhow::{Context, bail};
use serde_json::{Map, Value as Json, json};
use upheld_dialects::kuma::meta::Meta;
use upheld_engine::merge::ResolvedReach;
use upheld_model::Facet;

use super::scene::{Cast, text};
use super::{V2, V3};
use crate::case::Case;
use crate::outcome::Outcome;

/// The type of the policy that a reference is put into; which one it is does not matter.
const POLICY: &str = "MeshTimeout";

/// `unit-resolve-targetref`
pub(super) fn run(case: &Case) -> anyhow::Result<Outcome> {
    let edition = match case.text("version")? {
        "v2" => V2,
        "v3" => V3,
        other => bail!("there is no version `{other}`"),
    };
    let to = json!([{"targetRef": case.input("targetRef"), "default": {}}]);
    let mut cast = Cast::default();
    cast.add([policy(case, &json!({"to": to}))]);
    cast.add(case.input_list("resources").iter().map(with_spec));
    let scene = cast.read(edition)?;
    let rules = scene.rules(POLICY)?.context("the policy of the case was lost")?;
    let mut actual = Vec::new();
    for entry in rules.entries(&rules.in_document_order(), Facet::Objects) {
        let reach = &rules.merge.entry(entry).context("there is no such entry")?.reach;
        let ResolvedReach::Objects(_, targets) = reach else { bail!("the reference is not about resources") };
        for target in targets {
            let object = scene.snapshot().objects().get(target.object).context("a target is no object")?;
            let mut kri = Meta::of(scene.resource(object.at)?).kri();
            target.section.map_or("", |section| scene.snapshot().text(section)).clone_into(&mut kri.section);
            actual.push(kri.to_string());
        }
    }
    let mut expected: Vec<&str> = case.expected().as_array().into_iter().flatten().filter_map(Json::as_str).collect();
    expected.sort_unstable();
    actual.sort_unstable();
    Ok(Outcome::compare(&json!(expected), &json!(actual)))
}

/// `unit-route-ref-namespace`
pub(super) fn run_route_namespace(case: &Case) -> anyhow::Result<Outcome> {
    let mut cast = Cast::default();
    let to = json!([{"targetRef": {"kind": "Mesh"}, "default": {}}]);
    cast.add([case.input("dataplane").clone()]);
    cast.add([policy(case, &json!({"targetRef": case.input("targetRef"), "to": to}))]);
    cast.add(case.input_list("resources").iter().cloned());
    let scene = cast.read(V3)?;
    let rules = scene.rules(POLICY)?.context("the policy of the case was lost")?;
    let proxy = scene.proxy()?;
    let inbounds: Vec<String> =
        rules.by_listener(proxy, &rules.matched(proxy)).iter().map(|(listener, _)| listener.to_string()).collect();
    let expected: Vec<String> = case.expected()["inbounds"].as_array().into_iter().flatten().map(listener).collect();
    Ok(Outcome::compare(&json!({"inbounds": expected}), &json!({"inbounds": inbounds})))
}

/// A listener as one text, also where a case writes address and port apart.
fn listener(written: &Json) -> String {
    match (written.as_str(), written.get("address"), written.get("port")) {
        (Some(text), ..) => text.to_owned(),
        (None, Some(address), Some(port)) => format!("{}:{port}", address.as_str().unwrap_or_default()),
        _ => written.to_string(),
    }
}

fn policy(case: &Case, spec: &Json) -> Json {
    let mut policy = case.input("policy").as_object().cloned().unwrap_or_default();
    policy.insert("type".to_owned(), json!(POLICY));
    policy.insert("spec".to_owned(), spec.clone());
    Json::Object(policy)
}

/// Cases put ports beside the name; services have them under `spec`, those outside the mesh just one.
fn with_spec(resource: &Json) -> Json {
    let mut resource = resource.as_object().cloned().unwrap_or_default();
    let ports = resource.remove("ports").unwrap_or_else(|| json!([]));
    let spec = if text(&json!(resource), "type") == "MeshExternalService" {
        ports.get(0).map(|port| Map::from_iter([("match".to_owned(), port.clone())])).unwrap_or_default()
    } else {
        Map::from_iter([("ports".to_owned(), ports)])
    };
    let is_service = ["MeshService", "MeshMultiZoneService", "MeshExternalService"];
    if is_service.contains(&text(&json!(resource), "type")) {
        resource.insert("spec".to_owned(), Json::Object(spec));
    }
    Json::Object(resource)
}
