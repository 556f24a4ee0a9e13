//! Rules of topologies on small worlds.

mod attachment;
mod delegating;
mod requests;
mod status;

use upheld_engine::Snapshot;
use upheld_loader::load::Choices;
use upheld_loader::{Format, Input};

use crate::gateways::gateway_api::graph::Graph;
use crate::gateways::gateway_api::{ControllerSettings, Gateways, Network};

use super::{Outcome, Topology};
use crate::gateways::gateway_api::graph::title;
use crate::gateways::gateway_api::settings::Settings;

/// A gateway `web` with a plain listener on port 80 that takes routes of all namespaces, and a service in `default`.
const GATEWAY: &str = "
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: web}
spec:
  gatewayClassName: kgateway
  listeners:
  - {name: http, protocol: HTTP, port: 80, allowedRoutes: {namespaces: {from: All}}}
---
apiVersion: v1
kind: Service
metadata: {name: app}
spec: {ports: [{port: 80}]}
";

fn snapshot(documents: &[&str]) -> Snapshot {
    let text = documents.join("\n---\n");
    // Documents are as short as their cases allow.
    let choices = Choices::default().without_schemas();
    choices.load(vec![Input::text("world.yaml", Format::Yaml, text)]).unwrap().snapshot
}

/// What is drawn of a snapshot.
fn drawn(snapshot: &Snapshot) -> Graph {
    let gateways = Gateways::of(snapshot, ControllerSettings::default(), Vec::new());
    let network = Network { snapshot, gateways: &gateways, absent: super::super::gateways::Absent::Missing };
    network.topology().graph(network)
}

/// A topology, with what it was built of.
struct Built<'s> {
    snapshot: &'s Snapshot,
    topology: Topology,
}

fn build<'s>(snapshot: &'s Snapshot, settings: &Settings) -> Built<'s> {
    Built { snapshot, topology: Topology::build(snapshot, settings).0 }
}

impl std::ops::Deref for Built<'_> {
    type Target = Topology;

    fn deref(&self) -> &Topology {
        &self.topology
    }
}

impl std::ops::DerefMut for Built<'_> {
    fn deref_mut(&mut self) -> &mut Topology {
        &mut self.topology
    }
}

/// A route with the rest of its document in flow style.
fn route(name: &str, rest: &str) -> String {
    let (namespace, name) = name.split_once('/').unwrap_or(("default", name));
    format!(
        "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {{name: {name}, namespace: {namespace}}}\nspec: {rest}"
    )
}

/// One line a way: port, host, match, chain, outcome if it is not to go on.
fn ways(topology: &Built<'_>) -> Vec<String> {
    let mut lines = Vec::new();
    for gateway in &topology.gateways {
        for host in &gateway.hosts {
            let listener = &gateway.listeners[host.listener];
            for way in &host.ways {
                let chain: Vec<String> = way
                    .chain
                    .iter()
                    .map(|step| {
                        let title = title(topology.snapshot, step.route);
                        format!("{}#{}", title.split_once('/').unwrap().1, step.rule)
                    })
                    .collect();
                let outcome = match &way.outcome {
                    Outcome::Forward => "",
                    Outcome::Redirect => " redirect",
                    Outcome::Answered => " answered",
                    Outcome::Unserved(_) | Outcome::Replaced(_) => " 500",
                };
                let path = way.wanted.normal_path();
                lines.push(format!("{}:{} {path} {}{outcome}", host.name, listener.name, chain.join(" > ")));
            }
        }
    }
    lines
}

/// One line a route and parent: the conditions that do not hold.
fn status(topology: &Built<'_>) -> Vec<String> {
    let mut lines = Vec::new();
    for report in &topology.reports(topology.snapshot) {
        for parent in &report.parents {
            let bad = parent.conditions.iter().filter(|condition| !condition.status);
            let bad: Vec<String> = bad.map(|condition| format!("{} {}", condition.name, condition.reason)).collect();
            let route = title(topology.snapshot, report.route);
            let owner = title(topology.snapshot, parent.parent.object);
            let bad = if bad.is_empty() { "good".to_owned() } else { bad.join(", ") };
            lines.push(format!("{route} at {owner}: {bad}"));
        }
    }
    lines
}

fn warnings(topology: &Built<'_>) -> Vec<String> {
    topology.warnings().into_iter().map(|warning| warning.message).collect()
}

#[track_caller]
fn check_ways(documents: &[&str], expected: &[&str]) {
    let snapshot = snapshot(documents);
    assert_eq!(ways(&build(&snapshot, &Settings::default())), expected);
}

#[track_caller]
fn check_status(documents: &[&str], expected: &[&str]) {
    let snapshot = snapshot(documents);
    assert_eq!(status(&build(&snapshot, &Settings::default())), expected);
}
