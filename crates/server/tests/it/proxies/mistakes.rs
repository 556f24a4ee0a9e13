//! Real proxies, each with many configurations, at least half of them with a mistake that people make. The law: whatever the configuration,
//! no request reaches the service that the policies deny.

mod caddy;
mod envoy;
mod nginx;
mod requests;
mod traefik;

use std::net::SocketAddr;

use requests::{REQUESTS, Request, Sort};

use super::parts::{Upstream, send};
use crate::support::Served;
use upheld_server::Config;
use upheld_server::config::Trust;

const POLICIES: &str = "
id: open
effect: permit
subjects: []
resources: []
actions: []
---
id: by-path
effect: deny
subjects: []
resources: [{path: /salaries/**}, {path: /}, {path: /policies}, {path: /healthz}, {path: /v1/**}]
actions: []
---
id: by-method
effect: deny
subjects: []
resources: []
actions: [{method: DELETE}]
---
id: by-host
effect: deny
subjects: []
resources: [{path: /host/**, host: intranet.example}]
actions: []
---
id: by-header
effect: deny
subjects: []
resources: [{path: /header/**, header: {name: X-Evil, value: '1'}}]
actions: []
---
id: by-address
effect: deny
subjects: []
resources: [{path: /address/**}]
actions: []
conditions: [{type: ip, allowlist: [127.0.0.2]}]
";

/// What becomes of requests.
#[derive(Clone, Copy, Debug)]
enum Expected {
    /// What is permitted goes on, but for what is at these paths: something about them is unknown.
    WorksBut(&'static [&'static str]),
    /// Nothing goes on, and the answer says why in these words.
    Refuses(&'static str),
}

const WORKS: Expected = Expected::WorksBut(&[]);

/// What becomes of requests in which a client says what only proxies may say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Forged {
    /// They are refused where policies deny them.
    Caught,
    /// They look like what this configuration lets the proxy say; docs/proxies.md names it among what cannot be seen.
    NotSeen,
}

use Forged::{Caught, NotSeen};

/// A configuration.
struct Row<C> {
    name: &'static str,
    /// What is changed in the configuration that works.
    change: C,
    /// What the server is told.
    trust: &'static [&'static str],
    expected: Expected,
    forged: Forged,
}

/// Holds each configuration to what is expected of it, at the address that is its own.
fn hold<C>(rows: &[Row<C>], addresses: &[SocketAddr], upstream: &Upstream) {
    assert_eq!(rows.len(), addresses.len());
    let failures = |(row, address): (&Row<C>, &SocketAddr)| -> Vec<String> {
        REQUESTS.iter().filter_map(|request| row.failure(request, *address, upstream)).collect()
    };
    let failures: Vec<String> = rows.iter().zip(addresses).flat_map(failures).collect();
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}

impl<C> Row<C> {
    fn failure(&self, request: &Request, proxy: SocketAddr, upstream: &Upstream) -> Option<String> {
        if request.sort == Sort::Forged && self.forged == NotSeen {
            return None;
        }
        let bytes = request.bytes();
        let answer = send(request.from, proxy, bytes.as_bytes());
        let seen = upstream.take();
        let went_on = seen.len() == 1 && answer.starts_with("HTTP/1.1 200");
        let right = match (request.sort, self.expected) {
            (Sort::Permitted, Expected::WorksBut(unknown)) => {
                went_on != unknown.iter().any(|path| request.line.contains(path))
            }
            (Sort::Permitted, Expected::Refuses(why)) => seen.is_empty() && answer.contains(why),
            (Sort::Denied | Sort::Forged, _) => seen.is_empty() && !answer.starts_with("HTTP/1.1 2"),
        };
        let Self { name, expected, .. } = self;
        (!right).then(|| {
            format!("{name} ({expected:?}): {:?} from {}: {bytes:?}: {answer:?}, {seen:?}", request.sort, request.from)
        })
    }
}

/// Servers that believe different things, one for each.
struct Servers(Vec<(&'static [&'static str], Served)>);

impl Servers {
    fn start<C>(rows: &[Row<C>]) -> Self {
        let mut servers: Vec<(&'static [&'static str], Served)> = Vec::new();
        for row in rows {
            if !servers.iter().any(|(trust, _)| *trust == row.trust) {
                servers.push((row.trust, serve(row.trust)));
            }
        }
        Self(servers)
    }

    fn address(&self, trust: &[&str]) -> SocketAddr {
        let (_, served) = self.0.iter().find(|(known, _)| *known == trust).expect("a server");
        served.running().address()
    }
}

fn serve(trust: &[&str]) -> Served {
    let mut config = Config::default();
    let trust: Vec<String> = trust.iter().map(|setting| (*setting).to_owned()).collect();
    config.access.trust = Trust::read(&trust).unwrap();
    let served = Served::start(config);
    let written = served.ask("POST", "/v1/revisions", &[("content-type", "application/yaml")], POLICIES);
    assert_eq!(written.status, 201, "{}", written.text);
    served
}

/// A configuration with other texts in some places, each of which must be there.
fn changed(text: &str, changes: &[(&str, &str)]) -> String {
    changes.iter().fold(text.to_owned(), |text, (from, to)| {
        assert!(text.contains(from), "there is no {from:?}");
        text.replace(from, to)
    })
}
