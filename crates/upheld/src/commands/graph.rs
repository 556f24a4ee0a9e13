//! `graph`: gateways, routes and backends, drawn with the policies that are attached to them.

use serde_json::{Value as Json, json};
use upheld_dialects::gateway_api::draw::{Badges, dot, mermaid, svg};
use upheld_dialects::gateway_api::graph::{Graph, listener_id, rule_id};
use upheld_dialects::gateway_api::topology::Topology;
use upheld_dialects::kgateway::{PolicyEntry, Resolver, Settings, Via};

use super::{Session, refuse};
use crate::cli::{Drawing, Format};
use crate::exit::Exit;
use crate::render::print_plain;
use upheld_model::{Diagnostic, Fault};

pub(super) fn run(session: &Session<'_>) -> Exit {
    let Some(loaded) = session.load() else { return Exit::Failed };
    let (topology, controller) = match session.topology(&loaded.snapshot) {
        Ok(known) => known,
        Err(problems) => return refuse(&problems),
    };
    let graph = topology.graph();
    if graph.nodes.is_empty() {
        let message = "there is nothing to draw: no gateway, and no route that is attached to one";
        return refuse(&[Diagnostic::error(Fault::NotFound, message).help("does `-f` point to the right files?")]);
    }
    let badges = badges(&topology, session, &controller);
    match (session.settings.output.value.drawing(), session.screen.format) {
        (Some(Drawing::Mermaid), _) => print_plain(&mermaid(&graph, &badges)),
        (Some(Drawing::Svg), _) => print_plain(&svg(&graph, &badges)),
        (None, Format::Json | Format::Yaml | Format::Jsonl) => session.screen.print_data(&document(&graph, &badges)),
        (None, Format::Name) => {
            print_plain(&graph.nodes.iter().map(|node| format!("{}\n", node.id)).collect::<String>());
        }
        (Some(Drawing::Dot), _) | (None, Format::Table | Format::Wide) => print_plain(&dot(&graph, &badges)),
    }
    Exit::Yes
}

/// For programs.
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
fn badges(topology: &Topology<'_>, session: &Session<'_>, controller: &Settings) -> Badges {
    let resolver = Resolver::new(topology, controller, session.gateway_semantics());
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
