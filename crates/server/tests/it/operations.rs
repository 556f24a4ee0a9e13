//! What operators see of a server: health, numbers, the decision log, reloads, and its end.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::Value as Json;
use tokio::runtime::Runtime;
use upheld_server::Config;
use upheld_server::config::{DecisionLog, DecisionLogTo, Operations, Security, StoreLocation};
use upheld_store::testing::Fault;
use upheld_store::{Sqlite, Store};

use crate::support::Served;

const ADMINS: &str = r#"{"id": "admins", "effect": "permit", "description": "Admins may",
    "subjects": [{"role": "admin"}], "resources": [{"path": "/api/**"}], "actions": [{"method": "*"}]}"#;
const ADMIN: &str = r#"{"subject": {"id": "ann", "roles": ["admin"]}, "action": {"method": "GET"},
    "resource": {"path": "/api/x"}}"#;
const NOBODY: &str = r#"{"subject": {"id": "bob", "roles": []}, "action": {"method": "GET"},
    "resource": {"path": "/api/x"}}"#;

fn watching(folder: &Path) -> Config {
    Config { watch: vec![folder.to_owned()], ..Config::default() }
}

/// The number on the line of a metric.
fn number(served: &Served, metric: &str) -> f64 {
    let text = served.get("/metrics").text;
    let line = text.lines().find_map(|line| line.strip_prefix(metric)?.strip_prefix(' '));
    line.unwrap_or_else(|| panic!("no {metric} in\n{text}")).parse().unwrap()
}

fn assert_number(served: &Served, metric: &str, expected: f64) {
    let found = number(served, metric);
    assert!((found - expected).abs() < 1e-9, "{metric} is {found}, not {expected}");
}

#[test]
fn numbers_tell_what_was_asked_and_answered() {
    let served = Served::start(Config::default());
    served.ask("PUT", "/v1/documents/AccessPolicy/access/admins", &[], ADMINS);
    served.post("/v1/decide", ADMIN);
    served.post("/v1/decide:batch", &format!(r#"{{"requests": [{ADMIN}, {NOBODY}, {NOBODY}]}}"#));
    served.get("/no/such/path");
    served.get("/another");
    let metrics = served.get("/metrics");
    assert_eq!(metrics.header("content-type"), Some("application/openmetrics-text; version=1.0.0; charset=utf-8"));
    assert!(metrics.text.ends_with("# EOF\n") && !metrics.text.contains("no/such"), "{}", metrics.text);
    for (metric, expected) in [
        (r#"upheld_decisions_total{surface="http",outcome="permit"}"#, 2.0),
        (r#"upheld_decisions_total{surface="http",outcome="deny"}"#, 2.0),
        (r#"upheld_http_requests_total{route="/v1/decide",method="POST",status="200"}"#, 1.0),
        (r#"upheld_http_requests_total{route="unmatched",method="GET",status="404"}"#, 2.0),
        ("upheld_snapshot_revision", 1.0),
        ("upheld_snapshot_documents", 1.0),
        ("upheld_snapshot_policies", 1.0),
        ("upheld_revision_lag", 0.0),
        ("upheld_broken_files", 0.0),
        ("upheld_store_up", 1.0),
    ] {
        assert_number(&served, metric, expected);
    }
    if cfg!(target_os = "linux") {
        assert!(number(&served, "process_resident_memory_bytes") > 1e6);
    }
}

#[test]
fn every_decision_has_a_line_with_its_revision_and_policy() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("decisions.jsonl");
    let log =
        DecisionLog { redact: vec!["/subject/id".to_owned()], ..DecisionLog::new(DecisionLogTo::File(path.clone())) };
    let operations = Operations { decision_log: Some(log), ..Operations::default() };
    let served = Served::start(Config { operations, ..Config::default() });
    served.ask("PUT", "/v1/documents/AccessPolicy/access/admins", &[], ADMINS);
    let headers = [("content-type", "application/json"), ("x-request-id", "first")];
    served.ask("POST", "/v1/decide", &headers, ADMIN);
    served.post("/v1/decide:batch", &format!(r#"{{"requests": [{NOBODY}, {ADMIN}]}}"#));
    // The end of the server is the end of the log: everything is there then.
    drop(served);
    let text = std::fs::read_to_string(&path).unwrap();
    let lines: Vec<Json> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 3, "{text}");
    assert_eq!((&lines[0]["id"], &lines[0]["decision"]), (&"first".into(), &"permit".into()));
    assert_eq!((&lines[0]["policy"], &lines[0]["revision"]), (&"admins".into(), &1.into()));
    assert_eq!(lines[0]["reason"], "Admins may");
    assert_eq!((&lines[1]["decision"], &lines[1]["place"]), (&"deny".into(), &0.into()));
    assert_eq!((&lines[2]["decision"], &lines[2]["place"]), (&"permit".into(), &1.into()));
    assert!(lines.iter().all(|line| line["request"]["subject"]["id"] == "[redacted]"), "{text}");
}

/// S21, S7: what lets somebody in is not written down, and others do not read what is.
#[test]
fn secrets_in_headers_are_masked_and_the_log_is_for_its_owner_only() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("decisions.jsonl");
    let log = DecisionLog { rotate_bytes: 1_000, ..DecisionLog::new(DecisionLogTo::File(path.clone())) };
    let operations = Operations { decision_log: Some(log), ..Operations::default() };
    let served = Served::start(Config { operations, ..Config::default() });
    let secret = [
        ("authorization", "Bearer hunter2"),
        ("Cookie", "session=hunter2"),
        ("proxy-authorization", "Basic hunter2"),
        ("X-API-Key", "hunter2"),
    ];
    let headers: serde_json::Map<String, Json> =
        secret.iter().chain(&[("x-tier", "gold")]).map(|(name, value)| ((*name).to_owned(), (*value).into())).collect();
    let question = serde_json::json!({"subject": {"id": "ann"}, "action": {"method": "GET"},
        "resource": {"path": "/api/x", "headers": headers}});
    for _ in 0..5 {
        assert_eq!(served.post("/v1/decide", &question.to_string()).status, 200);
    }
    let asked: Vec<(&str, &str)> = secret.iter().copied().filter(|(name, _)| *name != "authorization").collect();
    served.ask("GET", "/forward-auth/api/x", &[&asked[..], &[("authorization", "Basic hunter2")]].concat(), "");
    drop(served);
    let files: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(|file| file.unwrap().path()).collect();
    assert!(files.len() > 1, "it was rotated: {files:?}");
    let mut gold = 0;
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        assert!(!text.contains("hunter2"), "{text}");
        gold += text.matches(r#""x-tier":"gold""#).count();
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = std::fs::metadata(&file).unwrap().permissions().mode() & 0o777;
            assert_eq!(mode, 0o600, "{}", file.display());
        }
    }
    assert_eq!(gold, 5, "other headers are written");
}

/// S3: whether writes work is told, and heals with the disk.
#[test]
fn readiness_knows_whether_writes_work() {
    let folder = tempfile::tempdir().unwrap();
    let runtime = Runtime::new().unwrap();
    let sqlite = Arc::new(runtime.block_on(Sqlite::open(folder.path())).unwrap());
    let store = StoreLocation::Given(Arc::clone(&sqlite) as Arc<dyn Store>);
    let served = Served::start(Config { store, ..Config::default() });
    let put = |text: &str| {
        served.ask("PUT", "/v1/documents/AccessPolicy/access/admins", &[], &ADMINS.replace("Admins may", text))
    };
    assert_eq!(put("Admins may").status, 201);
    for fault in Fault::ALL {
        let large = "x".repeat(20_000);
        sqlite.faults().plan(fault, 0, u64::MAX);
        let refused = put(&large);
        assert_eq!((refused.status, refused.header("retry-after")), (503, Some("1")), "{fault:?} {}", refused.text);
        // On a full disk a small write may still find room: readiness says what becomes of the next one.
        let (ready, strict, small) = (served.get("/readyz"), served.get("/readyz?strict=true"), put("small"));
        if small.status == 201 {
            assert_eq!(fault, Fault::Full, "{}", small.text);
            assert_eq!((strict.status, &ready.json()["status"]), (200, &"ready".into()), "{}", ready.text);
        } else {
            assert_eq!(small.status, 503, "{fault:?} {}", small.text);
            assert_eq!((ready.status, &ready.json()["status"]), (200, &"degraded".into()), "{fault:?}");
            assert_eq!(ready.json()["store"]["writable"], false, "{fault:?} {}", ready.text);
            assert!(ready.json()["store"]["error"].is_string());
            assert_eq!(strict.status, 503);
        }
        assert_eq!(served.post("/v1/decide", ADMIN).json()["decision"], "permit", "decisions go on");
        sqlite.faults().heal();
        assert_eq!(served.get("/readyz?strict=true").json()["status"], "ready", "{fault:?} heals without a restart");
        assert_eq!(put(&format!("{fault:?}")).status, 201, "{fault:?}");
    }
}

#[test]
fn every_surface_counts_and_writes_down() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("decisions.jsonl");
    let log = DecisionLog::new(DecisionLogTo::File(path.clone()));
    let operations = Operations { decision_log: Some(log), ..Operations::default() };
    let served = Served::start(Config { operations, ..Config::default() });
    served.ask("PUT", "/v1/documents/AccessPolicy/access/admins", &[], ADMINS);
    assert_eq!(served.get("/forward-auth/api/x?token=secret").status, 403);
    let context = r#"{"subject": {"id": "ann", "roles": ["admin"], "groups": [], "claims": {}},
        "action": {"method": "GET"}, "resource": {"path": "/api/x"}}"#;
    assert_eq!(served.post("/authz/api/evaluate", context).json()["effect"], "permit");
    let several = r#"{"subject": {"type": "user", "id": "bob"}, "action": {"name": "GET"}, "evaluations": [
        {"resource": {"type": "route", "id": "/api/x"}}, {"resource": {"type": "route", "id": "/api/y"}}]}"#;
    assert_eq!(served.post("/access/v1/evaluations", several).status, 200);
    for (surface, outcome, expected) in
        [("forward", "deny", 1.0), ("seed", "permit", 1.0), ("authzen", "deny", 2.0), ("http", "deny", 0.0)]
    {
        let metric = format!(r#"upheld_decisions_total{{surface="{surface}",outcome="{outcome}"}}"#);
        assert_number(&served, &metric, expected);
    }
    drop(served);
    let text = std::fs::read_to_string(&path).unwrap();
    let lines: Vec<Json> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let surfaces: Vec<&str> = lines.iter().filter_map(|line| line["surface"].as_str()).collect();
    assert_eq!(surfaces, ["forward", "seed", "authzen", "authzen"], "{text}");
    assert_eq!(lines[0]["request"]["resource"]["path"], "/api/x");
    assert_eq!(lines[1]["policy"], "admins");
    assert_eq!(lines[3]["request"]["resource"]["id"], "/api/y");
    assert_eq!(lines[3]["request"]["subject"]["id"], "bob");
    assert!(lines.iter().all(|line| line["caller"].is_string()) && !text.contains("secret"), "{text}");
}

#[test]
fn a_log_that_cannot_be_opened_keeps_the_server_from_starting() {
    let folder = tempfile::tempdir().unwrap();
    let log = DecisionLog::new(DecisionLogTo::File(folder.path().to_owned()));
    let operations = Operations { decision_log: Some(log), ..Operations::default() };
    let config = Config { listen: "127.0.0.1:0".parse().unwrap(), operations, ..Config::default() };
    let error = Runtime::new().unwrap().block_on(upheld_server::start(config)).unwrap_err();
    assert!(error.to_string().contains("the decision log cannot be opened"), "{error}");
}

#[test]
fn broken_files_are_told_everywhere_and_the_last_good_ones_count() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("admins.json");
    std::fs::write(&file, ADMINS).unwrap();
    let served = Served::start(watching(folder.path()));
    assert_eq!(served.get("/readyz?strict=true").json()["status"], "ready");
    assert_eq!(served.post("/v1/reload", "").json()["result"], "unchanged");

    std::fs::write(&file, ADMINS.replace("subjects", "subjcts")).unwrap();
    let broken = served.post("/v1/reload", "");
    assert_eq!((broken.status, broken.header("content-type")), (422, Some("application/problem+json")));
    assert!(broken.text.contains("subjcts") && broken.text.contains("admins.json"), "{}", broken.text);
    let ready = served.get("/readyz");
    assert_eq!((ready.status, &ready.json()["status"]), (200, &"degraded".into()));
    assert!(ready.text.contains("subjcts"), "{}", ready.text);
    assert_eq!(served.get("/readyz?strict=true").status, 503);
    assert_eq!(served.get("/readyz?strict=perhaps").status, 400);
    assert_number(&served, "upheld_broken_files", 1.0);
    assert!(number(&served, r#"upheld_reloads_total{result="broken"}"#) >= 1.0);
    assert_eq!(served.post("/v1/decide", ADMIN).json()["decision"], "permit");

    std::fs::write(&file, ADMINS.replace("Admins may", "Admins can")).unwrap();
    // The watcher may have been faster.
    assert_eq!(served.post("/v1/reload", "").status, 200);
    assert_eq!(served.post("/v1/decide", ADMIN).json()["reason"], "Admins can");
    assert_eq!(served.get("/readyz?strict=true").status, 200);
    assert_number(&served, "upheld_broken_files", 0.0);
}

#[test]
fn requests_keep_their_name_or_get_one() {
    let served = Served::start(Config::default());
    let named = served.ask("GET", "/healthz", &[("x-request-id", "mine")], "");
    assert_eq!(named.header("x-request-id"), Some("mine"));
    let (first, second) = (served.get("/healthz"), served.get("/nothing"));
    assert!(first.header("x-request-id").is_some_and(|id| id.len() >= 16));
    assert_ne!(first.header("x-request-id"), second.header("x-request-id"));
}

#[test]
fn what_was_asked_before_the_end_is_answered() {
    let runtime = Runtime::new().unwrap();
    let config = Config { listen: "127.0.0.1:0".parse().unwrap(), security: Security::open(), ..Config::default() };
    let running = runtime.block_on(upheld_server::start(config)).unwrap();
    let address = running.address();
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let head = format!(
        "POST /v1/decide HTTP/1.1\r\nhost: x\r\ncontent-length: {}\r\nexpect: 100-continue\r\n\r\n",
        ADMIN.len()
    );
    stream.write_all(head.as_bytes()).unwrap();
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut told = String::new();
    // The server waits for the body now: the request is in flight.
    reader.read_line(&mut told).unwrap();
    assert!(told.starts_with("HTTP/1.1 100"), "{told}");
    let stopping = runtime.spawn(running.stop());
    let until = Instant::now() + Duration::from_secs(10);
    while TcpStream::connect(address).is_ok() {
        assert!(Instant::now() < until, "the server still takes connections");
        std::thread::sleep(Duration::from_millis(10));
    }
    stream.write_all(ADMIN.as_bytes()).unwrap();
    let mut answer = String::new();
    reader.read_to_string(&mut answer).unwrap();
    assert!(answer.contains("HTTP/1.1 200") && answer.contains(r#""decision":"deny""#), "{answer}");
    runtime.block_on(stopping).unwrap();
}

/// S17: who begins to follow while the server ends is not waited for.
#[test]
fn s17_a_stream_that_begins_at_the_end_does_not_keep_the_server() {
    let runtime = Runtime::new().unwrap();
    let config = Config { listen: "127.0.0.1:0".parse().unwrap(), security: Security::open(), ..Config::default() };
    let running = runtime.block_on(upheld_server::start(config)).unwrap();
    let address = running.address();
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    stream.write_all(b"GET /v1/events HTTP/1.1\r\nhost: localhost\r\n").unwrap();
    // Time for the server to read that much: it knows then that somebody is asking.
    std::thread::sleep(Duration::from_millis(500));
    let stopping = runtime.spawn(running.stop());
    let until = Instant::now() + Duration::from_secs(10);
    while TcpStream::connect(address).is_ok() {
        assert!(Instant::now() < until, "the server still takes connections");
        std::thread::sleep(Duration::from_millis(10));
    }
    let begun = Instant::now();
    stream.write_all(b"\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    runtime.block_on(stopping).unwrap();
    assert!(begun.elapsed() < Duration::from_secs(10), "the end took {:?}", begun.elapsed());
}
