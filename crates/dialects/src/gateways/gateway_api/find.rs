//! Which way takes a request.

use rustc_hash::FxHashMap;

use super::hostname::{covers, is_unfilled, specificity};
use super::matches::{FieldMatch, Match, PathKind};
use super::pattern::Pattern;
use super::topology::{Gateway, Host, Place, Topology, Way};

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
                let host = self.host_on((gateway, found), port, host_name(request.host))?;
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

/// Hosts of all gateways, found by their names.
#[derive(Clone, Debug, Default)]
pub(super) struct HostIndex {
    /// Places by gateway, port and name in lower case.
    by_name: FxHashMap<(usize, u16, String), Vec<usize>>,
    /// Gateways and places of hosts of whose names a part is put in later.
    unfilled: Vec<(usize, usize)>,
}

impl HostIndex {
    fn of(topology: &Topology) -> Self {
        let mut index = Self::default();
        for (number, gateway) in topology.gateways.iter().enumerate() {
            for (place, host) in gateway.hosts.iter().enumerate() {
                let key = (number, host.port, host.name.to_ascii_lowercase());
                index.by_name.entry(key).or_default().push(place);
                if is_unfilled(&host.name) {
                    index.unfilled.push((number, place));
                }
            }
        }
        index
    }
}

impl Topology {
    fn host_index(&self) -> &HostIndex {
        self.hosts.get_or_init(|| HostIndex::of(self))
    }

    /// Hosts of whose names a part is put in later.
    pub(crate) fn unfilled_hosts(&self) -> impl Iterator<Item = &Host> {
        let places = self.host_index().unfilled.iter();
        places.filter_map(|(gateway, host)| self.gateways.get(*gateway)?.hosts.get(*host))
    }

    /// The host that a name belongs to on a port. A listener with a certificate is chosen first, by its own host name; plain
    /// listeners share their hosts.
    fn host_on(&self, (number, gateway): (usize, &Gateway), port: u16, name: &str) -> Option<usize> {
        let serves = serving(gateway, port, name);
        let is_fitting = |place: &usize| gateway.hosts.get(*place).is_some_and(&serves);
        // Of equal ones the first: those for all hosts are equal, however they are written.
        covering(name).into_iter().find_map(|names| {
            let known = names.into_iter().filter_map(|name| self.host_index().by_name.get(&(number, port, name)));
            known.flatten().copied().filter(is_fitting).min()
        })
    }
}

/// Whether a host is one of those that a name belongs to on a port.
fn serving(gateway: &Gateway, port: u16, name: &str) -> impl Fn(&Host) -> bool {
    let is_secure = |place: &usize| gateway.listeners.get(*place).is_some_and(|listener| !listener.is_plain());
    let secure = gateway.taker(port, name).filter(is_secure);
    move |host: &Host| match secure {
        Some(chosen) => host.listener == chosen,
        None => gateway.listeners.get(host.listener).is_some_and(|one| one.port == port && one.is_plain()),
    }
}

/// The names of hosts that cover a name, in lower case, the narrowest first; equally narrow ones together.
fn covering(name: &str) -> Vec<Vec<String>> {
    let name = name.to_ascii_lowercase();
    let all = vec![String::new(), "*".to_owned()];
    if ["", "*"].contains(&name.as_str()) {
        return vec![all];
    }
    let ends = name.strip_prefix('*').unwrap_or(&name);
    let wider = ends.char_indices().skip(1).filter_map(|(at, _)| ends.get(at..)).map(|end| vec![format!("*{end}")]);
    std::iter::once(vec![name.clone()]).chain(wider).chain([all]).collect()
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn name() -> impl Strategy<Value = String> {
        let part = proptest::sample::select(&["a", "B", "b", "ab"][..]);
        let parts = proptest::collection::vec(part, 0..4).prop_map(|parts| parts.join("."));
        (proptest::sample::select(&["", "*", "*."][..]), parts).prop_map(|(before, parts)| format!("{before}{parts}"))
    }

    proptest! {
        /// The naive reference holds every name against every other.
        #[test]
        fn p4_the_names_that_are_looked_up_are_those_that_cover(hosts in proptest::collection::vec(name(), 1..8), name in name()) {
            let naive = hosts.iter().filter(|host| covers(host, &name)).map(|host| specificity(Some(host))).max();
            let groups = covering(&name);
            let found = groups.iter().find_map(|names| {
                hosts.iter().find(|host| names.contains(&host.to_ascii_lowercase())).map(|host| specificity(Some(host)))
            });
            prop_assert_eq!(found, naive);
            for host in &hosts {
                let is_named = groups.iter().flatten().any(|known| *known == host.to_ascii_lowercase());
                prop_assert_eq!(is_named, covers(host, &name), "{} {}", host, name);
            }
        }
    }
}
