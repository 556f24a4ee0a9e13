//! Real proxies in front of a small service: what one denies no other lets through.

pub(crate) mod front;
mod mistakes;
pub(crate) mod parts;
mod requests;

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use front::Front;
use parts::{Child, Client, Seen, Upstream, send, until};
use requests::{Expected, REQUESTS, Request};
use upheld_server::config::{Security, StoreLocation, Trust};
use upheld_server::{Config, start};

use crate::support::{Served, behind_proxy};

pub(crate) const POLICIES: &str = include_str!("../../../../examples/envoy/policies/policies.yaml");
pub(crate) const STAFF: (&str, &str) = ("x-identity", r#"{"sub": "ann", "roles": ["staff"]}"#);

/// Policies about what only proxies can know.
const ABOUT_CLIENTS: &str = "
---
id: from-inside
effect: permit
subjects: []
resources: [{path: /inside/**}]
actions: [{method: GET}]
conditions: [{type: ip, allowlist: [10.0.0.0/8]}]
---
id: from-this-machine
effect: permit
subjects: []
resources: [{path: /here/**}]
actions: [{method: GET}]
conditions: [{type: ip, allowlist: [127.0.0.0/8]}]
---
id: for-the-intranet
effect: permit
subjects: []
resources: [{app: intranet.example, path: /intranet/**}]
actions: [{method: GET}]
";

/// Not a test by itself: the server of the others, as a process of its own. It ends when whoever started it does.
#[test]
fn server_of_its_own() {
    let Some(told) = parts::told() else { return };
    let (store, security) = (StoreLocation::Folder(told.folder.clone()), Security::open());
    let mut config = Config { listen: told.listen, store, security, ..Config::default() };
    config.access.trust = Trust::read(&told.trust).unwrap();
    tokio::runtime::Runtime::new().unwrap().block_on(async {
        let running = start(config).await.unwrap();
        told.answer(running.address());
        tokio::task::spawn_blocking(parts::wait_for_the_end).await.unwrap();
        running.stop().await;
    });
}

/// What docs/proxies.md says `upheld serve` is started with.
const BELIEVED: [&str; 3] = ["peer=127.0.0.1", "hops=1", "host-header=x-forwarded-host"];

type Start = fn(SocketAddr, SocketAddr) -> Option<Front>;

/// Everything that a test has.
struct Scene {
    server: Child,
    upstream: Upstream,
    front: Front,
    client: Client,
}

impl Scene {
    fn set(start: Start, believed: &[&str]) -> Option<Self> {
        let (mut server, upstream) = (Child::start(believed), Upstream::start());
        server.put(&format!("{POLICIES}{ABOUT_CLIENTS}"));
        let front = start(server.address, upstream.address)?;
        let client = Client::new(front.address);
        until("the first answer", || (client.get("/orders", &[STAFF]).status == 200).then_some(()));
        upstream.take();
        Some(Self { server, upstream, front, client })
    }

    /// What the service saw of a request, and what the client got.
    fn sent(&self, request: &Request) -> (Vec<Seen>, String) {
        let answer = send(request.from, self.front.address, request.bytes().as_bytes());
        (self.upstream.take(), answer)
    }

    fn all_requests(&self) {
        let failures: Vec<String> = REQUESTS.iter().filter_map(|request| self.failure(request)).collect();
        assert!(failures.is_empty(), "{}", failures.join("\n\n"));
    }

    fn failure(&self, request: &Request) -> Option<String> {
        let (seen, answer) = self.sent(request);
        let status = answer.split(' ').nth(1).unwrap_or("closed");
        let right = match (request.expected, seen.as_slice()) {
            (Expected::Denied, seen) => seen.is_empty() && !status.starts_with('2'),
            (Expected::DeniedWith(reason), seen) => seen.is_empty() && status == "403" && answer.contains(reason),
            // What clients pretend is gone.
            (Expected::Permitted, [seen]) => {
                status == "200"
                    && !seen.headers.iter().any(|(_, value)| value.contains("pretended") || value.contains("{http"))
            }
            (Expected::Permitted, _) => false,
        };
        let (bytes, Request { expected, from, .. }) = (request.bytes(), request);
        (!right).then(|| format!("{expected:?} is not what happened to {bytes:?} from {from}: {answer:?}, {seen:?}"))
    }
}

#[test]
fn envoy_over_grpc() {
    let Some(scene) = Scene::set(Front::envoy_grpc, &["peer=127.0.0.1"]) else { return };
    scene.all_requests();
}

#[test]
fn envoy_over_http() {
    let Some(scene) = Scene::set(Front::envoy_http, &["peer=127.0.0.1"]) else { return };
    scene.all_requests();
}

#[test]
fn nginx() {
    let Some(mut scene) = Scene::set(Front::nginx, &BELIEVED) else { return };
    scene.all_requests();
    scene.asks_with_headers(503);
}

#[test]
fn caddy() {
    let Some(mut scene) = Scene::set(Front::caddy, &BELIEVED) else { return };
    scene.all_requests();
    scene.asks_with_headers(503);
}

#[test]
fn traefik() {
    let Some(mut scene) = Scene::set(Front::traefik, &BELIEVED) else { return };
    scene.all_requests();
    scene.asks_with_headers(500);
}

/// Whatever the server says in headers of its own goes to the service, and the guide names the flags that these tests run with.
#[test]
fn the_example_for_traefik_copies_all_headers_of_the_answer() {
    let served = Served::start(behind_proxy(&[]));
    let duties = r#"[{"kind": "obligation", "id": "o", "on": "deny"}, {"kind": "advice", "id": "a", "on": "deny"}]"#;
    let policy = format!(
        r#"{{"put": [{{"id": "p", "effect": "deny", "description": "d", "subjects": [], "resources": [], "actions": [], "duties": {duties}}}]}}"#
    );
    assert_eq!(served.post("/v1/revisions", &policy).status, 201);
    let answer = served.ask("GET", "/forward-auth", &[("x-forwarded-uri", "/a"), ("x-forwarded-method", "GET")], "");
    let example = front::TRAEFIK.to_lowercase();
    let (_, copied) = example.split_once("authresponseheaders: [").expect("headers are copied");
    let copied: Vec<&str> = copied.split_once(']').expect("a list").0.split(", ").collect();
    for name in ["x-policy-decision", "x-policy", "x-policy-reason", "x-policy-obligations", "x-policy-advice"] {
        assert!(answer.header(name).is_some(), "{name}");
        assert!(copied.contains(&name), "{name}");
    }
    assert!(copied.contains(&"upheld-revision"));
    let guide = include_str!("../../../../docs/proxies.md");
    assert!(guide.contains("--trusted-peer 127.0.0.1 --trusted-hops 1 --host-header x-forwarded-host"));
}

impl Scene {
    /// What proxies do alike that say in headers what they are asked for.
    fn asks_with_headers(&mut self, without_an_answer: u16) {
        // The service hears who decided.
        let seen = self.client.get("/orders/1", &[STAFF]).json();
        assert_eq!((&seen["x-policy-decision"], &seen["x-policy"]), (&"permit".into(), &"staff-may-read".into()));
        assert_eq!(seen["upheld-revision"], "1");
        // The client hears why not.
        let denied = self.client.get("/salaries/7", &[STAFF]);
        assert_eq!((denied.status, denied.header("x-policy-decision")), (403, Some("deny")), "{}", denied.text);
        assert_eq!(denied.header("x-policy"), Some("salaries-stay-closed"));
        assert_eq!(denied.header("x-policy-reason"), Some("Salaries are for the payroll only"));
        assert!(denied.text.contains("Salaries are for the payroll only"), "{}", denied.text);
        // Address and host are known, and are those of the client.
        assert_eq!(self.client.get("/here/1", &[]).status, 200);
        assert_eq!(self.client.get("/intranet/1", &[]).status, 403);
        let asked = "GET /intranet/1 HTTP/1.1\r\nHost: intranet.example\r\nConnection: close\r\n\r\n";
        let from = IpAddr::V4(Ipv4Addr::LOCALHOST);
        assert!(send(from, self.front.address, asked.as_bytes()).starts_with("HTTP/1.1 200"));
        // Without an answer, nobody is let in.
        self.upstream.take();
        self.server.kill();
        assert_eq!(self.client.get("/orders/1", &[STAFF]).status, without_an_answer);
        assert!(self.upstream.take().is_empty());
        self.server.restart();
        until("the server to be back", || (self.client.get("/orders/1", &[STAFF]).status == 200).then_some(()));
    }
}
