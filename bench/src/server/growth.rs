//! What one document costs among few and among many, over HTTP: written, and asked about.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use tokio::runtime::Runtime;
use upheld_server::{Config, Running, start};

use super::client::Client;
use crate::measure::median;
use crate::report::{Targets, grouped, heading, progress, ratio, row, time};

/// How much to measure.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plan {
    /// Documents of one sort among which one is written.
    written: [usize; 2],
    /// Routes among which one is asked about.
    routes: [usize; 2],
    /// Workspaces, each with a hundred projects and a thousand objects in all, of which one pair is asked about, and one audited.
    workspaces: [usize; 2],
    rounds: usize,
}

/// What the targets are about.
pub(super) const FULL: Plan = Plan { written: [1_000, 10_000], routes: [30, 3_000], workspaces: [10, 100], rounds: 40 };

/// Enough to see that everything works.
pub(super) const QUICK: Plan = Plan { written: [40, 80], routes: [10, 20], workspaces: [2, 4], rounds: 3 };

/// A sort of documents: what stands beside them, and one of them by its number; each time it says something else.
struct Sort {
    name: &'static str,
    beside: fn() -> Vec<String>,
    document: fn(number: usize, time: usize) -> String,
}

const GATEWAY: &str = r#"{"apiVersion": "gateway.networking.k8s.io/v1", "kind": "Gateway", "metadata": {"name": "edge", "namespace": "infra"}, "spec": {"gatewayClassName": "g", "listeners": [{"name": "http", "port": 80, "protocol": "HTTP", "allowedRoutes": {"namespaces": {"from": "All"}}}]}}"#;
const MESH: &str = r#"{"type": "Mesh", "name": "default"}"#;
const WORKSPACE: &str = r#"{"ref": "workspace/w", "tags": {"env": ["dev"]}}"#;
const RULE: &str = r#"{"type": "MeshPolicy", "name": "env", "a": {"kind": "workspace", "tag": "env"}, "b": {"kind": "project", "tag": "env"}}"#;

const SORTS: [Sort; 12] = [
    Sort {
        name: "access policy",
        beside: Vec::new,
        document: |number, time| {
            format!(
                r#"{{"id": "p{number}", "effect": "permit", "subjects": [{{"role": "r{time}"}}], "resources": [{{"path": "/p{number}/**"}}], "actions": []}}"#
            )
        },
    },
    Sort { name: "HTTPRoute", beside: || vec![GATEWAY.to_owned()], document: route },
    Sort { name: "TrafficPolicy of a route", beside: || vec![GATEWAY.to_owned()], document: traffic_policy },
    Sort {
        name: "Service beside gateways",
        beside: || vec![GATEWAY.to_owned()],
        document: |number, time| {
            format!(
                r#"{{"apiVersion": "v1", "kind": "Service", "metadata": {{"name": "s{number}", "namespace": "team"}}, "spec": {{"ports": [{{"port": {}}}]}}}}"#,
                80 + time
            )
        },
    },
    Sort {
        name: "TrafficLog of Kuma",
        beside: || vec![MESH.to_owned()],
        document: |number, time| {
            format!(
                r#"{{"type": "TrafficLog", "name": "t{number}", "mesh": "default", "sources": [{{"match": {{"kuma.io/service": "s{number}"}}}}], "destinations": [{{"match": {{"kuma.io/service": "*"}}}}], "conf": {{"backend": "b{time}"}}}}"#
            )
        },
    },
    Sort { name: "Dataplane of Kuma", beside: || vec![MESH.to_owned()], document: dataplane },
    Sort {
        name: "Dataplane beside MeshTimeouts",
        beside: || {
            let policies = (0..300).map(|number| {
                format!(
                    r#"{{"type": "MeshTimeout", "name": "m{number}", "mesh": "default", "spec": {{"targetRef": {{"kind": "MeshSubset", "tags": {{"kuma.io/service": "s{number}"}}}}, "to": [{{"targetRef": {{"kind": "MeshService", "name": "s{}"}}, "default": {{"idleTimeout": "1s"}}}}]}}}}"#,
                    number % 40
                )
            });
            std::iter::once(MESH.to_owned()).chain(policies).collect()
        },
        document: dataplane,
    },
    Sort {
        name: "MeshTimeout of Kuma",
        beside: || vec![MESH.to_owned()],
        document: |number, time| {
            format!(
                r#"{{"type": "MeshTimeout", "name": "m{number}", "mesh": "default", "spec": {{"targetRef": {{"kind": "MeshSubset", "tags": {{"kuma.io/service": "s{number}"}}}}, "to": [{{"targetRef": {{"kind": "Mesh"}}, "default": {{"idleTimeout": "{time}s"}}}}]}}}}"#
            )
        },
    },
    Sort { name: "NetworkPolicy", beside: Vec::new, document: network_policy },
    Sort {
        name: "Deployment beside NetworkPolicies",
        beside: || (0..300).map(|number| network_policy(number, 0)).collect(),
        document: |number, time| {
            format!(
                r#"{{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {{"name": "d{number}", "namespace": "team"}}, "spec": {{"selector": {{"matchLabels": {{"app": "a{number}"}}}}, "template": {{"metadata": {{"labels": {{"app": "a{number}", "version": "v{time}"}}}}, "spec": {{"containers": [{{"name": "c", "image": "x"}}]}}}}}}}}"#
            )
        },
    },
    Sort {
        name: "related object",
        beside: || vec![RULE.to_owned(), WORKSPACE.to_owned()],
        document: |number, time| {
            format!(r#"{{"ref": "project/p{number}", "workspace": "w", "tags": {{"env": ["e{}"]}}}}"#, time % 3)
        },
    },
    Sort {
        name: "policy of related objects",
        beside: || vec![WORKSPACE.to_owned()],
        document: |number, time| {
            let level = if time.is_multiple_of(2) { "warn" } else { "enforce" };
            format!(
                r#"{{"type": "MeshPolicy", "name": "m{number}", "a": {{"kind": "workspace", "tag": "t{number}"}}, "b": {{"kind": "project", "tag": "t{number}"}}, "enforcement": "{level}"}}"#
            )
        },
    },
];

fn dataplane(number: usize, time: usize) -> String {
    format!(
        r#"{{"type": "Dataplane", "name": "d{number}", "mesh": "default", "networking": {{"address": "10.0.0.1", "inbound": [{{"port": {}, "tags": {{"kuma.io/service": "s{number}"}}}}]}}}}"#,
        80 + time
    )
}

fn route(number: usize, time: usize) -> String {
    format!(
        r#"{{"apiVersion": "gateway.networking.k8s.io/v1", "kind": "HTTPRoute", "metadata": {{"name": "r{number}", "namespace": "team"}}, "spec": {{"parentRefs": [{{"name": "edge", "namespace": "infra"}}], "hostnames": ["h{number}.example.com"], "rules": [{{"matches": [{{"path": {{"type": "PathPrefix", "value": "/v{time}"}}}}]}}]}}}}"#
    )
}

fn traffic_policy(number: usize, time: usize) -> String {
    format!(
        r#"{{"apiVersion": "gateway.kgateway.dev/v1alpha1", "kind": "TrafficPolicy", "metadata": {{"name": "t{number}", "namespace": "team"}}, "spec": {{"targetRefs": [{{"group": "gateway.networking.k8s.io", "kind": "HTTPRoute", "name": "r{number}"}}], "timeouts": {{"request": "{}s"}}}}}}"#,
        time + 1
    )
}

fn network_policy(number: usize, time: usize) -> String {
    format!(
        r#"{{"apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy", "metadata": {{"name": "p{number}", "namespace": "team"}}, "spec": {{"podSelector": {{"matchLabels": {{"app": "a{number}"}}}}, "ingress": [{{"ports": [{{"port": {}}}]}}]}}}}"#,
        80 + time
    )
}

/// Measures, prints, and adds what must hold.
pub(super) fn run(plan: Plan, runtime: &Runtime, targets: &mut Targets) -> Result<(), String> {
    heading("One document written among few and among many of its sort; p50 on the wall");
    row("", [grouped(plan.written[0]), grouped(plan.written[1]), "many / few".to_owned()]);
    for sort in &SORTS {
        progress(&format!("one {} written", sort.name));
        let servers = plan.written.map(|count| {
            let documents = (sort.beside)().into_iter();
            Server::with(runtime, documents.chain((0..count).map(|number| (sort.document)(number, 0))))
        });
        let write = |server: &mut Server, time: usize| server.put(&[(sort.document)(7, time + 1)]);
        compare(sort.name, plan.rounds, 2.0, runtime, servers, write, targets)?;
    }
    heading("One question among few and among many; p50 on the wall");
    progress("one route asked about");
    let servers = plan.routes.map(|count| {
        let documents = (0..count).flat_map(|number| [route(number, 0), traffic_policy(number, 0)]);
        Server::with(runtime, std::iter::once(GATEWAY.to_owned()).chain(documents))
    });
    let ask =
        |server: &mut Server, _| server.ask("/v1/explain", r#"{"what": "HTTPRoute/r7", "kind": "TrafficPolicy"}"#);
    let name = format!("one route among {} and {}", grouped(plan.routes[1]), grouped(plan.routes[0]));
    compare(&name, plan.rounds, 1.5, runtime, servers, ask, targets)?;
    progress("one pair asked about");
    let name = format!(
        "one pair among {} and {} objects",
        grouped(plan.workspaces[1] * 1_200),
        grouped(plan.workspaces[0] * 120)
    );
    let servers =
        [plan.workspaces[0] / 10, plan.workspaces[1]].map(|count| Server::with(runtime, organisation(count.max(1))));
    let ask = |server: &mut Server, _| server.ask("/v1/explain", r#"{"what": "workspace/w0~project/p0-7"}"#);
    compare(&name, plan.rounds, 1.5, runtime, servers, ask, targets)?;
    progress("one workspace audited");
    let name = format!("one workspace audited among {} and {}", plan.workspaces[1], plan.workspaces[0]);
    let servers = plan.workspaces.map(|count| Server::with(runtime, organisation(count)));
    let ask = |server: &mut Server, _| server.ask("/v1/audit", r#"{"workspace": "w0"}"#);
    compare(&name, plan.rounds, 1.5, runtime, servers, ask, targets)
}

/// Workspaces, each with 1 199 projects.
fn organisation(workspaces: usize) -> impl Iterator<Item = String> {
    let of_workspace = |number: usize| {
        let workspace = format!(r#"{{"ref": "workspace/w{number}", "tags": {{"env": ["dev"]}}}}"#);
        let project = move |project: usize| {
            let env = if project.is_multiple_of(100) { "prod" } else { "dev" };
            format!(
                r#"{{"ref": "project/p{number}-{project}", "workspace": "w{number}", "tags": {{"env": ["{env}"]}}}}"#
            )
        };
        std::iter::once(workspace).chain((0..1_199).map(project))
    };
    std::iter::once(RULE.to_owned()).chain((0..workspaces).flat_map(of_workspace))
}

/// Asks both servers in turn, so that both see the same machine.
fn compare(
    name: &str,
    rounds: usize,
    most: f64,
    runtime: &Runtime,
    servers: [Result<Server, String>; 2],
    ask: impl Fn(&mut Server, usize) -> Result<String, String>,
    targets: &mut Targets,
) -> Result<(), String> {
    let [few, many] = servers;
    let mut servers = [few?, many?];
    let mut took: [Vec<Duration>; 2] = Default::default();
    for round in 0..rounds {
        for (server, took) in servers.iter_mut().zip(&mut took) {
            let begun = Instant::now();
            ask(server, round)?;
            // The first one fills what is kept from then on.
            if round > 0 {
                took.push(begun.elapsed());
            }
        }
    }
    let [few, many] = took.map(median);
    row(name, [time(few), time(many), format!("{:.2}", ratio(many, few))]);
    targets.at_most(&format!("{name}: many / few"), ratio(many, few), most);
    for server in servers {
        runtime.block_on(server.running.stop());
    }
    Ok(())
}

/// A server with documents in its store.
struct Server {
    running: Running,
    client: Client,
}

impl Server {
    fn with(runtime: &Runtime, documents: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut config = Config { listen: SocketAddr::from(([127, 0, 0, 1], 0)), ..Config::default() };
        // All documents come in one body and one batch.
        config.limits.body = 1 << 28;
        config.limits.batch = 1 << 20;
        config.limits.time = Duration::from_mins(2);
        let running = runtime.block_on(start(config)).map_err(|error| error.to_string())?;
        let client = Client::connect(running.address())?;
        let mut server = Self { running, client };
        let documents: Vec<String> = documents.collect();
        server.put(&documents)?;
        Ok(server)
    }

    fn put(&mut self, documents: &[String]) -> Result<String, String> {
        self.ask("/v1/revisions", &format!("{{\"put\": [{}]}}", documents.join(",")))
    }

    fn ask(&mut self, path: &str, body: &str) -> Result<String, String> {
        self.client.ask_as(self.running.bootstrap_token().unwrap_or_default(), path, body)
    }
}
