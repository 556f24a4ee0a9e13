//! Envoy Gateway: which policy holds for each route, and what is said of policies.
//!
//! - [`traffic`]: a policy in the words of the representation that cases show

mod traffic;

use std::collections::{BTreeMap, BTreeSet};

use anyhow::bail;
use serde_json::{Map, Value as Json, json};
use upheld_dialects::envoy_gateway::{Attachments, Effective, PolicyKind, Spot, by_age};
use upheld_dialects::gateway_api::Topology;
use upheld_dialects::gateway_api::resources::{Route, View};
use upheld_dialects::gateway_api::settings::Settings;
use upheld_dialects::gateway_api::topology::{Attached, Listener};
use upheld_engine::{ObjectId, PolicyId, Snapshot};
use upheld_input::{Format, Input, load::load};

use super::values::{json as written, texts};
use crate::case::Case;
use crate::difference::differences;
use crate::outcome::Outcome;

/// What is said of a policy at its ancestors: conditions, and all messages as one text.
type Ancestors = BTreeMap<String, (Map<String, Json>, String)>;

pub(super) fn run(case: &Case) -> anyhow::Result<Outcome> {
    let expect = case.document("expect.yaml")?;
    if needs_translation(&expect) {
        let reason =
            "the policy is refused for what a feature says, which only the system that has the feature can judge";
        return Ok(Outcome::Skipped(reason.to_owned()));
    }
    let snapshot = read(&case.document("input.yaml")?)?;
    let topology = Topology::build(&snapshot, &Settings::default());
    let order = order(&snapshot, &expect);
    let attachments = Attachments::new(&topology, &order);
    let mut lines = compare_status(&expect, &snapshot, &attachments);
    lines.extend(compare_attached(&expect, &topology, &attachments)?);
    Ok(if lines.is_empty() { Outcome::Passed } else { Outcome::Failed(lines) })
}

/// Whether a policy is invalid for what it says, and not for where it is: then the ports of listeners are the problem.
fn needs_translation(expect: &Json) -> bool {
    let entries = expect.get("policyStatus").and_then(Json::as_object).into_iter().flat_map(Map::values);
    entries.filter_map(Json::as_array).flatten().any(|entry| {
        let at = |path: &str| entry.pointer(path).and_then(Json::as_str).unwrap_or_default();
        at("/conditions/Accepted") == "False/Invalid" && !at("/messages/Accepted").contains("on the same port")
    })
}

/// A snapshot of one document of lists. Resources are created one second after another, so that the first in a list is the
/// oldest.
fn read(input: &Json) -> anyhow::Result<Snapshot> {
    let resources = input.as_object().into_iter().flat_map(Map::values).filter_map(Json::as_array).flatten();
    let mut lines: Vec<String> = Vec::new();
    for resource in resources {
        let mut resource = resource.clone();
        let second = lines.len();
        let created = format!("1970-01-01T{:02}:{:02}:{:02}Z", second / 3600, second / 60 % 60, second % 60);
        if let Some(metadata) = resource.get_mut("metadata").and_then(Json::as_object_mut) {
            metadata.insert("creationTimestamp".to_owned(), json!(created));
        }
        lines.push(resource.to_string());
    }
    match load(vec![Input::text("case", Format::JsonLines, lines.join("\n"))], &[]) {
        Ok(loaded) => Ok(loaded.snapshot),
        Err(broken) => {
            let messages = broken.diagnostics.as_slice().iter().map(|problem| problem.message.as_str());
            bail!("the documents of the case were refused: {}", messages.collect::<Vec<_>>().join("; "))
        }
    }
}

/// The policies in the order in which the case lets them choose.
fn order(snapshot: &Snapshot, expect: &Json) -> Vec<PolicyId> {
    let named: Vec<&str> = expect.get("policyOrder").into_iter().flat_map(texts).collect();
    let mut order = by_age(snapshot);
    order.sort_by_cached_key(|id| {
        let title = policy_title(snapshot, *id);
        named.iter().position(|name| **name == title).unwrap_or(named.len())
    });
    order
}

fn compare_status(expect: &Json, snapshot: &Snapshot, attachments: &Attachments<'_>) -> Vec<String> {
    let mut actual: BTreeMap<String, Ancestors> = BTreeMap::new();
    for status in attachments.status() {
        let ancestors = actual.entry(policy_title(snapshot, status.policy)).or_default();
        for found in status.ancestors {
            let conditions = found.conditions.iter().map(|condition| {
                let status = if condition.status { "True" } else { "False" };
                (condition.name.clone(), json!(format!("{status}/{}", condition.reason)))
            });
            let messages: Vec<&str> = found.conditions.iter().map(|condition| condition.message.as_str()).collect();
            let section = found.ancestor.section.as_deref().unwrap_or_default();
            let ancestor = format!("{}#{section}", title(snapshot, found.ancestor.object));
            ancestors.insert(ancestor, (conditions.collect(), messages.join("\n")));
        }
    }
    let mut lines = Vec::new();
    for (policy, expected) in expect.get("policyStatus").and_then(Json::as_object).into_iter().flatten() {
        let mut found = actual.remove(policy).unwrap_or_default();
        for expected in expected.as_array().into_iter().flatten() {
            let text = |key: &str| expected.get(key).and_then(Json::as_str).unwrap_or_default();
            let ancestor = format!("{}#{}", text("ancestor"), text("sectionName"));
            let Some((conditions, message)) = found.remove(&ancestor) else {
                lines.push(format!("status of {policy} at {ancestor}: expected, but there is none"));
                continue;
            };
            let wanted = expected.get("conditions").cloned().unwrap_or_default();
            let differences = differences(&wanted, &Json::Object(conditions)).into_iter();
            lines.extend(differences.map(|line| format!("status of {policy} at {ancestor}: {line}")));
            for text in expected.get("messages").and_then(Json::as_object).into_iter().flat_map(Map::values) {
                let known: BTreeSet<&str> = names(&message).collect();
                let missing = names(text.as_str().unwrap_or_default()).filter(|name| !known.contains(name));
                lines.extend(missing.map(|name| format!("status of {policy} at {ancestor}: `{name}` is not named")));
            }
        }
        lines.extend(found.keys().map(|ancestor| format!("status of {policy} at {ancestor}: expected none")));
    }
    let unexpected = actual.iter().filter(|(_, ancestors)| !ancestors.is_empty());
    lines.extend(unexpected.map(|(policy, _)| format!("status of {policy}: expected none")));
    lines
}

/// What a message names: words with a slash within, and what stands in brackets.
fn names(message: &str) -> impl Iterator<Item = &str> {
    let listed = message.split('[').skip(1).filter_map(|rest| rest.split(']').next());
    let listed = listed.flat_map(str::split_whitespace);
    let marks = [':', ';', ',', '.', '\'', '"', '(', ')', '[', ']'];
    let words = message.split_whitespace().map(move |word| word.trim_matches(marks));
    listed.chain(words.filter(|word| word.contains('/')))
}

fn compare_attached(
    expect: &Json,
    topology: &Topology<'_>,
    attachments: &Attachments<'_>,
) -> anyhow::Result<Vec<String>> {
    let mut lines = Vec::new();
    let mut seen = BTreeSet::new();
    for entry in expect.get("attached").and_then(Json::as_array).into_iter().flatten() {
        let text = |key: &str| entry.get(key).and_then(Json::as_str).unwrap_or_default();
        let (listener, route) = (text("listener"), text("route"));
        let Some((gateway, place)) = find_listener(topology, listener) else {
            bail!("the topology has no listener `{listener}`");
        };
        let spot = if route.is_empty() {
            None
        } else {
            let found = topology.attached.iter().find(|found| {
                (found.gateway, found.listener) == (gateway, place) && title(topology.snapshot, found.route) == route
            });
            let Some(found) = found else {
                lines.push(format!("{route} at {listener}: expected, but the route is not there"));
                continue;
            };
            let rule = rule_of(text("irRoute"));
            Some(Spot { gateway, listener: place, route: found.route, rule })
        };
        seen.extend(spot);
        let (wanted, found) = match &spot {
            Some(spot) => (wanted_of_route(entry), found_of_route(attachments, spot)?),
            None => listener_policies(entry, attachments, (gateway, place)),
        };
        let found = differences(&wanted, &found).into_iter();
        lines.extend(found.map(|line| format!("{} at {listener}: {line}", text("irRoute"))));
    }
    lines.extend(unexpected(topology, attachments, &seen));
    Ok(lines)
}

/// The parts of an expected route that are compared.
fn wanted_of_route(entry: &Json) -> Json {
    let names = |key: &str| entry.get(key).into_iter().flat_map(texts).collect::<BTreeSet<_>>();
    json!({
        "policies": names("policies"),
        "traffic": entry.get("traffic").map_or_else(|| json!({}), traffic::wanted),
        "security": names("security"),
        "envoyExtensions": names("envoyExtensions"),
    })
}

/// What holds for a rule, as cases write it. Of the policies only that for traffic is named, and of two that were merged only
/// the more specific one.
fn found_of_route(attachments: &Attachments<'_>, spot: &Spot) -> anyhow::Result<Json> {
    let spec = |effective: &Option<Effective>| -> anyhow::Result<Json> {
        let config = effective.as_ref().and_then(|effective| effective.merged.config());
        config.map_or(Ok(Json::Null), |config| written(&config))
    };
    let features = |kind, plural: &str| -> anyhow::Result<BTreeSet<String>> {
        let spec = spec(&attachments.at_rule(kind, spot))?;
        let fields = spec.as_object().into_iter().flatten().filter(|(_, value)| traffic::says_something(value));
        Ok(fields.map(|(key, _)| format!("{key}{plural}")).collect())
    };
    let held = attachments.at_rule(PolicyKind::BackendTraffic, spot);
    let policy = held.as_ref().and_then(|effective| attachments.policies.get(effective.policy));
    let found = match &held {
        Some(effective) => traffic::found(&spec(&held)?, effective, &attachments.policies),
        None => Map::new(),
    };
    Ok(json!({
        "policies": policy.map(upheld_dialects::envoy_gateway::Policy::title).into_iter().collect::<Vec<_>>(),
        "traffic": found,
        "security": features(PolicyKind::Security, "")?,
        "envoyExtensions": features(PolicyKind::EnvoyExtension, "s")?,
    }))
}

/// The policies of a listener itself, of the kinds that the case names there.
fn listener_policies(entry: &Json, attachments: &Attachments<'_>, (gateway, listener): (usize, usize)) -> (Json, Json) {
    let wanted: BTreeSet<&str> = entry.get("policies").into_iter().flat_map(texts).collect();
    let named = |kind: &PolicyKind| wanted.iter().any(|title| title.split(' ').next() == Some(kind.name()));
    let found = PolicyKind::ALL.into_iter().filter(named).filter_map(|kind| {
        let effective = attachments.at_listener(kind, gateway, listener)?;
        attachments.policies.get(effective.policy).map(upheld_dialects::envoy_gateway::Policy::title)
    });
    (json!(wanted), json!(found.collect::<BTreeSet<_>>()))
}

/// Rules that a policy holds for although the case does not list them. Whether a listener with certificates is served at all
/// depends on what they contain, so only plain ones are sure to be.
fn unexpected(topology: &Topology<'_>, attachments: &Attachments<'_>, seen: &BTreeSet<Spot>) -> Vec<String> {
    let mut lines = Vec::new();
    let is_plain = |found: &&Attached| {
        let listeners = topology.gateways.get(found.gateway).map(|gateway| &gateway.listeners);
        listeners.and_then(|all| all.get(found.listener)).is_some_and(Listener::is_plain)
    };
    for found in topology.attached.iter().filter(is_plain) {
        let Some(route) = View::of(topology.snapshot, found.route).map(Route::of) else { continue };
        let rules = if route.matches_requests() { route.rules.len() } else { 0 };
        for rule in 0..rules {
            let spot = Spot { gateway: found.gateway, listener: found.listener, route: found.route, rule };
            let kinds = [PolicyKind::BackendTraffic, PolicyKind::EnvoyExtension, PolicyKind::Security];
            let holds = kinds.into_iter().any(|kind| attachments.at_rule(kind, &spot).is_some());
            if holds && !seen.contains(&spot) {
                lines.push(format!("rule {rule} of {}: nothing was expected", route.view.title()));
            }
        }
    }
    lines
}

/// A listener as cases name it: `namespace/gateway/listener`, with the listener set before the listener if it is in one.
fn find_listener(topology: &Topology<'_>, wanted: &str) -> Option<(usize, usize)> {
    let path = |object| title(topology.snapshot, object).split_once(' ').map(|(_, path)| path.to_owned());
    for (place, gateway) in topology.gateways.iter().enumerate() {
        for (index, listener) in gateway.listeners.iter().enumerate() {
            let own = path(gateway.object)?;
            let set =
                if listener.owner == gateway.object { String::new() } else { format!("/{}", path(listener.owner)?) };
            if format!("{own}{set}/{}", listener.name) == wanted {
                return Some((place, index));
            }
        }
    }
    None
}

/// The place of the rule in a name like `httproute/default/example/rule/0/match/0/host`; the only one if it has none.
fn rule_of(name: &str) -> usize {
    let place = name.split("/rule/").nth(1).and_then(|rest| rest.split('/').next());
    place.and_then(|place| place.parse().ok()).unwrap_or_default()
}

fn policy_title(snapshot: &Snapshot, id: PolicyId) -> String {
    snapshot.policy(id).map_or_else(String::new, |policy| {
        let [kind, scope, name] = [policy.kind, policy.scope, policy.name].map(|symbol| snapshot.text(symbol));
        format!("{kind} {scope}/{name}")
    })
}

fn title(snapshot: &Snapshot, object: ObjectId) -> String {
    View::of(snapshot, object).map_or_else(String::new, |view| view.title())
}
