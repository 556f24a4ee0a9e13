//! Any bytes as requests: whatever comes, the server answers, and the fault is never its own. And any bytes for all other readers of
//! foreign bytes, in [`TARGETS`].
//!
//! Not part of the interface: for the long fuzz run of the folder `fuzz` and its short run in the tests.

mod documents;
mod files;
mod readers;
mod requests;
mod targets;

pub use targets::{Fuzzed, TARGETS};

use axum::body::Body;
use axum::http::request::Builder;
use axum::http::{Request, StatusCode, header};
use prost::Message;
use tokio::runtime::Runtime;

use crate::config::{Config, Limits, Security};
use crate::grpc::proto::envoy::service::auth::v3::CheckResponse;
use crate::grpc::proto::envoy::service::auth::v3::check_response::HttpResponse;
use crate::unlisted::{Answer, Unlisted};

/// A server that is asked without a network.
#[derive(Debug)]
pub struct Target {
    runtime: Runtime,
    server: Unlisted,
}

/// Where bodies are sent, and as what.
#[derive(Clone, Copy, Debug)]
struct Endpoint {
    path: &'static str,
    content: &'static str,
    /// A body that is understood.
    example: &'static [u8],
}

const JSON: &str = "application/json";
const YAML: &str = "application/yaml";
const LINES: &str = "application/x-ndjson";
const GRPC: &str = "application/grpc";

const POLICY: &[u8] = br#"{"id": "readers", "effect": "permit", "priority": 7, "subjects": [{"role": "user"}], "resources": [{"path": "/api/**"}], "actions": [{"method": "GET"}], "conditions": [{"type": "time", "after": "09:00", "before": "17:00"}]}"#;
const REQUEST: &[u8] = br#"{"subject": {"id": "ann", "roles": ["user"], "groups": [], "claims": {"level": 3}}, "action": {"method": "GET"}, "resource": {"path": "/api/x"}, "environment": {"ip": "10.0.0.7", "time": "2024-03-01T12:00:00Z"}}"#;
const BATCH: &[u8] = br#"{"requests": [{"subject": {"roles": ["user"]}, "action": {"method": "GET"}, "resource": {"path": "/api/x"}}, {"subject": {}, "action": {}, "resource": {}}]}"#;
const CHANGES: &[u8] = br#"{"message": "new", "after": 1, "put": [{"id": "b", "effect": "deny", "subjects": [], "resources": [], "actions": []}], "delete": ["AccessPolicy/access/readers"]}"#;
const QUESTION: &[u8] = br#"{"from": "web-1", "to": "backend-1", "kind": "TrafficPermission", "request": {"subject": {"roles": ["user"]}, "action": {"method": "GET"}, "resource": {"path": "/api/x"}}}"#;
const EVALUATION: &[u8] = br#"{"subject": {"type": "user", "id": "ann", "properties": {"roles": ["user"]}}, "action": {"name": "GET"}, "resource": {"type": "path", "id": "/api/x"}, "context": {"time": "2024-03-01T12:00:00Z"}}"#;
const EVALUATIONS: &[u8] = br#"{"subject": {"type": "user", "id": "ann"}, "action": {"name": "GET"}, "evaluations": [{"resource": {"type": "path", "id": "/api/x"}}, {}], "options": {"evaluations_semantic": "deny_on_first_deny"}}"#;
const DOCUMENTS: &[u8] = b"type: Mesh\nname: default\n---\ntype: Dataplane\nmesh: default\nname: web-1\nnetworking:\n  address: 10.0.0.1\n  inbound:\n  - port: 8080\n    tags: {kuma.io/service: web}\n";
/// An `AttributeContext` with a source, a method, a path, a host and a header.
const CHECK: &[u8] = b"\x0aZ\x0a\x10\x0a\x0e\x0a\x0c\x12\x0810.0.0.7\x18P\"F\x12D\x12\x03GET\x1a/\x0a\x0ax-identity\x12!{\"sub\": \"ann\", \"roles\": [\"user\"]}\"\x06/api/x*\x04shop";

/// Writes report what would happen, and change nothing, so that every body meets the same server.
const ENDPOINTS: [Endpoint; 17] = [
    Endpoint { path: "/v1/decide", content: JSON, example: REQUEST },
    Endpoint { path: "/v1/decide", content: YAML, example: REQUEST },
    Endpoint { path: "/v1/decide:batch", content: JSON, example: BATCH },
    Endpoint { path: "/v1/explain", content: JSON, example: QUESTION },
    Endpoint { path: "/v1/resolve", content: JSON, example: QUESTION },
    Endpoint { path: "/v1/audit", content: JSON, example: b"{\"listPasses\": true}" },
    Endpoint { path: "/v1/test", content: JSON, example: b"{}" },
    Endpoint { path: "/v1/revisions?dryRun=true", content: JSON, example: CHANGES },
    Endpoint { path: "/v1/revisions?dryRun=true", content: YAML, example: DOCUMENTS },
    Endpoint { path: "/v1/revisions?dryRun=true", content: LINES, example: POLICY },
    Endpoint { path: "/access/v1/evaluation", content: JSON, example: EVALUATION },
    Endpoint { path: "/access/v1/evaluations", content: JSON, example: EVALUATIONS },
    Endpoint { path: "/access/v1/search/subject", content: JSON, example: EVALUATION },
    Endpoint { path: "/access/v1/search/action", content: JSON, example: EVALUATION },
    Endpoint { path: "/authz/api/evaluate", content: JSON, example: REQUEST },
    Endpoint { path: "/authz/api/policies?dryRun=true", content: JSON, example: POLICY },
    Endpoint { path: "/envoy.service.auth.v3.Authorization/Check", content: GRPC, example: CHECK },
];

impl Target {
    /// Starts a server with one policy in memory; the port that it takes is not used.
    pub fn start() -> Result<Self, String> {
        let target = Self::start_with(Config { security: Security::open(), ..Config::default() })?;
        let stored = target.ask("/v1/revisions", LINES, POLICY.to_vec())?;
        if stored.status != StatusCode::CREATED {
            return Err(format!("the policy is not stored: {stored:?}"));
        }
        Ok(target)
    }

    fn start_with(config: Config) -> Result<Self, String> {
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(|error| error.to_string())?;
        let limits = Limits { batch: 100, ..Limits::default() };
        let server =
            runtime.block_on(Unlisted::start(Config { limits, ..config })).map_err(|error| error.to_string())?;
        Ok(Self { runtime, server })
    }

    /// What is understood, as bytes for [`Target::check`]: something to begin with.
    pub fn examples() -> impl Iterator<Item = Vec<u8>> {
        (0_u8..).zip(ENDPOINTS).map(|(place, endpoint)| [&[place], endpoint.example].concat())
    }

    /// The first byte says where the others are sent. Whether they were understood; what is wrong with the answer is the error.
    pub fn check(&self, bytes: &[u8]) -> Result<bool, String> {
        let Some((first, body)) = bytes.split_first() else { return Ok(false) };
        let Some(endpoint) = ENDPOINTS.get(usize::from(*first) % ENDPOINTS.len()) else { return Ok(false) };
        let grpc = endpoint.content == GRPC;
        let answer = self.ask(endpoint.path, endpoint.content, if grpc { framed(body) } else { body.to_vec() })?;
        let right = if grpc { answer.is_check() } else { answer.is_of_http() };
        if right { Ok(answer.is_understood()) } else { Err(format!("{}: {answer:?}", endpoint.path)) }
    }

    /// Sends a request without its body as it is; what is wrong with the answer is the error.
    fn check_request(&self, request: Builder, body: Vec<u8>) -> Result<(), String> {
        // What cannot be a request never comes so far.
        let Ok(request) = request.body(Body::from(body)) else { return Ok(()) };
        let shown = format!("{} {}", request.method(), request.uri());
        let answer = self.send(request)?;
        if answer.is_of_http() { Ok(()) } else { Err(format!("{shown}: {answer:?}")) }
    }

    fn ask(&self, path: &str, content: &str, body: Vec<u8>) -> Result<Answer, String> {
        let request = Request::post(path).header(header::CONTENT_TYPE, content).header("te", "trailers");
        self.send(request.body(Body::from(body)).map_err(|error| error.to_string())?)
    }

    fn send(&self, request: Request<Body>) -> Result<Answer, String> {
        self.runtime.block_on(self.server.ask(request))
    }
}

/// A message as it is sent: not compressed, and its length.
fn framed(message: &[u8]) -> Vec<u8> {
    let length = u32::try_from(message.len()).unwrap_or(u32::MAX);
    [&[0], length.to_be_bytes().as_slice(), message].concat()
}

impl Answer {
    fn is_understood(&self) -> bool {
        let refused = matches!(self.status.as_u16(), 400 | 404 | 415);
        !refused && self.headers.get("grpc-status").is_none_or(|status| status == "0")
    }

    /// No failure of the server, and JSON is JSON.
    fn is_of_http(&self) -> bool {
        let content = self.headers.get(header::CONTENT_TYPE).map_or(&[][..], |content| content.as_bytes());
        let json = content.ends_with(b"json");
        // 501 says that an edition does not have what was asked for.
        let failed = self.status.is_server_error() && self.status != StatusCode::NOT_IMPLEMENTED;
        !failed && (!json || serde_json::from_slice::<serde_json::Value>(&self.body).is_ok())
    }

    /// A message that cannot be read is refused, all others get an answer that does not come from a failure.
    fn is_check(&self) -> bool {
        let message = self.body.get(5..).unwrap_or_default();
        match self.headers.get("grpc-status").map(header::HeaderValue::as_bytes) {
            Some(b"0") => CheckResponse::decode(message).is_ok_and(|response| !failed(&response)),
            // INTERNAL is what tonic says of messages that are none.
            Some(b"13") => self.body.is_empty(),
            _ => false,
        }
    }
}

/// Whether a decision broke off: that is denied too, and nothing but its reason tells.
fn failed(response: &CheckResponse) -> bool {
    matches!(&response.http_response, Some(HttpResponse::DeniedResponse(denied)) if denied.body.contains(":\"UNKNOWN\""))
}
