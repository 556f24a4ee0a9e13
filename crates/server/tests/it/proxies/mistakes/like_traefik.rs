//! The stand-in for Traefik: what the server makes of headers as Traefik documents them.

use super::super::parts::Upstream;
use super::super::traefik;
use super::Expected::Refuses;
use super::{Caught, Row, Servers, WORKS, changed, hold};

/// Texts of the example, and what stands in their place.
type Change = &'static [(&'static str, &'static str)];

const USUAL: &[&str] = &["peer=127.0.0.1", "hops=1", "host-header=x-forwarded-host", "headers=all"];
const ADDRESS: &str = "127.0.0.1:8181/forward-auth";

const ROWS: &[Row<Change>] = &[
    Row { name: "as it should be", change: &[], trust: USUAL, expected: WORKS, forged: Caught },
    Row {
        name: "headers of clients are not removed",
        change: &[("[nobody-pretends, upheld]", "[upheld]")],
        trust: USUAL,
        expected: WORKS,
        forged: Caught,
    },
    Row {
        name: "a slash behind it",
        change: &[(ADDRESS, "127.0.0.1:8181/forward-auth/")],
        trust: USUAL,
        expected: Refuses("name different requests"),
        forged: Caught,
    },
    Row {
        name: "a path behind it",
        change: &[(ADDRESS, "127.0.0.1:8181/forward-auth/x")],
        trust: USUAL,
        expected: Refuses("X-Forwarded-Uri"),
        forged: Caught,
    },
    Row {
        name: "another address: none",
        change: &[(ADDRESS, "127.0.0.1:8181")],
        trust: USUAL,
        expected: Refuses("answered at /forward-auth only"),
        forged: Caught,
    },
];

#[test]
fn mistakes_in_what_stands_in_for_traefik_let_nothing_through() {
    let (servers, upstream) = (Servers::start(ROWS), Upstream::start());
    let start = |row: &Row<Change>| {
        traefik::start(&changed(traefik::EXAMPLE, row.change), servers.address(row.trust), upstream.address)
    };
    let addresses: Vec<_> = ROWS.iter().map(start).collect();
    hold(ROWS, &addresses, &upstream);
}
