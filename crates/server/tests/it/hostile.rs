//! Clients that mean no good: they are reported so, change nothing, and others are answered as before.

use std::io::{Read, Write};
use std::time::Duration;

use upheld_server::Config;
use upheld_server::config::Limits;

use crate::support::Served;

const POLICY: &str = r#"{"id": "a", "effect": "permit", "subjects": [], "resources": [], "actions": []}"#;
const QUESTION: &str = r#"{"subject": {"id": "ann"}, "action": {"method": "GET"}, "resource": {"path": "/x"}}"#;

fn served() -> Served {
    let served = Served::start(Config::default());
    assert_eq!(served.ask("PUT", "/v1/documents/AccessPolicy/access/a", &[], POLICY).status, 201);
    served
}

/// Nothing changed, and everything is answered.
fn unharmed(served: &Served) {
    assert_eq!(served.get("/v1/revisions").json()["last"], 1);
    let decision = served.post("/v1/decide", QUESTION).json();
    assert_eq!((&decision["decision"], &decision["revision"]), (&"permit".into(), &1.into()));
}

#[test]
fn bodies_of_all_wrong_kinds_are_clear_mistakes() {
    let served = served();
    let deep = "[".repeat(5000);
    let bodies = [
        "",
        "nonsense",
        "{",
        "[]",
        "null",
        "5",
        "\"text\"",
        "{}{}",
        "\u{0}",
        "{\"a\":1,\"a\":2}",
        "[[[[",
        &deep,
        r#"{"subject": 5}"#,
        r#"{"subject": {"id": []}}"#,
        r#"{"unknown": 1}"#,
        r#"{"requests": 5}"#,
        r#"{"requests": [5]}"#,
        r#"{"put": 5}"#,
        r#"{"put": [5]}"#,
        r#"{"put": [{"id": 5}]}"#,
        r#"{"delete": [5]}"#,
        r#"{"put": [], "surprise": true}"#,
        r#"{"after": "x"}"#,
        r#"{"after": -1}"#,
        r#"{"message": {}}"#,
        r#"{"put": [{"id": "b", "effect": "permit", "subjects": [], "resources": [], "actions": [], "x": 1}]}"#,
    ];
    let endpoints = [
        ("POST", "/v1/decide"),
        ("POST", "/v1/decide:batch"),
        ("POST", "/v1/revisions"),
        ("PUT", "/v1/documents/AccessPolicy/access/b"),
        ("PUT", "/v1/documents/%00/%ff/%2e%2e"),
    ];
    for (method, path) in endpoints {
        for body in bodies {
            let answer = served.ask(method, path, &[("content-type", "application/json")], body);
            assert!((400..500).contains(&answer.status), "{method} {path} {body}: {}", answer.status);
        }
        let answer = served.ask(method, path, &[("content-type", "image/png")], POLICY);
        assert!((400..500).contains(&answer.status), "{method} {path}: {}", answer.status);
    }
    unharmed(&served);
}

#[test]
fn questions_in_wrong_words_are_clear_mistakes() {
    let served = served();
    let paths = [
        "/v1/revisions?after=x",
        "/v1/revisions?limit=-1",
        "/v1/revisions?after=99999999999999999999999",
        "/v1/revisions/x",
        "/v1/revisions/-1",
        "/v1/decide",
        "/v1/nothing",
        "/v1/revisions?at=x",
        "/v1/events?after=x",
        "/%",
        "/%zz",
        "//",
        "/v1/documents/a/b",
        "/v1/documents/a/b/c/d",
        "/v1/revisions?at=99999",
    ];
    for path in paths {
        let status = served.get(path).status;
        assert!((400..500).contains(&status), "{path}: {status}");
    }
    unharmed(&served);
}

#[test]
fn broken_http_is_refused() {
    let served = served();
    let broken: [&[u8]; 12] = [
        b"\r\n\r\n\r\n\r\n",
        b"nonsense\r\n\r\n",
        b"GET\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET / HTTP/1.1\r\nno colon\r\n\r\n",
        b"GET /\x00 HTTP/1.1\r\nhost: x\r\n\r\n",
        b"POST /v1/revisions HTTP/1.1\r\nhost: x\r\ncontent-length: -5\r\n\r\n",
        b"POST /v1/revisions HTTP/1.1\r\nhost: x\r\ncontent-length: 5\r\ncontent-length: 7\r\n\r\n{}   ",
        b"POST /v1/revisions HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\nZZ\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\xff\xff\xff\xff\xff\xff\xff\xff\xff",
        &[0xff; 4096],
    ];
    for bytes in broken {
        let mut stream = served.connect();
        stream.write_all(bytes).ok();
        stream.shutdown(std::net::Shutdown::Write).ok();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).ok();
        let answer = String::from_utf8_lossy(&answer).into_owned();
        assert!(!answer.starts_with("HTTP/1.1 2") && !answer.starts_with("HTTP/1.1 5"), "{bytes:?}: {answer}");
    }
    unharmed(&served);
}

#[test]
fn slow_clients_do_not_keep_others_waiting() {
    let limits =
        Limits { head_time: Duration::from_millis(500), body_time: Duration::from_millis(500), ..Limits::default() };
    let served = Served::start(Config { limits, ..Config::default() });
    assert_eq!(served.ask("PUT", "/v1/documents/AccessPolicy/access/a", &[], POLICY).status, 201);
    let slow: Vec<_> = (0..100)
        .map(|number| {
            let mut stream = served.connect();
            let beginning: &[u8] = match number % 3 {
                0 => b"",
                1 => b"PUT /v1/documents/AccessPolicy/access/a HTTP/1.1\r\nhost:",
                _ => b"PUT /v1/documents/AccessPolicy/access/a HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\n{",
            };
            stream.write_all(beginning).unwrap();
            stream
        })
        .collect();
    unharmed(&served);
    for mut stream in slow {
        let mut answer = Vec::new();
        let ended = stream.read_to_end(&mut answer).map_err(|error| error.kind());
        assert_ne!(ended, Err(std::io::ErrorKind::WouldBlock), "still open");
    }
    unharmed(&served);
}

/// Kilobytes that this process holds in memory.
#[cfg(target_os = "linux")]
fn memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches("kB").trim().parse().unwrap()
}

#[cfg(target_os = "linux")]
#[test]
fn a_hundred_megabytes_are_refused_without_taking_the_memory() {
    const SIZE: usize = 100 << 20;
    let served = served();
    let piece = vec![b' '; 64 * 1024];
    let before = memory();
    for round in 0..8 {
        let mut stream = served.connect();
        let head = if round % 2 == 0 {
            format!("POST /v1/revisions HTTP/1.1\r\nhost: x\r\ncontent-length: {SIZE}\r\n\r\n")
        } else {
            "POST /v1/revisions HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n".to_owned()
        };
        stream.write_all(head.as_bytes()).unwrap();
        let mut sent = 0;
        while sent < SIZE {
            let framed = round % 2 == 1;
            let whole = || {
                if framed {
                    (&stream).write_all(b"10000\r\n")?;
                }
                (&stream).write_all(&piece)?;
                if framed { (&stream).write_all(b"\r\n") } else { Ok(()) }
            };
            if whole().is_err() {
                break;
            }
            sent += piece.len();
        }
        assert!(sent < SIZE, "all of it was taken");
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).ok();
        let answer = String::from_utf8_lossy(&answer).into_owned();
        assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 413 "), "{answer}");
    }
    let after = memory();
    // Other tests run in the same process: the bound is generous, and far below what was sent.
    assert!(after < before + 400 * 1024, "{before} kB before, {after} kB after");
    unharmed(&served);
}
