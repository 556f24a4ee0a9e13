//! Envoy Gateway: which policy holds for each route, and what is said of policies.
//!
//! - [`traffic`]: a policy in the words of the representation that cases show

mod traffic;

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, bail};
use serde_json::{Map, Value as Json, json};
use upheld_dialects::gateways::gateway_api::resources::{Route, View};
use upheld_dialects::gateways::gateway_api::topology::{Attached, Gateway, Listener, Step};
use upheld_dialects::gateways::gateway_api::{Asked, GatewayKind, Network};
use upheld_engine::hierarchy::Effective;
use upheld_engine::{ObjectId, PolicyId, Snapshot};
use upheld_loader::{Format, Input, load::Choices};

use super::values::{Conditions, conditions, json as written, texts};
use crate::case::Case;
use crate::difference::differences;
use crate::documents;
use crate::outcome::Outcome;

/// What is said of a policy at its ancestors.
type Ancestors = BTreeMap<String, Conditions>;

pub(super) fn run(case: &Case) -> anyhow::Result<Outcome> {
    let expect = case.document("expect.yaml")?;
    if needs_translation(&expect) {
        let reason =
            "the policy is refused for what a feature says, which only the system that has the feature can judge";
        return Ok(Outcome::Skipped(reason.to_owned()));
    }
    let snapshot = read(&case.document("input.yaml")?, &expect)?;
    let network = Network::of(&snapshot).context("the snapshot keeps no gateways")?;
    let mut lines = compare_status(&expect, network);
    lines.extend(compare_attached(&expect, network)?);
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
/// oldest; before all of them, policies in the order in which the case lets them choose.
fn read(input: &Json, expect: &Json) -> anyhow::Result<Snapshot> {
    let named: Vec<&str> = expect.get("policyOrder").into_iter().flat_map(texts).collect();
    let resources = input.as_object().into_iter().flat_map(Map::values).filter_map(Json::as_array).flatten();
    let mut lines: Vec<String> = Vec::new();
    for resource in resources {
        let mut resource = resource.clone();
        let text = |path: &str| resource.pointer(path).and_then(Json::as_str);
        let namespace = text("/metadata/namespace").unwrap_or("default");
        let [kind, name] = ["/kind", "/metadata/name"].map(|path| text(path).unwrap_or_default());
        let title = format!("{kind} {namespace}/{name}");
        let second = named.iter().position(|name| **name == title).unwrap_or(named.len() + lines.len());
        if let Some(metadata) = resource.get_mut("metadata").and_then(Json::as_object_mut) {
            metadata.insert("creationTimestamp".to_owned(), json!(documents::created(second)));
        }
        lines.push(resource.to_string());
    }
    match Choices::default().without_schemas().load(vec![Input::text("case", Format::JsonLines, lines.join("\n"))]) {
        Ok(loaded) => Ok(loaded.snapshot),
        Err(broken) => Err(documents::refused(broken.diagnostics.as_slice())),
    }
}

fn compare_status(expect: &Json, network: Network<'_>) -> Vec<String> {
    let snapshot = network.snapshot;
    let mut actual: BTreeMap<String, Ancestors> = BTreeMap::new();
    for status in network.envoy_statuses() {
        let ancestors = actual.entry(policy_title(snapshot, status.policy)).or_default();
        for found in status.ancestors {
            let section = found.ancestor.section.as_deref().unwrap_or_default();
            let ancestor = format!("{}#{section}", title(snapshot, found.ancestor.object));
            ancestors.insert(ancestor, conditions(&found.conditions));
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

fn compare_attached(expect: &Json, network: Network<'_>) -> anyhow::Result<Vec<String>> {
    let mut lines = Vec::new();
    let mut seen = BTreeSet::new();
    for entry in expect.get("attached").and_then(Json::as_array).into_iter().flatten() {
        let text = |key: &str| entry.get(key).and_then(Json::as_str).unwrap_or_default();
        let (listener, route) = (text("listener"), text("route"));
        let Some(place) = find_listener(network, listener) else {
            bail!("the topology has no listener `{listener}`");
        };
        let (wanted, found) = if route.is_empty() {
            listener_policies(entry, network, place)?
        } else {
            let attached = network.topology().attached().find(|found| {
                (found.gateway, found.listener) == place && title(network.snapshot, found.route) == route
            });
            let Some(attached) = attached else {
                lines.push(format!("{route} at {listener}: expected, but the route is not there"));
                continue;
            };
            let rule = rule_of(text("irRoute"));
            seen.insert((place, attached.route, rule));
            (wanted_of_route(entry), found_of_route(&PlaceTarget { network, attached, rule })?)
        };
        let found = differences(&wanted, &found).into_iter();
        lines.extend(found.map(|line| format!("{} at {listener}: {line}", text("irRoute"))));
    }
    lines.extend(unexpected(network, &seen)?);
    Ok(lines)
}

/// A rule of a route at a listener.
struct PlaceTarget<'a> {
    network: Network<'a>,
    attached: &'a Attached,
    rule: usize,
}

impl<'a> PlaceTarget<'a> {
    fn asked(&self, kind: &str) -> anyhow::Result<Asked<'a>> {
        let Attached { gateway, listener, route, parent, .. } = self.attached;
        let (gateway, listener) = at(self.network, (*gateway, *listener))?;
        let step = Step { route: *route, rule: self.rule, matched: 0, parent: parent.clone() };
        Ok(self.network.under(find_kind(self.network, kind)?).route(&[step]).behind(gateway, listener))
    }
}

fn at(network: Network<'_>, (gateway, listener): (usize, usize)) -> anyhow::Result<(&Gateway, &Listener)> {
    let gateway = network.topology().gateways.get(gateway).context("there is no such gateway")?;
    Ok((gateway, gateway.listeners.get(listener).context("there is no such listener")?))
}

fn find_kind<'a>(network: Network<'a>, name: &str) -> anyhow::Result<GatewayKind<'a>> {
    network.kind(name).with_context(|| format!("there is no kind `{name}`"))
}

/// The policy that holds, of which others may fill gaps.
fn holder(asked: &Asked<'_>, answer: &Effective) -> Option<String> {
    let first = answer.order.first().filter(|_| answer.broken.is_empty())?;
    let policy = asked.kind().policies.entry(first.entry)?.policy;
    Some(policy_title(asked.network().snapshot, policy))
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
fn found_of_route(spot: &PlaceTarget<'_>) -> anyhow::Result<Json> {
    let spec = |answer: &Effective| -> anyhow::Result<Json> {
        let config = answer.merged.as_ref().and_then(upheld_engine::merge::Merged::config);
        config.map_or(Ok(Json::Null), |config| written(&config))
    };
    let features = |kind, plural: &str| -> anyhow::Result<BTreeSet<String>> {
        let spec = spec(&spot.asked(kind)?.effective())?;
        let fields = spec.as_object().into_iter().flatten().filter(|(_, value)| traffic::says_something(value));
        Ok(fields.map(|(key, _)| format!("{key}{plural}")).collect())
    };
    let asked = spot.asked("BackendTrafficPolicy")?;
    let answer = asked.effective();
    let policy = holder(&asked, &answer);
    let found = if policy.is_some() { traffic::found(&spec(&answer)?, &asked, &answer) } else { Map::new() };
    Ok(json!({
        "policies": policy.into_iter().collect::<Vec<_>>(),
        "traffic": found,
        "security": features("SecurityPolicy", "")?,
        "envoyExtensions": features("EnvoyExtensionPolicy", "s")?,
    }))
}

/// The policies of a listener itself, of the kinds that the case names there.
fn listener_policies(entry: &Json, network: Network<'_>, place: (usize, usize)) -> anyhow::Result<(Json, Json)> {
    let wanted: BTreeSet<&str> = entry.get("policies").into_iter().flat_map(texts).collect();
    let kinds: BTreeSet<&str> = wanted.iter().filter_map(|title| title.split(' ').next()).collect();
    let (gateway, listener) = at(network, place)?;
    let mut found = BTreeSet::new();
    for kind in kinds {
        let asked = network.listener(find_kind(network, kind)?, gateway, listener);
        found.extend(holder(&asked, &asked.effective()));
    }
    Ok((json!(wanted), json!(found)))
}

/// Rules that a policy holds for although the case does not list them. Whether a listener with certificates is served at all
/// depends on what they contain, so only plain ones are sure to be.
fn unexpected(network: Network<'_>, seen: &BTreeSet<((usize, usize), ObjectId, usize)>) -> anyhow::Result<Vec<String>> {
    let mut lines = Vec::new();
    for attached in network.topology().attached() {
        let place = (attached.gateway, attached.listener);
        let Some(route) = View::of(network.snapshot, attached.route).map(Route::of) else { continue };
        if !at(network, place)?.1.is_plain() || !route.matches_requests() {
            continue;
        }
        for rule in 0..route.rules.len() {
            let spot = PlaceTarget { network, attached, rule };
            let mut holds = false;
            for kind in ["BackendTrafficPolicy", "EnvoyExtensionPolicy", "SecurityPolicy"] {
                let asked = spot.asked(kind)?;
                holds |= holder(&asked, &asked.effective()).is_some();
            }
            if holds && !seen.contains(&(place, attached.route, rule)) {
                lines.push(format!("rule {rule} of {}: nothing was expected", route.view.title()));
            }
        }
    }
    Ok(lines)
}

/// A listener as cases name it: `namespace/gateway/listener`, with the listener set before the listener if it is in one.
fn find_listener(network: Network<'_>, wanted: &str) -> Option<(usize, usize)> {
    let path = |object| title(network.snapshot, object).split_once(' ').map(|(_, path)| path.to_owned());
    for (place, gateway) in network.topology().gateways.iter().enumerate() {
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
