//! Where a request comes from: whether the address of the peer says it, and whether a page of somebody else is behind it.
//!
//! A browser sends requests for whatever page is open in it. A page can give its own name our address, and then ask as if it was ours; but
//! its name stays its own, in `Host` and in `Origin`. Tokens are not sent by browsers of themselves, so whoever brings one is not looked
//! at.

use std::net::IpAddr;

use axum::http::request::Parts;
use axum::http::{HeaderMap, Uri, header};

use super::caller::AuthMethod;
use super::endpoint::{Endpoint, Form, Headers, is_about_health};
use super::refusal::Refusal;
use crate::config::Config;

/// Headers that only proxies add: then the address of the peer is the proxy's, and nobody knows the client's.
const PROXIES: [&str; 7] =
    ["forwarded", "via", "x-real-ip", "x-client-ip", "x-cluster-client-ip", "true-client-ip", "cf-connecting-ip"];

/// Whether a proxy passes the request on. Who asks about another request may have the headers of that one; and proxies that ask over gRPC
/// say in headers where they are themselves.
pub(super) fn is_proxied(parts: &Parts, endpoint: Endpoint) -> bool {
    let named = || PROXIES.iter().any(|name| parts.headers.contains_key(*name));
    let forwarded = || parts.headers.keys().any(|name| name.as_str().starts_with("x-forwarded-"));
    endpoint.headers == Headers::Own && endpoint.form != Form::Grpc && (named() || forwarded())
}

/// Whether the client means this server, and no page of somebody else is behind it.
pub(super) fn check(parts: &Parts, endpoint: Endpoint, how: AuthMethod, config: &Config) -> Result<(), Refusal> {
    let by_token = matches!(how, AuthMethod::Token | AuthMethod::Jwt);
    if by_token || endpoint.headers == Headers::Another || is_about_health(parts.uri.path()) {
        return Ok(());
    }
    let host = host(parts);
    for origin in parts.headers.get_all(header::ORIGIN) {
        let origin = origin.to_str().unwrap_or_default();
        if !is_same(origin, host, config.public_url.as_deref()) {
            return Err(Refusal::Foreign(format!(
                "a page of `{}` may not ask in the name of whoever looks at it: send a token, or ask from a page of this server",
                origin.escape_debug()
            )));
        }
    }
    // Proxies that ask over gRPC call this server whatever they like, and browsers do not. With a certificate, TLS looked at names.
    if how == AuthMethod::Anonymous && endpoint.form != Form::Grpc && !is_ours(host, config) {
        return Err(Refusal::Misdirected(format!(
            "this server is not called `{}`: send a token, ask it by its address, or let it be called so (`--host NAME`, `--public-url URL`)",
            host.escape_debug()
        )));
    }
    Ok(())
}

/// The host that a client believes to speak with.
fn host(parts: &Parts) -> &str {
    parts.uri.authority().map_or_else(|| given(&parts.headers), axum::http::uri::Authority::as_str)
}

fn given(headers: &HeaderMap) -> &str {
    let mut all = headers.get_all(header::HOST).iter();
    match (all.next(), all.next()) {
        (Some(host), None) => host.to_str().unwrap_or_default(),
        _ => "",
    }
}

/// Whether a page is of the host that it asks, with its port, or of the public URL.
fn is_same(origin: &str, host: &str, public_url: Option<&str>) -> bool {
    let page = origin.parse::<Uri>().ok();
    let Some(page) = page.as_ref().and_then(Uri::authority) else { return false };
    let public = public_url.and_then(|url| url.parse::<Uri>().ok());
    let is_public = public.as_ref().and_then(Uri::authority).is_some_and(|known| known == page);
    is_public || page.as_str().eq_ignore_ascii_case(host)
}

/// Addresses are nobody's name, so no page has one that it did not get from this machine.
fn is_ours(host: &str, config: &Config) -> bool {
    let name = without_port(host);
    let public = config.public_url.as_deref().and_then(|url| url.parse::<Uri>().ok());
    let public = public.as_ref().and_then(Uri::host);
    let mut known = config.security.hosts.iter().map(String::as_str).chain(public);
    name.eq_ignore_ascii_case("localhost")
        || name.to_ascii_lowercase().ends_with(".localhost")
        || name.trim_matches(['[', ']']).parse::<IpAddr>().is_ok()
        || known.any(|known| known.eq_ignore_ascii_case(name))
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
    use crate::config::Security;

    #[test]
    fn names_of_others_are_not_ours() {
        let config = Config::default();
        for ours in ["127.0.0.1", "127.0.0.1:8181", "[::1]", "[::1]:8181", "localhost:8181", "a.localhost", "192.0.2.7"]
        {
            assert!(is_ours(ours, &config), "{ours}");
        }
        for other in ["", "evil.example", "evil.example:8181", "localhost.evil.example", "127.0.0.1.evil.example"] {
            assert!(!is_ours(other, &config), "{other}");
        }
        let security = Security { hosts: vec!["policies.internal".to_owned()], ..Security::default() };
        let public_url = Some("https://policies.example/".to_owned());
        let named = Config { public_url, security, ..config };
        assert!(is_ours("policies.example:443", &named) && is_ours("Policies.Internal", &named));
        assert!(!is_ours("evil.example", &named));
    }

    #[test]
    fn pages_are_ours_with_their_port_only() {
        assert!(is_same("http://localhost:8181", "localhost:8181", None));
        assert!(is_same("https://policies.example", "10.0.0.1:8181", Some("https://policies.example/")));
        for other in ["http://localhost:3000", "http://evil.example", "http://evil.example:8181", "null", "", "file://"]
        {
            assert!(!is_same(other, "localhost:8181", Some("https://policies.example")), "{other}");
        }
    }
}
