//! Work ends with its request: P1 of the second round. Tests wait until the server counts no question that is worked on; how long that took is
//! printed, and never judged.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::{Duration, Instant};

use upheld_server::Config;
use upheld_server::config::Limits;

use crate::freezing::workloads;
use crate::strangers::frame;
use crate::support::Served;

/// What changed between nothing and many workloads: it takes much longer than anybody waits here, unless somebody ends it.
const DIFF: &str = r#"{"before": 0, "after": 1}"#;
const LONG: usize = 640;

/// Nobody waits longer for what must come.
const PATIENCE: Duration = Duration::from_secs(10);

/// A server that knows many workloads.
fn served(time: Duration) -> Served {
    let limits = Limits { time, batch: 2 * LONG, ..Limits::default() };
    let served = Served::start(Config { limits, ..Config::default() });
    let written = served.post("/v1/revisions", &workloads(LONG));
    assert_eq!(written.status, 201, "{}", written.text);
    served
}

/// As long as nobody is told to wait.
const PATIENT: Duration = Duration::from_mins(10);

/// How many long questions there are.
fn questions(served: &Served, state: &str) -> u64 {
    let metrics = served.get("/metrics").text;
    let line = format!("upheld_questions{{lane=\"long\",state=\"{state}\"}} ");
    let count = metrics.lines().find_map(|found| found.strip_prefix(&line)).expect("it is counted");
    count.parse().unwrap()
}

fn eventually(what: &str, is_so: impl Fn() -> bool) -> Duration {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < PATIENCE, "{what}: it never came");
        std::thread::sleep(Duration::from_millis(1));
    }
    begun.elapsed()
}

/// How somebody leaves; what of their connection is open behind them.
type Leave = Box<dyn FnOnce() -> Option<TcpStream>>;

/// Asks the long question, leaves it when it is worked on, and finds the place free for the next one.
fn left(name: &str, served: &Served, leave: impl FnOnce(&Served) -> Leave) {
    let leaves = leave(served);
    eventually(name, || questions(served, "working") == 1);
    let _open = leaves();
    let took = eventually(name, || questions(served, "working") + questions(served, "waiting") == 0);
    println!("{name}: the work ended {took:?} later");
    let next = served.post("/v1/lint", "{}");
    assert_eq!(next.status, 200, "{name}: {}", next.text);
}

/// The request of HTTP/1.1.
fn written() -> String {
    format!(
        "POST /v1/diff HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{DIFF}",
        DIFF.len()
    )
}

fn asked(served: &Served) -> TcpStream {
    let mut stream = served.connect();
    stream.write_all(written().as_bytes()).unwrap();
    stream
}

#[test]
fn p1_a_client_of_http_1_that_leaves_takes_its_work_along() {
    let served = served(PATIENT);
    left("a closed connection", &served, |served| {
        let stream = asked(served);
        Box::new(move || {
            drop(stream);
            None
        })
    });
    left("a half closed connection", &served, |served| {
        let stream = asked(served);
        Box::new(move || {
            stream.shutdown(Shutdown::Write).unwrap();
            Some(stream)
        })
    });
}

/// A connection of HTTP/2 that asks the long question by a stream.
fn streamed(served: &Served) -> TcpStream {
    let mut stream = served.connect();
    let literal = |place: u8, text: &str| [&[place, u8::try_from(text.len()).unwrap()], text.as_bytes()].concat();
    // POST and http stand in the table of all connections, and so do the names of path, authority and content-type.
    let content_type = [&[0x0f], literal(0x10, "application/json").as_slice()].concat();
    let head = [vec![0x83, 0x86], literal(4, "/v1/diff"), literal(1, "localhost"), content_type].concat();
    let all = [
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec(),
        frame(4, 0, 0, &[]),
        frame(1, 4, 1, &head),
        frame(0, 1, 1, DIFF.as_bytes()),
    ];
    stream.write_all(&all.concat()).unwrap();
    stream
}

#[test]
fn p1_a_stream_of_http_2_that_is_reset_takes_its_work_along() {
    let served = served(PATIENT);
    left("a stream that is reset", &served, |served| {
        let mut stream = streamed(served);
        Box::new(move || {
            // CANCEL, and the connection stays.
            stream.write_all(&frame(3, 0, 1, &8_u32.to_be_bytes())).unwrap();
            Some(stream)
        })
    });
    left("a connection of HTTP/2 that is closed", &served, |served| {
        let stream = streamed(served);
        Box::new(move || {
            drop(stream);
            None
        })
    });
}

#[test]
fn p1_work_ends_with_the_time_of_its_request() {
    let served = served(Duration::from_secs(1));
    let refused = served.post("/v1/diff", DIFF);
    // Whoever comes to places in time says how far they came.
    let is_part = || refused.json()["next"].is_u64();
    assert!(refused.status == 503 || is_part(), "{}", refused.text);
    let took = eventually("the time is over", || questions(&served, "working") == 0);
    println!("the time is over: the work ended {took:?} later");
    assert_eq!(served.post("/v1/lint", "{}").status, 200);
}

/// A page asks in the name of its reader, and ends with them.
#[test]
fn p1_a_page_that_is_left_takes_its_work_along() {
    let served = served(PATIENT);
    left("a page that is left", &served, |served| {
        let mut stream = served.connect();
        let request = "GET /changes?before=0&after=1 HTTP/1.1\r\nhost: localhost\r\naccept: text/html\r\n\r\n";
        stream.write_all(request.as_bytes()).unwrap();
        Box::new(move || {
            drop(stream);
            None
        })
    });
}

/// Whoever waits for their turn and leaves is no longer in line.
#[test]
fn p1_questions_that_wait_go_with_their_clients() {
    let served = served(PATIENT);
    let first = asked(&served);
    eventually("the first", || questions(&served, "working") == 1);
    let others: Vec<TcpStream> = (0..8).map(|_| asked(&served)).collect();
    eventually("the others", || questions(&served, "working") + questions(&served, "waiting") == 9);
    drop(others);
    eventually("they left", || questions(&served, "waiting") == 0 && questions(&served, "working") == 1);
    drop(first);
    eventually("the first left, too", || questions(&served, "working") == 0);
}

/// The server ends, and what it was asked with it.
#[test]
fn p1_a_server_ends_while_it_works() {
    let served = served(PATIENT);
    let mut stream = asked(&served);
    eventually("the question", || questions(&served, "working") == 1);
    let begun = Instant::now();
    drop(served);
    println!("the server ended {:?} later", begun.elapsed());
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok();
    assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 503 ") && answer.contains("the server ends"), "{answer}");
}
