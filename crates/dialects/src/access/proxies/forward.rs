//! The request that a proxy asks about in headers: the HTTP service of Envoy's external authorization, `auth_request` of nginx, forward
//! authentication of Traefik and Caddy.

use std::net::IpAddr;

use upheld_engine::decide::{Fact, Maybe};
use upheld_model::Timestamp;

use super::trust::{Headers, Trust, Twice};
use crate::access::enforce::HttpRequest;

/// A question of a proxy.
#[derive(Clone, Debug)]
pub struct Forwarded<'r> {
    /// The method with which it asks.
    pub method: &'r str,
    /// What follows the path where it asks; Envoy puts the path of its client there.
    pub below: &'r str,
    /// The headers with which it asks: its own, and those of its client.
    pub headers: Headers,
    /// Who asks.
    pub peer: Option<IpAddr>,
    /// When.
    pub now: Timestamp,
}

/// Why nobody can tell what was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ambiguous {
    /// There is no path.
    NoPath,
    /// There is no method.
    NoMethod,
    /// A path that is none.
    BadPath,
    /// There are two; one of them may come from the client.
    TwoRequests,
}

impl Ambiguous {
    /// In words.
    pub fn reason(self) -> &'static str {
        match self {
            Self::NoPath => {
                "the proxy does not say which path was asked for: X-Original-URI or X-Forwarded-Uri is missing"
            }
            Self::NoMethod => {
                "the proxy does not say with which method: X-Original-Method or X-Forwarded-Method is missing"
            }
            Self::BadPath => "the proxy names an invalid path",
            Self::TwoRequests => "headers of the proxy name different requests",
        }
    }
}

impl From<Twice> for Ambiguous {
    fn from(_: Twice) -> Self {
        Self::TwoRequests
    }
}

/// Headers that proxies change on their way to us: what the client sent there is not known.
const CHANGED: [&str; 4] = ["host", "connection", "content-length", "transfer-encoding"];

impl Forwarded<'_> {
    /// The request that waits in the proxy.
    pub fn request(&self, trust: &Trust) -> Result<HttpRequest, Ambiguous> {
        let (method, path) = self.original()?;
        let mut headers = self.headers.facts(trust.headers);
        for name in CHANGED {
            headers.set(name, Fact::Unknown);
        }
        Ok(HttpRequest {
            method: method.to_owned(),
            path: path.to_owned(),
            host: trust.host(&self.headers, self.peer),
            app: trust.app(&self.headers, self.peer),
            identity: trust.identity(&self.headers, self.peer),
            headers,
            address: trust.address(&self.headers, self.peer),
            forwarded_for: self.headers.joined("x-forwarded-for"),
            real_ip: self.headers.joined("x-real-ip"),
            time: Maybe::Is(self.now),
        })
    }

    /// Envoy asks for the path itself, below the prefix. Others ask for the prefix, and say path and method in headers of their own; since
    /// each passes on the other's headers, two that differ are a trick. The method comes from whoever says the path.
    fn original(&self) -> Result<(&str, &str), Ambiguous> {
        if !self.below.is_empty() {
            return Ok((self.method, self.below));
        }
        let one = |name: &str| self.headers.one(name);
        let (of_nginx, of_traefik) = (one("x-original-uri")?, one("x-forwarded-uri")?);
        let (path, method) = match (of_nginx, of_traefik) {
            (None, None) => return Err(Ambiguous::NoPath),
            (Some(nginx), Some(traefik)) if nginx != traefik => return Err(Ambiguous::TwoRequests),
            (Some(path), Some(_)) => match (one("x-original-method")?, one("x-forwarded-method")?) {
                (Some(nginx), Some(traefik)) if nginx != traefik => return Err(Ambiguous::TwoRequests),
                (nginx, traefik) => (path, nginx.or(traefik)),
            },
            (Some(path), None) => (path, one("x-original-method")?),
            (None, Some(path)) => (path, one("x-forwarded-method")?),
        };
        let path = path.split('?').next().unwrap_or_default();
        // Requests have no fragments. Who reads one leaves it out, and who does not finds `..` behind it.
        if !path.starts_with('/') || path.contains('#') {
            return Err(Ambiguous::BadPath);
        }
        Ok((method.filter(|method| !method.is_empty()).ok_or(Ambiguous::NoMethod)?, path))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(below: &str, given: &[(&str, &str)], expected: Result<(&str, &str), Ambiguous>) {
        let mut headers = Headers::default();
        for (name, value) in given {
            headers.add(name, value.as_bytes());
        }
        let forwarded = Forwarded { method: "PUT", below, headers, peer: None, now: Timestamp(0) };
        assert_eq!(forwarded.original(), expected);
    }

    #[test]
    fn envoy_puts_the_path_below_the_prefix() {
        check("/a/b", &[], Ok(("PUT", "/a/b")));
        check("/", &[("x-original-uri", "/other")], Ok(("PUT", "/")));
        check("//a/%2e%2e/b", &[], Ok(("PUT", "//a/%2e%2e/b")));
    }

    #[test]
    fn others_say_it_in_their_own_headers() {
        check("", &[("x-original-uri", "/a?b"), ("x-original-method", "GET")], Ok(("GET", "/a")));
        check("", &[("x-forwarded-uri", "/a"), ("x-forwarded-method", "POST")], Ok(("POST", "/a")));
    }

    #[test]
    fn without_a_method_from_who_says_the_path_nothing_is_decided() {
        check("", &[("x-original-uri", "/a")], Err(Ambiguous::NoMethod));
        check("", &[("x-original-uri", "/a"), ("x-forwarded-method", "GET")], Err(Ambiguous::NoMethod));
        check("", &[("x-original-uri", "/a"), ("x-original-method", "")], Err(Ambiguous::NoMethod));
    }

    #[test]
    fn what_is_said_twice_is_not_believed() {
        check("", &[("x-original-uri", "/a"), ("x-forwarded-uri", "/b")], Err(Ambiguous::TwoRequests));
        check("", &[("x-original-uri", "/a"), ("x-original-uri", "/a")], Err(Ambiguous::TwoRequests));
        let methods = [("x-original-method", "GET"), ("x-forwarded-method", "PUT")];
        let paths = [("x-original-uri", "/a"), ("x-forwarded-uri", "/a")];
        check("", &[paths, methods].concat(), Err(Ambiguous::TwoRequests));
    }

    #[test]
    fn without_a_path_there_is_nothing_to_decide() {
        check("", &[], Err(Ambiguous::NoPath));
        check("", &[("x-original-uri", "a"), ("x-original-method", "GET")], Err(Ambiguous::BadPath));
        let fragment = ("x-original-uri", "/a#/../b");
        check("", &[fragment, ("x-original-method", "GET")], Err(Ambiguous::BadPath));
        check("", &[("x-original-uri", "/a?b#c"), ("x-original-method", "GET")], Ok(("GET", "/a")));
    }
}
