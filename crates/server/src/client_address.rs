//! Where a request comes from that a proxy asks about; the same over gRPC and HTTP.

use std::net::{IpAddr, SocketAddr};

use ipnet::IpNet;

/// Whether an address is in one of these networks.
pub(crate) fn is_trusted(peer: IpAddr, networks: &[IpNet]) -> bool {
    let peer = peer.to_canonical();
    networks.iter().any(|network| network.contains(&peer))
}

/// The address of the client. `hops` says how many of the last addresses belong to proxies that are trusted, the peer
/// first; each of them has told whom it heard the request from, at the end of `X-Forwarded-For`. Whoever did not come through
/// all of them could have written anything there: then the peer is the client.
///
/// `None` if a trusted proxy does not say an address.
pub(crate) fn client(peer: IpAddr, forwarded_for: Option<&str>, hops: usize) -> Option<IpAddr> {
    let Some(before) = hops.checked_sub(1) else { return Some(peer) };
    match forwarded_for.unwrap_or_default().rsplit(',').nth(before).map(str::trim) {
        None | Some("") => Some(peer),
        Some(told) => {
            let with_port = || told.parse().ok().map(|address: SocketAddr| address.ip());
            let address = told.trim_start_matches('[').trim_end_matches(']').parse().ok().or_else(with_port);
            address.map(|address: IpAddr| address.to_canonical())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{client, is_trusted};

    #[test]
    fn peers_are_trusted_by_network() {
        let networks = ["127.0.0.0/8".parse().unwrap(), "2001:db8::/32".parse().unwrap()];
        assert!(is_trusted("::ffff:127.0.0.1".parse().unwrap(), &networks));
        assert!(!is_trusted("10.0.0.1".parse().unwrap(), &networks));
    }

    #[test]
    fn only_trusted_proxies_are_believed() {
        let peer = "10.0.0.9".parse().unwrap();
        let client = |told, hops| client(peer, told, hops).map(|address| address.to_string());
        let told = Some("6.6.6.6, 192.0.2.7,::ffff:10.0.0.8");
        for (told, hops, expected) in [
            (told, 0, Some("10.0.0.9")),
            (told, 1, Some("10.0.0.8")),
            (told, 2, Some("192.0.2.7")),
            (told, 4, Some("10.0.0.9")),
            (None, 1, Some("10.0.0.9")),
            (Some(""), 1, Some("10.0.0.9")),
            (Some("192.0.2.7:4711"), 1, Some("192.0.2.7")),
            (Some("[2001:db8::7]:4711"), 1, Some("2001:db8::7")),
            (Some("unknown"), 1, None),
        ] {
            assert_eq!(client(told, hops).as_deref(), expected, "{told:?} {hops}");
        }
    }
}
