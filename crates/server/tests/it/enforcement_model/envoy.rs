//! What Envoy sends.

use prost_types::value::Kind;
use prost_types::{ListValue, Struct, Timestamp, Value};
use serde_json::Value as Json;

use super::facts::seconds;
use super::worlds::{Check, HeaderForm};
use crate::grpc::proto::envoy::config::core::v3::{Address, HeaderMap, HeaderValue, Metadata, SocketAddress, address};
use crate::grpc::proto::envoy::service::auth::v3::AttributeContext;
use crate::grpc::proto::envoy::service::auth::v3::attribute_context::{HttpRequest, Peer, Request};

pub(super) fn attributes(check: &Check) -> AttributeContext {
    let mut http = HttpRequest {
        method: check.method.clone(),
        path: check.path.clone(),
        host: check.host.clone(),
        ..HttpRequest::default()
    };
    match check.form {
        HeaderForm::Joined => http.headers = check.sent().into_iter().collect(),
        HeaderForm::Raw => {
            let entry = |(key, value): (String, String)| HeaderValue {
                key,
                raw_value: value.into_bytes(),
                ..HeaderValue::default()
            };
            http.header_map = Some(HeaderMap { headers: check.sent().into_iter().map(entry).collect() });
        }
    }
    let time = Timestamp { seconds: seconds(check.time).unwrap(), nanos: 0 };
    let address = check.source.as_ref().map(|source| {
        let socket = SocketAddress { address: source.clone(), ..SocketAddress::default() };
        Address { address: Some(address::Address::SocketAddress(socket)) }
    });
    let destination = Peer { service: check.destination.clone(), ..Peer::default() };
    AttributeContext {
        source: Some(Peer { address, principal: check.principal.clone(), ..Peer::default() }),
        destination: Some(destination),
        request: Some(Request { time: Some(time), http: Some(http) }),
        context_extensions: check.context.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect(),
        metadata_context: check.token.as_ref().map(verified),
        ..AttributeContext::default()
    }
}

/// A token that Envoy verified.
fn verified(token: &Json) -> Metadata {
    let fields = [("payload".to_owned(), value(token))].into();
    Metadata { filter_metadata: [("envoy.filters.http.jwt_authn".to_owned(), Struct { fields })].into() }
}

fn value(json: &Json) -> Value {
    let kind = match json {
        Json::Null => Kind::NullValue(0),
        Json::Bool(value) => Kind::BoolValue(*value),
        Json::Number(number) => Kind::NumberValue(number.as_f64().unwrap()),
        Json::String(text) => Kind::StringValue(text.clone()),
        Json::Array(list) => Kind::ListValue(ListValue { values: list.iter().map(value).collect() }),
        Json::Object(map) => {
            let fields = map.iter().map(|(name, json)| (name.clone(), value(json))).collect();
            Kind::StructValue(Struct { fields })
        }
    };
    Value { kind: Some(kind) }
}
