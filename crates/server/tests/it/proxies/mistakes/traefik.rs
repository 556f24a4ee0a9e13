//! `forwardAuth` of Traefik.

use super::super::front::{Fronts, TRAEFIK, example_of};
use super::super::parts::Upstream;
use super::Expected::{Refuses, WorksBut};
use super::{Caught, NotSeen, Row, Servers, WORKS, changed, hold};

/// What differs from the example.
struct Change {
    /// Texts of the example, and what stands in their place.
    texts: &'static [(&'static str, &'static str)],
    /// Options of the program.
    options: &'static [&'static str],
}

const NONE: Change = Change { texts: &[], options: &[] };

const fn texts(texts: &'static [(&'static str, &'static str)]) -> Change {
    Change { texts, options: &[] }
}

const USUAL: &[&str] = &["peer=127.0.0.1", "hops=1", "host-header=x-forwarded-host", "headers=all"];
const TWO_HOPS: &[&str] = &["peer=127.0.0.1", "hops=2", "host-header=x-forwarded-host", "headers=all"];
const SOME_HEADERS: &[&str] = &["peer=127.0.0.1", "hops=1", "host-header=x-forwarded-host"];
const ADDRESS: &str = "127.0.0.1:8181/forward-auth";
const TRUSTS_NONE: &str = "trustForwardHeader: false";
const TRUSTS: (&str, &str) = (TRUSTS_NONE, "trustForwardHeader: true");
const INSECURE: &[&str] = &["--entryPoints.front.forwardedHeaders.insecure=true"];
const TWO_REQUESTS: &str = "name different requests";
const ELSEWHERE: &str = "answered at /forward-auth only";

const ROWS: &[Row<Change>] = &[
    Row { name: "as it should be", change: NONE, trust: USUAL, expected: WORKS, forged: Caught },
    Row {
        name: "headers of clients are not removed",
        change: texts(&[("[nobody-pretends, upheld]", "[upheld]")]),
        trust: USUAL,
        expected: WORKS,
        forged: Caught,
    },
    Row {
        name: "a slash behind it",
        change: texts(&[(ADDRESS, "127.0.0.1:8181/forward-auth/")]),
        trust: USUAL,
        expected: Refuses(TWO_REQUESTS),
        forged: Caught,
    },
    Row {
        name: "a path behind it",
        change: texts(&[(ADDRESS, "127.0.0.1:8181/forward-auth/x")]),
        trust: USUAL,
        expected: Refuses(TWO_REQUESTS),
        forged: Caught,
    },
    Row {
        name: "another address: none",
        change: texts(&[(ADDRESS, "127.0.0.1:8181")]),
        trust: USUAL,
        expected: Refuses(ELSEWHERE),
        forged: Caught,
    },
    Row {
        name: "another address: a page",
        change: texts(&[(ADDRESS, "127.0.0.1:8181/policies")]),
        trust: USUAL,
        expected: Refuses(ELSEWHERE),
        forged: Caught,
    },
    Row {
        name: "X-Forwarded-* is trusted, and the entry point removes it",
        change: texts(&[TRUSTS]),
        trust: USUAL,
        expected: WORKS,
        forged: Caught,
    },
    Row {
        name: "the entry point keeps X-Forwarded-*, and nothing trusts it",
        change: Change { texts: &[], options: INSECURE },
        trust: USUAL,
        expected: WORKS,
        forged: Caught,
    },
    Row {
        name: "X-Forwarded-* is trusted, and the entry point keeps it",
        change: Change { texts: &[TRUSTS], options: INSECURE },
        trust: USUAL,
        expected: WORKS,
        forged: NotSeen,
    },
    Row {
        name: "the method of the client",
        change: texts(&[(TRUSTS_NONE, "preserveRequestMethod: true")]),
        trust: USUAL,
        expected: WORKS,
        forged: Caught,
    },
    Row {
        name: "with the body",
        change: texts(&[(TRUSTS_NONE, "forwardBody: true")]),
        trust: USUAL,
        expected: WORKS,
        forged: Caught,
    },
    Row {
        name: "only some headers are passed on",
        change: texts(&[(TRUSTS_NONE, "authRequestHeaders: [X-Identity]")]),
        trust: SOME_HEADERS,
        expected: WorksBut(&["/header/"]),
        forged: Caught,
    },
    Row { name: "too many hops", change: NONE, trust: TWO_HOPS, expected: WorksBut(&["/address/"]), forged: Caught },
    Row {
        name: "nobody is believed",
        change: NONE,
        trust: &[],
        expected: WorksBut(&["/host/", "/address/", "/header/1"]),
        forged: Caught,
    },
];

#[test]
fn mistakes_in_traefik_let_nothing_through() {
    let (servers, upstream) = (Servers::start(ROWS), Upstream::start());
    let start = |row: &Row<Change>| {
        let example = changed(TRAEFIK, row.change.texts);
        let configuration = example_of(&example, &[], servers.address(row.trust), upstream.address);
        Fronts::traefik(&configuration, row.change.options)
    };
    let Some(fronts) = ROWS.iter().map(start).collect::<Option<Vec<_>>>() else { return };
    let addresses: Vec<_> = fronts.iter().flat_map(|front| front.addresses.iter().copied()).collect();
    hold(ROWS, &addresses, &upstream);
}
