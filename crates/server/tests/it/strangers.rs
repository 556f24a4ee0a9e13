//! Those who do not say who they are, and pages that ask in the name of others: every endpoint, against the description.

use std::io::{Read, Write};
use std::path::PathBuf;
use std::time::Duration;

use sha2::{Digest, Sha256};
use tempfile::TempDir;
use upheld_server::Config;
use upheld_server::config::{Anonymous, Limits, Security, Tls};

use crate::support::{Answer, Served, eventually};

const QUESTION: &str = r#"{"subject": {"id": "ann"}, "action": {"method": "GET"}, "resource": {"path": "/x"}}"#;
pub(crate) const TOKEN: &str = "upheld_known-0123456789abcdef0123456789abcdef";

pub(crate) fn tokens(folder: &TempDir) -> PathBuf {
    let path = folder.path().join("tokens.yaml");
    let hash = Sha256::digest(TOKEN.as_bytes());
    std::fs::write(&path, format!("tokens: [{{name: known, roles: [admin], sha256: '{hash:x}'}}]")).unwrap();
    path
}

fn guarded(security: Security) -> Served {
    Served::guarded(Config { security, ..Config::default() })
}

/// Every endpoint of the description, with something in place of its parameters, and those that no description has.
pub(crate) fn endpoints(served: &Served, bearer: &str) -> Vec<(String, String)> {
    let description = served.ask("GET", "/openapi.json", &[("authorization", bearer)], "").json();
    let paths = description["paths"].as_object().unwrap();
    let mut all: Vec<(String, String)> = paths
        .iter()
        .flat_map(|(path, methods)| {
            let filled = path.split('/').map(|part| if part.starts_with('{') { "a" } else { part });
            // A stream would have no end; one from what is no revision is not begun.
            let path = filled.collect::<Vec<_>>().join("/").replace("/v1/events", "/v1/events?after=x");
            let methods = methods.as_object().unwrap().keys().map(|method| method.to_uppercase());
            methods.map(move |method| (method, path.clone())).collect::<Vec<_>>()
        })
        .collect();
    for (method, path) in [
        ("GET", "/openapi.json"),
        ("GET", "/forward-auth/x"),
        ("GET", "/nothing/here"),
        ("POST", "/nothing/here"),
        ("POST", "/envoy.service.auth.v3.Authorization/Check"),
    ] {
        all.push((method.to_owned(), path.to_owned()));
    }
    assert!(all.len() > 50, "{}", all.len());
    all
}

fn asked(served: &Served, method: &str, path: &str, headers: &[(&str, &str)]) -> Answer {
    let body = if matches!(method, "GET" | "HEAD" | "DELETE" | "TRACE" | "OPTIONS") { "" } else { "{}" };
    served.ask(method, path, headers, body)
}

/// 401, in the form of the endpoint.
fn is_refused(answer: &Answer) -> bool {
    answer.status == 401 || answer.header("grpc-status") == Some("16")
}

#[test]
fn s5_without_anonymous_access_every_endpoint_but_health_wants_to_know_who_asks() {
    let folder = tempfile::tempdir().unwrap();
    let served = guarded(Security { tokens: Some(tokens(&folder)), ..Security::default() });
    for (method, path) in endpoints(&served, &format!("Bearer {TOKEN}")) {
        let answer = asked(&served, &method, &path, &[]);
        if path == "/healthz" {
            assert_eq!(answer.status, 200);
        } else if (method.as_str(), path.as_str()) == ("GET", "/readyz") {
            assert_eq!((answer.status, answer.text.as_str()), (200, r#"{"status":"ready"}"#), "one word for probes");
        } else {
            assert!(is_refused(&answer), "{method} {path}: {answer:?}");
            assert!(answer.header("grpc-status").is_some() || answer.text.contains("--anonymous none"), "{answer:?}");
        }
    }
}

#[test]
fn s5_anonymous_access_is_a_setting_with_a_safe_default() {
    let folder = tempfile::tempdir().unwrap();
    let can = |security: Security| {
        let served = guarded(security);
        let decides = served.post("/v1/decide", QUESTION).status == 200;
        let reads = served.get("/v1/revisions").status == 200;
        assert_eq!(served.ask("PUT", "/v1/documents/AccessPolicy/access/a", &[], "{}").status, 401, "nobody writes");
        (decides, reads, served.running().anonymous())
    };
    let some = |anonymous| Security { anonymous: Some(anonymous), ..Security::default() };
    assert_eq!(can(Security::default()), (true, true, Anonymous::Read), "a machine by itself");
    assert_eq!(can(some(Anonymous::None)), (false, false, Anonymous::None));
    assert_eq!(can(some(Anonymous::Decide)), (true, false, Anonymous::Decide));
    assert_eq!(can(some(Anonymous::Rights)), (true, true, Anonymous::Rights));
    let with_tokens = |anonymous| Security { tokens: Some(tokens(&folder)), anonymous, ..Security::default() };
    assert_eq!(can(with_tokens(None)), (false, false, Anonymous::None), "there is a way to say who one is");
    assert_eq!(can(with_tokens(Some(Anonymous::Read))), (true, true, Anonymous::Read));
    let elsewhere = Config { listen: "0.0.0.0:0".parse().unwrap(), ..Config::default() };
    assert_eq!(elsewhere.anonymous(), Anonymous::None, "other machines reach it");
    let tls = Some(Tls { certificate: "server.pem".into(), key: "server.key".into(), clients: None });
    let encrypted = Config { security: Security { tls, ..Security::default() }, ..Config::default() };
    assert_eq!(encrypted.anonymous(), Anonymous::None, "it is meant for others than this machine");
    let rights = folder.path().join("rights.yaml");
    let health = "{defaultEffect: deny, policies: [{id: health, effect: permit, subjects: [], resources: [{path: /healthz}], actions: []}]}";
    std::fs::write(&rights, health).unwrap();
    let own = Security { rights: Some(rights), ..Security::default() };
    assert_eq!(can(own), (false, false, Anonymous::Rights), "rights of one's own say it");
}

#[test]
fn s5_pages_of_others_get_nothing_from_any_endpoint() {
    let folder = tempfile::tempdir().unwrap();
    let own = format!(
        "{{{}}}",
        "defaultEffect: deny, policies: [{id: all, effect: permit, subjects: [], resources: [], actions: []}]"
    );
    let rights = folder.path().join("rights.yaml");
    std::fs::write(&rights, own).unwrap();
    let tokens = Some(tokens(&folder));
    // Rights could not be wider: what refuses is the name of the page alone.
    let served = guarded(Security { tokens, rights: Some(rights), ..Security::default() });
    let bearer = format!("Bearer {TOKEN}");
    let port = served.running().address().port();
    for (method, path) in endpoints(&served, &format!("Bearer {TOKEN}")) {
        let is_another = path.starts_with("/forward-auth");
        let is_grpc = path.contains(".v3.");
        let rebound = asked(&served, &method, &path, &[("host", "evil.example")]);
        let expected = path != "/healthz" && !is_another && !is_grpc;
        assert_eq!(rebound.status == 421, expected, "{method} {path}: {rebound:?}");
        assert!(
            !expected || rebound.text.contains("--public-url") && rebound.text.contains("evil.example"),
            "{rebound:?}"
        );
        for origin in ["http://evil.example", "null", "http://localhost:1"] {
            let foreign = asked(&served, &method, &path, &[("origin", origin)]);
            let expected = path != "/healthz" && !is_another;
            let is_refused = foreign.status == 403 || foreign.header("grpc-status") == Some("7");
            assert_eq!(
                is_refused && (is_grpc || foreign.text.contains("send a token")),
                expected,
                "{method} {path} {origin}: {foreign:?}"
            );
        }
        // A token is not sent by a browser of itself.
        let known = [("authorization", bearer.as_str()), ("host", "evil.example"), ("origin", "http://evil.example")];
        let status = asked(&served, &method, &path, &known).status;
        assert!(!matches!(status, 401 | 421) && (is_another || status != 403), "{method} {path}: {status}");
        let same = format!("http://127.0.0.1:{port}");
        let status = asked(&served, &method, &path, &[("origin", &same)]).status;
        assert!(!matches!(status, 401 | 421) && (is_another || status != 403), "{method} {path}: {status}");
    }
}

#[test]
fn s5_clients_of_a_proxy_are_not_of_this_machine() {
    let served = guarded(Security::default());
    let signs = [
        ("x-forwarded-for", "203.0.113.1"),
        ("x-forwarded-proto", "https"),
        ("x-forwarded-host", "policies.example"),
        ("forwarded", "for=203.0.113.1"),
        ("via", "1.1 proxy"),
        ("x-real-ip", "203.0.113.1"),
        ("cf-connecting-ip", "203.0.113.1"),
    ];
    for sign in signs {
        for (method, path) in [("GET", "/v1/revisions"), ("POST", "/v1/decide")] {
            assert_eq!(asked(&served, method, path, &[sign]).status, 401, "{sign:?} {path}");
        }
    }
}

#[test]
fn names_by_which_the_server_is_called_are_settings() {
    let security = Security { hosts: vec!["policies.internal".to_owned()], ..Security::default() };
    let public_url = Some("https://policies.example".to_owned());
    let served = Served::guarded(Config { security, public_url, ..Config::default() });
    let status = |host: &str| served.ask("GET", "/v1/revisions", &[("host", host)], "").status;
    assert_eq!(status("policies.internal"), 200);
    assert_eq!(status("POLICIES.example:443"), 200);
    assert_eq!(status("localhost"), 200);
    assert_eq!(status("other.example"), 421);
    let twice =
        served.raw(b"GET /v1/revisions HTTP/1.1\r\nhost: localhost\r\nhost: evil.example\r\nconnection: close\r\n\r\n");
    assert!(!twice.starts_with("HTTP/1.1 200"), "{twice}");
}

/// S11: `TRACE /authz/api/evaluate` was 404.
#[test]
fn s11_every_endpoint_says_405_to_trace() {
    let served = Served::start(Config::default());
    let description = served.get("/openapi.json").json();
    for (path, methods) in description["paths"].as_object().unwrap() {
        let filled = path.split('/').map(|part| if part.starts_with('{') { "a" } else { part });
        let filled = filled.collect::<Vec<_>>().join("/");
        assert!(methods.get("trace").is_none());
        let answer =
            served.raw(format!("TRACE {filled} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n").as_bytes());
        assert!(
            answer.starts_with("HTTP/1.1 405 ") && answer.to_lowercase().contains("\r\nallow: "),
            "{filled}: {answer}"
        );
    }
}

/// A server whose snapshot has so many bytes that no system keeps all of them between two programs.
fn with_a_large_snapshot(folder: &TempDir, limits: Limits) -> Served {
    with_a_snapshot(folder, 12_000, limits)
}

/// A server whose snapshot has so many thousands of bytes.
fn with_a_snapshot(folder: &TempDir, thousands: usize, limits: Limits) -> Served {
    let policy = "{id: a, effect: permit, subjects: [], resources: [], actions: []}\n";
    let comment = format!("# {}\n", "x".repeat(1_000)).repeat(thousands);
    std::fs::write(folder.path().join("policies.yaml"), comment + policy).unwrap();
    Served::start(Config { limits, watch: vec![folder.path().to_owned()], ..Config::default() })
}

const SNAPSHOT: &[u8] = b"GET /v1/snapshot HTTP/1.1\r\nhost: localhost\r\n\r\n";

/// The first line of the answer to somebody who reads no more than that.
fn lazily(served: &Served) -> (std::net::TcpStream, String) {
    let mut stream = served.connect();
    stream.write_all(SNAPSHOT).unwrap();
    let mut head = [0; 12];
    stream.read_exact(&mut head).unwrap();
    (stream, String::from_utf8_lossy(&head).into_owned())
}

#[test]
fn s6_answers_that_nobody_reads_are_bounded() {
    let folder = tempfile::tempdir().unwrap();
    let served = with_a_large_snapshot(&folder, Limits { bytes: 30 << 20, ..Limits::default() });
    let lazy: Vec<_> = (0..12).map(|_| lazily(&served)).collect();
    let heads: Vec<&str> = lazy.iter().map(|(_, head)| head.as_str()).collect();
    // The last of them may be larger than what is left.
    assert_eq!(heads, [vec!["HTTP/1.1 200"; 3], vec!["HTTP/1.1 503"; 9]].concat());
    assert_eq!(served.post("/v1/decide", QUESTION).status, 200, "small answers go on");
    drop(lazy);
    eventually(|| served.get("/v1/snapshot").status == 200);
}

/// A frame of HTTP/2.
pub(crate) fn frame(sort: u8, flags: u8, stream: u32, content: &[u8]) -> Vec<u8> {
    let length = u32::try_from(content.len()).unwrap().to_be_bytes();
    [&length[1..], &[sort, flags], &stream.to_be_bytes(), content].concat()
}

/// One connection of HTTP/2 that asks for the snapshot many times and lets nothing be sent: its window is zero.
#[test]
fn s6_streams_without_a_window_are_bounded_together() {
    const STREAMS: u32 = 200;
    let folder = tempfile::tempdir().unwrap();
    let served = with_a_snapshot(&folder, 1_000, Limits { bytes: 3 << 20, ..Limits::default() });
    let mut lazy = served.connect();
    let no_window = [0, 4, 0, 0, 0, 0];
    lazy.write_all(&[b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".as_slice(), &frame(4, 0, 0, &no_window)].concat()).unwrap();
    // GET and http stand in the table of all connections; path and authority are written out.
    let written = |place: u8, text: &str| [&[place, u8::try_from(text.len()).unwrap()], text.as_bytes()].concat();
    let head = [vec![0x82, 0x86], written(4, "/v1/snapshot"), written(1, "localhost")].concat();
    for stream in 0..STREAMS {
        lazy.write_all(&frame(1, 5, 2 * stream + 1, &head)).unwrap();
    }
    let (mut heads, mut whole, mut sent) = (0, 0, 0);
    while heads < STREAMS {
        let mut begin = [0; 9];
        lazy.read_exact(&mut begin).unwrap();
        let [one, two, three, sort, flags, ..] = begin;
        let mut content = vec![0; usize::try_from(u32::from_be_bytes([0, one, two, three])).unwrap()];
        lazy.read_exact(&mut content).unwrap();
        match sort {
            0 => sent += content.len(),
            // 200 stands in the table, too; other statuses of large answers do not.
            1 => {
                heads += 1;
                whole += u32::from(content.first() == Some(&0x88));
            }
            // Whoever is reset gets nothing either.
            3 => heads += 1,
            4 if flags & 1 == 0 => lazy.write_all(&frame(4, 1, 0, &[])).unwrap(),
            _ => {}
        }
    }
    assert_eq!(sent, 0, "there is no window");
    assert!(
        (1..=4).contains(&whole),
        "{whole} answers of a megabyte wait, and there is room for three and what comes last"
    );
    assert_eq!(served.post("/v1/decide", QUESTION).status, 200, "small answers go on");
    drop(lazy);
    eventually(|| served.get("/v1/snapshot").status == 200);
}

#[test]
fn s6_clients_that_do_not_read_are_ended() {
    let folder = tempfile::tempdir().unwrap();
    let limits = Limits { bytes: 1, write_time: Duration::from_millis(300), ..Limits::default() };
    let served = with_a_large_snapshot(&folder, limits);
    let (mut lazy, head) = lazily(&served);
    assert_eq!(head, "HTTP/1.1 200");
    // There is room for one. Whoever does not read is let go, and then there is room again.
    eventually(|| lazily(&served).1 == "HTTP/1.1 200");
    let mut rest = Vec::new();
    lazy.read_to_end(&mut rest).ok();
    assert!(rest.len() < 12_000_000, "{} bytes", rest.len());
}

#[test]
fn s16_one_address_does_not_take_all_connections_and_health_is_told_beyond() {
    let limits =
        Limits { connections: 40, connections_of_one: 4, head_time: Duration::from_mins(1), ..Limits::default() };
    let served = Served::start(Config { limits, ..Config::default() });
    // Whoever says nothing would give way.
    let held: Vec<_> = (0..4).map(|_| asked_once(&served)).collect();
    let ask = |path: &str| served.raw(format!("GET {path} HTTP/1.1\r\nhost: localhost\r\n\r\n").as_bytes());
    eventually(|| ask("/v1/revisions").starts_with("HTTP/1.1 503 "));
    for _ in 0..20 {
        let alive = ask("/healthz");
        assert!(alive.starts_with("HTTP/1.1 200 ") && alive.ends_with("ok\n"), "{alive}");
    }
    let other = std::net::SocketAddr::from(([127, 0, 0, 2], 0));
    assert_eq!(from(other, &served, "/v1/revisions"), "HTTP/1.1 200", "another address has places of its own");
    drop(held);
    eventually(|| ask("/readyz").starts_with("HTTP/1.1 200 "));
}

/// A connection by which something was asked.
fn asked_once(served: &Served) -> std::net::TcpStream {
    let mut stream = served.connect();
    stream.write_all(b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n").unwrap();
    stream.read_exact(&mut [0; 12]).unwrap();
    stream
}

/// Asks from an address of this machine.
fn from(address: std::net::SocketAddr, served: &Served, path: &str) -> String {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        use tokio::io::{AsyncReadExt, AsyncWriteExt};
        let socket = tokio::net::TcpSocket::new_v4().unwrap();
        socket.bind(address).unwrap();
        let mut stream = socket.connect(served.running().address()).await.unwrap();
        let request = format!("GET {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut head = [0; 12];
        stream.read_exact(&mut head).await.unwrap();
        String::from_utf8_lossy(&head).into_owned()
    })
}

#[test]
fn s16_requests_that_wait_in_one_room_leave_the_others_as_they_are() {
    let wait = Duration::from_secs(30);
    let limits = Limits { reading: 1, time: wait, wait, ..Limits::default() };
    let served = Served::start(Config { limits, ..Config::default() });
    let holding = || {
        let mut patient = served.connect();
        patient.set_read_timeout(Some(Duration::from_millis(300))).unwrap();
        patient.write_all(b"GET /v1/revisions?minRevision=99 HTTP/1.1\r\nhost: localhost\r\n\r\n").unwrap();
        let answered = patient.read(&mut [0; 12]).is_ok();
        (!answered && served.get("/v1/revisions").status == 503).then_some(patient)
    };
    let _patient = (0..50).find_map(|_| holding()).expect("somebody holds the only place");
    assert_eq!(served.post("/v1/decide", QUESTION).status, 200, "decisions");
    assert_eq!(served.get("/readyz").status, 200, "health");
    assert_eq!(served.get("/metrics").status, 200, "administration");
    assert_eq!(served.get("/v1/revisions").status, 503);
}

#[test]
fn s16_streams_of_one_address_are_counted() {
    let limits = Limits { streams_of_one: 1, ..Limits::default() };
    let served = Served::start(Config { limits, ..Config::default() });
    let follow = || {
        let mut stream = served.connect();
        stream.write_all(b"GET /v1/events HTTP/1.1\r\nhost: localhost\r\n\r\n").unwrap();
        let mut head = [0; 12];
        stream.read_exact(&mut head).unwrap();
        (stream, String::from_utf8_lossy(&head).into_owned())
    };
    let (first, head) = follow();
    assert_eq!((head.as_str(), follow().1.as_str()), ("HTTP/1.1 200", "HTTP/1.1 503"));
    drop(first);
    eventually(|| follow().1 == "HTTP/1.1 200");
}

#[test]
fn s16_who_is_refused_too_often_is_cut_off_and_others_go_on() {
    let folder = tempfile::tempdir().unwrap();
    let limits = Limits { refusals: 3, ..Limits::default() };
    let security = Security { tokens: Some(tokens(&folder)), ..Security::default() };
    let served = Served::guarded(Config { security, limits, ..Config::default() });
    let request = "GET /v1/documents HTTP/1.1\r\nhost: localhost\r\n\r\n";
    // All of them by one connection, without a look at the answers.
    let answers = served.raw(request.repeat(200).as_bytes());
    let count = answers.matches("HTTP/1.1 401 ").count();
    assert!(count < 20, "{count} answers");
    let bearer = format!("Bearer {TOKEN}");
    for _ in 0..50 {
        assert_eq!(
            served.ask("GET", "/v1/revisions", &[("authorization", &bearer)], "").status,
            200,
            "of the same address"
        );
    }
}
