//! Whether the address of a peer says where a request comes from.

use std::net::IpAddr;

use axum::http::request::Parts;
use axum::http::{Uri, header};

use super::endpoint::Endpoint;

/// Headers that a proxy adds: then the address of the peer is the proxy's, and nobody knows the client's.
const FORWARDED: [&str; 3] = ["forwarded", "x-forwarded-for", "x-real-ip"];

/// Whether the peer is who asks. Who asks for a decision may have the headers of the request that it is about.
pub(super) fn is_certain(parts: &Parts, endpoint: Endpoint, public_url: Option<&str>) -> bool {
    let proxied = || FORWARDED.iter().any(|name| parts.headers.contains_key(*name));
    endpoint.sort == "decision" || (!proxied() && is_ours(host(parts), public_url))
}

/// The host that a client believes to speak with.
fn host(parts: &Parts) -> &str {
    let given = parts.headers.get(header::HOST).and_then(|host| host.to_str().ok());
    parts.uri.host().or(given).unwrap_or_default()
}

/// A page of somebody else can give its own name our address, and then ask as if it was ours. Its name stays its own, though.
fn is_ours(host: &str, public_url: Option<&str>) -> bool {
    let name = without_port(host);
    let public = public_url.and_then(|url| url.parse::<Uri>().ok());
    name == "localhost"
        || name.ends_with(".localhost")
        || name.trim_matches(['[', ']']).parse::<IpAddr>().is_ok()
        || public.is_some_and(|url| url.host().is_some_and(|known| known.eq_ignore_ascii_case(name)))
}

fn without_port(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if !port.ends_with(']') && port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_others_are_not_ours() {
        for ours in ["127.0.0.1", "127.0.0.1:8181", "[::1]", "[::1]:8181", "localhost:8181", "a.localhost", "192.0.2.7"]
        {
            assert!(is_ours(ours, None), "{ours}");
        }
        for other in ["", "evil.example", "evil.example:8181", "localhost.evil.example", "127.0.0.1.evil.example"] {
            assert!(!is_ours(other, None), "{other}");
        }
        assert!(is_ours("policies.example:443", Some("https://policies.example/")));
        assert!(!is_ours("evil.example", Some("https://policies.example")));
    }
}
