//! The request that a proxy asks about in headers: the HTTP service of Envoy's external authorization, `auth_request` of nginx, forward
//! authentication of Traefik and Caddy.

use std::fmt;
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
    /// What it speaks.
    pub protocol: Protocol,
    /// The headers with which it asks: its own, and those of its client.
    pub headers: Headers,
    /// Who asks.
    pub peer: Option<IpAddr>,
    /// When.
    pub now: Timestamp,
}

/// What a proxy speaks when it asks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Protocol {
    /// HTTP/1.0, which nginx speaks by default, and Envoy never.
    Http10,
    /// A later one.
    #[default]
    Later,
}

/// Why a question does not say which request waits in the proxy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ambiguous {
    /// There is no path.
    NoPath,
    /// The one who says the path does not say the method.
    NoMethod(&'static str),
    /// A header with an invalid path.
    BadPath(&'static str),
    /// A header is there twice, or is not text; one value may come from the client.
    Twice(&'static str),
    /// Two headers differ; one of them may come from the client.
    Differ([&'static str; 2]),
    /// A header names another request than the path below the prefix and the method of the question.
    NotBelow(&'static str),
    /// A path below the prefix, from a proxy that asks with a method of its own.
    NotEnvoy,
}

impl fmt::Display for Ambiguous {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoPath => f.write_str(
                "the proxy does not say which path was asked for: X-Original-URI or X-Forwarded-Uri is missing. Set one in the proxy",
            ),
            Self::NoMethod(header) => {
                write!(f, "the proxy does not say with which method: {header} is missing. Set it in the proxy")
            }
            Self::BadPath(header) => {
                write!(f, "the proxy names an invalid path in {header}: expected the path as the client sent it")
            }
            Self::Twice(header) => {
                write!(f, "{header} is there twice, or is not text. Overwrite in the proxy what clients send there")
            }
            Self::Differ([one, other]) => write!(
                f,
                "headers of the proxy name different requests: {one} and {other}. Remove in the proxy the one that it does not set"
            ),
            Self::NotBelow(header) => write!(
                f,
                "the path below /forward-auth and {header} name different requests. Ask at /forward-auth, without a slash or path behind it \
                 (nginx, Caddy, Traefik), or remove {header} in the proxy (Envoy)"
            ),
            Self::NotEnvoy => f.write_str(
                "the path stands below /forward-auth, and the question came over HTTP/1.0: its method is the proxy's own. Ask at \
                 /forward-auth, and set X-Original-URI and X-Original-Method in the proxy",
            ),
        }
    }
}

const URIS: [&str; 2] = ["X-Original-URI", "X-Forwarded-Uri"];
const METHODS: [&str; 2] = ["X-Original-Method", "X-Forwarded-Method"];

/// Headers that proxies change on their way to us: what the client sent there is not known.
const CHANGED: [&str; 4] = ["host", "connection", "content-length", "transfer-encoding"];

impl Forwarded<'_> {
    /// The request that waits in the proxy.
    pub fn request(&self, trust: &Trust) -> Result<HttpRequest, Ambiguous> {
        let (method, path) = self.original()?;
        let mut headers = self.headers.facts(trust.headers_given(self.peer));
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

    /// Envoy asks for the path itself, below the prefix. Others ask for the prefix, and say path and method in headers of their own. Each
    /// passes on the other's headers, so two statements that differ are a trick or a mistake. The method comes from whoever says the path.
    fn original(&self) -> Result<(&str, &str), Ambiguous> {
        let [original_uri, forwarded_uri] = self.both(URIS)?;
        let methods = self.both(METHODS)?;
        let ([of_uri, of_forwarded], [original_method, forwarded_method]) = (URIS, METHODS);
        let [original, forwarded] = methods;
        let (header, path, named, method) = match (original_uri, forwarded_uri) {
            (None, None) => return self.below_alone(methods),
            (Some(path), None) => (of_uri, path, original_method, original),
            (None, Some(path)) => (of_forwarded, path, forwarded_method, forwarded),
            (Some(path), Some(_)) => (of_uri, path, original_method, original.or(forwarded)),
        };
        let path = path.split('?').next().unwrap_or_default();
        if !self.below.is_empty() && self.below != path {
            return Err(Ambiguous::NotBelow(header));
        }
        // Requests have no fragments. Who reads one leaves it out, and who does not finds `..` behind it.
        if !path.starts_with('/') || path.contains('#') {
            return Err(Ambiguous::BadPath(header));
        }
        let method = method.filter(|method| !method.is_empty()).ok_or(Ambiguous::NoMethod(named))?;
        if !self.below.is_empty() && self.method != method {
            return Err(Ambiguous::NotBelow(named));
        }
        Ok((method, path))
    }

    /// The request below the prefix, where no header names a path.
    fn below_alone(&self, methods: [Option<&str>; 2]) -> Result<(&str, &str), Ambiguous> {
        if self.below.is_empty() {
            return Err(Ambiguous::NoPath);
        }
        let differs = |(_, said): &(_, Option<&str>)| said.is_some_and(|said| said != self.method);
        if let Some((header, _)) = METHODS.into_iter().zip(methods).find(differs) {
            return Err(Ambiguous::NotBelow(header));
        }
        // What asks with a method of its own and does not say the client's would have every request taken for a GET.
        if self.protocol == Protocol::Http10 && methods == [None, None] {
            return Err(Ambiguous::NotEnvoy);
        }
        Ok((self.method, self.below))
    }

    /// The values of two headers that mean the same, so they must not differ.
    fn both(&self, names: [&'static str; 2]) -> Result<[Option<&str>; 2], Ambiguous> {
        let one = |name: &'static str| self.headers.one(name).map_err(|Twice| Ambiguous::Twice(name));
        let [first, second] = names;
        match [one(first)?, one(second)?] {
            [Some(one), Some(other)] if one != other => Err(Ambiguous::Differ(names)),
            values => Ok(values),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const URI: &str = "X-Original-URI";
    const METHOD: &str = "X-Original-Method";
    const FORWARDED_METHOD: &str = "X-Forwarded-Method";

    fn asked(protocol: Protocol, below: &str, given: &[(&str, &str)]) -> Result<(String, String), Ambiguous> {
        let mut headers = Headers::default();
        for (name, value) in given {
            headers.add(name, value.as_bytes());
        }
        let forwarded = Forwarded { method: "PUT", below, protocol, headers, peer: None, now: Timestamp(0) };
        forwarded.original().map(|(method, path)| (method.to_owned(), path.to_owned()))
    }

    #[track_caller]
    fn check(below: &str, given: &[(&str, &str)], expected: Result<(&str, &str), Ambiguous>) {
        let expected = expected.map(|(method, path)| (method.to_owned(), path.to_owned()));
        assert_eq!(asked(Protocol::Later, below, given), expected);
    }

    #[test]
    fn envoy_puts_the_path_below_the_prefix() {
        check("/a/b", &[], Ok(("PUT", "/a/b")));
        check("/", &[], Ok(("PUT", "/")));
        check("//a/%2e%2e/b", &[], Ok(("PUT", "//a/%2e%2e/b")));
    }

    #[test]
    fn a_path_below_the_prefix_and_one_in_a_header_are_two_requests() {
        let nginx = [("x-original-uri", "/other"), ("x-original-method", "PUT")];
        for below in ["/", "//", "/others", "/other/", "/Other", "/%6fther"] {
            check(below, &nginx, Err(Ambiguous::NotBelow(URI)));
            check(below, &nginx[..1], Err(Ambiguous::NotBelow(URI)));
        }
        let traefik = [("x-forwarded-uri", "/other"), ("x-forwarded-method", "PUT")];
        check("/", &traefik, Err(Ambiguous::NotBelow("X-Forwarded-Uri")));
        check("/", &[("x-original-uri", "")], Err(Ambiguous::NotBelow(URI)));
        check("/", &[("x-original-uri", "other")], Err(Ambiguous::NotBelow(URI)));
    }

    #[test]
    fn a_method_in_a_header_that_is_not_that_of_the_question_is_another_request() {
        check("/a", &[("x-original-method", "DELETE")], Err(Ambiguous::NotBelow(METHOD)));
        check("/a", &[("x-forwarded-method", "put")], Err(Ambiguous::NotBelow(FORWARDED_METHOD)));
        check("/a", &[("x-original-uri", "/a"), ("x-original-method", "GET")], Err(Ambiguous::NotBelow(METHOD)));
    }

    #[test]
    fn the_very_same_request_may_be_named_twice() {
        check("/a", &[("x-original-uri", "/a?b"), ("x-original-method", "PUT")], Ok(("PUT", "/a")));
        check("/", &[("x-forwarded-uri", "/"), ("x-forwarded-method", "PUT")], Ok(("PUT", "/")));
        check("/a", &[("x-forwarded-method", "PUT")], Ok(("PUT", "/a")));
        // The method of a proxy's question may be its own, so whoever says the path must say the method.
        check("/a", &[("x-original-uri", "/a")], Err(Ambiguous::NoMethod(METHOD)));
        check("/a", &[("x-original-uri", "/a"), ("x-forwarded-method", "PUT")], Err(Ambiguous::NoMethod(METHOD)));
    }

    #[test]
    fn a_proxy_that_speaks_an_old_protocol_is_not_envoy() {
        let asked = |given: &[(&str, &str)]| asked(Protocol::Http10, "/a", given);
        let same = Ok(("PUT".to_owned(), "/a".to_owned()));
        assert_eq!(asked(&[]), Err(Ambiguous::NotEnvoy));
        assert_eq!(asked(&[("x-original-method", "PUT")]), same);
        assert_eq!(asked(&[("x-original-uri", "/a"), ("x-original-method", "PUT")]), same);
    }

    #[test]
    fn others_say_it_in_their_own_headers() {
        check("", &[("x-original-uri", "/a?b"), ("x-original-method", "GET")], Ok(("GET", "/a")));
        check("", &[("x-forwarded-uri", "/a"), ("x-forwarded-method", "POST")], Ok(("POST", "/a")));
    }

    #[test]
    fn without_a_method_from_who_says_the_path_nothing_is_decided() {
        check("", &[("x-original-uri", "/a")], Err(Ambiguous::NoMethod(METHOD)));
        check("", &[("x-original-uri", "/a"), ("x-forwarded-method", "GET")], Err(Ambiguous::NoMethod(METHOD)));
        check(
            "",
            &[("x-forwarded-uri", "/a"), ("x-original-method", "GET")],
            Err(Ambiguous::NoMethod(FORWARDED_METHOD)),
        );
        check("", &[("x-original-uri", "/a"), ("x-original-method", "")], Err(Ambiguous::NoMethod(METHOD)));
    }

    #[test]
    fn what_is_said_twice_is_not_believed() {
        check("", &[("x-original-uri", "/a"), ("x-forwarded-uri", "/b")], Err(Ambiguous::Differ(URIS)));
        check("", &[("x-original-uri", "/a"), ("x-original-uri", "/a")], Err(Ambiguous::Twice(URI)));
        check("/a", &[("x-original-uri", "/a"), ("x-original-uri", "/a")], Err(Ambiguous::Twice(URI)));
        let methods = [("x-original-method", "GET"), ("x-forwarded-method", "PUT")];
        let paths = [("x-original-uri", "/a"), ("x-forwarded-uri", "/a")];
        check("", &[paths, methods].concat(), Err(Ambiguous::Differ(METHODS)));
        check("", &[("x-original-uri", "/a"), methods[0], methods[1]], Err(Ambiguous::Differ(METHODS)));
    }

    #[test]
    fn without_a_path_there_is_nothing_to_decide() {
        check("", &[], Err(Ambiguous::NoPath));
        check("", &[("x-original-method", "GET")], Err(Ambiguous::NoPath));
        check("", &[("x-original-uri", "a"), ("x-original-method", "GET")], Err(Ambiguous::BadPath(URI)));
        check("", &[("x-original-uri", ""), ("x-original-method", "GET")], Err(Ambiguous::BadPath(URI)));
        let fragment = ("x-original-uri", "/a#/../b");
        check("", &[fragment, ("x-original-method", "GET")], Err(Ambiguous::BadPath(URI)));
        check("", &[("x-original-uri", "/a?b#c"), ("x-original-method", "GET")], Ok(("GET", "/a")));
    }
}
