//! The same answer whatever the order of files and documents; standard input, pipes, git revisions, settings, watching.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::support::{folder, root, run, shown, upheld, words};

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
    for line in [EXPLAIN, "explain --from web-2 --to backend-1 --semantics kuma/0.4 -o json"] {
        shuffled_give_the_same_bytes(line);
    }
}

fn shuffled_give_the_same_bytes(line: &str) {
    let documents = documents();
    let mut seen = Vec::new();
    for step in [1, 3, 7, 11] {
        // Steps without a common divisor with the count visit every document, in another order.
        let count = documents.len();
        let order: Vec<&str> = (0..count).map(|index| documents[(index * step) % count].as_str()).collect();
        let folder = tempfile::tempdir().expect("a temporary folder");
        fs::write(folder.path().join("all.yaml"), order.join("---\n")).expect("writable");
        seen.push(answer(folder.path(), line));
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
    let folder = folder(&[("list.yaml", list)]);
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
    let folder = folder(&[("upheld.yaml", "flies: [policies]\n")]);
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
    assert!(shown(&run(folder.path(), "demo --write shop")).contains("Wrote 8 files"));
    let answered = shown(&run(folder.path(), "resolve -f shop --kind TrafficLog --from web-1 --to backend-1"));
    assert!(answered.contains("splunk"), "{answered}");
    let again = shown(&run(folder.path(), "demo --write shop"));
    assert!(again.starts_with("exit 2"), "files are not overwritten: {again}");
}

/// Whoever built it by `cargo demo` has no `upheld` on the path: each command that is shown can be pasted all the same.
#[cfg(unix)]
#[test]
fn n10_every_command_of_the_demo_can_be_pasted() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let demo = upheld(folder.path()).arg("demo").env("PATH", "/usr/bin:/bin").output().expect("the program starts");
    let told = String::from_utf8(demo.stdout).expect("text");
    let questions = told.lines().filter_map(|line| line.strip_prefix("$ "));
    let next = told.split_once("\nNext\n").expect("what to do next").1;
    // What a command is for stands behind two blanks.
    let next = next.lines().map(|line| line.trim().split_once("  ").expect("a command and what it is for").0);
    let commands: Vec<&str> = questions.chain(next).collect();
    assert_eq!(commands.len(), 8, "{told}");
    for command in commands {
        let mut shell = std::process::Command::new("sh");
        shell.args(["-c", command]).current_dir(folder.path()).env_clear().env("PATH", "/usr/bin:/bin");
        let output = shell.output().expect("there is a shell");
        assert!(matches!(output.status.code(), Some(0 | 1)), "{command}: {}", shown(&output));
    }
    assert!(folder.path().join("shop").is_dir(), "the files were written");
}

/// Hints are about what was read, and are commands that answer.
#[test]
fn n6_hints_are_about_the_family_that_was_read() {
    for (files, wanted) in [
        ("examples/compliance", "`upheld audit --object "),
        ("examples/kgateway-policy-application-and-merging", "`upheld explain gateway/"),
        ("examples/access", "--subject"),
        ("examples/network-policies", "`upheld explain "),
    ] {
        let told = shown(&run(&root(), &format!("explain -f {files}")));
        assert!(told.starts_with("exit 2") && told.contains(wanted), "{files}: {told}");
        for of_kuma in ["web-1", "dataplane", "TrafficLog", "kuma"] {
            assert!(!told.contains(of_kuma), "{files}: {of_kuma} is of another system: {told}");
        }
        let hint =
            told.split('`').find(|part| part.starts_with("upheld explain ") || part.starts_with("upheld audit "));
        if let Some(hint) = hint {
            let answered = run(&root(), hint.trim_start_matches("upheld "));
            assert!(matches!(answered.status.code(), Some(0 | 1)), "{hint}: {}", shown(&answered));
        }
    }
    let nearest = shown(&run(&root(), "explain checkout -f examples/compliance"));
    assert!(
        nearest.contains("did you mean `upheld audit --object project/checkout -f examples/compliance`?"),
        "{nearest}"
    );
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
        if finished.recv_timeout(Duration::from_mins(1)).is_err() {
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

/// Two meshes with things of the same name, Kubernetes names, named inbounds, and documents of other systems.
const MANY: &str = "
{type: Dataplane, mesh: a, name: web, networking: {inbound: [{port: 80, name: main, tags: {kuma.io/service: web}}, {port: 81, tags: {kuma.io/service: admin}}]}}
---
{type: Dataplane, mesh: b, name: web, networking: {inbound: [{port: 80, tags: {kuma.io/service: web}}]}}
---
{type: Dataplane, mesh: b, name: db, networking: {inbound: [{port: 80, tags: {kuma.io/service: dbs}}], outbound: [{port: 1, service: dbs}]}}
---
apiVersion: kuma.io/v1alpha1
kind: Dataplane
mesh: b
metadata: {name: pod-7df, namespace: shop}
spec: {networking: {inbound: [{port: 80, tags: {kuma.io/service: team/api}}]}}
---
{type: ExternalService, mesh: b, name: billing, tags: {kuma.io/service: stripe}, networking: {address: 'stripe.example:443'}}
---
{type: ExternalService, mesh: b, name: other, tags: {kuma.io/service: billing}, networking: {address: 'billing.example:443'}}
---
{type: TrafficLog, mesh: b, name: all, sources: [{match: {kuma.io/service: '*'}}], destinations: [{match: {kuma.io/service: '*'}}], conf: {backend: splunk}}
---
{apiVersion: appmesh.k8s.aws/v1beta2, kind: Mesh, metadata: {name: foreign}, spec: {egressFilter: {}}}
---
{apiVersion: v1, kind: Secret, type: Opaque, metadata: {name: secret}}
---
{name: some-package, version: 1.0.0}
";

/// The first line of an answer, or of what was wrong; and the exit code.
fn first_line(line: &str) -> (Option<i32>, String) {
    let folder = folder(&[("many.yaml", MANY)]);
    let output = run(folder.path(), &format!("{line} --kind TrafficLog"));
    let text =
        String::from_utf8_lossy(if output.stdout.is_empty() { &output.stderr } else { &output.stdout }).into_owned();
    let skip_note = |line: &&str| !line.starts_with("note:");
    (output.status.code(), text.lines().find(skip_note).unwrap_or_default().to_owned())
}

#[test]
fn names_find_the_only_thing_that_can_be_meant() {
    for (line, between) in [
        ("explain --from dataplane/b/web --to db", "web → db"),
        ("explain --from web --to db", "web → db"),
        ("explain --from db --to dataplane/web", "db → web"),
        ("explain --from pod-7df --to db", "pod-7df.shop → db"),
        ("explain --from db --to team/api", "db → pod-7df.shop"),
        ("explain --from db --to service/dbs", "db → db"),
        ("explain --from service/web --mesh b --to 'web#80'", "web → web"),
    ] {
        let (code, text) = first_line(line);
        assert!(code == Some(0) && text.contains(between), "{line}: {text}");
    }
}

#[test]
fn names_that_leave_a_doubt_are_refused_with_the_words_to_use() {
    for (line, message) in [
        ("explain --from dataplane/a/web --to dataplane/b/db", "is in mesh b, but the source is in mesh a"),
        ("explain --from db --to billing", "could be any of 2 things"),
        ("explain --from 'db#80' --to web", "only called proxies and real resources have"),
        ("explain --from db --to nobody", "is called `nobody`"),
        ("explain --from dataplan/db --to web", "is called `dataplan/db`"),
    ] {
        let (code, text) = first_line(line);
        assert!(code == Some(2) && text.contains(message), "{line}: {text}");
    }
}

#[test]
fn an_inbound_is_found_by_its_name_and_by_its_port() {
    let folder = folder(&[("many.yaml", MANY)]);
    for section in ["main", "80"] {
        let line = format!("explain --mesh a --from web --to 'web#{section}' --kind TrafficPermission");
        assert!(shown(&run(folder.path(), &line)).contains("web → web#main"), "{section}");
    }
}

#[test]
fn documents_of_other_systems_are_left_aside_with_a_note() {
    let folder = folder(&[("many.yaml", MANY)]);
    let text = shown(&run(folder.path(), "list meshes -o name"));
    let note = "note: 3 documents of types that are not resolved here: appmesh.k8s.aws/v1beta2 Mesh (1), \
                documents without a type (1), v1 Secret (1)";
    assert!(text.starts_with("exit 0") && text.contains(note), "{text}");
}

#[test]
fn a_full_disk_is_an_error_and_control_characters_are_shown() {
    if Path::new("/dev/full").exists() {
        let full = fs::OpenOptions::new().write(true).open("/dev/full").expect("a full device");
        let status = upheld(&root()).args(["version"]).stdout(full).stderr(Stdio::null()).status();
        assert_eq!(status.expect("the program starts").code(), Some(2));
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let policy = r#"{"type":"TrafficLog","name":"bell\u0007","sources":[{"match":{"kuma.io/service":"*"}}],"destinations":[{"match":{"kuma.io/service":"*"}}],"conf":{"backend":"\u001b[2J"}}"#;
    fs::write(folder.path().join("policy.json"), policy).expect("writable");
    let line = "explain --kind TrafficLog --from kuma.io/service=a --to kuma.io/service=b";
    let text = shown(&run(folder.path(), line));
    assert!(text.contains(r"bell\u{7}") && text.contains(r"\u{1b}[2J") && !text.contains('\x1b'), "{text}");
}

#[test]
fn split_policies_count_once_for_a_pair() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let limits = "
{type: Dataplane, name: web, networking: {inbound: [{port: 80, tags: {kuma.io/service: web, a: b, c: d}}]}}
---
{type: RateLimit, name: p, sources: [{match: {a: b, c: d, kuma.io/service: web}}, {match: {kuma.io/service: web}}], destinations: [{match: {}}]}
---
{type: RateLimit, name: q, sources: [{match: {a: b, c: d}}], destinations: [{match: {}}]}
";
    fs::write(folder.path().join("limits.yaml"), limits).expect("writable");
    let line = "explain --semantics kuma/0.4 --kind RateLimit --all-pairs -o jsonl";
    assert!(shown(&run(folder.path(), line)).contains(r#""policies":["p","q"]"#));
    let show = shown(&run(folder.path(), "show --semantics kuma/0.4 RateLimit/p"));
    assert!(show.contains("RateLimit: applies to 1 of 1 pairs"), "{show}");
}

#[test]
fn resolve_prints_the_warnings_that_concern_its_answer_and_counts_the_others() {
    let proxies = "type: Dataplane
name: web
networking: {address: 10.0.0.1, inbound: [{port: 80, tags: {kuma.io/service: web}}]}
---
type: MeshService
name: orders
labels: {kuma.io/display-name: orders}
spec: {ports: [{port: 80, name: http}]}
";
    let policy = |name: &str, kind: &str, port: &str, says: &str| {
        format!(
            "type: {kind}\nname: {name}\nspec: {{to: [{{targetRef: {{kind: Mesh}}, default: {says}}}, {{targetRef: {{kind: MeshService, name: orders, sectionName: {port}}}, default: {says}}}]}}\n"
        )
    };
    let timeout = policy("mine", "MeshTimeout", "nine", "{idleTimeout: 1s}");
    let retry = policy("other", "MeshRetry", "ten", "{http: {numRetries: 1}}");
    let folder = folder(&[("a.yaml", proxies), ("b.yaml", &timeout), ("c.yaml", &retry)]);
    let output = run(folder.path(), "resolve --semantics kuma/2 web --to meshservice/orders --kind MeshTimeout");
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(told.contains("`nine`") && !told.contains("`ten`"), "{told}");
    assert!(told.contains("note: 1 warning about other documents (--verbose shows all)"), "{told}");
    let all = run(folder.path(), "resolve --verbose --semantics kuma/2 web --to meshservice/orders --kind MeshTimeout");
    assert!(String::from_utf8_lossy(&all.stderr).contains("`ten`"));
}
