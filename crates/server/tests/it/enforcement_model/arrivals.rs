//! What arrives, as a request: by docs/proxies.md and docs/envoy.md, and by docs/access.md for programs.

use std::net::IpAddr;

use serde_json::{Map, Value as Json};

use super::facts::{Fact, Facts, Request, address, host, is_within, seconds};
use super::identity;
use super::policies::map;
use super::worlds::{Check, HeaderForm, Http, Passed, Trusting, values};

/// Nothing is decided, whatever policies say.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Refused(pub(super) &'static str);

/// What arrived: what is asked, and whether it could be read who asks.
pub(super) struct Arrived {
    pub(super) request: Request,
    pub(super) is_identity_readable: bool,
}

/// When requests are asked that say no time. Policies that could tell times of today apart are not asked by them.
const TODAY: i64 = 1_780_000_000;

const METHODS: [&str; 2] = ["x-original-method", "x-forwarded-method"];
const PATHS: [&str; 2] = ["x-original-uri", "x-forwarded-uri"];

/// Who asks, where nobody says it.
fn blank() -> Request {
    Request {
        subject_id: Fact::Absent,
        subject_type: Fact::Absent,
        roles: Fact::Absent,
        more_roles: false,
        groups: Fact::Absent,
        claims: Facts::none(),
        method: Fact::Absent,
        operation: Fact::Absent,
        action: Facts::none(),
        app: Fact::Absent,
        path: Fact::Absent,
        resource_type: Fact::Absent,
        resource_id: Fact::Absent,
        host: Fact::Absent,
        headers: Facts::none(),
        properties: Facts::none(),
        address: Fact::Unknown,
        time: TODAY,
    }
}

fn is_trusted(trust: &Trusting, peer: Option<IpAddr>) -> bool {
    peer.is_some_and(|peer| trust.peers.is_some_and(|network| is_within(peer, network)))
}

/// A method that is not written in capitals is not known: some take it for the one in capitals, some for none.
fn proxied_method(method: &str) -> Fact {
    if method.bytes().any(|byte| byte.is_ascii_lowercase()) { Fact::Unknown } else { Fact::said(method) }
}

/// The method and the path that a request to `/forward-auth` is about.
fn named(http: &Http) -> Result<(String, String), Refused> {
    let (mut named, mut paths, mut methods): (Vec<(String, String)>, Vec<&str>, Vec<&str>) = Default::default();
    for (path, method) in PATHS.iter().zip(METHODS) {
        match (http.values(path).as_slice(), http.values(method).as_slice()) {
            ([], []) => {}
            ([path], [method]) => named.push(((*method).to_owned(), (*path).to_owned())),
            ([_, _, ..], _) | (_, [_, _, ..]) => return Err(Refused("a header twice")),
            ([path], []) => paths.push(path),
            ([], [method]) => methods.push(method),
        }
    }
    // A path alone has no method. Other parts may not say something else than whoever says both.
    if named.is_empty() && !paths.is_empty() {
        return Err(Refused("no method"));
    }
    let rest = http.target.strip_prefix("/forward-auth").unwrap_or_default();
    if !rest.is_empty() {
        named.push((http.method.clone(), rest.to_owned()));
    }
    let first = named.first().cloned().ok_or(Refused("no path"))?;
    named.extend(paths.iter().map(|path| (first.0.clone(), (*path).to_owned())));
    named.extend(methods.iter().map(|method| ((*method).to_owned(), first.1.clone())));
    let is_same = |(method, path): &(String, String)| *method == first.0 && same_path(path, &first.1);
    if named.iter().all(is_same) { Ok(first) } else { Err(Refused("two requests")) }
}

fn same_path(one: &str, other: &str) -> bool {
    one.split('?').next() == other.split('?').next()
}

/// As proxies ask over HTTP.
pub(super) fn forwarded(http: &Http, trust: &Trusting) -> Result<Arrived, Refused> {
    let (method, path) = named(http)?;
    if path.contains('#') && !path.split('#').next().unwrap_or_default().contains('?') {
        return Err(Refused("a fragment"));
    }
    let trusted = is_trusted(trust, Some(http.from));
    let mut request = Request { method: proxied_method(&method), path: Fact::said(&path), ..blank() };
    let believed = |name: Option<&str>| match name.filter(|_| trusted).map(|name| http.values(name)).as_deref() {
        Some([only]) => Fact::said(only),
        _ => Fact::Unknown,
    };
    request.host = lower_host(believed(trust.host_header));
    request.app = if trust.app_header.is_some() { believed(trust.app_header) } else { request.host.clone() };
    request.address =
        trust.hops.filter(|_| trusted).map_or(Fact::Unknown, |hops| hop(&http.values("x-forwarded-for"), hops));
    let passed = if trusted { trust.headers } else { Passed::Some };
    request.headers = headers(&http.headers, passed);
    let said = http.values(trust.identity_header);
    let is_identity_readable = caller(&mut request, if trusted { &said } else { &[] }, "anonymous");
    Ok(Arrived { request, is_identity_readable })
}

fn lower_host(fact: Fact) -> Fact {
    match fact {
        Fact::Is(Json::String(text)) => Fact::said(&host(&text)),
        fact => fact,
    }
}

/// The address of the client, if all entries from there on can be read.
fn hop(lines: &[&str], hops: usize) -> Fact {
    let joined = lines.join(",");
    let entries: Vec<Option<IpAddr>> = joined.split(',').rev().take(hops).map(address).collect();
    if hops == 0 || entries.len() < hops || entries.contains(&None) {
        return Fact::Unknown;
    }
    entries.last().copied().flatten().map_or(Fact::Unknown, |address| Fact::said(&address.to_string()))
}

/// Headers by their names in lower case. Of one that is there twice, it is not known which counts.
fn headers(sent: &[(String, String)], passed: Passed) -> Facts {
    let named = sent.iter().map(|(name, _)| match values(sent, name).as_slice() {
        [only] => (name.to_lowercase(), Fact::said(only)),
        _ => (name.to_lowercase(), Fact::Unknown),
    });
    let others = if passed == Passed::All { Fact::Absent } else { Fact::Unknown };
    Facts { known: named.collect(), others }
}

/// What the header says of who asks. Whether it can be read.
fn caller(request: &mut Request, said: &[&str], otherwise: &str) -> bool {
    match said {
        // An empty header says nothing.
        [] | [""] => {
            request.subject_id = Fact::said(otherwise);
            (request.roles, request.groups) = (Fact::Absent, Fact::Absent);
            true
        }
        [only] => {
            let Some(fields) = identity::read(only) else { return false };
            // Whoever is not named is nobody in particular.
            request.subject_id = Fact::text(fields.get("sub")).or(Fact::said("anonymous"));
            request.subject_type = Fact::text(fields.get("type"));
            request.roles = listed(fields.get("roles"));
            request.groups = listed(fields.get("groups"));
            request.claims = claims(fields.get("claims"));
            true
        }
        _ => false,
    }
}

/// A list of texts; anything else cannot be known. An empty list says nothing.
fn listed(value: Option<&Json>) -> Fact {
    match Fact::of(value) {
        Fact::Is(Json::Array(list)) if list.is_empty() => Fact::Absent,
        Fact::Is(Json::Array(list)) if list.iter().all(Json::is_string) => Fact::Is(list.into()),
        Fact::Absent => Fact::Absent,
        _ => Fact::Unknown,
    }
}

fn claims(value: Option<&Json>) -> Facts {
    match Fact::of(value) {
        Fact::Absent => Facts::none(),
        Fact::Is(Json::Object(map)) => Facts::of(Some(&map)),
        _ => Facts { others: Fact::Unknown, ..Facts::none() },
    }
}

/// As Envoy asks over gRPC.
pub(super) fn checked(check: &Check, trust: &Trusting) -> Result<Arrived, Refused> {
    if check.path.split('?').next().unwrap_or_default().contains('#') {
        return Err(Refused("a fragment"));
    }
    let source = check.source.as_deref().and_then(address);
    let trusted = is_trusted(trust, source);
    let mut request = Request { method: proxied_method(&check.method), path: Fact::said(&check.path), ..blank() };
    request.host = Fact::said(&host(&check.host));
    request.app = match check.said("app") {
        Some(app) => Fact::said(app),
        None if !check.destination.is_empty() => Fact::said(&check.destination),
        None => request.host.clone(),
    };
    let sent = check.sent();
    let connected = source.map_or(Fact::Unknown, |source| Fact::said(&source.to_string()));
    request.address = match trust.hops {
        Some(hops) if trusted && hops > 0 => hop(&values(&sent, "x-forwarded-for"), hops),
        _ => connected,
    };
    let passed = if check.said("headers") == Some("some") { Passed::Some } else { Passed::All };
    request.headers = headers(&sent, passed);
    request.time = seconds(check.time).unwrap();
    let said = values(&sent, trust.identity_header);
    let is_identity_readable = match &check.token {
        Some(Json::Object(token)) => {
            request.subject_id = Fact::text(token.get("sub"));
            request.roles = listed(token.get("roles"));
            request.groups = listed(token.get("groups"));
            request.claims = Facts::of(Some(token));
            true
        }
        _ if trusted && !said.is_empty() => caller(&mut request, &said, "anonymous"),
        _ if !check.principal.is_empty() => caller(&mut request, &[], &check.principal),
        _ => caller(&mut request, &[], "anonymous"),
    };
    debug_assert!(check.form == HeaderForm::Raw || sent.len() <= check.headers.len());
    Ok(Arrived { request, is_identity_readable })
}

/// Facts besides those with a place of their own.
fn others(part: Option<&Map<String, Json>>, apart: &[&str]) -> Facts {
    let mut facts = Facts::of(part);
    facts.known.retain(|name, _| !apart.contains(&name.as_str()));
    facts
}

/// As programs say it.
pub(super) fn decided(body: &Json) -> Request {
    let part = |name: &str| map(body, name);
    let fact = |name: &str, field: &str| Fact::text(part(name).and_then(|part| part.get(field)));
    let listed = |field: &str| listed(part("subject").and_then(|part| part.get(field)));
    Request {
        subject_id: fact("subject", "id"),
        subject_type: fact("subject", "type"),
        roles: listed("roles"),
        more_roles: false,
        groups: listed("groups"),
        claims: claims(part("subject").and_then(|part| part.get("claims"))),
        method: fact("action", "method"),
        operation: fact("action", "operation"),
        action: others(part("action"), &["method", "operation"]),
        app: fact("resource", "app"),
        path: fact("resource", "path"),
        resource_type: fact("resource", "type"),
        resource_id: fact("resource", "id"),
        host: lower_host(fact("resource", "host")),
        headers: written_headers(part("resource").and_then(|part| part.get("headers"))),
        properties: others(part("resource"), &["app", "path", "type", "id", "host", "headers"]),
        address: fact("environment", "ip").or(Fact::Unknown),
        time: time(part("environment").and_then(|part| part.get("time"))),
    }
}

fn time(value: Option<&Json>) -> i64 {
    value.and_then(Json::as_str).and_then(seconds).unwrap_or(TODAY)
}

fn written_headers(value: Option<&Json>) -> Facts {
    let sent = value.and_then(Json::as_object).into_iter().flatten().flat_map(|(name, value)| match value {
        Json::Array(list) => {
            list.iter().filter_map(Json::as_str).map(|value| (name.clone(), value.to_owned())).collect()
        }
        value => vec![(name.clone(), value.as_str().unwrap_or_default().to_owned())],
    });
    headers(&sent.collect::<Vec<_>>(), Passed::All)
}

/// As `AuthZEN` has it.
pub(super) fn evaluated(body: &Json) -> Request {
    let part = |name: &str| map(body, name);
    let fact = |name: &str, field: &str| Fact::text(part(name).and_then(|part| part.get(field)));
    let properties = |name: &str| part(name).and_then(|part| part.get("properties")).and_then(Json::as_object);
    let property = |name: &str, field: &str| Fact::text(properties(name).and_then(|properties| properties.get(field)));
    let name = body["action"]["name"].as_str().unwrap_or_default();
    let upper = name.to_uppercase();
    let is_method = ["GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"].contains(&upper.as_str());
    Request {
        subject_id: fact("subject", "id"),
        subject_type: fact("subject", "type"),
        roles: listed(properties("subject").and_then(|properties| properties.get("roles"))),
        more_roles: false,
        groups: listed(properties("subject").and_then(|properties| properties.get("groups"))),
        claims: others(properties("subject"), &["roles", "groups"]),
        method: if is_method { Fact::said(&upper) } else { Fact::Absent },
        operation: Fact::said(name),
        action: others(properties("action"), &[]),
        app: property("resource", "app"),
        path: Fact::Absent,
        resource_type: fact("resource", "type"),
        resource_id: fact("resource", "id"),
        host: lower_host(property("resource", "host")),
        headers: written_headers(properties("resource").and_then(|properties| properties.get("headers"))),
        properties: others(properties("resource"), &["app", "host", "headers"]),
        address: fact("context", "ip").or(Fact::Unknown),
        time: time(part("context").and_then(|part| part.get("time"))),
    }
}
