//! `forward_auth` of Caddy.

use super::super::front::Fronts;
use super::super::parts::Upstream;
use super::Expected::{Refuses, WorksBut};
use super::{Caught, Row, Servers, WORKS, changed, hold};

/// Texts of [`SITE`], and what stands in their place.
type Change = &'static [(&'static str, &'static str)];

const HEAD: &str = "{
	admin off
	auto_https off
}
";

/// A configuration that works.
const SITE: &str = ":FRONT {
	bind 127.0.0.1
	route {
		request_header -X-Original-*
		request_header -X-Forwarded-*
		request_header -X-Identity
		forward_auth UPHELD {
			uri /forward-auth
		}
		reverse_proxy SERVICE
	}
}
";

const USUAL: &[&str] = &["peer=127.0.0.1", "hops=1", "host-header=x-forwarded-host", "headers=all"];
const TWO_HOPS: &[&str] = &["peer=127.0.0.1", "hops=2", "host-header=x-forwarded-host", "headers=all"];
const ASKS: &str = "uri /forward-auth\n";
const TWO_REQUESTS: &str = "name different requests";
const ELSEWHERE: &str = "answered at /forward-auth only";

const ROWS: &[Row<Change>] = &[
    Row { name: "as it should be", change: &[], trust: USUAL, expected: WORKS, forged: Caught },
    Row {
        name: "headers of clients are not removed",
        change: &[("request_header -X-Original-*", ""), ("request_header -X-Forwarded-*", "")],
        trust: USUAL,
        expected: WORKS,
        forged: Caught,
    },
    Row {
        name: "below the prefix",
        change: &[(ASKS, "uri /forward-auth{uri}\n")],
        trust: USUAL,
        expected: WORKS,
        forged: Caught,
    },
    Row {
        name: "a slash behind it",
        change: &[(ASKS, "uri /forward-auth/\n")],
        trust: USUAL,
        expected: Refuses(TWO_REQUESTS),
        forged: Caught,
    },
    Row {
        name: "another address: /",
        change: &[(ASKS, "uri /\n")],
        trust: USUAL,
        expected: Refuses(ELSEWHERE),
        forged: Caught,
    },
    Row {
        name: "another address: the client's",
        change: &[(ASKS, "uri {uri}\n")],
        trust: USUAL,
        expected: Refuses(ELSEWHERE),
        forged: Caught,
    },
    Row {
        name: "the path is removed",
        change: &[(ASKS, "uri /forward-auth\n\t\t\theader_up -X-Forwarded-Uri\n")],
        trust: USUAL,
        expected: Refuses("X-Original-URI or X-Forwarded-Uri is missing"),
        forged: Caught,
    },
    Row {
        name: "the method is removed",
        change: &[(ASKS, "uri /forward-auth\n\t\t\theader_up -X-Forwarded-Method\n")],
        trust: USUAL,
        expected: Refuses("X-Forwarded-Method is missing"),
        forged: Caught,
    },
    Row {
        name: "another address: a page",
        change: &[(ASKS, "uri /policies\n")],
        trust: USUAL,
        expected: Refuses(ELSEWHERE),
        forged: Caught,
    },
    Row {
        name: "the host is removed",
        change: &[(ASKS, "uri /forward-auth\n\t\t\theader_up -X-Forwarded-Host\n")],
        trust: USUAL,
        expected: WorksBut(&["/host/"]),
        forged: Caught,
    },
    Row {
        name: "the address is removed",
        change: &[(ASKS, "uri /forward-auth\n\t\t\theader_up -X-Forwarded-For\n")],
        trust: USUAL,
        expected: WorksBut(&["/address/"]),
        forged: Caught,
    },
    Row { name: "too many hops", change: &[], trust: TWO_HOPS, expected: WorksBut(&["/address/"]), forged: Caught },
    Row {
        name: "nobody is believed",
        change: &[],
        trust: &[],
        expected: WorksBut(&["/host/", "/address/", "/header/1"]),
        forged: Caught,
    },
];

#[test]
fn mistakes_in_caddy_let_nothing_through() {
    let (servers, upstream) = (Servers::start(ROWS), Upstream::start());
    let fronts = Fronts::caddy(ROWS.len(), |addresses| {
        let site = |(row, address): (&Row<Change>, &std::net::SocketAddr)| {
            changed(SITE, row.change)
                .replace("FRONT", &address.port().to_string())
                .replace("UPHELD", &servers.address(row.trust).to_string())
                .replace("SERVICE", &upstream.address.to_string())
        };
        let rows: String = ROWS.iter().zip(addresses).map(site).collect();
        format!("{HEAD}{rows}")
    });
    let Some(fronts) = fronts else { return };
    hold(ROWS, &fronts.addresses, &upstream);
}
