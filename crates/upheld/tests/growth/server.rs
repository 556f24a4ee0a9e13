//! What requests cost a server in this process.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use serde_json::json;
use tokio::runtime::Runtime;
use upheld_server::config::Security;
use upheld_server::{Config, Running, start};

use crate::cost::Cost;
use crate::requests::{Request, requests};
use crate::worlds::System;

/// A server that ends with its world.
struct Server {
    runtime: Runtime,
    running: Option<Running>,
    address: SocketAddr,
}

impl Server {
    fn start(config: Config) -> Self {
        let runtime = Runtime::new().unwrap();
        let running = runtime.block_on(start(config)).unwrap();
        let address = running.address();
        Self { runtime, running: Some(running), address }
    }

    /// Asks by a connection of its own. Until the answer is read, nothing is allocated here.
    fn ask(&self, bytes: &[u8], answer: &mut Vec<u8>) {
        answer.clear();
        let mut stream = TcpStream::connect(self.address).unwrap();
        stream.write_all(bytes).unwrap();
        stream.read_to_end(answer).unwrap();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(running) = self.running.take() {
            self.runtime.block_on(running.stop());
        }
    }
}

fn config() -> Config {
    let mut config =
        Config { listen: SocketAddr::from(([127, 0, 0, 1], 0)), security: Security::open(), ..Config::default() };
    // Known defects are counted, too, however long they take.
    config.limits.time = Duration::from_mins(10);
    config.limits.request_steps = None;
    config
}

/// In how many writes a world comes, whatever its size.
const WRITES: usize = 8;

fn bytes(request: &Request) -> Vec<u8> {
    let Request { method, path, accept, body, .. } = request;
    let length = body.len();
    let head = format!(
        "{method} {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\naccept: {accept}\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n"
    );
    [head.as_bytes(), body.as_bytes()].concat()
}

/// What every case costs in a world of this size; and what starting with it does.
pub(crate) fn costs(system: System, size: usize, of: &str, refused: &mut Vec<String>) -> BTreeMap<String, Cost> {
    let mut costs = BTreeMap::new();
    let folder = tempfile::tempdir().unwrap();
    let documents = system.documents(size);
    let lines: String = documents.iter().map(|document| format!("{document}\n")).collect();
    let file = folder.path().join("world.jsonl");
    std::fs::write(&file, lines).unwrap();
    let (started, cost) = Cost::of(|| Server::start(Config { watch: vec![file], ..config() }));
    drop(started);
    costs.insert("start".to_owned(), cost);

    let server = Server::start(config());
    let mut answer = Vec::with_capacity(1 << 26);
    let mut tell = |request: &Request| {
        let asked = bytes(request);
        let ((), cost) = Cost::of(|| server.ask(&asked, &mut answer));
        let status = String::from_utf8_lossy(answer.get(9..12).unwrap_or_default()).into_owned();
        let text = String::from_utf8_lossy(&answer);
        let is_answered = status.starts_with('2') || status == "303";
        let shown: String = text.chars().take(600).collect();
        if !is_answered {
            let Request { case, path, body, .. } = request;
            refused.push(format!(
                "{}, {case}: {path} {body}
{shown}",
                system.name()
            ));
        }
        Cost { bytes: answer.len() as u64, ..cost }
    };
    let put = |documents: &[serde_json::Value]| Request {
        case: "POST /v1/revisions (all)".to_owned(),
        method: "POST",
        path: "/v1/revisions".to_owned(),
        accept: "application/json",
        body: json!({ "put": documents }).to_string(),
    };
    for part in documents.chunks(documents.len().div_ceil(WRITES)) {
        tell(&put(part));
    }
    tell(&put(&[system.edit(1).1]));
    for request in requests(system).iter().filter(|request| request.case.contains(of)) {
        let is_write = request.method == "PUT" || request.path == "/v1/revisions" && request.method == "POST";
        if is_write {
            // A write is no question: the second one says nothing new. Documents that say something new come one after the other.
            // It keeps what it wrote, and what was there before goes beside its answer.
            let cost = Cost { kept: 0, ..tell(request) };
            costs.entry(request.case.clone()).and_modify(|known: &mut Cost| *known = known.least(cost)).or_insert(cost);
            continue;
        }
        // The first one makes what is kept.
        tell(request);
        let cost = tell(request).least(tell(request));
        costs.insert(request.case.clone(), cost);
    }
    costs
}

/// Operations and pages that have no figure here, with the reason.
const NOT_ASKED: &[(&str, &str)] = &[
    ("GET /v1/events", "a stream without an end; what each event costs is a write"),
    ("DELETE /v1/documents/{kind}/{scope}/{name}", "a write like PUT"),
    ("POST /authz/api/policies", "a write like PUT"),
    ("DELETE /authz/api/policies/{id}", "a write like PUT"),
    ("GET /meshes/{mesh}/meshgateways/{name}/_rules", "as of a dataplane"),
    ("GET /meshes/{mesh}/dataplanes/{name}/_inbounds/{kri}/_policies", "as of an outbound"),
    ("GET /meshes/{mesh}/dataplanes/{name}/_outbounds/{kri}/_routes/{route}/_policies", "as of an outbound"),
    ("page /sign-out", "changes a cookie"),
    ("page /pages/events", "a stream without an end"),
];

/// Operations of the description and pages of the router.
pub(crate) fn endpoints() -> Vec<String> {
    let server = Server::start(config());
    let mut answer = Vec::new();
    let description = Request {
        case: String::new(),
        method: "GET",
        path: "/openapi.json".to_owned(),
        accept: "application/json",
        body: String::new(),
    };
    server.ask(&bytes(&description), &mut answer);
    let text = String::from_utf8_lossy(&answer);
    let (_, body) = text.split_once("\r\n\r\n").unwrap();
    let description: serde_json::Value = serde_json::from_str(body).unwrap();
    let mut all: Vec<String> = Vec::new();
    for (path, item) in description["paths"].as_object().unwrap() {
        let methods = item.as_object().unwrap().keys().filter(|name| name.len() < 7 && *name != "summary");
        all.extend(methods.map(|method| format!("{} {path}", method.to_uppercase())));
    }
    let router = include_str!("../../../server/src/http/pages.rs");
    let pages = router.split("page(\"").skip(1).filter_map(|rest| rest.split_once('"')).map(|(path, _)| path);
    all.extend(pages.map(|path| format!("page {path}")));
    all.retain(|case| !NOT_ASKED.iter().any(|(known, _)| known == case));
    all
}
