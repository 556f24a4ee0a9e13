//! Files that are watched, and events.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::path::Path;
use std::time::Duration;

use upheld_server::Config;

use crate::support::{Served, eventually};

const REQUEST: &str = r#"{"subject": {"roles": ["dev"]}, "action": {"method": "GET"}, "resource": {"path": "/api/x"}}"#;

fn policy(role: &str) -> String {
    format!(
        "id: readers\neffect: permit\nsubjects: [{{role: {role}}}]\nresources: [{{path: /api/**}}]\nactions: [{{method: GET}}]\n"
    )
}

fn watching(folder: &Path) -> Served {
    Served::start(Config { watch: vec![folder.to_owned()], ..Config::default() })
}

#[test]
fn a_change_of_a_file_is_picked_up() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("p.yaml"), policy("admin")).unwrap();
    let served = watching(folder.path());
    let decision = || served.post("/v1/decide", REQUEST).json()["decision"].as_str().unwrap().to_owned();
    assert_eq!(decision(), "deny");
    std::fs::write(folder.path().join("p.yaml"), policy("dev")).unwrap();
    eventually(|| decision() == "permit");
    std::fs::remove_file(folder.path().join("p.yaml")).unwrap();
    eventually(|| decision() == "deny");
}

#[test]
fn a_broken_file_keeps_the_last_good_snapshot_and_is_told() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("p.yaml"), policy("dev")).unwrap();
    let served = watching(folder.path());
    std::fs::write(folder.path().join("q.yaml"), policy("x").replace("subjects", "subjcts").replace("readers", "q"))
        .unwrap();
    eventually(|| served.get("/readyz").json()["status"] == "degraded");
    let told = served.get("/readyz").json()["diagnostics"].to_string();
    assert!(told.contains("subjcts") && told.contains("q.yaml"), "{told}");
    assert_eq!(served.post("/v1/decide", REQUEST).json()["decision"], "permit");
    std::fs::remove_file(folder.path().join("q.yaml")).unwrap();
    eventually(|| served.get("/readyz").json()["status"] == "ready");
}

#[test]
fn the_snapshot_can_be_taken_along() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("p.yaml"), policy("dev")).unwrap();
    let served = watching(folder.path());
    let stored = policy("ops").replace("readers", "stored");
    served.ask("POST", "/v1/revisions", &[("content-type", "application/yaml")], &stored);
    let lines = served.get("/v1/snapshot").text;
    assert_eq!(lines.lines().count(), 2);
    assert!(lines.contains("store:AccessPolicy/access/stored") && lines.contains("p.yaml"), "{lines}");
}

#[test]
fn events_are_resumed_where_they_ended() {
    let served = Served::start(Config::default());
    for (number, role) in ["a", "b", "c"].into_iter().enumerate() {
        let policy = policy(role).replace("readers", role);
        let written = served.ask("POST", "/v1/revisions", &[("content-type", "application/yaml")], &policy);
        assert_eq!(written.json()["revision"], number + 1, "{}", written.text);
    }
    let mut stream = TcpStream::connect(served.base().trim_start_matches("http://")).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    stream.write_all(b"GET /v1/events HTTP/1.1\r\nhost: x\r\nlast-event-id: 1\r\n\r\n").unwrap();
    let mut ids = BufReader::new(stream)
        .lines()
        .map_while(Result::ok)
        .filter_map(|line| line.strip_prefix("id: ").map(str::to_owned));
    assert_eq!([ids.next(), ids.next()].map(Option::unwrap), ["2", "3"]);
    let policy = policy("d").replace("readers", "d");
    served.ask("POST", "/v1/revisions", &[("content-type", "application/yaml")], &policy);
    assert_eq!(ids.next().as_deref(), Some("4"));
}

#[test]
fn whoever_needs_a_revision_waits_for_it_but_not_forever() {
    let mut config = Config::default();
    config.limits.wait = Duration::from_millis(50);
    let served = Served::start(config);
    let early = served.post("/v1/decide?minRevision=1", REQUEST);
    assert_eq!((early.status, early.header("retry-after")), (503, Some("1")));
    served.ask("POST", "/v1/revisions", &[("content-type", "application/yaml")], &policy("dev"));
    assert_eq!(served.post("/v1/decide?minRevision=1", REQUEST).json()["decision"], "permit");
}
