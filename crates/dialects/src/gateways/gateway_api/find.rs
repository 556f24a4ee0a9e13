//! Which way takes a request.

use std::cmp::Reverse;

use super::hostname::{covers, specificity};
use super::matches::{FieldMatch, Match, PathKind};
use super::pattern::Pattern;
use super::topology::{Gateway, Place, Topology, Way};

/// A request, as far as routes look at it.
#[derive(Clone, Debug, Default)]
pub struct Request<'r> {
    /// The host; a port after it means nothing.
    pub host: &'r str,
    /// The path, without the query.
    pub path: &'r str,
    /// The method; `GET` if it is empty.
    pub method: &'r str,
    /// Headers; upper and lower case of names are one.
    pub headers: Vec<(&'r str, &'r str)>,
    /// Query parameters.
    pub query: Vec<(&'r str, &'r str)>,
    /// The port of the listener; any if it is not known.
    pub port: Option<u16>,
}

impl Topology {
    /// The way that takes a request.
    pub fn find(&self, request: &Request<'_>) -> Option<&Way> {
        self.way(self.find_place(request)?)
    }

    /// Where the way is that takes a request: of the first gateway and the lowest port that have one.
    pub fn find_place(&self, request: &Request<'_>) -> Option<Place> {
        self.gateways.iter().enumerate().find_map(|(gateway, found)| {
            let mut ports: Vec<u16> = found.listeners.iter().map(|listener| listener.port).collect();
            ports.sort_unstable();
            ports.dedup();
            ports.into_iter().filter(|port| request.port.is_none_or(|wanted| wanted == *port)).find_map(|port| {
                let host = host_on(found, port, host_name(request.host))?;
                let mut ways = found.hosts.get(host)?.ways.iter();
                let way = ways.position(|way| way.wanted.takes(request))?;
                Some(Place { gateway, host, way })
            })
        })
    }
}

impl Gateway {
    /// The listener that connections for a host come to on a port: one with a certificate if any is for that host, and of equal
    /// ones the narrowest.
    pub(crate) fn taker(&self, port: u16, host: &str) -> Option<usize> {
        let fitting =
            self.listeners.iter().enumerate().filter(|(_, listener)| {
                listener.port == port && covers(listener.hostname.as_deref().unwrap_or("*"), host)
            });
        // Of equal ones the first.
        let narrowest = fitting.rev().max_by_key(|(_, own)| (!own.is_plain(), specificity(own.hostname.as_deref())));
        narrowest.map(|(place, _)| place)
    }
}

/// The host without its port.
pub(crate) fn host_name(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    }
}

/// The host that a name belongs to on a port. A listener with a certificate is chosen first, by its own host name; plain
/// listeners share their hosts.
fn host_on(gateway: &Gateway, port: u16, name: &str) -> Option<usize> {
    let is_secure = |place: &usize| gateway.listeners.get(*place).is_some_and(|listener| !listener.is_plain());
    let secure = gateway.taker(port, name).filter(is_secure);
    let serves = |index: usize| match secure {
        Some(chosen) => index == chosen,
        None => gateway.listeners.get(index).is_some_and(|listener| listener.port == port && listener.is_plain()),
    };
    let hosts = gateway.hosts.iter().enumerate();
    let hosts = hosts.filter(|(_, host)| serves(host.listener) && covers(&host.name, name));
    // Of equal ones the first.
    hosts.min_by_key(|(_, host)| Reverse(specificity(Some(&host.name)))).map(|(index, _)| index)
}

impl Match {
    /// Whether a request is as it is wanted. An expression that cannot be read here takes none.
    pub fn takes(&self, request: &Request<'_>) -> bool {
        self.unmet(request).next().is_none()
    }

    /// What a request lacks, in the order in which it is looked at.
    pub fn unmet<'m>(&'m self, request: &'m Request<'_>) -> impl Iterator<Item = Unmet<'m>> {
        let method = if request.method.is_empty() { "GET" } else { request.method };
        let header = |wanted: &&FieldMatch| {
            let mut found = request.headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case(&wanted.name));
            !found.any(|(_, value)| wanted.takes(value))
        };
        let parameter = |wanted: &&FieldMatch| {
            // Of parameters with one name the first counts.
            !request.query.iter().find(|(name, _)| *name == wanted.name).is_some_and(|(_, value)| wanted.takes(value))
        };
        let path = std::iter::once(Unmet::Path(self)).filter(|_| !self.takes_path(request.path));
        let method = self.method.iter().filter(move |wanted| *wanted != method).map(|wanted| Unmet::Method(wanted));
        let headers = self.headers.iter().filter(header).map(Unmet::Header);
        path.chain(method).chain(headers).chain(self.query.iter().filter(parameter).map(Unmet::Parameter))
    }

    fn takes_path(&self, path: &str) -> bool {
        let path = path.split(['?', '#']).next().unwrap_or_default();
        let path = if path.is_empty() { "/" } else { path };
        match self.path_kind {
            PathKind::Exact => path == self.path,
            PathKind::RegularExpression => Pattern::new(&self.path).is_ok_and(|pattern| pattern.matches(path)),
            PathKind::PathPrefix => match self.normal_path() {
                "/" => true,
                prefix => path.strip_prefix(prefix).is_some_and(|rest| rest.is_empty() || rest.starts_with('/')),
            },
        }
    }
}

/// Something that a request would need.
#[derive(Clone, Copy, Debug)]
pub enum Unmet<'m> {
    /// Another path.
    Path(&'m Match),
    /// Another method.
    Method(&'m str),
    /// A header.
    Header(&'m FieldMatch),
    /// A query parameter.
    Parameter(&'m FieldMatch),
}

impl std::fmt::Display for Unmet<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let sign = |field: &FieldMatch| if field.is_regular_expression() { '~' } else { '=' };
        match self {
            Self::Path(wanted) => write!(f, "path {} {}", wanted.path_kind.word(), wanted.normal_path()),
            Self::Method(method) => write!(f, "method {method}"),
            Self::Header(field) => write!(f, "header {}{}{}", field.name, sign(field), field.value),
            Self::Parameter(field) => write!(f, "query parameter {}{}{}", field.name, sign(field), field.value),
        }
    }
}

impl FieldMatch {
    fn takes(&self, value: &str) -> bool {
        if self.is_regular_expression() {
            Pattern::new(&self.value).is_ok_and(|pattern| pattern.matches(value))
        } else {
            self.value == value
        }
    }
}
