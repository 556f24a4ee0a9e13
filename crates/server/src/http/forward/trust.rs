//! Who asks and from where, as far as those are trusted who say so.

use std::net::{IpAddr, SocketAddr};

use axum::http::{HeaderMap, HeaderValue};
use ipnet::IpNet;
use upheld_dialects::access::enforce::Identity;
use upheld_input::{Format, parse};
use upheld_model::{File, Severity, SourceId};

use super::{IDENTITY, REMOVED};

/// Whether an address is in one of these networks.
pub(super) fn is_trusted(peer: IpAddr, networks: &[IpNet]) -> bool {
    let peer = peer.to_canonical();
    networks.iter().any(|network| network.contains(&peer))
}

/// What the identity header comes to.
#[derive(Debug)]
pub(super) enum Identified {
    /// There is none.
    Absent,
    /// There is one, from somebody who is not trusted with it.
    Ignored,
    /// There is one that cannot be read.
    Unreadable,
    /// This one.
    Known(Box<File>),
}

impl Identified {
    /// Of the headers of a request.
    pub(super) fn of(headers: &HeaderMap, name: &str, trusted: bool) -> Self {
        let mut values = headers.get_all(name).iter();
        let (Some(value), more) = (values.next(), values.next()) else { return Self::Absent };
        if !trusted {
            return Self::Ignored;
        }
        // Nobody knows which of two is meant.
        let (Ok(text), None) = (std::str::from_utf8(value.as_bytes()), more) else { return Self::Unreadable };
        if text.is_empty() {
            return Self::Absent;
        }
        let (file, problems) = parse("identity", Format::Json, text.to_owned(), SourceId::new(0));
        let broken = problems.iter().any(|problem| problem.severity == Severity::Error);
        if broken { Self::Unreadable } else { Self::Known(Box::new(file)) }
    }

    /// As the enforcement point takes it.
    pub(super) fn identity(&self) -> Identity<'_> {
        match self {
            Self::Absent | Self::Ignored => Identity::Absent,
            Self::Unreadable => Identity::Unreadable,
            Self::Known(file) => file.tree.documents().next().map_or(Identity::Unreadable, Identity::Known),
        }
    }

    /// Tells proxy and operator what was not believed; what was not believed here must not be believed behind the proxy.
    pub(super) fn report(&self, peer: Option<IpAddr>, name: &str, headers: &mut HeaderMap) {
        let word = match self {
            Self::Absent | Self::Known(_) => return,
            Self::Ignored => {
                tracing::warn!(?peer, header = name, "an identity was ignored: its sender is not a trusted peer");
                "ignored"
            }
            Self::Unreadable => {
                tracing::warn!(?peer, header = name, "an identity could not be read");
                "unreadable"
            }
        };
        headers.insert(IDENTITY, HeaderValue::from_static(word));
        if let Ok(name) = HeaderValue::from_str(name) {
            headers.insert(REMOVED, name);
        }
    }
}

/// The address of the client: the peer, or what the outermost of the trusted proxies says. `None` if they say something that is no address.
pub(super) fn address(headers: &HeaderMap, peer: Option<IpAddr>, trusted: bool, hops: usize) -> Option<IpAddr> {
    if hops == 0 || !trusted {
        return peer;
    }
    let all = headers.get_all("x-forwarded-for").iter().filter_map(|value| value.to_str().ok());
    let said: Vec<&str> = all.flat_map(|value| value.split(',')).map(str::trim).collect();
    // Each proxy adds one at the right end; what is left of theirs comes from the client.
    let Some(entry) = said.get(said.len().saturating_sub(hops)) else { return peer };
    let plain = entry.trim_start_matches('[').trim_end_matches(']');
    let with_port = || entry.parse::<SocketAddr>().ok().map(|address| address.ip());
    plain.parse().ok().or_else(with_port)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PEER: IpAddr = IpAddr::V4(std::net::Ipv4Addr::LOCALHOST);

    #[track_caller]
    fn check(forwarded: &[&str], hops: usize, expected: Option<&str>) {
        let headers: HeaderMap =
            forwarded.iter().map(|value| ("x-forwarded-for".parse().unwrap(), value.parse().unwrap())).collect();
        let expected = expected.map(|address| address.parse().unwrap());
        assert_eq!(address(&headers, Some(PEER), true, hops), expected);
        assert_eq!(address(&headers, Some(PEER), false, hops), Some(PEER));
    }

    #[test]
    fn without_hops_the_peer_counts() {
        check(&["192.0.2.1"], 0, Some("127.0.0.1"));
        check(&[], 1, Some("127.0.0.1"));
    }

    #[test]
    fn each_hop_adds_one_at_the_end() {
        check(&["192.0.2.1, 192.0.2.2"], 1, Some("192.0.2.2"));
        check(&["192.0.2.1, 192.0.2.2"], 2, Some("192.0.2.1"));
        check(&["192.0.2.1", "192.0.2.2"], 2, Some("192.0.2.1"));
        check(&["192.0.2.1, 192.0.2.2"], 5, Some("192.0.2.1"));
    }

    #[test]
    fn what_is_no_address_is_nobody() {
        check(&["somebody"], 1, None);
        check(&["192.0.2.1:80"], 1, Some("192.0.2.1"));
        check(&["[2001:db8::1]"], 1, Some("2001:db8::1"));
    }

    #[test]
    fn peers_are_trusted_by_network() {
        let networks = ["127.0.0.0/8".parse().unwrap(), "2001:db8::/32".parse().unwrap()];
        assert!(is_trusted("::ffff:127.0.0.1".parse().unwrap(), &networks));
        assert!(!is_trusted("10.0.0.1".parse().unwrap(), &networks));
    }
}
