//! What scopes and places are called where kinds name them, and their numbers.

/// Scopes, the nearest first. What rules say themselves comes before all policies of routes, hosts and gateways. A reference to
/// one of several backends is nearer than that; one to the only backend of a rule is part of the route and gives way to it.
pub const SCOPES: [&str; 8] =
    ["backend reference", "rule", "route", "only backend reference", "host", "gateway", "listener", "backend"];

/// The scope of references to one of several backends.
pub const BACKEND_REFERENCE: u8 = 0;
/// The scope of what rules say themselves.
pub const RULE: u8 = 1;
/// The scope of routes.
pub const ROUTE: u8 = 2;
/// The scope of the reference to the only backend of a rule.
pub const ONLY_BACKEND_REFERENCE: u8 = 3;
/// The scope of hosts.
pub const HOST: u8 = 4;
/// The scope of all hosts behind a listener.
pub const GATEWAY: u8 = 5;
/// The scope of ports.
pub const LISTENER: u8 = 6;
/// The scope of backends.
pub const BACKEND: u8 = 7;

/// Places that kinds may name.
pub(crate) const PLACES: [&str; 8] = ["reference", "rule", "route", "listener", "set", "gateway", "port", "backend"];

/// Where policies are looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PlaceName {
    /// What filters of a rule name.
    Reference,
    /// A rule of a route, by its name.
    Rule,
    /// A route as a whole.
    Route,
    /// A listener of a gateway or set, by its name.
    Listener,
    /// A listener set as a whole.
    Set,
    /// A gateway as a whole.
    Gateway,
    /// A port of a backend, by its name.
    Port,
    /// A backend as a whole.
    Backend,
}

impl PlaceName {
    const ALL: [Self; 8] =
        [Self::Reference, Self::Rule, Self::Route, Self::Listener, Self::Set, Self::Gateway, Self::Port, Self::Backend];

    /// The place of a number.
    pub(crate) fn of(number: u8) -> Option<Self> {
        Self::ALL.get(usize::from(number)).copied()
    }
}

/// For which listeners a scope is made up in a way.
pub(crate) const PROTOCOLS: [&str; 2] = ["plain", "tls"];

/// Listeners without a certificate.
pub(crate) const PLAIN: u8 = 0;
/// Listeners with one.
pub(crate) const TLS: u8 = 1;

/// Ways to read documents.
pub(crate) const READERS: [&str; 9] = [
    "backend-tls",
    "envoy-gateway",
    "kgateway-backend",
    "kgateway-direct-response",
    "kgateway-http-listener",
    "kgateway-listener",
    "kgateway-traffic",
    "stanzas",
    "whole",
];

/// The number of a word in one of these lists; words are checked before.
pub(crate) fn number(words: &[&str], word: &str) -> u8 {
    let place = words.iter().position(|known| *known == word);
    place.and_then(|place| u8::try_from(place).ok()).unwrap_or(u8::MAX)
}
