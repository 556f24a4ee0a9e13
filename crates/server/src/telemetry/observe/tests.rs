use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use serde_json::Value as Json;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::layer::SubscriberExt;

use super::*;
use crate::config::{Config, Operations, Security};
use crate::telemetry::logs::{self, LogStyle};

#[derive(Clone, Debug, Default)]
struct Memory(Arc<Mutex<Vec<u8>>>);

impl Write for Memory {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Memory {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

fn ask(address: SocketAddr, request: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

/// What a server logs while it answers these, as one thread does everything.
fn logged(level: &str, requests: &[String]) -> (Vec<String>, String) {
    let written = Memory::default();
    let operations = Operations { log: Some(level.to_owned()), ..Operations::default() };
    let (filter, _) = logs::filter(&operations, |_| None);
    let subscriber = tracing_subscriber::registry().with(logs::layer(LogStyle::Json, filter, written.clone()));
    let guard = tracing::subscriber::set_default(subscriber);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let answers = runtime.block_on(async {
        let (listen, security) = (SocketAddr::from(([127, 0, 0, 1], 0)), Security::open());
        let config = Config { listen, security, ..Config::default() };
        let running = crate::start(config).await.unwrap();
        let address = running.address();
        let requests = requests.to_vec();
        let asking = move || requests.iter().map(|request| ask(address, request)).collect();
        let answers = tokio::task::spawn_blocking(asking).await.unwrap();
        running.stop().await;
        answers
    });
    drop(guard);
    let bytes = written.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
    (answers, String::from_utf8(bytes).unwrap())
}

fn post(path: &str, headers: &str, body: &str) -> String {
    let length = body.len();
    format!("POST {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n{headers}content-length: {length}\r\n\r\n{body}")
}

#[test]
fn a_request_is_one_line_without_its_secrets() {
    let body = r#"{"subject": {"id": "secret-ann"}, "action": {"method": "GET"}, "resource": {"path": "/x"}}"#;
    let request = post(
        "/v1/decide?kind=AccessPolicy&token=secret-query",
        "x-request-id: mine-1\r\ncookie: secret-cookie\r\n",
        body,
    );
    let (answers, log) = logged("info,upheld_server::request=debug", &[request]);
    assert!(answers[0].starts_with("HTTP/1.1 200") && answers[0].contains("x-request-id: mine-1"), "{}", answers[0]);
    assert!(!log.contains("secret"), "{log}");
    let lines: Vec<Json> = log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let line = lines.iter().find(|line| line["id"] == "mine-1").unwrap_or_else(|| panic!("{log}"));
    assert_eq!((&line["status"], &line["message"], &line["level"]), (&200.into(), &"answered".into(), &"DEBUG".into()));
    assert_eq!((&line["method"], &line["route"]), (&"POST".into(), &"/v1/decide".into()));
    assert!(line["microseconds"].is_u64());
}

#[test]
fn everything_that_is_logged_on_the_way_is_without_secrets_too() {
    let request =
        post("/v1/decide?kind=x", "authorization: Bearer secret-token\r\ncookie: secret\r\n", "secret body {");
    let (answers, log) = logged("trace", &[request]);
    assert!(answers[0].starts_with("HTTP/1.1 4"), "{}", answers[0]);
    let ours: Vec<&str> = log.lines().filter(|line| line.contains(r#""target":"upheld"#)).collect();
    assert!(!ours.is_empty() && ours.iter().all(|line| !line.contains("secret")), "{ours:#?}");
}

#[test]
fn names_that_could_break_a_line_are_not_taken() {
    let long = "x".repeat(200);
    for given in ["a b", "a\"b", "{}", long.as_str(), ""] {
        assert!(!is_name(given), "{given}");
    }
    let mut headers = HeaderMap::new();
    headers.insert(REQUEST_ID, HeaderValue::from_static("a\"b"));
    let (first, second) = (Observed::of(&headers), Observed::of(&headers));
    assert!(is_name(first.id()) && first.id() != second.id());
    headers.insert(REQUEST_ID, HeaderValue::from_static("01J-abc:7"));
    assert_eq!(Observed::of(&headers).id(), "01J-abc:7");
}

#[test]
fn probes_that_are_well_are_not_told() {
    let probe = "GET /healthz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n".to_owned();
    let missing = "GET /nothing HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n".to_owned();
    let (_, log) = logged("info", &[probe, missing]);
    assert!(!log.contains("healthz"), "{log}");
    assert!(log.contains(r#""route":"unmatched""#) && !log.contains("/nothing"), "{log}");
}
