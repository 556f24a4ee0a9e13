//! The services of gRPC, over real connections.

pub(crate) mod proto;

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use prost::bytes::{Buf, BufMut};
use prost_types::value::Kind;
use prost_types::{ListValue, Struct, Timestamp, Value};
use proto::envoy::config::core::v3::{Address, HeaderMap, HeaderValue, Metadata, SocketAddress, address};
use proto::envoy::service::auth::v3::attribute_context::{HttpRequest, Peer, Request as Asked};
use proto::envoy::service::auth::v3::authorization_client::AuthorizationClient;
use proto::envoy::service::auth::v3::check_response::HttpResponse;
use proto::envoy::service::auth::v3::{
    AttributeContext, CheckRequest, CheckResponse, DeniedHttpResponse, OkHttpResponse,
};
use tokio::runtime::Runtime;
use tonic::codec::{Codec, DecodeBuf, Decoder, EncodeBuf, Encoder};
use tonic::transport::{Channel, Endpoint};
use tonic::{Code, Request, Status};
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_check_response::ServingStatus;
use tonic_health::pb::health_client::HealthClient;
use tonic_reflection::pb::v1::ServerReflectionRequest;
use tonic_reflection::pb::v1::server_reflection_client::ServerReflectionClient;
use tonic_reflection::pb::v1::server_reflection_request::MessageRequest;
use tonic_reflection::pb::v1::server_reflection_response::MessageResponse;
use upheld_server::Config;

use crate::support::{Served, behind_proxy};

const POLICIES: &str = r#"{"put": [
    {"id": "admins", "effect": "permit", "description": "Admins may", "subjects": [{"role": "admin"}],
        "resources": [{"path": "/api/**"}], "actions": [{"method": "*"}]},
    {"id": "no-audit", "effect": "deny", "description": "Audit logs stay, für alle", "subjects": [],
        "resources": [{"path": "/api/audit/**"}], "actions": [{"method": "DELETE"}],
        "duties": [{"kind": "advice", "id": "tell-auditors", "on": "deny"}]},
    {"id": "machines", "effect": "permit", "subjects": [{"id": "spiffe://mesh/robot"}],
        "resources": [{"app": "shop", "path": "/stock"}], "actions": [{"method": "GET"}],
        "duties": [{"kind": "obligation", "id": "note-it", "on": "permit", "properties": {"where": "log"}}]}
]}"#;

/// A server with policies, and a client.
struct Bench {
    served: Served,
    runtime: Runtime,
    channel: Channel,
}

impl Bench {
    fn new(config: Config) -> Self {
        let served = Served::start(config);
        let runtime = Runtime::new().unwrap();
        let endpoint = Endpoint::from_shared(served.base().to_owned()).unwrap().timeout(Duration::from_secs(20));
        let channel = runtime.block_on(async { endpoint.connect_lazy() });
        let written = served.post("/v1/revisions", POLICIES);
        assert_eq!(written.status, 201, "{}", written.text);
        Self { served, runtime, channel }
    }

    fn check(&self, attributes: AttributeContext) -> CheckResponse {
        let mut client = AuthorizationClient::new(self.channel.clone());
        let asked = client.check(CheckRequest { attributes: Some(attributes) });
        self.runtime.block_on(asked).unwrap().into_inner()
    }

    /// Sends bytes in place of a message.
    fn raw(&self, path: &'static str, message: Vec<u8>) -> Status {
        let mut client = tonic::client::Grpc::new(self.channel.clone());
        self.runtime.block_on(async {
            client.ready().await.unwrap();
            let path = tonic::codegen::http::uri::PathAndQuery::from_static(path);
            client.unary(Request::new(message), path, Bytes).await.expect_err("an answer without an error")
        })
    }
}

/// Messages that are not looked at.
#[derive(Clone, Copy)]
struct Bytes;

impl Codec for Bytes {
    type Encode = Vec<u8>;
    type Decode = Vec<u8>;
    type Encoder = Self;
    type Decoder = Self;

    fn encoder(&mut self) -> Self {
        Self
    }

    fn decoder(&mut self) -> Self {
        Self
    }
}

impl Encoder for Bytes {
    type Item = Vec<u8>;
    type Error = Status;

    fn encode(&mut self, item: Vec<u8>, out: &mut EncodeBuf<'_>) -> Result<(), Status> {
        out.put_slice(&item);
        Ok(())
    }
}

impl Decoder for Bytes {
    type Item = Vec<u8>;
    type Error = Status;

    fn decode(&mut self, from: &mut DecodeBuf<'_>) -> Result<Option<Vec<u8>>, Status> {
        let bytes = from.copy_to_bytes(from.remaining());
        Ok(Some(bytes.to_vec()))
    }
}

const ADMIN: &str = r#"{"sub": "ann", "roles": ["admin"]}"#;

/// A request as a proxy on this machine tells of it.
fn asked(method: &str, path: &str) -> AttributeContext {
    let http = HttpRequest {
        method: method.to_owned(),
        path: path.to_owned(),
        host: "Shop:8080".to_owned(),
        ..HttpRequest::default()
    };
    AttributeContext {
        source: Some(peer("127.0.0.1")),
        request: Some(Asked { time: Some(Timestamp { seconds: 1_800_000_000, nanos: 5 }), http: Some(http) }),
        ..AttributeContext::default()
    }
}

fn peer(address: &str) -> Peer {
    let socket = SocketAddress { address: address.to_owned(), ..SocketAddress::default() };
    let address = Address { address: Some(address::Address::SocketAddress(socket)) };
    Peer { address: Some(address), ..Peer::default() }
}

fn with_header(mut attributes: AttributeContext, name: &str, value: &str) -> AttributeContext {
    let http = attributes.request.as_mut().unwrap().http.as_mut().unwrap();
    http.headers.insert(name.to_owned(), value.to_owned());
    attributes
}

fn admin(method: &str, path: &str) -> AttributeContext {
    with_header(asked(method, path), "x-identity", ADMIN)
}

fn ok(response: &CheckResponse) -> &OkHttpResponse {
    assert_eq!(response.status.as_ref().unwrap().code, 0, "{response:?}");
    match response.http_response.as_ref() {
        Some(HttpResponse::OkResponse(ok)) => ok,
        other => panic!("{other:?}"),
    }
}

fn denied(response: &CheckResponse) -> &DeniedHttpResponse {
    assert_ne!(response.status.as_ref().unwrap().code, 0, "{response:?}");
    match response.http_response.as_ref() {
        Some(HttpResponse::DeniedResponse(denied)) => denied,
        other => panic!("{other:?}"),
    }
}

fn header<'r>(headers: &'r [proto::envoy::config::core::v3::HeaderValueOption], name: &str) -> Option<&'r str> {
    let headers = headers.iter().filter_map(|option| option.header.as_ref());
    headers.into_iter().find(|header| header.key == name).map(|header| header.value.as_str())
}

fn metadata<'r>(response: &'r CheckResponse, name: &str) -> Option<&'r Kind> {
    response.dynamic_metadata.as_ref()?.fields.get(name)?.kind.as_ref()
}

fn text(text: &str) -> Kind {
    Kind::StringValue(text.to_owned())
}

fn of(kind: Kind) -> Value {
    Value { kind: Some(kind) }
}

#[test]
fn permitted() {
    let bench = Bench::new(behind_proxy(&[]));
    let response = bench.check(admin("GET", "/api/%75sers?x=/../audit"));
    let headers = &ok(&response).headers;
    assert_eq!(header(headers, "x-policy-decision"), Some("permit"));
    assert_eq!((header(headers, "x-policy"), header(headers, "upheld-revision")), (Some("admins"), Some("1")));
    assert_eq!(metadata(&response, "decision"), Some(&text("permit")));
    assert_eq!(metadata(&response, "policy"), Some(&text("admins")));
    assert_eq!(metadata(&response, "revision"), Some(&Kind::NumberValue(1.0)));
    assert!(matches!(metadata(&response, "digest"), Some(Kind::StringValue(digest)) if !digest.is_empty()));
    let counted = r#"upheld_decisions_total{surface="grpc",outcome="permit"} 1"#;
    assert!(bench.served.get("/metrics").text.contains(counted));
}

#[test]
fn denied_with_the_reason() {
    let bench = Bench::new(behind_proxy(&[]));
    let response = bench.check(admin("DELETE", "/api/audit/7"));
    let denied = denied(&response);
    assert_eq!(denied.status.unwrap().code, 403);
    assert_eq!(header(&denied.headers, "x-policy-decision"), Some("deny"));
    assert_eq!(header(&denied.headers, "x-policy"), Some("no-audit"));
    assert_eq!(header(&denied.headers, "x-policy-reason"), Some("Audit logs stay, f%C3%BCr alle"));
    assert_eq!(header(&denied.headers, "x-policy-advice"), Some("tell-auditors"));
    assert_eq!(header(&denied.headers, "content-type"), Some("application/json"));
    let body: serde_json::Value = serde_json::from_str(&denied.body).unwrap();
    let expected =
        serde_json::json!({"error": "Forbidden", "reason": "Audit logs stay, für alle", "policy": "no-audit"});
    assert_eq!(body, expected);
    assert!(matches!(metadata(&response, "advice"), Some(Kind::ListValue(list)) if list.values.len() == 1));
}

#[test]
fn nobody_in_particular_is_denied() {
    let bench = Bench::new(behind_proxy(&[]));
    let response = bench.check(asked("GET", "/api/users"));
    assert_eq!(header(&denied(&response).headers, "x-policy-reason"), Some("No applicable policy"));
    // A header that cannot be read says nothing, and neither does one that comes twice.
    for broken in ["{\"roles\": [\"admin\"", &format!("{ADMIN},{ADMIN}")] {
        denied(&bench.check(with_header(asked("GET", "/api/users"), "x-identity", broken)));
    }
}

#[test]
fn the_header_of_a_stranger_is_not_believed_and_taken_away() {
    let bench = Bench::new(behind_proxy(&[]));
    let stranger = |path: &str| AttributeContext { source: Some(peer("192.0.2.7")), ..admin("GET", path) };
    denied(&bench.check(stranger("/api/users")));
    denied(&bench.check(AttributeContext { source: None, ..admin("GET", "/api/users") }));
    let open = r#"{"id": "open", "effect": "permit", "subjects": [], "resources": [{"path": "/open"}],
        "actions": [{"method": "*"}]}"#;
    assert_eq!(bench.served.post("/v1/revisions", &format!("{{\"put\": [{open}]}}")).status, 201);
    let response = bench.check(with_header(stranger("/open"), "x-policy-obligations", "pretended"));
    let removed = &ok(&response).headers_to_remove;
    assert!(removed.contains(&"x-identity".to_owned()) && removed.contains(&"x-policy-obligations".to_owned()));
}

#[test]
fn an_identity_with_an_unknown_field_is_denied_and_the_field_is_named() {
    let bench = Bench::new(behind_proxy(&[]));
    let asked = |identity: &str| bench.check(with_header(asked("GET", "/api/users"), "x-identity", identity));
    ok(&asked(ADMIN));
    let response = asked(r#"{"sub": "ann", "roles": ["admin"], "Groups": ["banned"]}"#);
    let reason = header(&denied(&response).headers, "x-policy-reason").unwrap();
    assert!(reason.ends_with("unknown field `Groups`: did you mean `groups`?"), "{reason}");
    assert!(matches!(metadata(&response, "reason"), Some(Kind::StringValue(whole)) if whole == reason));
}

/// Envoy says who connects to it, and that is the client unless trusted proxies in front tell another address.
#[test]
fn the_address_is_the_peer_of_envoy_or_what_all_trusted_hops_tell() {
    let inside = r#"{"id": "inside", "effect": "permit", "subjects": [], "resources": [{"path": "/inside"}],
        "actions": [{"method": "*"}], "conditions": [{"type": "ip", "allowlist": ["127.0.0.1", "192.0.2.7"]}]}"#;
    let check = |hops: Option<usize>, source: &str, told: Option<&str>| {
        let mut config = behind_proxy(&[]);
        config.access.trust.hops = hops;
        let bench = Bench::new(config);
        assert_eq!(bench.served.post("/v1/revisions", &format!("{{\"put\": [{inside}]}}")).status, 201);
        let asked = AttributeContext { source: Some(peer(source)), ..asked("GET", "/inside") };
        let asked = told.map_or(asked.clone(), |told| with_header(asked, "x-forwarded-for", told));
        bench.check(asked).status.unwrap().code == 0
    };
    for (hops, source, told, expected) in [
        (None, "127.0.0.1", Some("8.8.8.8"), true),
        (None, "192.0.2.8", None, false),
        (Some(1), "127.0.0.1", Some("192.0.2.7"), true),
        (Some(1), "127.0.0.1", Some("192.0.2.7, 8.8.8.8"), false),
        (Some(1), "127.0.0.1", None, false),
        (Some(2), "127.0.0.1", Some("192.0.2.7"), false),
        (Some(2), "127.0.0.1", Some("192.0.2.7,"), false),
        // A client that went around the trusted proxies.
        (Some(2), "192.0.2.7", Some("8.8.8.8"), true),
        (Some(2), "192.0.2.8", Some("127.0.0.1, 127.0.0.1"), false),
    ] {
        assert_eq!(check(hops, source, told), expected, "{hops:?} hops, {source}, {told:?}");
    }
}

#[test]
fn raw_headers_are_read_too() {
    let bench = Bench::new(behind_proxy(&[]));
    let mut attributes = asked("GET", "/api/users");
    let identity = HeaderValue { key: "X-Identity".to_owned(), raw_value: ADMIN.into(), ..HeaderValue::default() };
    let http = attributes.request.as_mut().unwrap().http.as_mut().unwrap();
    http.header_map = Some(HeaderMap { headers: vec![identity] });
    ok(&bench.check(attributes));
}

#[test]
fn a_verified_token_says_who_asks() {
    let bench = Bench::new(behind_proxy(&[]));
    let roles = Kind::ListValue(ListValue { values: vec![of(text("admin"))] });
    let payload = |roles: Kind| {
        // A token says what it likes; all of it is a claim.
        let fields = [("sub", text("ann")), ("roles", roles), ("Roles", text("x")), ("id", Kind::NumberValue(4.0))];
        let fields = fields.map(|(name, value)| (name.to_owned(), of(value)));
        of(Kind::StructValue(Struct { fields: fields.into() }))
    };
    let failed = Struct { fields: [("code".to_owned(), of(Kind::NumberValue(3.0)))].into() };
    let with = |tokens: Vec<(&str, Value)>, attributes: AttributeContext| {
        let fields = tokens.into_iter().map(|(name, token)| (name.to_owned(), token)).collect();
        let kept = [("envoy.filters.http.jwt_authn".to_owned(), Struct { fields })].into();
        AttributeContext { metadata_context: Some(Metadata { filter_metadata: kept }), ..attributes }
    };
    let users = || asked("GET", "/api/users");
    let failed = || of(Kind::StructValue(failed.clone()));
    ok(&bench.check(with(vec![("failed", failed()), ("payload", payload(roles.clone()))], users())));
    denied(&bench.check(with(vec![("failed", failed())], users())));
    // The token comes before the header.
    let nobody = || payload(Kind::ListValue(ListValue { values: vec![] }));
    denied(&bench.check(with(vec![("payload", nobody())], admin("GET", "/api/users"))));
    // Several: the route says which one counts.
    let two = || vec![("a", nobody()), ("b", payload(roles.clone()))];
    denied(&bench.check(with(two(), users())));
    let mut named = with(two(), users());
    named.context_extensions.insert("jwt".to_owned(), "b".to_owned());
    ok(&bench.check(named));
}

#[test]
fn a_certificate_says_who_asks_and_duties_must_be_understood() {
    let bench = Bench::new(behind_proxy(&[]));
    let mut attributes = asked("GET", "/stock?all");
    attributes.source.as_mut().unwrap().principal = "spiffe://mesh/robot".to_owned();
    let response = bench.check(attributes.clone());
    let reason = header(&denied(&response).headers, "x-policy-reason");
    assert_eq!(reason, Some("the obligation note-it is not understood here"));
    attributes.context_extensions.insert("obligations".to_owned(), "other, note-it".to_owned());
    let response = bench.check(attributes.clone());
    assert_eq!(header(&ok(&response).headers, "x-policy-obligations"), Some("note-it"));
    assert!(matches!(metadata(&response, "obligations"), Some(Kind::ListValue(list)) if list.values.len() == 1));
    attributes.context_extensions.insert("app".to_owned(), "bank".to_owned());
    denied(&bench.check(attributes));
}

#[test]
fn what_is_no_request_is_denied() {
    let bench = Bench::new(behind_proxy(&[]));
    denied(&bench.check(AttributeContext::default()));
    let mut attributes = admin("GET", "/api/users");
    attributes.request.as_mut().unwrap().time = Some(Timestamp { seconds: i64::MAX, nanos: 0 });
    denied(&bench.check(attributes));
    let mut attributes = admin("GET", "/api/users");
    attributes.context_extensions.insert("kind".to_owned(), "nothing".to_owned());
    denied(&bench.check(attributes));
}

#[test]
fn health_is_told() {
    let bench = Bench::new(behind_proxy(&[]));
    let mut client = HealthClient::new(bench.channel.clone());
    for service in ["", "envoy.service.auth.v3.Authorization"] {
        let asked = client.check(HealthCheckRequest { service: service.to_owned() });
        let status = bench.runtime.block_on(asked).unwrap().into_inner().status();
        assert_eq!(status, ServingStatus::Serving, "{service}");
    }
    let unknown = client.check(HealthCheckRequest { service: "unknown".to_owned() });
    assert_eq!(bench.runtime.block_on(unknown).unwrap_err().code(), Code::NotFound);
}

#[test]
fn reflection_lists_the_services_and_describes_them() {
    let bench = Bench::new(behind_proxy(&[]));
    let ask = |message| {
        let mut client = ServerReflectionClient::new(bench.channel.clone());
        let request = ServerReflectionRequest { message_request: Some(message), ..ServerReflectionRequest::default() };
        bench.runtime.block_on(async {
            let mut answers =
                client.server_reflection_info(futures::stream::iter(vec![request])).await.unwrap().into_inner();
            answers.message().await.unwrap().unwrap().message_response.unwrap()
        })
    };
    let MessageResponse::ListServicesResponse(listed) = ask(MessageRequest::ListServices(String::new())) else {
        panic!("no list")
    };
    let names: Vec<String> = listed.service.into_iter().map(|service| service.name).collect();
    for name in ["envoy.service.auth.v3.Authorization", "grpc.health.v1.Health", "grpc.reflection.v1.ServerReflection"]
    {
        assert!(names.contains(&name.to_owned()), "{name}: {names:?}");
    }
    let described = ask(MessageRequest::FileContainingSymbol("envoy.service.auth.v3.CheckRequest".to_owned()));
    assert!(matches!(described, MessageResponse::FileDescriptorResponse(_)), "{described:?}");
}

const CHECK: &str = "/envoy.service.auth.v3.Authorization/Check";

#[test]
fn what_cannot_be_read_is_refused_and_changes_nothing() {
    let bench = Bench::new(behind_proxy(&[]));
    assert_eq!(bench.raw(CHECK, vec![0xff; 64]).code(), Code::Internal);
    let too_large = bench.raw(CHECK, vec![0; (1 << 20) + 1]).code();
    assert!(matches!(too_large, Code::OutOfRange | Code::ResourceExhausted), "{too_large:?}");
    assert_eq!(bench.raw("/envoy.service.auth.v3.Authorization/Guess", vec![]).code(), Code::Unimplemented);
    assert_eq!(bench.raw("/no.such.Service/Check", vec![]).code(), Code::Unimplemented);
    // Frames that are none, and a message that is longer than what comes.
    for sent in [
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff".as_slice(),
        b"POST /envoy.service.auth.v3.Authorization/Check HTTP/1.1\r\nhost: x\r\ncontent-type: application/grpc\r\n\
            content-length: 6\r\n\r\n\x00\xff\xff\xff\xff!",
        b"\x00\x01\x02\x03",
    ] {
        let address = bench.served.base().trim_start_matches("http://");
        let mut stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(1))).unwrap();
        stream.write_all(sent).unwrap();
        // Whether it answers or hangs up is its business; that it goes on is ours.
        stream.read_to_end(&mut Vec::new()).ok();
    }
    ok(&bench.check(admin("GET", "/api/users")));
}

/// Asks as Envoy does, for tests of other surfaces.
pub(crate) struct Checker {
    runtime: Runtime,
    channel: Channel,
}

/// What Envoy is reported.
pub(crate) struct Checked {
    /// The status and the headers of a denial.
    pub(crate) denied: Option<(i32, Vec<(String, String)>)>,
    /// Everything, as JSON.
    pub(crate) metadata: serde_json::Value,
    /// Whether the request goes on.
    pub(crate) is_open: bool,
}

impl Checker {
    pub(crate) fn new(base: &str) -> Self {
        let runtime = Runtime::new().unwrap();
        let endpoint = Endpoint::from_shared(base.to_owned()).unwrap().timeout(Duration::from_secs(20));
        let channel = runtime.block_on(async { endpoint.connect_lazy() });
        Self { runtime, channel }
    }

    /// A request whose headers come one by one.
    pub(crate) fn check(
        &self,
        method: &str,
        path: &str,
        host: &str,
        headers: &[(&str, &str)],
        obligations: &str,
    ) -> Checked {
        let mut attributes = asked(method, path);
        attributes.context_extensions.insert("obligations".to_owned(), obligations.to_owned());
        let http = attributes.request.as_mut().unwrap().http.as_mut().unwrap();
        host.clone_into(&mut http.host);
        http.header_map = Some(header_map(headers));
        self.send(attributes)
    }

    /// A request from an address, with payloads of tokens that Envoy has verified.
    pub(crate) fn check_of(
        &self,
        address: &str,
        path: &str,
        headers: &[(&str, &str)],
        verified: &[(&str, serde_json::Value)],
    ) -> Checked {
        let mut attributes = AttributeContext { source: Some(peer(address)), ..asked("GET", path) };
        attributes.request.as_mut().unwrap().http.as_mut().unwrap().header_map = Some(header_map(headers));
        let fields = verified.iter().map(|(name, payload)| ((*name).to_owned(), value_of(payload))).collect();
        let kept = [("envoy.filters.http.jwt_authn".to_owned(), Struct { fields })].into();
        attributes.metadata_context = Some(Metadata { filter_metadata: kept });
        self.send(attributes)
    }

    fn send(&self, attributes: AttributeContext) -> Checked {
        let mut client = AuthorizationClient::new(self.channel.clone());
        let asked = client.check(CheckRequest { attributes: Some(attributes) });
        let response = self.runtime.block_on(asked).unwrap().into_inner();
        let is_open = response.status.as_ref().unwrap().code == 0;
        let denied = match &response.http_response {
            Some(HttpResponse::DeniedResponse(denied)) => {
                let headers = denied.headers.iter().filter_map(|option| option.header.clone());
                Some((denied.status.unwrap().code, headers.map(|header| (header.key, header.value)).collect()))
            }
            _ => None,
        };
        let metadata = response.dynamic_metadata.map(json_of).unwrap_or_default();
        Checked { denied, metadata, is_open }
    }
}

fn header_map(headers: &[(&str, &str)]) -> HeaderMap {
    let entry = |(name, value): &(&str, &str)| HeaderValue {
        key: (*name).to_owned(),
        raw_value: value.as_bytes().to_vec(),
        ..HeaderValue::default()
    };
    HeaderMap { headers: headers.iter().map(entry).collect() }
}

fn value_of(value: &serde_json::Value) -> Value {
    use serde_json::Value as Json;

    of(match value {
        Json::Null => Kind::NullValue(0),
        Json::Bool(value) => Kind::BoolValue(*value),
        Json::Number(value) => Kind::NumberValue(value.as_f64().unwrap()),
        Json::String(value) => Kind::StringValue(value.clone()),
        Json::Array(items) => Kind::ListValue(ListValue { values: items.iter().map(value_of).collect() }),
        Json::Object(fields) => {
            let fields = fields.iter().map(|(name, value)| (name.clone(), value_of(value))).collect();
            Kind::StructValue(Struct { fields })
        }
    })
}

pub(crate) fn json_of(value: Struct) -> serde_json::Value {
    value.fields.into_iter().map(|(name, value)| (name, json_of_value(value))).collect()
}

fn json_of_value(value: Value) -> serde_json::Value {
    match value.kind {
        Some(Kind::BoolValue(value)) => value.into(),
        Some(Kind::NumberValue(value)) => value.into(),
        Some(Kind::StringValue(value)) => value.into(),
        Some(Kind::StructValue(value)) => json_of(value),
        Some(Kind::ListValue(list)) => list.values.into_iter().map(json_of_value).collect(),
        None | Some(Kind::NullValue(_)) => serde_json::Value::Null,
    }
}
