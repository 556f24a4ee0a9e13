//! Gateways, listeners, routes, rules and backends as nodes and edges, for drawing.

use std::collections::{BTreeMap, BTreeSet};

use upheld_engine::{ObjectId, Snapshot};
use upheld_model::tree::Value;

use upheld_report::drawing::{Edge, Line};

use super::assumed::Assumption;
use super::gateways::Network;
use super::resources::{Backend, Route, View};
use super::topology::{Gateway, Listener, Outcome, Step, Topology, Way};

/// What a node stands for; the order is that of listings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NodeKind {
    /// A gateway.
    Gateway,
    /// A set of listeners beside those of the gateway itself.
    ListenerSet,
    /// A listener of a gateway or of a listener set.
    Listener,
    /// A route.
    Route,
    /// A rule of a route.
    Rule,
    /// A service or something else that answers.
    Backend,
}

/// A node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// What it stands for.
    pub kind: NodeKind,
    /// By which it is known, for example `HTTPRoute infra/example#0` for the first rule of a route.
    pub id: String,
    /// What is written on it.
    pub label: String,
    /// What is written below: what requests look like that a rule is for.
    pub details: Vec<String>,
    /// The resource, unless it is not there.
    pub object: Option<ObjectId>,
}

/// Nodes by kind and id, edges by their ends.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    /// The nodes.
    pub nodes: Vec<Node>,
    /// The edges.
    pub edges: Vec<Edge>,
}

/// How many texts stand beside one edge, or on one rule.
const TEXT_LIMIT: usize = 3;

impl Topology {
    /// What can be drawn of it, with parents of routes that were not read.
    pub fn graph(&self, network: Network<'_>) -> Graph {
        let snapshot = network.snapshot;
        let mut sketch = Sketch { snapshot, topology: self, nodes: BTreeMap::new(), edges: BTreeMap::new() };
        let mut reached: BTreeSet<ObjectId> = BTreeSet::new();
        for (route, ways) in network.assumed_roots() {
            reached.extend(ways.iter().flat_map(|way| &way.chain).map(|step| step.route));
            sketch.parents_not_read(network, *route, ways);
        }
        for (route, _) in self.routes(snapshot).filter(|(_, attached)| !attached) {
            if !reached.contains(&route) && self.leading_to(route).iter().all(|entry| entry.served.is_empty()) {
                sketch.parents_not_read(network, route, &network.walked(route));
            }
        }
        for gateway in &self.gateways {
            sketch.gateway(gateway);
        }
        for attached in self.attached() {
            let gateway = self.gateways.get(attached.gateway);
            let Some(listener) = gateway.and_then(|gateway| gateway.listeners.get(attached.listener)) else { continue };
            let route = sketch.route(attached.route);
            let listener = listener_id(snapshot, listener);
            for host in &attached.hosts {
                sketch.edge(&listener, &route, Line::Plain, host);
            }
            sketch.rules_without_matches(attached.route);
        }
        for (_, way) in self.ways() {
            sketch.way(way);
        }
        sketch.finish()
    }
}

/// The id of the node of a listener.
pub fn listener_id(snapshot: &Snapshot, listener: &Listener) -> String {
    format!("{}#{}", title(snapshot, listener.owner), listener.name)
}

/// The id of the node of a rule.
pub fn rule_id(snapshot: &Snapshot, step: &Step) -> String {
    format!("{}#{}", title(snapshot, step.route), step.rule)
}

/// The id of the node of a resource.
pub fn title(snapshot: &Snapshot, object: ObjectId) -> String {
    View::of(snapshot, object).map_or_else(String::new, |view| view.title())
}

struct Sketch<'s> {
    snapshot: &'s Snapshot,
    topology: &'s Topology,
    nodes: BTreeMap<(NodeKind, String), Node>,
    edges: BTreeMap<(String, String, Line), BTreeSet<String>>,
}

impl Sketch<'_> {
    fn node(&mut self, kind: NodeKind, id: &str, label: &str, object: Option<ObjectId>) -> &mut Node {
        let new = || Node { kind, id: id.to_owned(), label: label.to_owned(), details: Vec::new(), object };
        self.nodes.entry((kind, id.to_owned())).or_insert_with(new)
    }

    fn edge(&mut self, from: &str, to: &str, line: Line, label: &str) {
        let labels = self.edges.entry((from.to_owned(), to.to_owned(), line)).or_default();
        // One more than is shown tells that there are more.
        if labels.len() <= TEXT_LIMIT && !label.is_empty() {
            labels.insert(label.to_owned());
        }
    }

    fn gateway(&mut self, gateway: &Gateway) {
        let id = title(self.snapshot, gateway.object);
        self.node(NodeKind::Gateway, &id, &id, Some(gateway.object));
        for listener in gateway.listeners.iter() {
            let known = listener_id(self.snapshot, listener);
            let host = listener.hostname.as_deref().unwrap_or("*");
            let label = format!("{} {} {} {host}", listener.name, listener.protocol, listener.port);
            self.node(NodeKind::Listener, &known, &label, Some(listener.owner));
            if listener.owner == gateway.object {
                self.edge(&id, &known, Line::Plain, "");
            } else {
                let set = title(self.snapshot, listener.owner);
                self.node(NodeKind::ListenerSet, &set, &set, Some(listener.owner));
                self.edge(&id, &set, Line::Plain, "");
                self.edge(&set, &known, Line::Plain, "");
            }
        }
    }

    /// A route that is attached to nothing that was read, below the parents that it names.
    fn parents_not_read(&mut self, network: Network<'_>, route: ObjectId, ways: &[Way]) {
        let known = self.route(route);
        let hosts = View::of(self.snapshot, route).map(|view| Route::of(view).hostnames.join(", ")).unwrap_or_default();
        for assumption in network.assumptions(route) {
            if let Assumption::Parent(parent) | Assumption::Mesh(parent) = assumption {
                let kind = if parent.starts_with("HTTPRoute ") { NodeKind::Route } else { NodeKind::Gateway };
                self.node(kind, &parent, &parent, None);
                self.edge(&parent, &known, Line::Plain, &hosts);
            }
        }
        for way in ways {
            self.way(way);
        }
    }

    fn route(&mut self, route: ObjectId) -> String {
        let id = title(self.snapshot, route);
        self.node(NodeKind::Route, &id, &id, Some(route));
        id
    }

    fn way(&mut self, way: &Way) {
        let mut before: Option<(String, ObjectId)> = None;
        for step in &way.chain {
            let route = self.route(step.route);
            if let Some((rule, parent)) = &before {
                let preferred = self.topology.facts(*parent).map_or("", |facts| facts.inheritance_word);
                self.edge(rule, &route, Line::Delegates, preferred);
            }
            let id = rule_id(self.snapshot, step);
            let name = self.rule_field(step).unwrap_or_else(|| format!("rule {}", step.rule));
            let rule = self.node(NodeKind::Rule, &id, &name, Some(step.route));
            if way.chain.last() == Some(step) {
                let words = words(way);
                if rule.details.len() <= TEXT_LIMIT && !rule.details.contains(&words) {
                    rule.details.push(words);
                }
            }
            self.edge(&route, &id, Line::Plain, "");
            before = Some((id, step.route));
        }
        if let (Some(step), Some((rule, _))) = (way.chain.last(), before) {
            for backend in backends(self.snapshot, step.route, step.rule) {
                self.backend(&rule, &backend);
            }
        }
    }

    fn rule_field(&self, step: &Step) -> Option<String> {
        let view = View::of(self.snapshot, step.route)?;
        let rule = view.spec_items("rules").nth(step.rule)?;
        rule.get("name").map(|name| name.text().to_owned())
    }

    /// Rules of routes for connections, which no request finds a way through.
    fn rules_without_matches(&mut self, object: ObjectId) {
        let Some(route) = View::of(self.snapshot, object).map(Route::of) else { return };
        if route.matches_requests() {
            return;
        }
        for (index, rule) in route.rules.iter().enumerate() {
            let id = format!("{}#{index}", route.view.title());
            let name = rule.name.map_or_else(|| format!("rule {index}"), str::to_owned);
            self.node(NodeKind::Rule, &id, &name, Some(object));
            self.edge(&route.view.title(), &id, Line::Plain, "");
            for backend in backends(self.snapshot, object, index) {
                self.backend(&id, &backend);
            }
        }
    }

    fn backend(&mut self, rule: &str, backend: &NamedBackend) {
        self.node(NodeKind::Backend, &backend.id, &backend.id, backend.object);
        let weight = match backend.weight {
            Some((own, all)) => format!("weight {own} of {all}"),
            None => String::new(),
        };
        self.edge(rule, &backend.id, Line::Plain, &weight);
    }

    fn finish(self) -> Graph {
        let places: BTreeMap<&str, usize> =
            self.nodes.keys().enumerate().map(|(place, (_, id))| (id.as_str(), place)).collect();
        let edges = self.edges.iter().filter_map(|((from, to, line), labels)| {
            let mut texts: Vec<&str> = labels.iter().take(TEXT_LIMIT).map(String::as_str).collect();
            if labels.len() > TEXT_LIMIT {
                texts.push("…");
            }
            let (from, to) = (*places.get(from.as_str())?, *places.get(to.as_str())?);
            Some(Edge { from, to, line: *line, label: texts.join(", ") })
        });
        let mut edges: Vec<Edge> = edges.collect();
        edges.sort();
        let mut nodes: Vec<Node> = self.nodes.into_values().collect();
        for node in nodes.iter_mut().filter(|node| node.details.len() > TEXT_LIMIT) {
            node.details.truncate(TEXT_LIMIT);
            node.details.push("…".to_owned());
        }
        Graph { nodes, edges }
    }
}

/// What a way wants, in a few words.
fn words(way: &Way) -> String {
    let wanted = &way.wanted;
    let method = wanted.method.as_ref().map_or_else(String::new, |method| format!("{method} "));
    let more = if wanted.headers.is_empty() && wanted.query.is_empty() { "" } else { " if …" };
    let fails = if matches!(way.outcome, Outcome::Unserved(_) | Outcome::Replaced(_)) { " → 500" } else { "" };
    format!("{method}{} {}{more}{fails}", wanted.path_kind.word(), wanted.normal_path())
}

/// What a rule leads to, other than routes.
#[derive(Clone, Debug)]
pub(crate) struct NamedBackend {
    /// What it is called.
    pub(crate) id: String,
    /// The object, if it is there.
    pub(crate) object: Option<ObjectId>,
    /// The port.
    pub(crate) port: Option<u16>,
    /// Its share of the requests, and all shares together, where there are several.
    pub(crate) weight: Option<(u64, u64)>,
}

/// What a rule leads to, other than routes.
pub(crate) fn backends(snapshot: &Snapshot, route: ObjectId, rule: usize) -> Vec<NamedBackend> {
    let Some(view) = View::of(snapshot, route) else { return Vec::new() };
    let rule = view.spec_items("rules").nth(rule);
    let values: Vec<Value<'_>> =
        rule.and_then(|rule| rule.get("backendRefs")).into_iter().flat_map(Value::items).collect();
    let weight = |value: Value<'_>| value.get("weight").and_then(|weight| weight.text().parse().ok()).unwrap_or(1_u64);
    let all: u64 = values.iter().map(|value| weight(*value)).sum();
    let shared = values.len() > 1;
    let named = values.into_iter().filter_map(|value| {
        let reference = Backend::of(value, view.namespace).reference;
        if reference.delegates() {
            return None;
        }
        let port = reference.port.map_or_else(String::new, |port| format!(":{port}"));
        let object = snapshot.object_named(reference.kind, reference.namespace, reference.name);
        let id = format!("{} {}/{}{port}", reference.kind, reference.namespace, reference.name);
        Some(NamedBackend { id, object, port: reference.port, weight: shared.then(|| (weight(value), all)) })
    });
    named.collect()
}
