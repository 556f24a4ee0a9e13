//! `graph`: gateways, routes and backends, drawn with the policies that are attached to them.

use serde_json::{Value as Json, json};
use upheld_dialects::gateway_api::draw::{Badges, dot, mermaid, svg};
use upheld_dialects::gateway_api::graph::{Graph, listener_id, rule_id};
use upheld_dialects::gateway_api::topology::Topology;
use upheld_dialects::kgateway::{PolicyEntry, Resolver, Semantics, Settings, Via};
use upheld_model::{Diagnostic, Fault};

use crate::gateways::Gateways;

/// Gateways, routes and backends with the policies that they carry.
#[derive(Debug)]
pub struct Drawn {
    graph: Graph,
    badges: Badges,
}

impl Drawn {
    pub(crate) fn new(gateways: &Gateways<'_>, semantics: Semantics) -> Result<Self, Diagnostic> {
        let graph = gateways.topology.graph();
        if graph.nodes.is_empty() {
            let message = "there is nothing to draw: no gateway, and no route that is attached to one";
            return Err(Diagnostic::error(Fault::NotFound, message).help("does `-f` point to the right files?"));
        }
        let badges = badges(&gateways.topology, &gateways.controller, semantics);
        Ok(Self { graph, badges })
    }

    /// For programs.
    pub fn json(&self) -> Json {
        document(&self.graph, &self.badges)
    }

    /// For Graphviz.
    pub fn dot(&self) -> String {
        dot(&self.graph, &self.badges)
    }

    /// For Mermaid.
    pub fn mermaid(&self) -> String {
        mermaid(&self.graph, &self.badges)
    }

    /// As a picture.
    pub fn svg(&self) -> String {
        svg(&self.graph, &self.badges)
    }

    /// The names of what is drawn.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.graph.nodes.iter().map(|node| node.id.as_str())
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

/// Policies, by the node that they name.
fn badges(topology: &Topology<'_>, controller: &Settings, semantics: Semantics) -> Badges {
    let resolver = Resolver::new(topology, controller, semantics);
    let mut badges = Badges::new();
    for node in topology.graph().nodes.iter().filter(|node| !node.id.contains('#')) {
        let Some(object) = node.object else { continue };
        for (number, policy) in resolver.policies().entries().iter().enumerate() {
            for spoken in resolver.spoken(number, object) {
                let section = spoken.section.map(|section| format!(" ({section})")).unwrap_or_default();
                badges.entry(node.id.clone()).or_default().push(format!("◆ {}{section}", policy.title()));
            }
        }
    }
    // Sets of listeners have no node of their own; their policies stand at their listeners.
    for gateway in &topology.gateways {
        for listener in gateway.listeners.iter().filter(|listener| listener.owner != gateway.object) {
            for (number, policy) in resolver.policies().entries().iter().enumerate() {
                let spoken = resolver.spoken(number, listener.owner);
                let here = |section: Option<&str>| section.is_none_or(|name| name == listener.name);
                if spoken.iter().any(|spoken| here(spoken.section.as_deref())) {
                    let id = listener_id(topology.snapshot, listener);
                    badges.entry(id).or_default().push(format!("◆ {}", policy.title()));
                }
            }
        }
    }
    // What filters name belongs to their rule.
    for (_, way) in topology.ways() {
        let Some(step) = way.chain.last() else { continue };
        let id = rule_id(topology.snapshot, step);
        for bracket in resolver.route(way).brackets.iter().filter(|bracket| !bracket.is_inherited()) {
            for attached in bracket.attached.iter().filter(|attached| attached.via == Via::ExtensionRef) {
                let title = resolver.policies().get(attached.policy).map(PolicyEntry::title).unwrap_or_default();
                let badge = format!("◆ {title}");
                let known = badges.entry(id.clone()).or_default();
                if !known.contains(&badge) {
                    known.push(badge);
                }
            }
        }
    }
    badges
}
