//! Decisions of a caller with rights while others do what they can. Strangers open connections, guess tokens, ask and do not read, and send
//! large requests; strangers and those who may ask send batches, paths that can be read in many ways, forms and questions about everything.
//! Everything is on this machine, bounded in number, and ends by itself.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use tokio::net::TcpSocket;
use upheld_server::config::Anonymous;

use super::Latencies;
use super::client::Client;
use super::documents;
use super::process::{ASKER, Process, TOKEN};
use crate::access::Workload;
use crate::measure::median_ratio;
use crate::report::{Targets, figure, grouped, heading, memory, number, progress, row};

/// How much to measure.
#[derive(Debug)]
pub(crate) struct Plan {
    policies: usize,
    requests: usize,
    rounds: usize,
    round: Duration,
    /// Connections that each sort of stranger opens.
    strangers: usize,
}

/// What the targets are about.
pub(crate) const FULL: Plan =
    Plan { policies: 10_000, requests: 1_000, rounds: 5, round: Duration::from_secs(4), strangers: 200 };

/// Enough to see that everything works.
pub(crate) const QUICK: Plan =
    Plan { policies: 200, requests: 100, rounds: 2, round: Duration::from_millis(500), strangers: 20 };

/// What strangers do. Each does it over and over, and rests in between, so that it is not the machine that is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Attack {
    /// Connections that say nothing, or half of a head.
    Connections,
    /// Wrong tokens.
    Tokens,
    /// Many requests by each connection, of whose answers none is read.
    SlowReaders,
    /// Bodies of a hundred megabytes, of which one is sent.
    LargeRequests,
    /// A thousand paths that can be read in many ways, in one batch.
    Batches,
    /// One such path at a time.
    Paths,
    /// Forms of two megabytes.
    SignIns,
    /// Questions about everything, left before their answers, and a small one after each.
    Analyses,
    /// Nothing, from eight addresses.
    Silence,
    /// The log, its page, and the description of all endpoints.
    Readers,
}

/// Who does it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Who {
    Stranger,
    Asker,
}

/// What is done at the same time.
#[derive(Debug)]
struct Phase {
    name: &'static str,
    who: Who,
    attacks: &'static [Attack],
}

const PHASES: [Phase; 8] = {
    use Attack::{
        Analyses, Batches, Connections, LargeRequests, Paths, Readers, SignIns, Silence, SlowReaders, Tokens,
    };
    [
        Phase {
            name: "connections, tokens, large requests",
            who: Who::Stranger,
            attacks: &[Connections, Tokens, SlowReaders, LargeRequests],
        },
        Phase { name: "strangers ask", who: Who::Stranger, attacks: &[Batches, Paths, Analyses, Readers] },
        Phase { name: "forms of strangers", who: Who::Stranger, attacks: &[SignIns] },
        Phase { name: "silent connections", who: Who::Stranger, attacks: &[Silence] },
        Phase { name: "batches", who: Who::Asker, attacks: &[Batches] },
        Phase { name: "paths", who: Who::Asker, attacks: &[Paths] },
        Phase { name: "questions about everything", who: Who::Asker, attacks: &[Analyses] },
        Phase { name: "readers", who: Who::Asker, attacks: &[Readers] },
    ]
};

/// Between two acts of one sort of stranger.
const REST: Duration = Duration::from_millis(2);

/// Where strangers come from: their connections are not counted as those of the caller with rights.
const STRANGERS: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 2);
const DOCTOR: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 3);

/// What happened meanwhile.
#[derive(Debug, Default)]
struct Counts {
    acts: AtomicUsize,
    healthy: AtomicUsize,
    unhealthy: AtomicUsize,
    /// The longest that somebody waited who asked whether the server lives, in microseconds.
    longest: AtomicUsize,
}

/// Measures and prints; fails if the server does not say that it lives.
pub(crate) fn run(plan: &Plan) -> Result<(), String> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let workload = Workload::new(plan.policies, plan.requests);
    let file = folder.path().join("policies.jsonl");
    std::fs::write(&file, documents::policies(&workload)).map_err(|error| error.to_string())?;
    let bodies = documents::bodies(&workload);
    progress("starting the server");
    let server = Process::start(&file, Anonymous::None)?;
    // Once around, so that what is made when it is first needed is there.
    ask(server.address, &bodies, plan.round)?;
    let before = server.peak_memory();
    let (mut quiet, mut attacked) = (Vec::new(), PHASES.map(|_| Vec::new()));
    let counts = PHASES.map(|_| Counts::default());
    for round in 0..plan.rounds {
        progress(&format!("round {} of {}", round + 1, plan.rounds));
        quiet.push(ask(server.address, &bodies, plan.round)?);
        for ((phase, counts), attacked) in PHASES.iter().zip(&counts).zip(&mut attacked) {
            let over = AtomicBool::new(false);
            attacked.push(std::thread::scope(|scope| {
                for attack in phase.attacks {
                    let (address, over) = (server.address, &over);
                    scope.spawn(move || others(*attack, phase.who, address, plan.strangers, counts, over));
                }
                scope.spawn(|| health(server.address, counts, &over));
                let asked = ask(server.address, &bodies, plan.round);
                over.store(true, Ordering::Relaxed);
                asked
            })?);
        }
    }
    let more = server.peak_memory().saturating_sub(before);
    let count = |of: &AtomicUsize| of.load(Ordering::Relaxed);
    heading(&format!("{} policies, one connection with a token; µs on the wall", grouped(plan.policies)));
    row("", ["p50", "p99", "per second", "acts", "/healthz, worst", "without one"]);
    let nobody = Counts::default();
    let named = PHASES.iter().map(|phase| format!("{:?}: {}", phase.who, phase.name));
    let rows = named.zip(&attacked).zip(&counts).map(|((name, rounds), counts)| (name, rounds, counts));
    for (name, rounds, counts) in std::iter::once(("quiet".to_owned(), &quiet, &nobody)).chain(rows) {
        let all = Latencies(rounds.iter().flat_map(|round: &Latencies| round.0.clone()).collect()).sorted();
        let micros = |thousandth| figure(all.at(thousandth).as_secs_f64() * 1e6);
        let (acts, longest) = (grouped(count(&counts.acts)), figure(number(count(&counts.longest))));
        let unhealthy = count(&counts.unhealthy).to_string();
        row(&name, [micros(500), micros(990), figure(all.per_second()), acts, longest, unhealthy]);
    }
    println!();
    println!("  memory of the server: {} before, {} more at most", memory(Some(before)), memory(Some(more)));
    let slow = |rounds: &[Latencies]| rounds.iter().map(|round| round.at(990)).collect::<Vec<_>>();
    let mut targets = Targets::default();
    for (phase, attacked) in PHASES.iter().zip(&attacked) {
        let ratio = median_ratio(&slow(attacked), &slow(&quiet));
        targets.at_most(&format!("p99 / quiet, the middle of all rounds: {:?}, {}", phase.who, phase.name), ratio, 3.0);
    }
    let unhealthy = counts.iter().map(|counts| count(&counts.unhealthy)).sum();
    let longest = counts.iter().map(|counts| count(&counts.longest)).max().unwrap_or_default();
    targets.at_most("memory under attack beyond the quiet server, in MB", number(more) / 1e6, 300.0);
    targets.at_most("the longest that /healthz took, in ms", number(longest) / 1e3, 100.0);
    targets.at_most("times that /healthz did not answer", number(unhealthy), 0.0);
    targets.finish(unhealthy)
}

/// Asks for decisions for a while, with a token.
fn ask(server: SocketAddr, bodies: &[String], for_long: Duration) -> Result<Latencies, String> {
    let mut client = Client::connect(server)?;
    let mut latencies = Latencies::default();
    let end = Instant::now() + for_long;
    for body in bodies.iter().cycle() {
        let begin = Instant::now();
        client.ask_as(TOKEN, "/v1/decide", body)?;
        latencies.0.push(begin.elapsed());
        if begin > end {
            break;
        }
    }
    Ok(latencies.sorted())
}

/// A connection from an address of this machine.
fn connect(from: Ipv4Addr, server: SocketAddr) -> Option<TcpStream> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().ok()?;
    let stream = runtime.block_on(async {
        let socket = TcpSocket::new_v4().ok()?;
        socket.bind(SocketAddr::from((from, 0))).ok()?;
        tokio::time::timeout(Duration::from_secs(1), socket.connect(server)).await.ok()?.ok()?.into_std().ok()
    })?;
    stream.set_nonblocking(false).ok()?;
    stream.set_read_timeout(Some(Duration::from_secs(2))).ok()?;
    stream.set_write_timeout(Some(Duration::from_millis(50))).ok()?;
    Some(stream)
}

/// A path that can be read in many ways.
fn path(number: usize) -> String {
    format!("/{}..%2f;x/%5c//%3f{number}", "a/".repeat(100))
}

/// A request, as somebody sends it.
fn request(line: &str, who: Who, body: &str) -> String {
    let authorization = match who {
        Who::Stranger => String::new(),
        Who::Asker => format!("authorization: Bearer {ASKER}\r\n"),
    };
    let length = body.len();
    format!(
        "{line} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n{authorization}content-length: {length}\r\n\r\n{body}"
    )
}

/// One sort of those who do what they can, until it is over: up to so many connections at once, the oldest of which is given up for each
/// new one.
fn others(attack: Attack, who: Who, server: SocketAddr, most: usize, counts: &Counts, over: &AtomicBool) {
    let megabyte = vec![b' '; 1 << 20];
    let one = |number: usize| {
        format!(
            r#"{{"subject": {{"id": "x"}}, "action": {{"method": "GET"}}, "resource": {{"path": {:?}}}}}"#,
            path(number)
        )
    };
    let batch = format!(r#"{{"requests": [{}]}}"#, (0..1000).map(one).collect::<Vec<_>>().join(","));
    let mut held = std::collections::VecDeque::new();
    for act in 0.. {
        if over.load(Ordering::Relaxed) {
            break;
        }
        if held.len() >= most {
            held.pop_front();
        }
        let from = match attack {
            Attack::Silence => Ipv4Addr::new(127, 0, 1, u8::try_from(act % 8).unwrap_or(0) + 1),
            _ => STRANGERS,
        };
        if let Some(mut stream) = connect(from, server) {
            // Whatever fails is what the server does about it.
            let wrong = "authorization: Bearer upheld_0123456789abcdef0123456789abcdef0123456789\r\n";
            match attack {
                Attack::Connections => drop(stream.write_all(b"GET /v1/documents HTTP/1.1\r\nhost: loc")),
                Attack::Tokens => {
                    let request = format!("GET /v1/documents HTTP/1.1\r\nhost: localhost\r\n{wrong}\r\n").repeat(4);
                    drop(stream.write_all(request.as_bytes()));
                    drop(stream.read(&mut [0; 4096]));
                }
                Attack::SlowReaders => {
                    let request = "GET /v1/snapshot HTTP/1.1\r\nhost: localhost\r\n\r\n".repeat(200);
                    drop(stream.write_all(request.as_bytes()));
                }
                Attack::LargeRequests => {
                    let head = "POST /v1/revisions HTTP/1.1\r\nhost: localhost\r\ncontent-length: 104857600\r\n\r\n";
                    drop(stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(&megabyte)));
                }
                Attack::Batches => drop(stream.write_all(request("POST /v1/decide:batch", who, &batch).as_bytes())),
                Attack::Paths => {
                    drop(stream.write_all(request("POST /v1/decide", who, &one(act)).repeat(16).as_bytes()));
                    drop(stream.read(&mut [0; 4096]));
                }
                Attack::SignIns => {
                    let head = "POST /sign-in HTTP/1.1\r\nhost: localhost\r\norigin: http://localhost\r\ncontent-type: application/x-www-form-urlencoded\r\ntransfer-encoding: chunked\r\n\r\n200000\r\n";
                    drop(stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(&megabyte)));
                }
                Attack::Analyses => {
                    drop(stream.write_all(request("POST /v1/lint", who, "{}").as_bytes()));
                    held.push_back(stream);
                    let Some(next) = connect(from, server) else { continue };
                    stream = next;
                    let small = format!(r#"{{"request": {}}}"#, one(act));
                    drop(stream.write_all(request("POST /v1/resolve", who, &small).as_bytes()));
                    drop(stream.read(&mut [0; 4096]));
                }
                Attack::Silence => {}
                Attack::Readers => {
                    for line in ["GET /v1/revisions?limit=1000", "GET /history", "GET /openapi.json"] {
                        drop(stream.write_all(request(line, who, "").as_bytes()));
                    }
                    drop(stream.read(&mut [0; 4096]));
                }
            }
            held.push_back(stream);
        }
        counts.acts.fetch_add(1, Ordering::Relaxed);
        std::thread::sleep(if attack == Attack::Silence { REST / 4 } else { REST });
    }
}

/// Somebody who looks after the server, by a connection of its own each time.
fn health(server: SocketAddr, counts: &Counts, over: &AtomicBool) {
    while !over.load(Ordering::Relaxed) {
        let begun = Instant::now();
        let asked = connect(DOCTOR, server).and_then(|mut stream| {
            stream.write_all(b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n").ok()?;
            let mut head = [0; 12];
            stream.read_exact(&mut head).ok()?;
            (&head == b"HTTP/1.1 200").then_some(())
        });
        let counter = if asked.is_some() { &counts.healthy } else { &counts.unhealthy };
        counter.fetch_add(1, Ordering::Relaxed);
        counts.longest.fetch_max(usize::try_from(begun.elapsed().as_micros()).unwrap_or(usize::MAX), Ordering::Relaxed);
        std::thread::sleep(Duration::from_millis(50));
    }
}
