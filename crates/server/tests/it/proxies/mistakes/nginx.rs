//! `auth_request` of nginx.

use super::super::front::Fronts;
use super::super::parts::Upstream;
use super::Expected::{Refuses, WorksBut};
use super::{Caught, NotSeen, Row, Servers, WORKS, changed, hold};

/// Texts of [`SERVER`], and what stands in their place.
type Change = &'static [(&'static str, &'static str)];

const HEAD: &str = "pid nginx.pid; error_log stderr crit; events {}
http { access_log off; client_body_temp_path a; proxy_temp_path b; fastcgi_temp_path c; uwsgi_temp_path d; scgi_temp_path e;
";

/// A configuration that works.
const SERVER: &str = "server {
    listen FRONT;
    location / {
        auth_request /.upheld;
        auth_request_set $why $upstream_http_x_policy_reason;
        add_header X-Why $why always;
        proxy_pass http://SERVICE;
        proxy_set_header Host $host;
    }
    location = /.upheld {
        internal;
        proxy_pass http://UPHELD/forward-auth;
        proxy_pass_request_body off;
        proxy_set_header Content-Length '';
        proxy_set_header X-Original-URI $request_uri;
        proxy_set_header X-Original-Method $request_method;
        proxy_set_header X-Forwarded-Uri '';
        proxy_set_header X-Forwarded-Method '';
        proxy_set_header X-Forwarded-Host $host;
        proxy_set_header X-Forwarded-For $remote_addr;
        proxy_set_header X-Identity '';
    }
}
";

const USUAL: &[&str] = &["peer=127.0.0.1", "hops=1", "host-header=x-forwarded-host", "headers=all"];
const TWO_HOPS: &[&str] = &["peer=127.0.0.1", "hops=2", "host-header=x-forwarded-host", "headers=all"];
const NO_HOPS: &[&str] = &["peer=127.0.0.1", "hops=0", "host-header=x-forwarded-host", "headers=all"];
const NOBODY: &[&str] = &[];

const URI: &str = "proxy_set_header X-Original-URI $request_uri;";
const METHOD: &str = "proxy_set_header X-Original-Method $request_method;";
const ADDRESS: &str = "proxy_set_header X-Forwarded-For $remote_addr;";
const ASKS: &str = "/forward-auth;";
/// Where a question stands below the prefix.
const BELOW: (&str, &str) = (ASKS, "/forward-auth$request_uri;");
/// Each entry that a client sends stays, and the client's address comes last.
const ADDED: (&str, &str) = (ADDRESS, "proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;");
const TWO_REQUESTS: &str = "name different requests";
const NO_METHOD: &str = "X-Original-Method is missing";
const ELSEWHERE: &str = "answered at /forward-auth only";

const fn row(
    name: &'static str,
    change: Change,
    trust: &'static [&'static str],
    expected: super::Expected,
    forged: super::Forged,
) -> Row<Change> {
    Row { name, change, trust, expected, forged }
}

const ROWS: &[Row<Change>] = &[
    row("as it should be", &[], USUAL, WORKS, Caught),
    row("merge_slashes off", &[("listen FRONT;", "listen FRONT; merge_slashes off;")], USUAL, WORKS, Caught),
    row("HTTP/1.1", &[("internal;", "internal; proxy_http_version 1.1;")], USUAL, WORKS, Caught),
    row("a query of its own", &[(ASKS, "/forward-auth?from=nginx;")], USUAL, WORKS, Caught),
    row("a list of addresses, and one hop", &[ADDED], USUAL, WORKS, Caught),
    row(
        "headers of Traefik are not removed",
        &[("proxy_set_header X-Forwarded-Uri '';", ""), ("proxy_set_header X-Forwarded-Method '';", "")],
        USUAL,
        WORKS,
        Caught,
    ),
    row("a path of its own to the service", &[("http://SERVICE;", "http://SERVICE/;")], USUAL, WORKS, Caught),
    row("below the prefix, and headers", &[BELOW], USUAL, WORKS, Caught),
    row("a slash behind it", &[(ASKS, "/forward-auth/;")], USUAL, Refuses(TWO_REQUESTS), Caught),
    row("two slashes behind it", &[(ASKS, "/forward-auth//;")], USUAL, Refuses(TWO_REQUESTS), Caught),
    row("a path behind it", &[(ASKS, "/forward-auth/orders/1/x;")], USUAL, Refuses(TWO_REQUESTS), Caught),
    row("a slash and a query behind it", &[(ASKS, "/forward-auth/?x;")], USUAL, Refuses(TWO_REQUESTS), Caught),
    row("below the prefix, without headers", &[BELOW, (URI, ""), (METHOD, "")], USUAL, Refuses("HTTP/1.0"), NotSeen),
    row("below the prefix, without the method", &[BELOW, (METHOD, "")], USUAL, Refuses(NO_METHOD), NotSeen),
    row("without the path", &[(URI, "")], USUAL, Refuses("X-Original-URI or X-Forwarded-Uri is missing"), NotSeen),
    row("without the method", &[(METHOD, "")], USUAL, Refuses(NO_METHOD), NotSeen),
    row(
        "the method in the header of Traefik",
        &[("X-Original-Method $request_method", "X-Forwarded-Method $request_method")],
        USUAL,
        Refuses(NO_METHOD),
        Caught,
    ),
    row(
        "the path twice",
        &[(URI, "proxy_set_header X-Original-URI $request_uri; proxy_set_header X-Original-URI $request_uri;")],
        USUAL,
        Refuses("X-Original-URI is there twice"),
        Caught,
    ),
    row("another address: /", &[(ASKS, "/;")], USUAL, Refuses(ELSEWHERE), Caught),
    row("another address: none", &[(ASKS, ";")], USUAL, Refuses(ELSEWHERE), Caught),
    row("another address: the client's", &[(ASKS, "$request_uri;")], USUAL, Refuses(ELSEWHERE), Caught),
    row("another address: a page", &[(ASKS, "/policies;")], USUAL, Refuses(ELSEWHERE), Caught),
    row("too many hops", &[], TWO_HOPS, WorksBut(&["/address/"]), Caught),
    row("too many hops, and a list of addresses", &[ADDED], TWO_HOPS, WorksBut(&["/address/"]), NotSeen),
    row("no hops", &[], NO_HOPS, WorksBut(&["/address/"]), Caught),
    row("no address", &[(ADDRESS, "proxy_set_header X-Forwarded-For '';")], USUAL, WorksBut(&["/address/"]), Caught),
    row("no host", &[("X-Forwarded-Host $host", "X-Forwarded-Host ''")], USUAL, WorksBut(&["/host/"]), Caught),
    row("nobody is believed", &[], NOBODY, WorksBut(&["/host/", "/address/", "/header/1"]), Caught),
];

#[test]
fn mistakes_in_nginx_let_nothing_through() {
    let (servers, upstream) = (Servers::start(ROWS), Upstream::start());
    let fronts = Fronts::nginx(ROWS.len(), |addresses| {
        let server = |(row, address): (&Row<Change>, &std::net::SocketAddr)| {
            changed(SERVER, row.change)
                .replace("FRONT", &address.to_string())
                .replace("UPHELD", &servers.address(row.trust).to_string())
                .replace("SERVICE", &upstream.address.to_string())
        };
        let rows: String = ROWS.iter().zip(addresses).map(server).collect();
        format!("{HEAD}{rows}}}\n")
    });
    let Some(fronts) = fronts else { return };
    hold(ROWS, &fronts.addresses, &upstream);
}
