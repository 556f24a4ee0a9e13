//! Every limit, and what who exceeds it is reported.

use std::io::{Read, Write};
use std::time::Duration;

use upheld_server::Config;
use upheld_server::config::{Limits, Security};

use crate::support::Served;

const QUESTION: &str = r#"{"subject": {"id": "ann"}, "action": {"method": "GET"}, "resource": {"path": "/x"}}"#;
/// Takes as long as the server lets it.
const PATIENT: &str = "/v1/revisions?minRevision=99";

fn served(limits: Limits) -> Served {
    Served::start(Config { limits, ..Config::default() })
}

/// Tries until it is so.
fn until(what: impl Fn() -> bool) {
    for _ in 0..1000 {
        if what() {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("it did not become so within ten seconds");
}

#[test]
fn large_bodies_are_refused() {
    let served = served(Limits { body: 1000, ..Limits::default() });
    let refused = served.post("/v1/decide", &" ".repeat(1001));
    assert_eq!((refused.status, refused.header("content-type")), (413, Some("application/problem+json")));
    assert!(refused.text.contains("at most 1000 bytes"), "{}", refused.text);
    let padded = format!("{QUESTION}{}", " ".repeat(1000 - QUESTION.len()));
    assert_eq!(served.post("/v1/decide", &padded).status, 200);
}

#[test]
fn who_says_that_a_body_is_large_need_not_send_it() {
    let served = served(Limits::default());
    let head = "POST /v1/decide HTTP/1.1\r\nhost: x\r\ncontent-length: 104857600\r\n\r\n";
    let answer = served.raw(head.as_bytes());
    assert!(answer.starts_with("HTTP/1.1 413 "), "{answer}");
}

#[test]
fn bodies_in_pieces_are_counted_too() {
    let served = served(Limits { body: 1000, ..Limits::default() });
    let mut request =
        b"POST /v1/decide HTTP/1.1\r\nhost: x\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n".to_vec();
    for _ in 0..20 {
        request.extend_from_slice(format!("64\r\n{}\r\n", " ".repeat(100)).as_bytes());
    }
    // There is no end: the answer comes before it.
    let answer = served.raw(&request);
    assert!(answer.starts_with("HTTP/1.1 413 ") && answer.contains("body-too-large"), "{answer}");
    let mut small =
        b"POST /v1/decide HTTP/1.1\r\nhost: x\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n".to_vec();
    for byte in QUESTION.bytes() {
        small.extend_from_slice(&[b'1', b'\r', b'\n', byte, b'\r', b'\n']);
    }
    small.extend_from_slice(b"0\r\n\r\n");
    let answer = served.raw(&small);
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
}

#[test]
fn bodies_of_those_who_may_not_are_not_read() {
    let served = Served::guarded(Config::default());
    let head = "PUT /v1/documents/A/b/c HTTP/1.1\r\nhost: localhost\r\ncontent-length: 100000\r\n\r\n";
    let answer = served.raw(head.as_bytes());
    assert!(answer.starts_with("HTTP/1.1 401 "), "{answer}");
}

#[test]
fn slow_bodies_are_ended() {
    let served = served(Limits { body_time: Duration::from_millis(200), ..Limits::default() });
    let answer = served.raw(b"POST /v1/decide HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\n{");
    assert!(answer.starts_with("HTTP/1.1 408 ") && answer.contains("slow-body"), "{answer}");
}

#[test]
fn slow_heads_and_silence_are_ended() {
    let served = served(Limits { head_time: Duration::from_millis(300), ..Limits::default() });
    // Silence, the beginning of a head, the beginning of HTTP/2, and HTTP/2 without a request.
    let beginnings: [&[u8]; 4] = [
        b"",
        b"GET /healthz HTTP/1.1\r\nhost: x\r\n",
        b"PRI * HTTP/2.0\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00",
    ];
    for beginning in beginnings {
        let mut stream = served.connect();
        stream.write_all(beginning).unwrap();
        let mut rest = Vec::new();
        let ended = stream.read_to_end(&mut rest);
        let waited = ended.as_ref().err().map(std::io::Error::kind);
        assert_ne!(waited, Some(std::io::ErrorKind::WouldBlock), "{beginning:?} is still open");
    }
    assert_eq!(served.get("/healthz").status, 200);
}

#[test]
fn large_heads_are_refused() {
    let served = served(Limits::default());
    let many: String = (0..500).map(|number| format!("x-{number}: y\r\n")).collect();
    let answer = served.raw(format!("GET /healthz HTTP/1.1\r\nhost: x\r\n{many}\r\n").as_bytes());
    assert!(answer.starts_with("HTTP/1.1 431 "), "{answer}");
    let long = "y".repeat(200_000);
    let answer = served.raw(format!("GET /healthz HTTP/1.1\r\nhost: x\r\nx: {long}\r\n\r\n").as_bytes());
    assert!(answer.starts_with("HTTP/1.1 431 ") || answer.is_empty(), "{answer}");
    assert_eq!(served.get("/healthz").status, 200);
}

#[test]
fn deep_nesting_is_a_bad_request() {
    let served = served(Limits::default());
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let refused = served.post("/v1/decide", &deep);
    assert_eq!(refused.status, 400);
    assert!(refused.text.contains("nested deeper than"), "{}", refused.text);
    let yaml = served.ask("POST", "/v1/revisions", &[("content-type", "application/yaml")], &deep);
    assert_eq!(yaml.status, 400, "{}", yaml.text);
}

#[test]
fn large_batches_are_refused() {
    let served = served(Limits { batch: 2, ..Limits::default() });
    let batch = |size: usize| format!(r#"{{"requests": [{}]}}"#, vec![QUESTION; size].join(","));
    assert_eq!(served.post("/v1/decide:batch", &batch(2)).status, 200);
    assert_eq!(served.post("/v1/decide:batch", &batch(3)).status, 413);
}

#[test]
fn too_many_requests_at_once_do_not_wait_in_line() {
    let wait = Duration::from_secs(30);
    let served = served(Limits { reading: 1, time: wait, wait, ..Limits::default() });
    // Whoever asks in between may have the only place for a moment; then it is tried again.
    let holding = || {
        let mut patient = served.connect();
        patient.set_read_timeout(Some(Duration::from_millis(300))).unwrap();
        patient.write_all(format!("GET {PATIENT} HTTP/1.1\r\nhost: x\r\n\r\n").as_bytes()).unwrap();
        let answered = patient.read(&mut [0; 12]).is_ok();
        (!answered && served.get("/v1/revisions").status == 503).then_some(patient)
    };
    let patient = (0..50).find_map(|_| holding()).expect("somebody holds the only place");
    let refused = served.get("/v1/revisions");
    assert_eq!((refused.status, refused.header("retry-after")), (503, Some("1")));
    assert_eq!(served.get("/healthz").status, 200, "whether it lives can always be asked");
    drop(patient);
    until(|| served.get("/v1/revisions").status == 200);
}

#[test]
fn streams_of_events_have_places_of_their_own() {
    let served = served(Limits { concurrency: 1, ..Limits::default() });
    let follow = || {
        let mut stream = served.connect();
        stream.write_all(b"GET /v1/events HTTP/1.1\r\nhost: x\r\n\r\n").unwrap();
        let mut head = [0; 12];
        stream.read_exact(&mut head).unwrap();
        (stream, String::from_utf8_lossy(&head).into_owned())
    };
    let (first, head) = follow();
    assert_eq!(head, "HTTP/1.1 200");
    assert_eq!(follow().1, "HTTP/1.1 503");
    assert_eq!(served.post("/v1/decide", QUESTION).status, 200);
    drop(first);
    until(|| follow().1 == "HTTP/1.1 200");
}

#[test]
fn requests_that_take_too_long_are_ended() {
    let served =
        served(Limits { time: Duration::from_millis(200), wait: Duration::from_secs(30), ..Limits::default() });
    let refused = served.get(PATIENT);
    assert_eq!((refused.status, refused.header("content-type")), (503, Some("application/problem+json")));
    assert!(refused.text.contains("no answer within 0.2 s"), "{}", refused.text);
}

#[test]
fn who_asks_too_fast_is_told_to_wait() {
    let limits = Limits { rate: Some(3), ..Limits::default() };
    let served = Served::guarded(Config { limits, security: Security::default(), ..Config::default() });
    let token = format!("Bearer {}", served.running().bootstrap_token().unwrap());
    let anonymous = || served.get("/v1/revisions");
    let mut answers = (0..1000).map(|_| anonymous());
    let refused = answers.find(|answer| answer.status != 200).unwrap();
    assert_eq!((refused.status, refused.header("retry-after")), (429, Some("1")));
    assert_eq!(refused.header("content-type"), Some("application/problem+json"));
    assert_eq!(served.ask("GET", "/v1/revisions", &[("authorization", &token)], "").status, 200, "another client");
    assert_eq!(served.get("/healthz").status, 200);
    until(|| anonymous().status == 200);
    let wrong = || served.ask("GET", "/v1/revisions", &[("authorization", "Bearer upheld_guess")], "").status;
    assert!((0..1000).any(|_| wrong() == 429), "guesses are counted too");
}

#[test]
fn too_many_connections_are_turned_away() {
    let served = served(Limits { connections: 2, head_time: Duration::from_mins(1), ..Limits::default() });
    let ask = |close: bool| {
        let mut stream = served.connect();
        let connection = if close { "close" } else { "keep-alive" };
        stream
            .write_all(format!("GET /readyz HTTP/1.1\r\nhost: x\r\nconnection: {connection}\r\n\r\n").as_bytes())
            .ok();
        let mut head = [0; 12];
        stream.read_exact(&mut head).ok();
        (stream, String::from_utf8_lossy(&head).into_owned())
    };
    let held = [ask(false), ask(false)];
    assert!(held.iter().all(|(_, head)| head == "HTTP/1.1 200"));
    let (_, head) = ask(true);
    assert!(head == "HTTP/1.1 503" || head.starts_with('\0'), "{head:?}");
    drop(held);
    until(|| ask(true).1 == "HTTP/1.1 200");
}
