//! Whoever ends a run by Ctrl-C gets out at once, as by any other program, and finds nothing that was not there before.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::io::{Read, Write as _};
use std::net::TcpStream;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::json;
use tempfile::TempDir;

use crate::serving::Server;
use crate::support::{folder, git, upheld, words};

/// The signal of Ctrl-C.
const INTERRUPT: i32 = 2;
/// Nobody waits longer for a program that was told to end.
const PATIENCE: Duration = Duration::from_secs(5);

/// So many policies that reading them takes a while.
fn policies(backend: &str) -> String {
    let mut text = "type: Mesh\nname: default\n".to_owned();
    for number in 0..300 {
        let tags = format!("{{kuma.io/service: service-{}, instance: i-{number}}}", number % 50);
        let proxy = format!("networking: {{address: 10.0.0.1, inbound: [{{port: 80, tags: {tags}}}]}}");
        writeln!(text, "---\ntype: Dataplane\nmesh: default\nname: proxy-{number}\n{proxy}").expect("a text");
    }
    for number in 0..6_000 {
        let service = number % 50;
        let from = format!("sources: [{{match: {{kuma.io/service: service-{service}, instance: i-{}}}}}]", number / 20);
        let conf = format!("conf: {{backend: {backend}-{number}}}");
        let to = "destinations: [{match: {kuma.io/service: '*'}}]";
        writeln!(text, "---\ntype: TrafficLog\nmesh: default\nname: log-{number}\n{from}\n{to}\n{conf}")
            .expect("a text");
    }
    text
}

/// A repository with some revisions, and an earlier baseline.
fn repository() -> TempDir {
    let folder = folder(&[("policies.yaml", &policies("first")), ("base.json", "earlier")]);
    git(folder.path(), &["init", "--quiet", "--initial-branch=main"]);
    for backend in ["first", "second", "third"] {
        fs::write(folder.path().join("policies.yaml"), policies(backend)).expect("is writable");
        git(folder.path(), &["add", "--all"]);
        git(folder.path(), &["commit", "--quiet", "--message", backend]);
    }
    folder
}

/// Every file below a folder, with what is in it.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut all = BTreeMap::new();
    for entry in fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()) {
        if entry.is_dir() {
            all.extend(files(&entry));
        } else {
            all.insert(entry.display().to_string(), fs::read(&entry).expect("is readable"));
        }
    }
    all
}

/// Tells it to end, and waits until it has.
fn interrupt(child: &mut Child) {
    let sent = Instant::now();
    let status = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("can be sent");
    assert!(status.success());
    while child.try_wait().expect("a child").is_none() {
        assert!(sent.elapsed() < PATIENCE, "it does not end");
        sleep(Duration::from_millis(10));
    }
}

#[test]
fn a_run_that_is_interrupted_ends_at_once_and_leaves_nothing_behind() {
    let (repository, elsewhere) = (repository(), tempfile::tempdir().expect("a folder"));
    let before = files(repository.path());
    for line in [
        "diff HEAD~2..HEAD -f policies.yaml",
        "prove HEAD~2..HEAD -f policies.yaml",
        "lint -f policies.yaml --write-baseline base.json",
        "bisect --from proxy-1 --to proxy-2 --kind TrafficLog --good HEAD~2 -f policies.yaml",
    ] {
        // Early, and as late as this machine lets one: whatever it does by then.
        let mut interrupted = 0;
        for after in [10, 50, 150, 400] {
            let mut child = started(repository.path(), line, elsewhere.path(), Stdio::null());
            sleep(Duration::from_millis(after));
            interrupt(&mut child);
            if child.wait().expect("it ended").signal() != Some(INTERRUPT) {
                break;
            }
            interrupted += 1;
            assert!(files(repository.path()) == before, "{line} after {after} ms: something is not as it was");
            assert_eq!(files(elsewhere.path()).len(), 0, "{line} after {after} ms");
        }
        assert!(interrupted > 0, "{line}: it does not end by the signal");
        fs::write(repository.path().join("base.json"), "earlier").expect("is writable");
    }
}

fn started(folder: &Path, line: &str, temporary: &Path, input: Stdio) -> Child {
    let mut command = upheld(folder);
    command.args(words(line)).env("TMPDIR", temporary).stdin(input).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().expect("starts")
}

/// A log that never ends, as that of a server that is still running.
#[test]
fn a_log_that_never_ends_can_be_left() {
    let policies = "policies: [{id: a, effect: permit, subjects: [], resources: [{path: /**}], actions: []}]\n";
    let folder = folder(&[("a.yaml", policies)]);
    let before = files(folder.path());
    let mut child = started(folder.path(), "replay - -f a.yaml", &std::env::temp_dir(), Stdio::piped());
    sleep(Duration::from_millis(300));
    assert!(child.try_wait().expect("a child").is_none(), "it waits for more lines");
    interrupt(&mut child);
    assert_eq!(child.wait().expect("it ended").signal(), Some(INTERRUPT));
    assert!(files(folder.path()) == before);
}

/// Files are written as wholes: never half of one, and links stay links.
#[test]
fn a_baseline_takes_the_place_of_the_earlier_one_as_a_whole() {
    let policies = "policies: [{id: a, effect: permit, subjects: [], resources: [{path: /**}], actions: []}]\n";
    let folder = folder(&[("a.yaml", policies), ("kept.json", "earlier")]);
    let link = folder.path().join("base.json");
    std::os::unix::fs::symlink("kept.json", &link).expect("can be made");
    let output = upheld(folder.path()).args(words("lint -f a.yaml --write-baseline base.json")).output().expect("runs");
    assert_eq!(output.status.code(), Some(0));
    assert!(link.is_symlink());
    let names: Vec<String> = files(folder.path()).into_keys().collect();
    assert_eq!(names.len(), 3, "{names:?}");
    let written = fs::read_to_string(folder.path().join("kept.json")).expect("is there");
    assert!(written.contains("\"kind\": \"Findings\""), "{written}");
}

/// P1: a question that takes long does not keep a server alive that is told to end.
#[test]
fn p1_a_server_that_is_told_to_end_does_not_finish_what_takes_long() {
    let folder = tempfile::tempdir().unwrap();
    let mut server = Server::start(folder.path(), "", "");
    let token = format!("authorization: Bearer {}\r\n", server.token);
    for part in 0..2 {
        let written = server.ask("POST /v1/revisions", &token, &workloads(320 * part..320 * (part + 1)));
        assert!(written.starts_with("HTTP/1.1 201 "), "{written}");
    }
    let question = r#"{"before": 0, "after": 2}"#;
    let mut asking = TcpStream::connect(&server.address).unwrap();
    let head = "POST /v1/diff HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n";
    asking.write_all(format!("{head}content-length: {}\r\n\r\n{question}", question.len()).as_bytes()).unwrap();
    let is_working = || server.ask("GET /metrics", &token, "").contains(r#"{lane="long",state="working"} 1"#);
    let begun = Instant::now();
    while !is_working() {
        assert!(begun.elapsed() < PATIENCE, "nobody works on it");
    }
    let told = Instant::now();
    assert!(Command::new("kill").args(["-TERM", &server.child.id().to_string()]).status().unwrap().success());
    let status = loop {
        match server.child.try_wait().unwrap() {
            Some(status) => break status,
            None => assert!(told.elapsed() < PATIENCE, "it does not end"),
        }
        sleep(Duration::from_millis(5));
    };
    println!("the process ended {:?} later", told.elapsed());
    assert_eq!(status.code(), Some(0));
    let mut answer = String::new();
    asking.read_to_string(&mut answer).ok();
    assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 503 "), "{answer}");
}

/// Deployments, each with a policy of its own.
fn workloads(numbers: std::ops::Range<usize>) -> String {
    let all = numbers.flat_map(|number| {
        let labels = json!({"app": format!("a{number}")});
        let metadata = json!({"name": format!("a{number}"), "namespace": "shop"});
        let container = json!({"name": "a", "image": "a", "ports": [{"containerPort": 80}]});
        [
            json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata, "spec": {
                "selector": {"matchLabels": labels},
                "template": {"metadata": {"labels": labels}, "spec": {"containers": [container]}}}}),
            json!({"apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy", "metadata": metadata, "spec": {
                "podSelector": {"matchLabels": labels}, "policyTypes": ["Ingress"],
                "ingress": [{"from": [{"podSelector": {}}]}]}}),
        ]
    });
    json!({"put": all.collect::<Vec<_>>()}).to_string()
}
