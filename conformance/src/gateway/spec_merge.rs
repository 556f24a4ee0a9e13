//! Envoy Gateway: a policy over that of its parent, under each merge type that the case has a result for.

use anyhow::{Context, bail};
use serde_json::{Map, Value as Json, json};
use upheld_dialects::gateways::gateway_api::Network;
use upheld_loader::load::Choices;
use upheld_loader::{Format, Input};

use super::envoy_attachment;
use super::values::{json as written, without_nulls};
use crate::case::Case;
use crate::outcome::Outcome;

const TYPES: [(&str, &str); 2] =
    [("jsonmerge.expected.yaml", "JSONMerge"), ("strategicmerge.expected.yaml", "StrategicMerge")];

/// A gateway and a route, which the two policies are attached to.
const WORLD: [&str; 2] = [
    r#"{"apiVersion": "gateway.networking.k8s.io/v1", "kind": "Gateway", "metadata": {"name": "parent"},
        "spec": {"gatewayClassName": "any", "listeners": [{"name": "http", "protocol": "HTTP", "port": 80}]}}"#,
    r#"{"apiVersion": "gateway.networking.k8s.io/v1", "kind": "HTTPRoute", "metadata": {"name": "child"},
        "spec": {"parentRefs": [{"name": "parent"}], "rules": [{}]}}"#,
];

pub(super) fn run(case: &Case) -> anyhow::Result<Outcome> {
    if !case.has_file("original.yaml") {
        return envoy_attachment::run(case);
    }
    let (mut expected, mut actual) = (Map::new(), Map::new());
    for (file, merge_type) in TYPES.into_iter().filter(|(file, _)| case.has_file(file)) {
        let document = case.document(file)?;
        let spec = document.get("spec").cloned().unwrap_or_default();
        expected.insert(file.to_owned(), spec);
        actual.insert(file.to_owned(), merged(case, merge_type)?);
    }
    // Which empty fields are written is a matter of the original's types.
    let said = |fields: Map<String, Json>| without_nulls(&json!(fields));
    Ok(Outcome::compare(&said(expected), &said(actual)))
}

/// What holds for the route.
fn merged(case: &Case, merge_type: &str) -> anyhow::Result<Json> {
    let mut documents: Vec<Json> = Vec::new();
    for text in WORLD {
        documents.push(serde_json::from_str(text)?);
    }
    let mut kind = String::new();
    for (file, target) in [
        ("original.yaml", json!({"targetRefs": [{"kind": "Gateway", "name": "parent"}]})),
        ("patch.yaml", json!({"targetRefs": [{"kind": "HTTPRoute", "name": "child"}], "mergeType": merge_type})),
    ] {
        let mut document = case.document(file)?;
        document.get("kind").and_then(Json::as_str).unwrap_or_default().clone_into(&mut kind);
        let spec = document.get_mut("spec").and_then(Json::as_object_mut).context("the policy has no spec")?;
        spec.extend(target.as_object().cloned().unwrap_or_default());
        documents.push(document);
    }
    let lines: Vec<String> = documents.iter().map(Json::to_string).collect();
    let loaded =
        match Choices::default().without_schemas().load(vec![Input::text("case", Format::JsonLines, lines.join("\n"))])
        {
            Ok(loaded) => loaded,
            Err(broken) => bail!("the documents were refused: {:?}", broken.diagnostics.as_slice().first()),
        };
    let network = Network::of(&loaded.snapshot).context("the snapshot keeps no gateways")?;
    let kind = network.kind(&kind).with_context(|| format!("there is no kind `{kind}`"))?;
    let gateway = network.topology().gateways.first().context("there is no gateway")?;
    let host = gateway.hosts.first().context("there is no host")?;
    let way = host.ways.first().context("there is no way")?;
    let answer = network.way(kind, gateway, host, way).effective();
    let config = answer.merged.as_ref().and_then(upheld_engine::merge::Merged::config);
    config.map_or(Ok(Json::Null), |config| written(&config))
}
