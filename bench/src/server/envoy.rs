//! Questions over gRPC, as Envoy asks them.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use prost::Message;
use tonic::client::Grpc;
use tonic::codegen::http::uri::PathAndQuery;
use tonic::transport::Endpoint;
use tonic_prost::ProstCodec;
use upheld_engine::decide::Request;

/// As much of the message as a question needs.
#[derive(Clone, PartialEq, Message)]
struct CheckRequest {
    #[prost(message, optional, tag = "1")]
    attributes: Option<Attributes>,
}

#[derive(Clone, PartialEq, Message)]
struct Attributes {
    #[prost(message, optional, tag = "4")]
    request: Option<HttpRequest>,
}

#[derive(Clone, PartialEq, Message)]
struct HttpRequest {
    #[prost(message, optional, tag = "2")]
    http: Option<Http>,
}

#[derive(Clone, PartialEq, Message)]
struct Http {
    #[prost(string, tag = "2")]
    method: String,
    #[prost(map = "string, string", tag = "3")]
    headers: HashMap<String, String>,
    #[prost(string, tag = "4")]
    path: String,
}

#[derive(Clone, PartialEq, Message)]
struct CheckResponse {
    #[prost(message, optional, tag = "1")]
    status: Option<Status>,
}

#[derive(Clone, PartialEq, Message)]
struct Status {
    #[prost(int32, tag = "1")]
    code: i32,
}

/// Asks for a while; how long each answer took.
pub(super) async fn ask(
    server: SocketAddr,
    requests: &[Request],
    for_long: Duration,
    latencies: &mut Vec<Duration>,
) -> Result<(), String> {
    let endpoint = Endpoint::from_shared(format!("http://{server}")).map_err(|error| error.to_string())?;
    let channel = endpoint.tcp_nodelay(true).connect().await.map_err(|error| error.to_string())?;
    let mut client = Grpc::new(channel);
    let messages: Vec<CheckRequest> = requests.iter().map(message).collect();
    let end = Instant::now() + for_long;
    for message in messages.iter().cycle() {
        let begin = Instant::now();
        client.ready().await.map_err(|error| error.to_string())?;
        let codec: ProstCodec<CheckRequest, CheckResponse> = ProstCodec::default();
        let path = PathAndQuery::from_static("/envoy.service.auth.v3.Authorization/Check");
        let answer = client.unary(tonic::Request::new(message.clone()), path, codec).await;
        latencies.push(begin.elapsed());
        answer.map_err(|error| error.to_string())?;
        if begin > end {
            break;
        }
    }
    Ok(())
}

/// The request as a client of Envoy sends it: its first line without the version, and its headers.
pub(super) fn head(request: &Request) -> Option<(String, String)> {
    let (method, path) = (request.action.method.known()?, request.resource.path.known()?);
    Some((format!("{method} {path}"), format!("x-identity: {}\r\n", identity(request))))
}

fn message(request: &Request) -> CheckRequest {
    let text = |value: Option<&smol_str::SmolStr>| value.map(ToString::to_string).unwrap_or_default();
    let http = Http {
        method: text(request.action.method.known()),
        headers: HashMap::from([("x-identity".to_owned(), identity(request))]),
        path: text(request.resource.path.known()),
    };
    CheckRequest { attributes: Some(Attributes { request: Some(HttpRequest { http: Some(http) }) }) }
}

/// Who asks, as a proxy passes it on.
fn identity(request: &Request) -> String {
    let names = |names: &[smol_str::SmolStr]| {
        names.iter().map(|name| format!("{:?}", name.as_str())).collect::<Vec<_>>().join(",")
    };
    let subject = &request.subject;
    format!(
        "{{\"sub\": {:?}, \"roles\": [{}], \"groups\": [{}]}}",
        subject.id.known().map_or("", smol_str::SmolStr::as_str),
        names(subject.roles.known()),
        names(subject.groups.known()),
    )
}
