//! Hours of mixed load: decisions, writes, lists, streams of events and strangers. What it uses and how long it takes is printed over time;
//! at the end, the last third is held against the one before it.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use upheld_server::config::Anonymous;

use super::client::Client;
use super::process::{Process, TOKEN};
use super::{Latencies, documents};
use crate::access::Workload;
use crate::report::{Targets, figure, heading, number, progress};

/// Policies that are there all the time.
const POLICIES: usize = 2_000;

/// How many figures are printed.
const LINES: u32 = 60;

/// Between two acts: the machine is not to be full.
const DECISIONS: Duration = Duration::from_millis(1);
const WRITES: Duration = Duration::from_millis(200);
const LISTS: Duration = Duration::from_millis(100);
const STREAMS: Duration = Duration::from_millis(500);

/// What was measured at a moment.
#[derive(Clone, Copy, Debug, Default)]
struct Moment {
    memory: f64,
    handles: f64,
    middle: f64,
    slow: f64,
}

/// Measures for so many minutes; fails on a wrong answer.
pub(crate) fn run(minutes: u64) -> Result<(), String> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let workload = Workload::new(POLICIES, 500);
    let file = folder.path().join("policies.jsonl");
    std::fs::write(&file, documents::policies(&workload)).map_err(|error| error.to_string())?;
    let bodies = documents::bodies(&workload);
    progress("starting the server");
    let server = Process::start(&file, Anonymous::None)?;
    let (over, failed) = (AtomicBool::new(false), AtomicUsize::new(0));
    let (latencies, writes) = (Mutex::new(Vec::new()), AtomicUsize::new(0));
    let until = Duration::from_mins(minutes);
    let moments = std::thread::scope(|scope| {
        let acts: [(Duration, Act<'_>); 5] = [
            (DECISIONS, decisions(server.address, &bodies, &latencies)),
            (WRITES, writing(server.address, &writes)),
            (LISTS, lists(server.address)),
            (STREAMS, Box::new(|_| stream(server.address))),
            (LISTS, Box::new(|_| stranger(server.address))),
        ];
        for (rest, mut act) in acts {
            let (over, failed) = (&over, &failed);
            scope.spawn(move || {
                for number in 0.. {
                    if over.load(Ordering::Relaxed) {
                        break;
                    }
                    if let Err(problem) = act(number) {
                        eprintln!("failed: {problem}");
                        failed.fetch_add(1, Ordering::Relaxed);
                        std::thread::sleep(Duration::from_secs(1));
                    }
                    std::thread::sleep(rest);
                }
            });
        }
        let moments = watch(&server, until, &latencies, &writes);
        over.store(true, Ordering::Relaxed);
        moments
    });
    let third = moments.len() / 3;
    let (middle, last) = (mean(&moments, third, 2 * third), mean(&moments, 2 * third, moments.len()));
    let mut targets = Targets::default();
    let growth = |after: f64, before: f64| after / before.max(1e-9);
    targets.at_most("memory, the last third / the one before", growth(last.memory, middle.memory), 1.15);
    targets.at_most("file handles, the last third / the one before", growth(last.handles, middle.handles), 1.15);
    targets.at_most("p50 of decisions, the last third / the one before", growth(last.middle, middle.middle), 1.5);
    targets.at_most("p99 of decisions, the last third / the one before", growth(last.slow, middle.slow), 2.0);
    targets.finish(failed.load(Ordering::Relaxed))
}

/// Prints a line now and then until it is over.
fn watch(server: &Process, until: Duration, latencies: &Mutex<Vec<Duration>>, writes: &AtomicUsize) -> Vec<Moment> {
    heading("Mixed load: decisions, writes, lists, streams of events, strangers");
    println!(
        "  {:>8}{:>12}{:>10}{:>14}{:>10}{:>10}{:>10}",
        "minute", "memory MB", "handles", "decisions/s", "p50 µs", "p99 µs", "writes"
    );
    let begun = Instant::now();
    let every = (until / LINES).max(Duration::from_secs(1));
    let mut moments = Vec::new();
    while begun.elapsed() < until {
        std::thread::sleep(every.min(until.saturating_sub(begun.elapsed())));
        let taken = latencies.lock().map(|mut all| std::mem::take(&mut *all)).unwrap_or_default();
        let taken = Latencies(taken).sorted();
        let micros = |thousandth| taken.at(thousandth).as_secs_f64() * 1e6;
        let moment = Moment {
            memory: number(server.memory()) / 1e6,
            handles: number(server.handles()),
            middle: micros(500),
            slow: micros(990),
        };
        println!(
            "  {:>8.1}{:>12}{:>10}{:>14}{:>10}{:>10}{:>10}",
            begun.elapsed().as_secs_f64() / 60.0,
            figure(moment.memory),
            figure(moment.handles),
            figure(number(taken.0.len()) / every.as_secs_f64()),
            figure(moment.middle),
            figure(moment.slow),
            writes.load(Ordering::Relaxed),
        );
        moments.push(moment);
    }
    moments
}

fn mean(moments: &[Moment], from: usize, to: usize) -> Moment {
    let some = moments.get(from..to).unwrap_or_default();
    let of = |field: fn(&Moment) -> f64| some.iter().map(field).sum::<f64>() / number(some.len()).max(1.0);
    Moment {
        memory: of(|moment| moment.memory),
        handles: of(|moment| moment.handles),
        middle: of(|moment| moment.middle),
        slow: of(|moment| moment.slow),
    }
}

type Act<'a> = Box<dyn FnMut(usize) -> Result<(), String> + Send + 'a>;

fn decisions<'a>(server: SocketAddr, bodies: &'a [String], latencies: &'a Mutex<Vec<Duration>>) -> Act<'a> {
    let mut client = None;
    Box::new(move |number| {
        // A new connection now and then.
        if number % 10_000 == 0 {
            client = Some(Client::connect(server)?);
        }
        let Some(client) = &mut client else { return Ok(()) };
        let body = bodies.get(number % bodies.len().max(1)).map_or("", String::as_str);
        let begin = Instant::now();
        client.ask_as(TOKEN, "/v1/decide", body)?;
        if let Ok(mut all) = latencies.lock() {
            all.push(begin.elapsed());
        }
        Ok(())
    })
}

fn writing(server: SocketAddr, writes: &AtomicUsize) -> Act<'_> {
    Box::new(move |number| {
        Client::connect(server)?.put(TOKEN, &documents::changing(number))?;
        writes.fetch_add(1, Ordering::Relaxed);
        Ok(())
    })
}

fn lists<'a>(server: SocketAddr) -> Act<'a> {
    const PATHS: [&str; 4] = ["/v1/policies?limit=100", "/v1/documents?limit=100", "/v1/revisions", "/metrics"];
    Box::new(move |number| {
        let path = PATHS.get(number % PATHS.len()).copied().unwrap_or_default();
        let head = raw(
            server,
            &format!(
                "GET {path} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {TOKEN}\r\nconnection: close\r\n\r\n"
            ),
        )?;
        if head.starts_with("HTTP/1.1 200") { Ok(()) } else { Err(format!("{path}: {head}")) }
    })
}

/// Follows events for a moment.
fn stream(server: SocketAddr) -> Result<(), String> {
    let mut stream = TcpStream::connect(server).map_err(|error| error.to_string())?;
    stream.set_read_timeout(Some(Duration::from_secs(5))).map_err(|error| error.to_string())?;
    let request = format!("GET /v1/events HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {TOKEN}\r\n\r\n");
    stream.write_all(request.as_bytes()).map_err(|error| error.to_string())?;
    let mut head = [0; 12];
    stream.read_exact(&mut head).map_err(|error| error.to_string())?;
    if &head == b"HTTP/1.1 200" { Ok(()) } else { Err("there are no events".to_owned()) }
}

/// Somebody with a wrong token, who must be refused.
fn stranger(server: SocketAddr) -> Result<(), String> {
    let request = "GET /v1/documents HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer upheld_guess\r\nconnection: close\r\n\r\n";
    let head = raw(server, request)?;
    if head.starts_with("HTTP/1.1 401") { Ok(()) } else { Err(format!("a stranger gets {head}")) }
}

/// The first line of an answer; all of it is read.
fn raw(server: SocketAddr, request: &str) -> Result<String, String> {
    let mut stream = TcpStream::connect(server).map_err(|error| error.to_string())?;
    stream.set_read_timeout(Some(Duration::from_secs(20))).map_err(|error| error.to_string())?;
    stream.write_all(request.as_bytes()).map_err(|error| error.to_string())?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).map_err(|error| error.to_string())?;
    let text = String::from_utf8_lossy(&answer);
    Ok(text.lines().next().unwrap_or_default().to_owned())
}
