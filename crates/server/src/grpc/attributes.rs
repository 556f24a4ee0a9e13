//! What a proxy tells about a request, out of its message.

use std::net::IpAddr;

use upheld_dialects::access::proxies::envoy::VERIFIED_TOKENS;
use upheld_dialects::access::proxies::{Attributes, Headers};
use upheld_model::Timestamp;

use super::proto::envoy::config::core::v3::address::Address;
use super::proto::envoy::service::auth::v3::CheckRequest;
use super::proto::envoy::service::auth::v3::attribute_context::{HttpRequest, Peer};
use super::structs::json_of;

/// What a question says, if it is about a request of HTTP.
pub(super) fn read(check: &CheckRequest) -> Result<Attributes, &'static str> {
    let parts = || {
        let context = check.attributes.as_ref()?;
        let request = context.request.as_ref()?;
        Some((context, request, request.http.as_ref()?))
    };
    let (context, request, http) = parts().ok_or("this is not an HTTP request")?;
    let source = context.source.as_ref();
    let kept = context.metadata_context.as_ref().and_then(|metadata| metadata.filter_metadata.get(VERIFIED_TOKENS));
    Ok(Attributes {
        method: http.method.clone(),
        path: http.path.clone(),
        host: http.host.clone(),
        headers: headers(http),
        peer: source.and_then(address),
        principal: source.map(|source| source.principal.clone()),
        service: context.destination.as_ref().map(|destination| destination.service.clone()),
        extensions: context.context_extensions.iter().map(|(name, value)| (name.clone(), value.clone())).collect(),
        tokens: kept.map(json_of),
        time: request.time.map(moment).transpose()?,
    })
}

fn moment(time: prost_types::Timestamp) -> Result<Timestamp, &'static str> {
    let seconds = time.seconds.checked_mul(1_000_000_000);
    let nanoseconds = seconds.and_then(|seconds| seconds.checked_add(i64::from(time.nanos)));
    nanoseconds.map(Timestamp).ok_or("the time of the request cannot be read")
}

/// Headers one by one where the proxy sends them so; else those of one name are joined, as proxies do.
fn headers(http: &HttpRequest) -> Headers {
    let mut headers = Headers::default();
    // In one order, whatever the message has.
    let mut joined: Vec<(&String, &String)> = http.headers.iter().collect();
    joined.sort_unstable();
    for (name, value) in joined {
        headers.add(name, value.as_bytes());
    }
    for header in http.header_map.iter().flat_map(|map| &map.headers) {
        let value = if header.raw_value.is_empty() { header.value.as_bytes() } else { &header.raw_value };
        headers.add(&header.key, value);
    }
    headers
}

/// The address of the peer of the proxy.
fn address(source: &Peer) -> Option<IpAddr> {
    match source.address.as_ref()?.address.as_ref()? {
        Address::SocketAddress(socket) => socket.address.parse().ok().map(|address: IpAddr| address.to_canonical()),
        Address::Pipe(_) => None,
    }
}
