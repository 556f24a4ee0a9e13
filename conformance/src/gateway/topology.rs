//! Which routes are served where, and what is said of them: the expectations of kgateway's cases, compared with a topology.

use std::collections::BTreeMap;

use anyhow::Context;
use serde_json::{Map, Value as Json, json};
use upheld_dialects::gateways::gateway_api::ControllerSettings;
use upheld_dialects::gateways::gateway_api::matches::{FieldMatch, Match, PathKind};
use upheld_dialects::gateways::gateway_api::settings::{ReferenceGrants, RoutePrecedence, Settings};
use upheld_dialects::gateways::gateway_api::topology::{Gateway, Listener, Parent, Step, Topology, Way};
use upheld_engine::{ObjectId, Snapshot};
use upheld_loader::load::Choices;
use upheld_loader::{Format, Input};
use upheld_model::SourceId;
use upheld_syntax::parse;

use super::values::{Conditions, conditions, names};
use crate::difference::differences;
use crate::documents;

/// A snapshot of the input files of a case, given their texts in order. Objects are created one second after another,
/// whatever they say themselves.
pub(super) fn read(texts: &[String], controller: ControllerSettings) -> anyhow::Result<Snapshot> {
    let mut lines: Vec<String> = Vec::new();
    for text in texts {
        let (file, _) = parse("case", Format::Yaml, text.clone(), SourceId::new(0));
        for document in file.tree.documents() {
            let mut document = serde_json::to_value(document)?;
            let Some(fields) = document.as_object_mut() else { continue };
            if let Some(metadata) = fields.entry("metadata").or_insert_with(|| json!({})).as_object_mut() {
                metadata.insert("creationTimestamp".to_owned(), json!(documents::created(lines.len())));
            }
            lines.push(document.to_string());
        }
    }
    let choices = Choices::default().with(controller).without_schemas();
    match choices.load(vec![Input::text("case", Format::JsonLines, lines.join("\n"))]) {
        Ok(loaded) => Ok(loaded.snapshot),
        Err(broken) => Err(documents::refused(broken.diagnostics.as_slice())),
    }
}

/// The settings of a case that concern the topology.
pub(super) fn settings(expect: &Json) -> Settings {
    let text = |name: &str| expect.get("settings").and_then(|settings| settings.get(name)).and_then(Json::as_str);
    let mut settings = Settings::default();
    if text("WeightedRoutePrecedence") == Some("true") {
        settings.route_precedence = RoutePrecedence::Weighted;
    }
    match text("ReferenceGrantMode") {
        Some(mode) if mode.ends_with("Off") => settings.reference_grants = ReferenceGrants::Off,
        Some(mode) if mode.ends_with("Strict") => settings.reference_grants = ReferenceGrants::Strict,
        _ => {}
    }
    settings
}

/// How the routes and their status differ from what a case expects, line by line.
pub(super) fn compare_topology(expect: &Json, snapshot: &Snapshot, topology: &Topology) -> anyhow::Result<Vec<String>> {
    let gateway = gateway(expect, snapshot, topology)?;
    let mut lines = compare_routes(expect, snapshot, gateway);
    lines.extend(compare_status(expect, snapshot, topology, gateway));
    Ok(lines)
}

/// The gateway that a case is about.
pub(super) fn gateway<'t>(expect: &Json, snapshot: &Snapshot, topology: &'t Topology) -> anyhow::Result<&'t Gateway> {
    let name = expect.get("gateway").and_then(Json::as_str).context("the case names no gateway")?;
    let wanted = format!("Gateway {name}");
    let found = topology.gateways.iter().find(|gateway| title(snapshot, gateway.object) == wanted);
    found.with_context(|| format!("there is no gateway `{name}`"))
}

/// How the routes differ: by configuration and host, in the order in which requests try them.
fn compare_routes(expect: &Json, snapshot: &Snapshot, gateway: &Gateway) -> Vec<String> {
    let mut expected: BTreeMap<(String, String), Vec<&Json>> = BTreeMap::new();
    for route in expect.get("routes").and_then(Json::as_array).into_iter().flatten() {
        let text = |key: &str| route.get(key).and_then(Json::as_str).unwrap_or_default().to_owned();
        expected.entry((text("routeConfig"), text("host"))).or_default().push(route);
    }
    let mut actual: BTreeMap<(String, String), Vec<&Way>> = BTreeMap::new();
    for host in gateway.hosts.iter().filter(|host| !host.ways.is_empty()) {
        let listener = gateway.listeners.get(host.listener);
        let config = listener.map(|listener| config_name(snapshot, gateway, listener)).unwrap_or_default();
        actual.entry((config, host.name.clone())).or_default().extend(&host.ways);
    }
    let mut lines = Vec::new();
    for ((config, host), routes) in &expected {
        if is_fallback(routes) {
            // A broken policy took the place of everything there, or of all hosts.
            actual.retain(|(known, name), _| known != config || (host != "*" && name != host));
            continue;
        }
        let ways = actual.remove(&(config.clone(), host.clone())).unwrap_or_default();
        let ways: Vec<Json> = ways.iter().enumerate().map(|(at, way)| shown(snapshot, way, routes.get(at))).collect();
        let routes: Vec<Json> = routes.iter().map(|route| wanted(route)).collect();
        let found = differences(&Json::Array(routes), &Json::Array(ways));
        lines.extend(found.into_iter().map(|line| format!("routes of {config} {host} {line}")));
    }
    lines.extend(actual.keys().map(|(config, host)| format!("routes of {config} {host}: expected none")));
    lines
}

/// The name of the configuration that a listener is part of: plain listeners of a port share one.
pub(super) fn config_name(snapshot: &Snapshot, gateway: &Gateway, listener: &Listener) -> String {
    if listener.is_plain() {
        return format!("listener~{}", listener.port);
    }
    if listener.owner == gateway.object {
        return listener.name.clone();
    }
    let owner = title(snapshot, listener.owner);
    let path = owner.split_once(' ').map_or(owner.as_str(), |(_, path)| path);
    format!("{path}/{}", listener.name)
}

/// Whether all that is left is an error for everybody, which no route is the source of.
fn is_fallback(routes: &[&Json]) -> bool {
    let [route] = routes else { return false };
    let fails = route.pointer("/action/directResponse").and_then(Json::as_u64) == Some(500);
    route.get("source").is_none() && fails
}

/// The parts of an expected route that are compared.
fn wanted(route: &Json) -> Json {
    let keys = ["match", "source", "delegationChain"];
    let fields = keys.iter().filter_map(|key| route.get(key).map(|value| ((*key).to_owned(), value.clone())));
    Json::Object(fields.collect())
}

/// A way as routes are expected, without what the expectation does not say.
fn shown(snapshot: &Snapshot, way: &Way, expected: Option<&&Json>) -> Json {
    let mut fields = Map::new();
    fields.insert("match".to_owned(), envoy_match(&way.wanted));
    if let Some(step) = way.chain.last() {
        let asked = expected.and_then(|route| route.get("source"));
        let source = source(snapshot, step).into_iter();
        let is_asked = |key: &str| asked.is_none_or(|asked| asked.get(key).is_some());
        let source: Map<String, Json> = source.filter(|(key, _)| is_asked(key)).collect();
        if expected.is_none_or(|route| route.get("source").is_some()) {
            fields.insert("source".to_owned(), Json::Object(source));
        }
    }
    if expected.is_some_and(|route| route.get("delegationChain").is_some()) {
        let chain: Vec<String> = way.chain.iter().map(|step| title(snapshot, step.route)).collect();
        fields.insert("delegationChain".to_owned(), json!(chain));
    }
    Json::Object(fields)
}

fn source(snapshot: &Snapshot, step: &Step) -> Map<String, Json> {
    let mut source = Map::new();
    let Some(object) = snapshot.objects().get(step.route) else { return source };
    for (key, symbol) in [("kind", object.kind), ("namespace", object.scope), ("name", object.name)] {
        source.insert(key.to_owned(), json!(snapshot.text(symbol)));
    }
    source.insert("ruleIndex".to_owned(), json!(step.rule));
    let rules = snapshot.files().value(object.at).and_then(|document| document.at_path(&["spec", "rules"]));
    let rule = rules.and_then(|rules| rules.items().nth(step.rule));
    if let Some(name) = rule.and_then(|rule| rule.get("name")) {
        source.insert("ruleName".to_owned(), json!(name.text()));
    }
    source
}

/// A match in the words of the proxy.
fn envoy_match(matching: &Match) -> Json {
    let path = matching.normal_path();
    let mut fields = match matching.path_kind {
        PathKind::Exact => json!({ "path": path }),
        PathKind::RegularExpression => json!({ "safeRegex": { "regex": path } }),
        PathKind::PathPrefix if path == "/" => json!({ "prefix": path }),
        PathKind::PathPrefix => json!({ "pathSeparatedPrefix": path }),
    };
    let compared = |field: &FieldMatch| {
        let how = if field.is_regular_expression() {
            json!({ "safeRegex": { "regex": field.value.as_str() } })
        } else {
            json!({ "exact": field.value.as_str() })
        };
        json!({ "name": field.name.as_str(), "stringMatch": how })
    };
    let mut headers: Vec<Json> = matching.headers.iter().map(compared).collect();
    if let Some(method) = &matching.method {
        headers.push(json!({ "name": ":method", "stringMatch": { "exact": method.as_str() } }));
    }
    let query: Vec<Json> = matching.query.iter().map(compared).collect();
    for (key, list) in [("headers", headers), ("queryParameters", query)] {
        if let (false, Some(fields)) = (list.is_empty(), fields.as_object_mut()) {
            fields.insert(key.to_owned(), Json::Array(list));
        }
    }
    fields
}

/// How the status of routes differs: conditions as they are, of messages only which things they name.
fn compare_status(expect: &Json, snapshot: &Snapshot, topology: &Topology, gateway: &Gateway) -> Vec<String> {
    let mut actual: BTreeMap<(String, String), Conditions> = BTreeMap::new();
    for route in &topology.reports(snapshot) {
        for report in route.parents.iter().filter(|report| concerns(snapshot, gateway, &report.parent)) {
            let section = report.parent.section.as_deref().unwrap_or_default();
            let parent = format!("{}#{section}", title(snapshot, report.parent.object));
            actual.insert((title(snapshot, route.route), parent), conditions(&report.conditions));
        }
    }
    let mut lines = Vec::new();
    for (route, parents) in expect.get("routeStatus").and_then(Json::as_object).into_iter().flatten() {
        for expected in parents.as_array().into_iter().flatten() {
            let text = |key: &str| expected.get(key).and_then(Json::as_str).unwrap_or_default();
            let parent = format!("{}#{}", text("parent"), text("sectionName"));
            let Some((conditions, message)) = actual.remove(&(route.clone(), parent.clone())) else {
                lines.push(format!("status of {route} at {parent}: expected, but there is none"));
                continue;
            };
            let wanted = expected.get("conditions").cloned().unwrap_or_default();
            let found = differences(&wanted, &Json::Object(conditions));
            lines.extend(found.into_iter().map(|line| format!("status of {route} at {parent}: {line}")));
            for text in expected.get("messages").and_then(Json::as_object).into_iter().flat_map(Map::values) {
                let missing = names(text.as_str().unwrap_or_default()).filter(|name| !message.contains(name));
                lines.extend(missing.map(|name| format!("status of {route} at {parent}: `{name}` is not named")));
            }
        }
    }
    lines.extend(actual.keys().map(|(route, parent)| format!("status of {route} at {parent}: expected none")));
    lines
}

/// Whether a parent belongs to the gateway of the case; other routes do.
fn concerns(snapshot: &Snapshot, gateway: &Gateway, parent: &Parent) -> bool {
    let owns = gateway.listeners.iter().any(|listener| listener.owner == parent.object);
    parent.object == gateway.object || owns || title(snapshot, parent.object).starts_with("HTTPRoute ")
}

/// Type, namespace and name of an object.
fn title(snapshot: &Snapshot, object: ObjectId) -> String {
    snapshot.objects().get(object).map_or_else(String::new, |object| {
        let [kind, scope, name] = [object.kind, object.scope, object.name].map(|symbol| snapshot.text(symbol));
        format!("{kind} {scope}/{name}")
    })
}
