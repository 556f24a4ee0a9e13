//! Web pages of a large world on loopback: how long the first page, the inspector and the search take and how many bytes they are, beside the
//! endpoint that answers the same question.

use std::net::SocketAddr;
use std::path::Path;
use std::time::{Duration, Instant};

use tokio::runtime::Runtime;
use upheld_server::{Config, start};

use super::client::Client;
use crate::measure::{median, process_time};
use crate::report::{Targets, figure, grouped, heading, number, progress, ratio, row, time};

/// How much to measure.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    policies: usize,
    objects: usize,
    rounds: usize,
}

/// What the targets are about.
pub(crate) const FULL: Plan = Plan { policies: 10_000, objects: 100_000, rounds: 40 };

/// Enough to see that everything works.
pub(crate) const QUICK: Plan = Plan { policies: 100, objects: 1_000, rounds: 4 };

/// Services of the mesh.
const SERVICES: usize = 500;
/// Kinds of its policies.
const KINDS: [(&str, &str); 5] = [
    ("TrafficLog", r#"{"backend": "logs"}"#),
    ("HealthCheck", r#"{"interval": "10s"}"#),
    ("Retry", r#"{"http": {"numRetries": 5}}"#),
    ("Timeout", r#"{"connectTimeout": "10s"}"#),
    ("CircuitBreaker", r#"{"thresholds": {"maxConnections": 2}}"#),
];

/// What is asked for, and by which way.
struct Asked {
    name: &'static str,
    path: String,
    /// What is sent; nothing where something is only read.
    body: Option<&'static str>,
}

/// Measures and prints.
pub(crate) fn run(plan: &Plan) -> Result<(), String> {
    let failed = |error: &dyn std::fmt::Display| error.to_string();
    let runtime = Runtime::new().map_err(|error| failed(&error))?;
    let folder = tempfile::tempdir().map_err(|error| failed(&error))?;
    progress("writing the world");
    write(plan, &folder.path().join("world.jsonl")).map_err(|error| failed(&error))?;
    progress("starting the server");
    let listen = SocketAddr::from(([127, 0, 0, 1], 0));
    let mut config = Config { listen, watch: vec![folder.path().to_owned()], ..Config::default() };
    config.limits.time = Duration::from_mins(2);
    let running = runtime.block_on(start(config)).map_err(|error| failed(&error))?;
    let token = running.bootstrap_token().unwrap_or_default().to_owned();
    let mut client = Client::connect(running.address())?;
    let page = |name, path: &str| Asked { name, path: path.to_owned(), body: None };
    let question = "from=proxy-000001&to=proxy-000002";
    let asked = [
        Asked {
            name: "POST /v1/explain",
            path: "/v1/explain".to_owned(),
            body: Some(r#"{"from": "proxy-000001", "to": "proxy-000002"}"#),
        },
        page("inspector, the same question", &format!("/connection?{question}")),
        page("GET /v1/contents", "/v1/contents"),
        page("home", "/"),
        page("GET /v1/search?q=proxy-0000", "/v1/search?q=proxy-0000"),
        page("search, the same", "/search?q=proxy-0000"),
        page("search for what is not there", "/search?q=nowhere"),
        page("policies", "/policies"),
        page("objects", "/objects"),
    ];
    progress("asking");
    let mut took: Vec<Vec<Duration>> = asked.iter().map(|_| Vec::new()).collect();
    // In ticks of the system: only the sum of many says something.
    let mut work: Vec<Duration> = asked.iter().map(|_| Duration::ZERO).collect();
    let mut bytes: Vec<[usize; 2]> = asked.iter().map(|_| [0; 2]).collect();
    // In turn, so that all see the same machine; the first round fills what is kept from then on.
    for round in 0..=plan.rounds {
        for (((asked, took), work), bytes) in asked.iter().zip(&mut took).zip(&mut work).zip(&mut bytes) {
            let (begun, worked) = (Instant::now(), process_time());
            *bytes = [asked.sent(&mut client, &token, "identity")?, bytes[1]];
            if round > 0 {
                took.push(begun.elapsed());
                *work += process_time().unwrap_or_default().saturating_sub(worked.unwrap_or_default());
            } else {
                bytes[1] = asked.sent(&mut client, &token, "gzip")?;
            }
        }
    }
    runtime.block_on(running.stop());
    let took: Vec<Duration> = took.into_iter().map(median).collect();
    let rounds = u32::try_from(plan.rounds).unwrap_or(u32::MAX).max(1);
    let work: Vec<Duration> = work.into_iter().map(|all| all / rounds).collect();
    print(plan, &asked, &took, &work, &bytes);
    Ok(())
}

impl Asked {
    /// Asks, and says how many bytes came back.
    fn sent(&self, client: &mut Client, token: &str, encoding: &str) -> Result<usize, String> {
        let accept = if self.path.starts_with("/v1/") { "application/json" } else { "text/html" };
        let headers = format!("authorization: Bearer {token}\r\naccept: {accept}\r\naccept-encoding: {encoding}\r\n");
        let method = if self.body.is_some() { "POST" } else { "GET" };
        client.begin(&format!("{method} {}", self.path), &headers, self.body.unwrap_or_default())?;
        client.end().map_err(|problem| format!("{}: {problem}", self.name))?;
        Ok(client.received())
    }
}

fn print(plan: &Plan, asked: &[Asked], took: &[Duration], work: &[Duration], bytes: &[[usize; 2]]) {
    let (policies, objects) = (grouped(plan.policies), grouped(plan.objects));
    heading(&format!("Pages of {policies} policies and {objects} objects, one connection; p50 on the wall"));
    row("", ["took", "CPU time", "bytes", "bytes, packed"]);
    for (((asked, took), work), [plain, packed]) in asked.iter().zip(took).zip(work).zip(bytes) {
        row(asked.name, [time(*took), time(*work), grouped(*plain), grouped(*packed)]);
    }
    let of = |name: &str| {
        let found = asked.iter().zip(took).zip(bytes).find(|((asked, _), _)| asked.name == name);
        found.map_or((Duration::ZERO, [0; 2]), |((_, took), bytes)| (*took, *bytes))
    };
    let mut targets = Targets::default();
    let millis = |took: Duration| took.as_secs_f64() * 1e3;
    let (inspector, size) = of("inspector, the same question");
    targets.at_most("inspector, ms", millis(inspector), 100.0);
    targets.at_most("inspector, kB on the wire", number(size[1]) / 1e3, 50.0);
    targets.at_most("inspector / POST /v1/explain", ratio(inspector, of("POST /v1/explain").0), 1.5);
    let (home, size) = of("home");
    targets.at_most("home, ms", millis(home), 100.0);
    targets.at_most("home, kB on the wire", number(size[1]) / 1e3, 50.0);
    for name in ["GET /v1/search?q=proxy-0000", "search, the same", "search for what is not there"] {
        targets.at_most(&format!("{name}, ms"), millis(of(name).0), 50.0);
    }
    for name in ["policies", "objects"] {
        targets.at_most(&format!("{name}, ms"), millis(of(name).0), 100.0);
    }
    println!(
        "\n  a page is sent packed; search finds the best of {} names",
        figure(number(plan.objects + plan.policies))
    );
    targets.print();
}

/// A mesh with policies of several kinds, about single services and about all of them.
fn write(plan: &Plan, file: &Path) -> std::io::Result<()> {
    let mut text = String::from("{\"type\": \"Mesh\", \"name\": \"default\"}\n");
    for number in 0..plan.objects {
        let (service, team) = (number % SERVICES, number % 40);
        text.push_str(&format!(
            r#"{{"type": "Dataplane", "mesh": "default", "name": "proxy-{number:06}", "networking": {{"address": "10.0.0.1", "inbound": [{{"port": 80, "tags": {{"kuma.io/service": "service-{service}", "team": "team-{team}"}}}}]}}}}"#
        ));
        text.push('\n');
    }
    for (number, (kind, conf)) in (0..plan.policies).zip(KINDS.iter().cycle()) {
        let (source, target) = match number / KINDS.len() {
            0 => ("*".to_owned(), "*".to_owned()),
            more => (format!("service-{}", more % SERVICES), format!("service-{}", (more * 7 + 2) % SERVICES)),
        };
        text.push_str(&format!(
            r#"{{"type": "{kind}", "mesh": "default", "name": "policy-{number:05}", "sources": [{{"match": {{"kuma.io/service": "{source}"}}}}], "destinations": [{{"match": {{"kuma.io/service": "{target}"}}}}], "conf": {conf}}}"#
        ));
        text.push('\n');
    }
    std::fs::write(file, text)
}
