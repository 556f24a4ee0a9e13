//! Decisions of a caller with rights while strangers do what they can: they open connections, guess tokens, ask and do not read, and send
//! large requests. Everything is on this machine, bounded in number, and ends by itself.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use tokio::net::TcpSocket;
use upheld_server::config::Anonymous;

use super::Latencies;
use super::client::Client;
use super::documents;
use super::process::{Process, TOKEN};
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
}

const ATTACKS: [Attack; 4] = [Attack::Connections, Attack::Tokens, Attack::SlowReaders, Attack::LargeRequests];

/// Between two acts of one sort of stranger.
const REST: Duration = Duration::from_millis(2);

/// Where strangers come from: their connections are not counted as those of the caller with rights.
const STRANGERS: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 2);
const DOCTOR: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 3);

/// What happened meanwhile.
#[derive(Debug, Default)]
struct Counts {
    acts: [AtomicUsize; 4],
    healthy: AtomicUsize,
    unhealthy: AtomicUsize,
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
    let counts = Counts::default();
    let (mut quiet, mut attacked) = (Vec::new(), Vec::new());
    for round in 0..plan.rounds {
        progress(&format!("round {} of {}", round + 1, plan.rounds));
        quiet.push(ask(server.address, &bodies, plan.round)?);
        let over = AtomicBool::new(false);
        attacked.push(std::thread::scope(|scope| {
            for attack in ATTACKS {
                let (address, counts, over) = (server.address, &counts, &over);
                scope.spawn(move || strangers(attack, address, plan.strangers, counts, over));
            }
            scope.spawn(|| health(server.address, &counts, &over));
            let asked = ask(server.address, &bodies, plan.round);
            over.store(true, Ordering::Relaxed);
            asked
        })?);
    }
    let more = server.peak_memory().saturating_sub(before);
    let count = |of: &AtomicUsize| of.load(Ordering::Relaxed);
    heading(&format!("{} policies, one connection with a token; µs on the wall", grouped(plan.policies)));
    row("", ["p50", "p99", "per second"]);
    for (name, rounds) in [("quiet", &quiet), ("under attack", &attacked)] {
        let all = Latencies(rounds.iter().flat_map(|round: &Latencies| round.0.clone()).collect()).sorted();
        let micros = |thousandth| figure(all.at(thousandth).as_secs_f64() * 1e6);
        row(name, [micros(500), micros(990), figure(all.per_second())]);
    }
    println!();
    for (attack, acts) in ATTACKS.iter().zip(&counts.acts) {
        println!("  {attack:?}: {} acts, with up to {} connections at once", grouped(count(acts)), plan.strangers);
    }
    println!("  /healthz: {} answers, {} without one", count(&counts.healthy), count(&counts.unhealthy));
    println!("  memory of the server: {} before, {} more at most", memory(Some(before)), memory(Some(more)));
    let slow = |rounds: &[Latencies]| rounds.iter().map(|round| round.at(990)).collect::<Vec<_>>();
    let mut targets = Targets::default();
    let ratio = median_ratio(&slow(&attacked), &slow(&quiet));
    targets.at_most("p99 under attack / quiet, the middle of all rounds", ratio, 3.0);
    targets.at_most("memory under attack beyond the quiet server, in MB", number(more) / 1e6, 100.0);
    targets.at_most("times that /healthz did not answer", number(count(&counts.unhealthy)), 0.0);
    targets.finish(count(&counts.unhealthy))
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

/// One sort of strangers, until it is over: up to so many connections at once, the oldest of which is given up for each new one.
fn strangers(attack: Attack, server: SocketAddr, most: usize, counts: &Counts, over: &AtomicBool) {
    let megabyte = vec![b' '; 1 << 20];
    let mut held = std::collections::VecDeque::new();
    while !over.load(Ordering::Relaxed) {
        if held.len() >= most {
            held.pop_front();
        }
        if let Some(mut stream) = connect(STRANGERS, server) {
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
            }
            held.push_back(stream);
        }
        if let Some(acts) = counts.acts.get(attack as usize) {
            acts.fetch_add(1, Ordering::Relaxed);
        }
        std::thread::sleep(REST);
    }
}

/// Somebody who looks after the server, by a connection of its own each time.
fn health(server: SocketAddr, counts: &Counts, over: &AtomicBool) {
    while !over.load(Ordering::Relaxed) {
        let asked = connect(DOCTOR, server).and_then(|mut stream| {
            stream.write_all(b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n").ok()?;
            let mut head = [0; 12];
            stream.read_exact(&mut head).ok()?;
            (&head == b"HTTP/1.1 200").then_some(())
        });
        let counter = if asked.is_some() { &counts.healthy } else { &counts.unhealthy };
        counter.fetch_add(1, Ordering::Relaxed);
        std::thread::sleep(Duration::from_millis(50));
    }
}
