//! Gateways, routes and backends, drawn with the policies that are attached to them.

use std::collections::{BTreeMap, BTreeSet};

use upheld_engine::hierarchy::{Entry, Via};
use upheld_engine::{Family, ObjectId};
use upheld_model::{Diagnostic, Fault, Value};
use upheld_report::drawing::{Badge, Drawing, Look, Node, Presence, Survival};

use super::gateway_api::graph::{self, NodeKind, listener_id, rule_id};
use super::gateway_api::resources::View;
use super::gateway_api::{GatewayKind, Network, ROUTE_WEIGHT};
use super::kgateway::delegation::INHERITANCE;
use super::reported_status::statuses;

/// Of all gateways.
pub(super) fn drawing(network: Network<'_>) -> Result<Drawing, Diagnostic> {
    let graph = network.topology().graph(network.snapshot);
    if graph.nodes.is_empty() {
        let message = "there is nothing to draw: no gateway, and no route that is attached to one";
        return Err(Diagnostic::error(Fault::NotFound, message).help("does `-f` point to the right files?"));
    }
    let mut badges = badges(network, &graph.nodes);
    let unattached = unattached(network, &badges);
    let nodes = graph.nodes.into_iter().map(|node| {
        let policies = badges.remove(&node.id).unwrap_or_default();
        drawn(network, node, policies)
    });
    let title = "Gateways, routes and backends, with the policies attached to them".to_owned();
    Ok(Drawing { title, nodes: nodes.collect(), edges: graph.edges, unattached })
}

fn drawn(network: Network<'_>, node: graph::Node, policies: Vec<Badge>) -> Node {
    let (kind, look) = match node.kind {
        NodeKind::Gateway => ("Gateway", Look::Entry),
        NodeKind::ListenerSet => ("Listener set", Look::Group),
        NodeKind::Listener => ("Listener", Look::Part),
        NodeKind::Route => ("Route", Look::Route),
        NodeKind::Rule => ("Rule", Look::Rule),
        NodeKind::Backend => ("Backend", Look::End),
    };
    let mut details = node.details;
    if let (NodeKind::Route, Some(view)) = (node.kind, node.object.and_then(|own| View::of(network.snapshot, own))) {
        // What delegating routes prefer changes who wins below them.
        let annotations = [INHERITANCE, ROUTE_WEIGHT].into_iter();
        details.extend(annotations.filter_map(|name| Some(format!("{name}: {}", view.annotation(name)?.text()))));
    }
    let presence = if node.object.is_some() { Presence::Read } else { Presence::Missing };
    Node { id: node.id, kind, look, label: node.label, details, presence, policies }
}

/// Policies, by the node that they are attached to.
type Badges = BTreeMap<String, Vec<Badge>>;

fn badges(network: Network<'_>, nodes: &[graph::Node]) -> Badges {
    let survival = survival(network);
    let mut badges = Badges::new();
    let mut add = |id: &str, policy: String, section: Option<&str>| {
        let badge = Badge { fields: survival.get(&policy).copied(), policy, section: section.map(str::to_owned) };
        let known = badges.entry(id.to_owned()).or_default();
        if !known.contains(&badge) {
            known.push(badge);
        }
    };
    let kinds: Vec<GatewayKind<'_>> = network.kinds().filter(|kind| !kind.policies.is_empty()).collect();
    let whole = [NodeKind::Gateway, NodeKind::ListenerSet, NodeKind::Route, NodeKind::Backend];
    for node in nodes.iter().filter(|node| whole.contains(&node.kind)) {
        let Some(object) = node.object else { continue };
        // What is about a listener of a set stands at that listener.
        let parts = if node.kind == NodeKind::ListenerSet { BTreeSet::new() } else { sections(network, object) };
        for section in std::iter::once(None).chain(parts.iter().map(|section| Some(section.as_str()))) {
            for policy in attached(network, &kinds, object, section) {
                add(&node.id, policy, section);
            }
        }
    }
    for gateway in &network.topology().gateways {
        for listener in gateway.listeners.iter().filter(|listener| listener.owner != gateway.object) {
            for policy in attached(network, &kinds, listener.owner, Some(&listener.name)) {
                add(&listener_id(network.snapshot, listener), policy, None);
            }
        }
    }
    // What filters name belongs to their rule.
    for (_, way) in network.topology().ways() {
        let Some(step) = way.chain.last() else { continue };
        let id = rule_id(network.snapshot, step);
        for kind in &kinds {
            let answer = network.under(*kind).route(std::slice::from_ref(step)).effective();
            for member in answer.order.iter().filter(|member| member.attachment.via == Via::Listed) {
                if let Some(entry) = kind.policies.entry(member.entry) {
                    add(&id, title(network, *kind, entry), None);
                }
            }
        }
    }
    badges
}

/// How many fields of each policy are in effect somewhere, by its kind and name.
fn survival(network: Network<'_>) -> BTreeMap<String, Survival> {
    let known = statuses(network).into_iter().filter(|status| !status.fields.is_empty());
    let counted = known.map(|status| {
        let effective = status.fields.iter().filter(|field| field.survives > 0).count();
        (status.policy, Survival { effective, of: status.fields.len() })
    });
    counted.collect()
}

/// Policies that stand at no node.
fn unattached(network: Network<'_>, badges: &Badges) -> Vec<String> {
    let shown: BTreeSet<&str> = badges.values().flatten().map(|badge| badge.policy.as_str()).collect();
    let all = network.kinds().flat_map(|kind| {
        let entries = kind.policies.entries().filter_map(move |entry| kind.policies.entry(entry));
        entries.map(move |entry| title(network, kind, entry))
    });
    all.filter(|policy| !shown.contains(policy.as_str())).collect::<BTreeSet<String>>().into_iter().collect()
}

/// The policies that are attached to an object or to a section of it.
fn attached(network: Network<'_>, kinds: &[GatewayKind<'_>], object: ObjectId, section: Option<&str>) -> Vec<String> {
    let of_kind = |kind: &GatewayKind<'_>| -> Vec<String> {
        let entries = network.target(*kind, object, section);
        entries.into_iter().map(|entry| title(network, *kind, entry)).collect()
    };
    kinds.iter().flat_map(of_kind).collect()
}

fn title(network: Network<'_>, kind: GatewayKind<'_>, entry: &Entry) -> String {
    let texts = [kind.kind.governs, entry.namespace, entry.name].map(|symbol| network.snapshot.text(symbol));
    let [kind, namespace, name] = texts;
    format!("{kind} {namespace}/{name}")
}

/// The names of the sections of an object: listeners, rules and ports.
fn sections(network: Network<'_>, object: ObjectId) -> BTreeSet<String> {
    let resource = network.resource(object);
    let lists = ["listeners", "rules", "ports"].into_iter().filter_map(|field| resource?.field(field));
    let names = lists.flat_map(Value::items).filter_map(|item| item.get("name"));
    names.map(|name| name.text().to_owned()).collect()
}
