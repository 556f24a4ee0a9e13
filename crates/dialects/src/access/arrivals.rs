//! Requests as tests describe how they arrive, from proxies and programs: what becomes of a request on its way to the policies is tested
//! with them.

use std::collections::BTreeMap;
use std::net::IpAddr;

use serde_json::Value as Json;
use smol_str::SmolStr;
use upheld_model::tree::{Kind, Value};
use upheld_model::{Diagnostic, Diagnostics, Fault, SourceId, Timestamp};
use upheld_report::Report;

use super::authzen::AuthZen;
use super::decider::{CompleteRequest, Decider};
use super::enforce::{Arriving, EnforcementPoint, HttpRequest, Why};
use super::proxies::{Attributes, Forwarded, Headers, Protocol, Trust};
use crate::shape::{Shape, list, map_of, optional, required};

/// A request as it arrives.
#[derive(Clone, Debug)]
pub struct Arrival {
    how: How,
    trust: Trust,
    fulfils: Vec<SmolStr>,
    now: Timestamp,
    /// As it was written.
    given: Json,
}

#[derive(Clone, Debug)]
enum How {
    Forwarded { method: String, below: String, headers: Headers, peer: IpAddr },
    Envoy(Box<Attributes>),
    AuthZen(Json),
}

/// What policies are asked.
#[derive(Clone, Debug)]
pub enum Arrived {
    /// This.
    Asks(Box<CompleteRequest>),
    /// Nothing: what becomes of the request is told by this word, and perhaps by a reason.
    Told(&'static str, Option<String>),
}

impl Arrival {
    /// Of a case.
    pub fn read(source: SourceId, case: Value<'_>, now: Timestamp, found: &mut Diagnostics) -> Option<Self> {
        let texts = |field: &str| -> Vec<String> {
            case.get(field).into_iter().flat_map(Value::items).map(|item| item.text().to_owned()).collect()
        };
        let trust = match Trust::read(&texts("trust")) {
            Ok(trust) => trust,
            Err(problem) => {
                found.push(problem.at_value(source, case.get("trust").unwrap_or(case), "here"));
                return None;
            }
        };
        let arrives = case.get("arrives")?;
        let mut ways = arrives.entries();
        let (Some((way, given)), None) = (ways.next(), ways.next()) else {
            let message = "a request arrives in one way";
            let expected = "expected `forwardAuth`, `envoy` or `authzen`";
            found.push(Diagnostic::error(Fault::WrongValue, message).at_value(source, arrives, expected));
            return None;
        };
        let how = match way.text() {
            "forwardAuth" => How::Forwarded {
                method: text(given, "method").unwrap_or_else(|| "GET".to_owned()),
                below: text(given, "path").unwrap_or_default(),
                headers: headers(given),
                peer: peer(source, given, found)?,
            },
            "envoy" => How::Envoy(Box::new(Attributes {
                method: text(given, "method").unwrap_or_else(|| "GET".to_owned()),
                path: text(given, "path").unwrap_or_default(),
                host: text(given, "host").unwrap_or_default(),
                headers: headers(given),
                peer: Some(peer(source, given, found)?),
                principal: text(given, "principal"),
                service: text(given, "service"),
                extensions: extensions(given),
                tokens: given.get("tokens").and_then(|tokens| serde_json::to_value(tokens).ok()),
                time: None,
            })),
            _ => How::AuthZen(serde_json::to_value(given).unwrap_or_default()),
        };
        let fulfils = texts("fulfils").into_iter().map(SmolStr::from).collect();
        Some(Self { how, trust, fulfils, now, given: serde_json::to_value(arrives).unwrap_or_default() })
    }

    /// As it was written.
    pub fn given(&self) -> &Json {
        &self.given
    }

    /// What policies are asked about it.
    pub fn arrived(&self, decider: Decider<'_>) -> Arrived {
        let undecided = |reason: &str| Arrived::Told("undecided", Some(reason.to_owned()));
        match &self.how {
            How::AuthZen(request) => match AuthZen::new(decider, Some(self.now)).request(request) {
                Ok(request) => Arrived::Asks(Box::new(request)),
                Err(bad) => undecided(&bad.to_string()),
            },
            How::Forwarded { method, below, headers, peer } => {
                let headers = headers.clone();
                let (protocol, peer) = (Protocol::default(), Some(*peer));
                let forwarded = Forwarded { method, below, protocol, headers, peer, now: self.now };
                match forwarded.request(&self.trust) {
                    Ok(http) => self.enforced(decider, &http),
                    Err(ambiguous) => undecided(&ambiguous.to_string()),
                }
            }
            How::Envoy(attributes) => match attributes.request(&self.trust) {
                Ok(http) => self.enforced(decider, &http),
                Err(reason) => undecided(reason),
            },
        }
    }

    fn enforced(&self, decider: Decider<'_>, http: &HttpRequest) -> Arrived {
        match (EnforcementPoint { decider, understood: &[] }).arrives(http, Some(self.now)) {
            Arriving::Asks(request) => Arrived::Asks(request),
            Arriving::Undecided(reason) => Arrived::Told("undecided", Some(reason)),
            Arriving::Refused(reason) => Arrived::Told("deny", Some(reason.to_owned())),
            Arriving::GoesOn(Why::Excluded) => Arrived::Told("excluded", None),
            Arriving::GoesOn(_) => Arrived::Told("permit", None),
        }
    }

    /// Whether a permit does not open, because nobody fulfils what comes with it. Programs that ask are told of it, and do it themselves.
    pub fn is_held_back(&self, decider: Decider<'_>, report: &Report) -> bool {
        let fulfilled = match &self.how {
            How::AuthZen(_) => return false,
            How::Forwarded { .. } => self.fulfils.clone(),
            How::Envoy(attributes) => attributes.fulfilled().into_iter().chain(self.fulfils.clone()).collect(),
        };
        let obligations = report.decision().map_or(&[][..], |detail| detail.obligations.as_slice());
        EnforcementPoint { decider, understood: &fulfilled }.not_understood(obligations).is_some()
    }
}

/// What such requests look like.
pub fn shape() -> Shape {
    let headers = || map_of(Shape::Either(vec![Shape::Text, list(Shape::Text)]));
    let forwarded = Shape::Object(vec![
        optional("method", Shape::Text, "the method with which the proxy asks; GET when left out"),
        optional("path", Shape::Text, "what follows the path where it asks, as Envoy does"),
        optional("headers", headers(), "the headers with which it asks; a list for one that is there twice"),
        optional("peer", Shape::Text, "its address; 127.0.0.1 when left out"),
    ]);
    let envoy = Shape::Object(vec![
        optional("method", Shape::Text, "the method of the request; GET when left out"),
        required("path", Shape::Text, "its path and query"),
        optional("host", Shape::Text, "its host"),
        optional("headers", headers(), "its headers; a list for one that is there twice"),
        optional("peer", Shape::Text, "who connects to Envoy; 127.0.0.1 when left out"),
        optional("principal", Shape::Text, "whose certificate they have shown"),
        optional("service", Shape::Text, "the service that Envoy names"),
        optional("extensions", map_of(Shape::Text), "context_extensions of the route"),
        optional("tokens", map_of(Shape::Opaque), "payloads of verified tokens, by name"),
    ]);
    Shape::Object(vec![
        optional("forwardAuth", forwarded, "below /forward-auth, as nginx, Caddy, Traefik and Envoy ask over HTTP"),
        optional("envoy", envoy, "over gRPC"),
        optional("authzen", map_of(Shape::Opaque), "an Access Evaluation: subject, action, resource, context"),
    ])
}

fn text(of: Value<'_>, field: &str) -> Option<String> {
    of.get(field).and_then(Value::as_text).map(str::to_owned)
}

/// Names with one value or several.
fn headers(of: Value<'_>) -> Headers {
    let mut headers = Headers::default();
    for (name, value) in of.get("headers").into_iter().flat_map(Value::entries) {
        let values: Vec<Value<'_>> = if value.kind() == Kind::List { value.items().collect() } else { vec![value] };
        for value in values {
            headers.add(name.text(), value.text().as_bytes());
        }
    }
    headers
}

fn extensions(of: Value<'_>) -> BTreeMap<String, String> {
    let entries = of.get("extensions").into_iter().flat_map(Value::entries);
    entries.map(|(name, value)| (name.text().to_owned(), value.text().to_owned())).collect()
}

/// Who asks; this machine when left out.
fn peer(source: SourceId, of: Value<'_>, found: &mut Diagnostics) -> Option<IpAddr> {
    let Some(written) = of.get("peer") else { return Some(IpAddr::from([127, 0, 0, 1])) };
    let address = written.text().parse().ok();
    if address.is_none() {
        let message = format!("`{}` is not an address", written.text());
        found.push(Diagnostic::error(Fault::WrongValue, message).at_value(source, written, "expected an address"));
    }
    address
}
