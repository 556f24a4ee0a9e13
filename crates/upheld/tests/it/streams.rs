//! The same answer whatever the order of files and documents; standard input, pipes, git revisions, settings, watching.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::support::{root, run, shown, upheld, words};

const EXPLAIN: &str = "explain --from web-1 --to backend-1 -o json";

/// All documents of the demo.
fn documents() -> Vec<String> {
    let folder = root().join("examples/demo");
    let files =
        ["mesh.yaml", "dataplanes.yaml", "policies/access.yaml", "policies/logging.yaml", "policies/resilience.yaml"];
    let texts = files.map(|file| fs::read_to_string(folder.join(file)).expect("a file of the demo"));
    texts.iter().flat_map(|text| text.split("---\n").map(str::to_owned).collect::<Vec<_>>()).collect()
}

/// What `explain` says without positions, which move when documents do.
fn answer(folder: &Path, line: &str) -> String {
    let output = shown(&run(folder, line));
    assert!(output.starts_with("exit 0"), "{output}");
    let position = |line: &&str| ["\"file\"", "\"line\"", "\"column\""].iter().any(|key| line.contains(key));
    output.lines().filter(|line| !position(line)).collect::<Vec<_>>().join("\n")
}

#[test]
fn shuffled_documents_give_the_same_bytes() {
    let documents = documents();
    let mut seen = Vec::new();
    for step in [1, 3, 7, 11] {
        // Steps without a common divisor with the count visit every document, in another order.
        let count = documents.len();
        let order: Vec<&str> = (0..count).map(|index| documents[(index * step) % count].as_str()).collect();
        let folder = tempfile::tempdir().expect("a temporary folder");
        fs::write(folder.path().join("all.yaml"), order.join("---\n")).expect("writable");
        seen.push(answer(folder.path(), EXPLAIN));
    }
    assert!(seen.windows(2).all(|pair| pair[0] == pair[1]));
}

#[test]
fn one_document_a_file_gives_the_same_answer_under_any_file_names() {
    let names = |reverse: bool| {
        let folder = tempfile::tempdir().expect("a temporary folder");
        for (index, document) in documents().iter().enumerate() {
            let number = if reverse { 100 - index } else { index };
            fs::write(folder.path().join(format!("{number:03}.yaml")), document).expect("writable");
        }
        answer(folder.path(), EXPLAIN)
    };
    assert_eq!(names(false), names(true));
}

#[test]
fn repeated_runs_give_the_same_bytes() {
    let folder = root().join("examples/demo");
    let first = shown(&run(&folder, EXPLAIN));
    for _ in 0..5 {
        assert_eq!(shown(&run(&folder, EXPLAIN)), first);
    }
}

#[test]
fn json_lines_on_standard_input_are_read() {
    let line = r#"{"type":"TrafficLog","name":"all","sources":[{"match":{"kuma.io/service":"*"}}],"destinations":[{"match":{"kuma.io/service":"*"}}],"conf":{"backend":"splunk"}}"#;
    let other = r#"{"type":"Mesh","name":"default"}"#;
    let mut command = upheld(&root());
    command.args(words("resolve -f - --kind TrafficLog --from kuma.io/service=a --to kuma.io/service=b"));
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the program starts");
    let mut input = child.stdin.take().expect("a pipe");
    writeln!(input, "{line}\n{other}").expect("the program reads");
    drop(input);
    let output = child.wait_with_output().expect("the program ends");
    assert_eq!(shown(&output), "exit 0\n--- stdout\nbackend: splunk\n");
}

#[test]
fn kubernetes_lists_and_the_kubernetes_form_are_read() {
    let list = "
apiVersion: v1
kind: List
items:
- apiVersion: kuma.io/v1alpha1
  kind: TrafficLog
  mesh: default
  metadata: {name: all, creationTimestamp: 2025-03-01T12:00:00Z}
  spec:
    sources: [{match: {kuma.io/service: '*'}}]
    destinations: [{match: {kuma.io/service: '*'}}]
    conf: {backend: splunk}
- apiVersion: apps/v1
  kind: Deployment
  metadata: {name: web}
";
    let folder = tempfile::tempdir().expect("a temporary folder");
    fs::write(folder.path().join("list.yaml"), list).expect("writable");
    let line = "resolve --kind TrafficLog --from kuma.io/service=a --to kuma.io/service=b";
    let expected = "exit 0\n--- stdout\nbackend: splunk\n--- stderr\n\
                    note: 1 document of types that are not resolved here: apps/v1 Deployment (1)\n";
    assert_eq!(shown(&run(folder.path(), line)), expected);
}

#[test]
fn a_closed_pipe_is_no_error() {
    let mut command = upheld(&root());
    command.args(words("explain -f examples/demo --kind TrafficLog --all-pairs -o jsonl"));
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program starts");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("the program ends");
    assert_eq!(shown(&output), "exit 0\n");
}

#[test]
fn a_revision_is_read_instead_of_the_files() {
    let git = |folder: &Path, arguments: &str| {
        let arguments = words(&format!("-c user.name=test -c user.email=test@example.com {arguments}"));
        Command::new("git").current_dir(folder).args(arguments).output().is_ok_and(|output| output.status.success())
    };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("all.yaml");
    fs::write(&file, documents().join("---\n")).expect("writable");
    if !git(folder.path(), "init -q") {
        eprintln!("git is not installed: nothing to test");
        return;
    }
    assert!(git(folder.path(), "add .") && git(folder.path(), "commit -q -m first"));
    fs::write(&file, documents().join("---\n").replace("backend: splunk", "backend: changed")).expect("writable");
    let line = "resolve --kind TrafficLog --from web-1 --to backend-1 --field backend";
    assert_eq!(shown(&run(folder.path(), line)), "exit 0\n--- stdout\nchanged\n");
    assert_eq!(shown(&run(folder.path(), &format!("{line} --at HEAD"))), "exit 0\n--- stdout\nsplunk\n");
    let missing = shown(&run(folder.path(), &format!("{line} --at HAED")));
    assert!(missing.starts_with("exit 2") && missing.contains("HAED"), "{missing}");
}

#[test]
fn settings_come_from_flag_then_environment_then_file() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let inner = folder.path().join("a/b");
    fs::create_dir_all(&inner).expect("writable");
    fs::write(folder.path().join("upheld.yaml"), "files: [policies]\nsemantics: [kuma/0.4]\nmesh: shop\n")
        .expect("writable");
    let mut command = upheld(&inner);
    command.args(words("config --show-origin --mesh blue")).env("UPHELD_SEMANTICS", "kuma/0.3");
    let text = shown(&command.output().expect("the program starts"));
    for expected in ["../../policies", "upheld.yaml:1", "environment UPHELD_SEMANTICS", "flag --mesh", "default"] {
        assert!(text.contains(expected), "{expected}: {text}");
    }
}

#[test]
fn a_misspelt_setting_is_refused_with_its_place() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    fs::write(folder.path().join("upheld.yaml"), "flies: [policies]\n").expect("writable");
    let text = shown(&run(folder.path(), "list"));
    assert!(text.starts_with("exit 2") && text.contains("upheld.yaml:1:1") && text.contains("`files`"), "{text}");
}

#[test]
fn init_writes_settings_once() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    fs::write(folder.path().join("all.yaml"), documents().join("---\n")).expect("writable");
    assert!(shown(&run(folder.path(), "init")).contains("1 file now"));
    assert!(folder.path().join("upheld.yaml").is_file());
    assert!(shown(&run(folder.path(), "list meshes -o name")).contains("Mesh/default/default"));
    assert!(shown(&run(folder.path(), "init")).starts_with("exit 1"));
}

#[test]
fn demo_can_be_written_and_asked() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    assert!(shown(&run(folder.path(), "demo --write shop")).contains("Wrote 5 files"));
    let answered = shown(&run(folder.path(), "resolve -f shop --kind TrafficLog --from web-1 --to backend-1"));
    assert!(answered.contains("splunk"), "{answered}");
    let again = shown(&run(folder.path(), "demo --write shop"));
    assert!(again.starts_with("exit 2"), "files are not overwritten: {again}");
}

#[test]
fn watching_answers_again_after_a_change() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("all.yaml");
    fs::write(&file, documents().join("---\n")).expect("writable");
    let mut command = upheld(folder.path());
    command.args(words("resolve -w --kind TrafficLog --from web-1 --to backend-1 --field backend"));
    let mut child = command.stdout(Stdio::piped()).spawn().expect("the program starts");
    let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    // Should no second answer ever come, the program is stopped and the test fails instead of waiting for ever.
    let (done, finished) = std::sync::mpsc::channel::<()>();
    let guard = std::thread::spawn(move || {
        if finished.recv_timeout(Duration::from_secs(60)).is_err() {
            child.kill().expect("the program runs until it is stopped");
        }
        child
    });
    assert_eq!(lines.next().expect("a first answer").expect("text"), "splunk");
    fs::write(&file, documents().join("---\n").replace("backend: splunk", "backend: changed")).expect("writable");
    assert_eq!(lines.next().expect("a second answer").expect("text"), "changed");
    done.send(()).expect("the guard waits");
    let mut child = guard.join().expect("the guard ends");
    child.kill().expect("the program runs until it is stopped");
    child.wait().expect("the program ends");
}
