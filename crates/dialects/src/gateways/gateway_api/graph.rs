//! Gateways, listeners, routes, rules and backends as nodes and edges, for drawing.

use std::collections::{BTreeMap, BTreeSet};

use upheld_engine::{ObjectId, Snapshot};
use upheld_model::tree::Value;

use super::resources::{Backend, Route, View};
use super::topology::{Gateway, Listener, Outcome, Step, Topology, Way};

/// What a node stands for; the order is that of listings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NodeKind {
    /// A gateway.
    Gateway,
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
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Node {
    /// What it stands for.
    pub kind: NodeKind,
    /// By which it is known, for example `HTTPRoute infra/example#0` for the first rule of a route.
    pub id: String,
    /// What is written on it.
    pub label: String,
    /// The resource, unless it is not there.
    pub object: Option<ObjectId>,
}

/// A line between two nodes, which are places in [`Graph::nodes`].
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Edge {
    /// Where it begins.
    pub from: usize,
    /// Where it ends.
    pub to: usize,
    /// What is written beside it; may be empty.
    pub label: String,
}

/// Nodes by kind and id, edges by their ends.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Graph {
    /// The nodes.
    pub nodes: Vec<Node>,
    /// The edges.
    pub edges: Vec<Edge>,
}

/// How many texts stand beside one edge.
const TEXT_LIMIT: usize = 3;

impl Topology {
    /// What can be drawn of it.
    pub fn graph(&self, snapshot: &Snapshot) -> Graph {
        let mut sketch = Sketch { snapshot, nodes: BTreeMap::new(), edges: BTreeMap::new() };
        for gateway in &self.gateways {
            sketch.gateway(gateway);
        }
        for attached in self.attached() {
            let gateway = self.gateways.get(attached.gateway);
            let Some(listener) = gateway.and_then(|gateway| gateway.listeners.get(attached.listener)) else { continue };
            let route = sketch.route(attached.route);
            let listener = listener_id(snapshot, listener);
            for host in &attached.hosts {
                sketch.edge(&listener, &route, host);
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
    nodes: BTreeMap<(NodeKind, String), (String, Option<ObjectId>)>,
    edges: BTreeMap<(String, String), BTreeSet<String>>,
}

impl Sketch<'_> {
    fn node(&mut self, kind: NodeKind, id: &str, label: String, object: Option<ObjectId>) {
        self.nodes.entry((kind, id.to_owned())).or_insert((label, object));
    }

    fn edge(&mut self, from: &str, to: &str, label: &str) {
        let labels = self.edges.entry((from.to_owned(), to.to_owned())).or_default();
        // One more than is shown tells that there are more.
        if labels.len() <= TEXT_LIMIT && !label.is_empty() {
            labels.insert(label.to_owned());
        }
    }

    fn gateway(&mut self, gateway: &Gateway) {
        let id = title(self.snapshot, gateway.object);
        self.node(NodeKind::Gateway, &id, id.clone(), Some(gateway.object));
        for listener in gateway.listeners.iter() {
            let known = listener_id(self.snapshot, listener);
            let host = listener.hostname.as_deref().unwrap_or("*");
            let label = format!("{} {} {} {host}", listener.name, listener.protocol, listener.port);
            self.node(NodeKind::Listener, &known, label, Some(listener.owner));
            self.edge(&id, &known, "");
        }
    }

    fn route(&mut self, route: ObjectId) -> String {
        let id = title(self.snapshot, route);
        self.node(NodeKind::Route, &id, id.clone(), Some(route));
        id
    }

    fn way(&mut self, way: &Way) {
        let mut before: Option<String> = None;
        for step in &way.chain {
            let route = self.route(step.route);
            if let Some(rule) = &before {
                self.edge(rule, &route, "delegates");
            }
            let id = rule_id(self.snapshot, step);
            let name = self.rule_field(step).unwrap_or_else(|| format!("rule {}", step.rule));
            self.node(NodeKind::Rule, &id, name, Some(step.route));
            let last = way.chain.last() == Some(step);
            self.edge(&route, &id, &if last { words(way) } else { String::new() });
            before = Some(id);
        }
        if let (Some(step), Some(rule)) = (way.chain.last(), before) {
            for backend in backends(self.snapshot, step.route, step.rule) {
                self.backend(&rule, backend);
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
            self.node(NodeKind::Rule, &id, name, Some(object));
            self.edge(&route.view.title(), &id, "");
            for backend in backends(self.snapshot, object, index) {
                self.backend(&id, backend);
            }
        }
    }

    fn backend(&mut self, rule: &str, (id, object): (String, Option<ObjectId>)) {
        self.node(NodeKind::Backend, &id, id.clone(), object);
        self.edge(rule, &id, "");
    }

    fn finish(self) -> Graph {
        let places: BTreeMap<&str, usize> =
            self.nodes.keys().enumerate().map(|(place, (_, id))| (id.as_str(), place)).collect();
        let edges = self.edges.iter().filter_map(|((from, to), labels)| {
            let mut texts: Vec<&str> = labels.iter().take(TEXT_LIMIT).map(String::as_str).collect();
            if labels.len() > TEXT_LIMIT {
                texts.push("…");
            }
            let (from, to) = (*places.get(from.as_str())?, *places.get(to.as_str())?);
            Some(Edge { from, to, label: texts.join(", ") })
        });
        let mut edges: Vec<Edge> = edges.collect();
        edges.sort();
        let nodes = self.nodes.iter().map(|((kind, id), (label, object))| {
            let (id, label) = (id.clone(), label.clone());
            Node { kind: *kind, id, label, object: *object }
        });
        Graph { nodes: nodes.collect(), edges }
    }
}

/// What a way wants, in a few words.
fn words(way: &Way) -> String {
    let wanted = &way.wanted;
    let method = wanted.method.as_ref().map_or_else(String::new, |method| format!("{method} "));
    let more = if wanted.headers.is_empty() && wanted.query.is_empty() { "" } else { " if …" };
    let fails = if matches!(way.outcome, Outcome::Replaced(_)) { " → 500" } else { "" };
    format!("{method}{} {}{more}{fails}", wanted.path_kind.word(), wanted.normal_path())
}

/// What a rule leads to, other than routes: what it is called, and the object if it is there.
pub(crate) fn backends(snapshot: &Snapshot, route: ObjectId, rule: usize) -> Vec<(String, Option<ObjectId>)> {
    let Some(view) = View::of(snapshot, route) else { return Vec::new() };
    let rule = view.spec_items("rules").nth(rule);
    let values = rule.and_then(|rule| rule.get("backendRefs")).into_iter().flat_map(Value::items);
    let references = values.map(|value| Backend::of(value, view.namespace).reference);
    let references = references.filter(|reference| !reference.delegates());
    let named = references.map(|reference| {
        let port = reference.port.map_or_else(String::new, |port| format!(":{port}"));
        let object = snapshot.object_named(reference.kind, reference.namespace, reference.name);
        (format!("{} {}/{}{port}", reference.kind, reference.namespace, reference.name), object)
    });
    named.collect()
}
