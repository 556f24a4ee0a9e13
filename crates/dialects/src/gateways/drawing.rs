//! Gateways, routes and backends, drawn with the policies that are attached to them.

use std::collections::{BTreeMap, BTreeSet};

use upheld_engine::hierarchy::{Entry, Via};
use upheld_engine::{Family, ObjectId};
use upheld_model::{Diagnostic, Fault};
use upheld_report::PolicyStatus;
use upheld_report::drawing::{Badge, Drawing, Look, Node, Presence, Standing};

use super::gateway_api::graph::{self, NodeKind, listener_id, rule_id};
use super::gateway_api::resources::View;
use super::gateway_api::{GatewayKind, Network, ROUTE_WEIGHT};
use super::reported_status::statuses;
use super::unattached::sections;

/// Of all gateways.
pub(super) fn drawing(network: Network<'_>) -> Result<Drawing, Diagnostic> {
    let graph = network.topology().graph(network);
    if graph.nodes.is_empty() {
        let message = "there is nothing to draw: no gateway, and no route that is attached to one";
        return Err(Diagnostic::error(Fault::NotFound, message).help("does `-f` point to the right files?"));
    }
    let statuses: BTreeMap<String, PolicyStatus> =
        statuses(network).into_iter().map(|status| (status.policy.to_string(), status)).collect();
    let mut badges = badges(network, &graph.nodes, &statuses);
    let unattached = unattached(network, &badges, &statuses);
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
        details.extend(view.annotation(ROUTE_WEIGHT).map(|weight| format!("weight {}", weight.text())));
    }
    let presence = if node.object.is_some() { Presence::Read } else { Presence::Missing };
    Node { id: node.id, kind, look, label: node.label, details, presence, policies }
}

/// Policies, by the node that they are attached to.
type Badges = BTreeMap<String, Vec<Badge>>;

fn badges(network: Network<'_>, nodes: &[graph::Node], statuses: &BTreeMap<String, PolicyStatus>) -> Badges {
    let mut badges = Badges::new();
    let mut add = |id: &str, policy: String, section: Option<&str>| {
        let status = statuses.get(&policy);
        let standing = status.map_or(Standing::Effective, standing);
        let weight = status.and_then(|status| weight(network, status));
        let badge = Badge { policy, section: section.map(str::to_owned), weight, standing };
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

/// What comes of a policy, by what its controller would report.
fn standing(status: &PolicyStatus) -> Standing {
    let holds = |name: &str, wanted: &str| {
        let mut conditions = status.ancestors.iter().flat_map(|at| &at.conditions);
        conditions.any(|one| one.name == name && one.status == wanted)
    };
    let (kept, all) = status.fields.iter().fold((0, 0), |(kept, all), one| (kept + one.survives, all + one.of));
    match (kept, all) {
        _ if holds("Accepted", "False") => Standing::Refused,
        (0, 1..) => Standing::Overridden,
        (kept, all) if kept < all || holds("Overridden", "True") => Standing::Partly,
        _ => Standing::Effective,
    }
}

/// The weight of a policy, unless that is zero.
fn weight(network: Network<'_>, status: &PolicyStatus) -> Option<i64> {
    let own = &status.policy;
    let found = network.snapshot.policy_named(&own.kind, &own.namespace, &own.name)?;
    let weight = network.snapshot.policy(found)?.attachments()?.weight;
    (weight != 0).then_some(weight)
}

/// Policies that stand at no node, with the reason where one is known.
fn unattached(network: Network<'_>, badges: &Badges, statuses: &BTreeMap<String, PolicyStatus>) -> Vec<String> {
    let shown: BTreeSet<&str> = badges.values().flatten().map(|badge| badge.policy.as_str()).collect();
    let all = network.kinds().flat_map(|kind| {
        let entries = kind.policies.entries().filter_map(move |entry| kind.policies.entry(entry));
        entries.map(move |entry| title(network, kind, entry))
    });
    let alone: BTreeSet<String> = all.filter(|policy| !shown.contains(policy.as_str())).collect();
    let with_reason = alone.into_iter().map(|policy| {
        let why = statuses.get(&policy).and_then(|status| status.notes.first());
        why.map_or_else(|| policy.clone(), |why| format!("{policy}: {why}"))
    });
    with_reason.collect()
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
