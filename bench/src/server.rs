//! The server on loopback: what a decision costs over HTTP, in a batch and over gRPC, beside a decision in this process and a
//! handler that does nothing; alone, and while somebody writes.
//!
//! ```text
//! documents   policies as files, and requests as bodies
//! client      one connection, kept alive, with as little work as possible
//! envoy       the same over gRPC, as Envoy asks
//! behind_envoy   requests through a real Envoy, and what the server works for each
//! empty       a handler of the same framework that reads the body and answers
//! process     a server in a process of its own
//! attack      decisions while strangers do what they can
//! soak        mixed load for as long as one likes, and what it uses over time
//! growth      one document written, and one question asked, among few documents and among many
//! pages       web pages of a large world, beside the endpoints that they ask
//! related     one relationship written, and one question asked, among a million relationships
//! ```

pub(crate) mod attack;
pub(crate) mod behind_envoy;
mod client;
pub(crate) mod documents;
mod empty;
mod envoy;
mod growth;
pub(crate) mod pages;
pub(crate) mod process;
mod related;
pub(crate) mod soak;

use std::net::SocketAddr;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use tokio::runtime::Runtime;
use upheld_engine::decide::{Decide, Outcome, Request};
use upheld_engine::{Scratch, Silent, ask};
use upheld_server::{Config, Running, start};

use self::client::Client;
use crate::access::Workload;
use crate::measure::{memory, process_time, timed};
use crate::report::{self, Targets, figure, heading, number, progress, row, time};

/// How much to measure.
#[derive(Debug)]
pub(crate) struct Plan {
    policies: usize,
    requests: usize,
    /// Of each way of asking, in turn.
    rounds: usize,
    round: Duration,
    /// Questions in a batch.
    batch: usize,
    /// Policies of the server whose start is measured.
    many: usize,
    growth: growth::Plan,
    related: related::Plan,
}

/// What the targets are about.
pub(crate) const FULL: Plan = Plan {
    policies: 10_000,
    requests: 2_000,
    rounds: 5,
    round: Duration::from_secs(3),
    batch: 100,
    many: 100_000,
    growth: growth::FULL,
    related: related::FULL,
};

/// Enough to see that everything works.
pub(crate) const QUICK: Plan = Plan {
    policies: 500,
    requests: 200,
    rounds: 2,
    round: Duration::from_millis(300),
    batch: 10,
    many: 2_000,
    growth: growth::QUICK,
    related: related::QUICK,
};

/// Connections that ask at once where the cost of a question is measured: with a single one, most of the time goes into waking threads
/// that have nothing to do between two questions.
const AT_ONCE: usize = 16;

/// CPU time of client and server together.
#[derive(Clone, Copy, Debug, Default)]
struct Work {
    took: Duration,
    questions: usize,
}

impl Work {
    /// Of one question, in seconds.
    fn each(self) -> f64 {
        self.took.as_secs_f64() / number(self.questions).max(1.0)
    }

    fn add(&mut self, other: Self) {
        self.took += other.took;
        self.questions += other.questions;
    }
}

/// Latencies of many questions, sorted.
#[derive(Debug, Default)]
struct Latencies(Vec<Duration>);

impl Latencies {
    fn at(&self, thousandth: usize) -> Duration {
        self.0.get(self.0.len() * thousandth / 1000).copied().unwrap_or_default()
    }

    fn sorted(mut self) -> Self {
        self.0.sort_unstable();
        self
    }

    fn per_second(&self) -> f64 {
        let total: Duration = self.0.iter().sum();
        number(self.0.len()) / total.as_secs_f64().max(1e-9)
    }
}

/// Measures and prints; fails on a wrong answer.
pub(crate) fn run(plan: &Plan) -> Result<(), String> {
    let failed = |error: &dyn std::fmt::Display| error.to_string();
    let runtime = Runtime::new().map_err(|error| failed(&error))?;
    let mut targets = Targets::default();
    growth::run(plan.growth, &runtime, &mut targets)?;
    related::run(plan.related, &runtime, &mut targets)?;
    let folder = tempfile::tempdir().map_err(|error| failed(&error))?;
    let workload = Workload::new(plan.policies, plan.requests);
    let file = folder.path().join("policies.jsonl");
    std::fs::write(&file, documents::policies(&workload)).map_err(|error| failed(&error))?;
    progress("starting the server");
    let running = serve(&runtime, &file)?;
    let empty = empty::serve(&runtime)?;
    let asked = Asked {
        bodies: documents::bodies(&workload),
        own: workload.requests.iter().map(|request| request.own.clone()).collect(),
        server: running.address(),
        empty,
    };
    let (decide, anew) = timed(|| documents::decide(&workload));
    let decide = decide?;
    asked.check(&decide)?;

    progress("alone");
    let alone = asked.measure(plan, &decide, &runtime)?;
    progress("while somebody writes once a second");
    let written = AtomicBool::new(false);
    let token = running.bootstrap_token().unwrap_or_default().to_owned();
    let busy = std::thread::scope(|scope| {
        let writer = scope.spawn(|| write_once_a_second(asked.server, &token, &written));
        let busy = asked.measure(plan, &decide, &runtime);
        written.store(true, Ordering::Relaxed);
        (busy, writer.join())
    });
    let (busy, writes) = (busy.0?, busy.1.map_err(|_| "the writer stopped".to_owned())??);
    runtime.block_on(running.stop());

    heading(&format!("{} policies, one connection, kept alive; µs on the wall", report::grouped(plan.policies)));
    row("", ["p50", "p99", "p99.9", "per second"]);
    for (title, measured) in [("alone", &alone), ("while somebody writes", &busy)] {
        println!("  {title}");
        for (name, latencies) in measured.rows(plan.batch) {
            let micros = |thousandth| figure(latencies.at(thousandth).as_secs_f64() * 1e6);
            row(&format!("  {name}"), [micros(500), micros(990), micros(999), figure(latencies.per_second())]);
        }
    }
    println!(
        "\n  {} writes of one policy in the second part: p50 {}, p99 {}; to load all policies takes {}",
        writes.0.len(),
        time(writes.at(500)),
        time(writes.at(990)),
        time(anew)
    );
    // The client does the same for both, so what differs is the server.
    let own = alone.own.as_secs_f64();
    let [empty, http] = alone.work.map(Work::each);
    let beyond = (http - empty).max(0.0);
    println!(
        "  CPU time with {AT_ONCE} connections: decision in this process {} µs, empty handler with its client {} µs, HTTP with its client {} µs",
        figure(own * 1e6),
        figure(empty * 1e6),
        figure(http * 1e6)
    );
    targets.at_most("CPU time over HTTP beyond an empty handler / decision in this process", beyond / own, 15.0);
    // The same for somebody who asks alone, who also waits until a thread is awake.
    let waited = (alone.http.at(500).saturating_sub(alone.empty.at(500))).as_secs_f64();
    targets.at_most("p50 over HTTP beyond an empty handler, one connection / decision", waited / own, 15.0);
    let slow = busy.http.at(990).as_secs_f64() / alone.http.at(990).as_secs_f64();
    targets.at_most("p99 over HTTP while somebody writes / alone", slow, 2.0);
    start_of_many(plan, &runtime, folder.path())?;
    targets.print();
    Ok(())
}

/// Only what is written and read among many relationships.
pub(crate) fn run_related(plan: &Plan) -> Result<(), String> {
    let runtime = Runtime::new().map_err(|error| error.to_string())?;
    let mut targets = Targets::default();
    related::run(plan.related, &runtime, &mut targets)?;
    targets.print();
    Ok(())
}

fn serve(runtime: &Runtime, file: &Path) -> Result<Running, String> {
    let config =
        Config { listen: SocketAddr::from(([127, 0, 0, 1], 0)), watch: vec![file.to_owned()], ..Config::default() };
    runtime.block_on(start(config)).map_err(|error| error.to_string())
}

/// What is asked, and whom.
struct Asked {
    bodies: Vec<String>,
    own: Vec<Request>,
    server: SocketAddr,
    empty: SocketAddr,
}

/// What one way of asking took.
#[derive(Debug, Default)]
struct Measured {
    /// Of one decision in this process.
    own: Duration,
    empty: Latencies,
    http: Latencies,
    batch: Latencies,
    grpc: Latencies,
    /// Of the empty handler and of decisions.
    work: [Work; 2],
}

impl Measured {
    fn rows(&self, batch: usize) -> Vec<(String, &Latencies)> {
        vec![
            ("empty handler".to_owned(), &self.empty),
            ("HTTP /v1/decide".to_owned(), &self.http),
            (format!("HTTP /v1/decide:batch of {batch}"), &self.batch),
            ("gRPC Check".to_owned(), &self.grpc),
        ]
    }
}

impl Asked {
    /// The server says what the engine says.
    fn check(&self, decide: &Decide) -> Result<(), String> {
        let mut client = Client::connect(self.server)?;
        let mut scratch = Scratch::default();
        for (body, request) in self.bodies.iter().zip(&self.own) {
            let answer = client.ask("/v1/decide", body)?;
            let permitted = ask(decide, &request, &mut scratch, &mut Silent).outcome == Outcome::Permit;
            if answer.contains("\"decision\":\"permit\"") != permitted {
                return Err(format!("the server answers otherwise than the engine: {body} {answer}"));
            }
        }
        Ok(())
    }

    fn measure(&self, plan: &Plan, decide: &Decide, runtime: &Runtime) -> Result<Measured, String> {
        let mut measured = Measured::default();
        let batches: Vec<String> = (self.bodies.chunks(plan.batch))
            .map(|bodies| format!("{{\"requests\": [{}]}}", bodies.join(",")))
            .collect();
        let mut own = Vec::new();
        for _ in 0..plan.rounds {
            own.push(self.in_process(decide));
            let ways: [(&mut Latencies, SocketAddr, &str, &[String]); 3] = [
                (&mut measured.empty, self.empty, "/", &self.bodies),
                (&mut measured.http, self.server, "/v1/decide", &self.bodies),
                (&mut measured.batch, self.server, "/v1/decide:batch", &batches),
            ];
            for (latencies, address, path, bodies) in ways {
                let mut client = Client::connect(address)?;
                let end = Instant::now() + plan.round;
                for body in bodies.iter().cycle() {
                    let begin = Instant::now();
                    client.ask(path, body)?;
                    latencies.0.push(begin.elapsed());
                    if begin > end {
                        break;
                    }
                }
            }
            for (work, address, path) in [(0, self.empty, "/"), (1, self.server, "/v1/decide")] {
                let work = measured.work.get_mut(work);
                work.map(|work| self.busy(address, path, plan.round).map(|more| work.add(more))).transpose()?;
            }
            runtime.block_on(envoy::ask(self.server, &self.own, plan.round, &mut measured.grpc.0))?;
        }
        measured.own = crate::measure::median(own);
        let Measured { own, empty, http, batch, grpc, work } = measured;
        let (empty, http, batch, grpc) = (empty.sorted(), http.sorted(), batch.sorted(), grpc.sorted());
        Ok(Measured { own, empty, http, batch, grpc, work })
    }

    /// What questions take when there always is another one.
    fn busy(&self, address: SocketAddr, path: &str, for_long: Duration) -> Result<Work, String> {
        let mut clients = (0..AT_ONCE).map(|_| Client::connect(address)).collect::<Result<Vec<_>, _>>()?;
        let mut bodies = self.bodies.iter().cycle();
        let mut questions = 0;
        let (begun, worked) = (Instant::now(), process_time().unwrap_or_default());
        while begun.elapsed() < for_long {
            for (client, body) in clients.iter_mut().zip(&mut bodies) {
                client.begin_to_ask(path, body)?;
            }
            for client in &mut clients {
                client.end()?;
                questions += 1;
            }
        }
        Ok(Work { took: process_time().unwrap_or_default().saturating_sub(worked), questions })
    }

    /// The time of one decision without a server.
    fn in_process(&self, decide: &Decide) -> Duration {
        let mut scratch = Scratch::default();
        let ((), took) = timed(|| {
            for request in &self.own {
                std::hint::black_box(ask(decide, &request, &mut scratch, &mut Silent));
            }
        });
        took / u32::try_from(self.own.len()).unwrap_or(1)
    }
}

fn write_once_a_second(server: SocketAddr, token: &str, enough: &AtomicBool) -> Result<Latencies, String> {
    let mut client = Client::connect(server)?;
    let mut writes = Latencies::default();
    while !enough.load(Ordering::Relaxed) {
        let begin = Instant::now();
        client.put(token, &documents::changing(writes.0.len()))?;
        writes.0.push(begin.elapsed());
        std::thread::sleep(Duration::from_secs(1).saturating_sub(begin.elapsed()));
    }
    Ok(writes.sorted())
}

fn start_of_many(plan: &Plan, runtime: &Runtime, folder: &Path) -> Result<(), String> {
    progress(&format!("starting with {} policies", report::grouped(plan.many)));
    let file = folder.join("many.jsonl");
    std::fs::write(&file, documents::policies(&Workload::new(plan.many, 1))).map_err(|error| error.to_string())?;
    let before = memory().unwrap_or_default();
    let begin = Instant::now();
    let running = serve(runtime, &file)?;
    let took = begin.elapsed();
    let more = memory().map(|now| now.saturating_sub(before));
    runtime.block_on(running.stop());
    heading(&format!("A server with {} policies", report::grouped(plan.many)));
    row("from start to the first answer", [time(took)]);
    row("memory", [report::memory(more)]);
    Ok(())
}
