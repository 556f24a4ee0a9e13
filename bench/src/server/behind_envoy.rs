//! Requests through a real Envoy that asks the server about each of them: what the server works for one, beside what Envoy itself works.
//! The client, the service behind Envoy and Envoy are processes or threads of their own, so that the figure is the server's alone.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tokio::runtime::Runtime;
use upheld_engine::decide::Request;
use upheld_server::config::Anonymous;

use super::client::{Answer, Client};
use super::process::Process;
use super::{AT_ONCE, Latencies, documents, empty, envoy};
use crate::access::Workload;
use crate::measure::{median, process_time_of};
use crate::report::{Targets, figure, grouped, heading, number, progress, row};

/// How much to measure.
#[derive(Debug)]
pub(crate) struct Plan {
    policies: usize,
    requests: usize,
    rounds: usize,
    round: Duration,
}

/// What the targets are about.
pub(crate) const FULL: Plan = Plan { policies: 10_000, requests: 2_000, rounds: 5, round: Duration::from_secs(4) };

/// Enough to see that everything works.
pub(crate) const QUICK: Plan = Plan { policies: 200, requests: 100, rounds: 2, round: Duration::from_millis(500) };

/// The configuration that the documentation shows.
const EXAMPLE: &str = include_str!("../../../examples/envoy/envoy.yaml");

/// Where `cargo xtask test --install` puts Envoy, and the variable that names another one.
const INSTALLED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../target/envoy/envoy/_bin/envoy");
const NAMED: &str = "UPHELD_ENVOY";

/// What one round took.
#[derive(Debug)]
struct Round {
    server: Duration,
    envoy: Duration,
    latencies: Latencies,
}

/// Measures and prints; fails if Envoy does not get answers.
pub(crate) fn run(plan: &Plan) -> Result<(), String> {
    let runtime = Runtime::new().map_err(|error| error.to_string())?;
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let workload = Workload::new(plan.policies, plan.requests);
    let file = folder.path().join("policies.jsonl");
    std::fs::write(&file, documents::policies(&workload)).map_err(|error| error.to_string())?;
    let requests: Vec<&Request> = workload.requests.iter().map(|request| &request.own).collect();
    progress("starting the server and Envoy");
    let server = Process::start(&file, Anonymous::Decide)?;
    let front = Front::start(server.address, empty::serve(&runtime)?, folder.path())?;
    let gets: Vec<(String, String)> = requests.iter().filter_map(|request| envoy::head(request)).collect();
    // Once around, so that what is made when it is first needed is there.
    front.ask(&server, &gets, plan.round)?;
    let mut rounds = Vec::new();
    for round in 0..plan.rounds {
        progress(&format!("round {} of {}", round + 1, plan.rounds));
        rounds.push(front.ask(&server, &gets, plan.round)?);
    }
    heading(&format!("{} policies, Envoy with {AT_ONCE} connections", grouped(plan.policies)));
    row("", ["server µs", "Envoy µs", "per second", "p50 µs", "p99 µs"]);
    for (number_of, round) in rounds.iter().enumerate() {
        let count = number(round.latencies.0.len()).max(1.0);
        let micros = |took: Duration| figure(took.as_secs_f64() * 1e6 / count);
        let at = |thousandth| figure(round.latencies.at(thousandth).as_secs_f64() * 1e6);
        let rate = figure(count / plan.round.as_secs_f64());
        row(&format!("round {}", number_of + 1), [micros(round.server), micros(round.envoy), rate, at(500), at(990)]);
    }
    let each = |round: &Round| round.server.div_f64(number(round.latencies.0.len()).max(1.0));
    let middle = median(rounds.iter().map(each).collect());
    let mut targets = Targets::default();
    targets.at_most("CPU time of the server for one check over gRPC, µs", middle.as_secs_f64() * 1e6, 35.0);
    targets.finish(0)
}

/// An Envoy; it ends with this.
#[derive(Debug)]
struct Front {
    child: Child,
    address: SocketAddr,
}

impl Front {
    fn start(server: SocketAddr, service: SocketAddr, folder: &Path) -> Result<Self, String> {
        let failed = |error: std::io::Error| error.to_string();
        let named = std::env::var_os(NAMED).map(PathBuf::from);
        let program = named.unwrap_or_else(|| PathBuf::from(INSTALLED));
        if !program.is_file() {
            return Err(format!("there is no Envoy: `cargo xtask test --install` gets one, and {NAMED} names another"));
        }
        let (file, admin) = (folder.join("envoy.yaml"), folder.join("admin"));
        let port = |address: SocketAddr| format!("port_value: {}", address.port());
        let configuration = EXAMPLE
            .replace("port_value: 10000", "port_value: 0")
            .replace("port_value: 8181", &port(server))
            .replace("port_value: 8080", &port(service));
        let own = "admin: {address: {socket_address: {address: 127.0.0.1, port_value: 0}}}\n";
        std::fs::write(&file, format!("{own}{configuration}")).map_err(failed)?;
        let mut command = Command::new(program);
        command.arg("-c").arg(&file).arg("--admin-address-path").arg(&admin);
        command.args(["--use-dynamic-base-id", "--concurrency", "1", "--log-level", "error"]);
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).spawn().map_err(failed)?;
        let mut own = Self { child, address: SocketAddr::from(([127, 0, 0, 1], 0)) };
        own.address = listener(&admin)?;
        Ok(own)
    }

    /// Asks by many connections for a while.
    fn ask(&self, server: &Process, gets: &[(String, String)], for_long: Duration) -> Result<Round, String> {
        let mut clients = (0..AT_ONCE).map(|_| Client::connect(self.address)).collect::<Result<Vec<_>, _>>()?;
        let mut next = gets.iter().cycle();
        let (mut latencies, mut permitted) = (Latencies::default(), 0);
        let worked = || [server.id(), self.child.id()].map(|id| process_time_of(id).unwrap_or_default());
        let (begun, [server_before, envoy_before]) = (Instant::now(), worked());
        while begun.elapsed() < for_long {
            let begin = Instant::now();
            for (client, (line, headers)) in clients.iter_mut().zip(&mut next) {
                client.begin(line, headers, "")?;
            }
            for client in &mut clients {
                let Answer { head, .. } = client.answer()?;
                match head.split_ascii_whitespace().nth(1) {
                    Some("200") => permitted += 1,
                    Some("403") => {}
                    _ => return Err(format!("neither let in nor kept out: {head}")),
                }
                latencies.0.push(begin.elapsed());
            }
        }
        let [server_after, envoy_after] = worked();
        let latencies = latencies.sorted();
        if permitted == 0 || permitted == latencies.0.len() {
            return Err(format!("{permitted} of {} requests were let in: Envoy does not ask", latencies.0.len()));
        }
        Ok(Round {
            server: server_after.saturating_sub(server_before),
            envoy: envoy_after.saturating_sub(envoy_before),
            latencies,
        })
    }
}

impl Drop for Front {
    fn drop(&mut self) {
        // It keeps nothing, so that there is nothing to end in order.
        if self.child.kill().is_err() || self.child.wait().is_err() {
            eprintln!("note: Envoy did not end");
        }
    }
}

/// Where Envoy listens, once it does.
fn listener(admin: &Path) -> Result<SocketAddr, String> {
    for _ in 0..200 {
        std::thread::sleep(Duration::from_millis(50));
        let Ok(text) = std::fs::read_to_string(admin) else { continue };
        let Ok(admin) = text.trim().parse() else { continue };
        let Ok(listeners) = Client::connect(admin).and_then(|mut client| client.get("/listeners")) else {
            continue;
        };
        let front = listeners.lines().find_map(|line| line.strip_prefix("front::"));
        if let Some(address) = front.and_then(|front| front.trim().parse().ok()) {
            return Ok(address);
        }
    }
    Err("Envoy did not start".to_owned())
}
