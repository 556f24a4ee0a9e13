//! Gateways, routes and backends, drawn with the policies that are attached to them.

use std::collections::BTreeSet;

use crate::gateways::gateway_api::draw::{Badges, dot, mermaid, svg};
use crate::gateways::gateway_api::graph::{Graph, listener_id, rule_id};
use crate::gateways::gateway_api::{GatewayKind, Network};
use serde_json::{Value as Json, json};
use upheld_engine::ObjectId;
use upheld_engine::hierarchy::{Entry, Via};
use upheld_model::{Diagnostic, Fault, Value};
use upheld_report::Drawing;

/// Gateways, routes and backends with the policies that they carry.
#[derive(Debug)]
pub(super) struct Drawn {
    graph: Graph,
    badges: Badges,
}

impl Drawn {
    /// Of all gateways.
    pub(super) fn new(network: Network<'_>) -> Result<Self, Diagnostic> {
        let graph = network.topology().graph(network.snapshot);
        if graph.nodes.is_empty() {
            let message = "there is nothing to draw: no gateway, and no route that is attached to one";
            return Err(Diagnostic::error(Fault::NotFound, message).help("does `-f` point to the right files?"));
        }
        let badges = badges(network, &graph);
        Ok(Self { graph, badges })
    }
}

impl Drawing for Drawn {
    fn json(&self) -> Json {
        document(&self.graph, &self.badges)
    }

    fn dot(&self) -> String {
        dot(&self.graph, &self.badges)
    }

    fn mermaid(&self) -> String {
        mermaid(&self.graph, &self.badges)
    }

    fn svg(&self) -> String {
        svg(&self.graph, &self.badges)
    }

    fn names(&self) -> Vec<&str> {
        self.graph.nodes.iter().map(|node| node.id.as_str()).collect()
    }
}

fn document(graph: &Graph, badges: &Badges) -> Json {
    let id = |place: usize| graph.nodes.get(place).map(|node| node.id.as_str());
    let nodes: Vec<Json> = (graph.nodes.iter())
        .map(|node| json!({"id": node.id, "label": node.label, "policies": badges.get(&node.id)}))
        .collect();
    let edges: Vec<Json> =
        graph.edges.iter().map(|edge| json!({"from": id(edge.from), "to": id(edge.to), "label": edge.label})).collect();
    json!({"nodes": nodes, "edges": edges})
}

/// Policies, by the node that they are attached to.
fn badges(network: Network<'_>, graph: &Graph) -> Badges {
    let mut badges = Badges::new();
    let kinds: Vec<GatewayKind<'_>> = network.kinds().filter(|kind| !kind.policies.is_empty()).collect();
    for node in graph.nodes.iter().filter(|node| !node.id.contains('#')) {
        let Some(object) = node.object else { continue };
        let places = std::iter::once(None).chain(sections(network, object).into_iter().map(Some));
        for section in places {
            let shown = section.as_ref().map(|section| format!(" ({section})")).unwrap_or_default();
            for title in attached(network, &kinds, object, section.as_deref()) {
                badges.entry(node.id.clone()).or_default().push(format!("◆ {title}{shown}"));
            }
        }
    }
    // Sets of listeners have no node of their own; their policies stand at their listeners.
    for gateway in &network.topology().gateways {
        for listener in gateway.listeners.iter().filter(|listener| listener.owner != gateway.object) {
            let id = listener_id(network.snapshot, listener);
            for section in [None, Some(listener.name.as_str())] {
                for title in attached(network, &kinds, listener.owner, section) {
                    add(&mut badges, &id, format!("◆ {title}"));
                }
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
                    add(&mut badges, &id, format!("◆ {}", title(network, *kind, entry)));
                }
            }
        }
    }
    badges
}

fn add(badges: &mut Badges, id: &str, badge: String) {
    let known = badges.entry(id.to_owned()).or_default();
    if !known.contains(&badge) {
        known.push(badge);
    }
}

/// The policies that are attached to an object or to a section of it.
fn attached(network: Network<'_>, kinds: &[GatewayKind<'_>], object: ObjectId, section: Option<&str>) -> Vec<String> {
    let of_kind = |kind: &GatewayKind<'_>| -> Vec<String> {
        let entries = network.target(*kind, object, section);
        entries.into_iter().map(|entry| title(network, *kind, entry)).collect()
    };
    let mut titles: Vec<String> = kinds.iter().flat_map(of_kind).collect();
    titles.dedup();
    titles
}

fn title(network: Network<'_>, kind: GatewayKind<'_>, entry: &Entry) -> String {
    let texts = [kind.kind.governs, entry.namespace, entry.name].map(|symbol| network.snapshot.text(symbol));
    let [kind, namespace, name] = texts;
    format!("{kind} {namespace}/{name}")
}

/// The names of the sections of an object: listeners, rules and ports.
fn sections(network: Network<'_>, object: ObjectId) -> Vec<String> {
    let resource = network.resource(object);
    let lists = ["listeners", "rules", "ports"].into_iter().filter_map(|field| resource?.field(field));
    let names = lists.flat_map(Value::items).filter_map(|item| item.get("name"));
    let names: BTreeSet<String> = names.map(|name| name.text().to_owned()).collect();
    names.into_iter().collect()
}
