//! `upheld replay`: logs of all sorts against a draft, in all formats, with lines that cannot be read.

use std::fmt::Write as _;

use crate::support::{folder, git, run, shown, snapshot, with_files};

const POLICIES: &str = "policies:
- {id: staff, effect: permit, subjects: [{role: staff}], resources: [{path: /orders/**}], actions: []}
- {id: frozen, effect: deny, subjects: [], resources: [{path: /orders/*/refund}], actions: []}
";

const DRAFT: &str = "policies:
- {id: staff, effect: permit, subjects: [{role: staff}], resources: [{path: /orders/**}], actions: [{method: GET}]}
- {id: frozen, effect: deny, subjects: [], resources: [{path: /orders/7/refund}], actions: []}
";

/// What a server writes, with a line that somebody cut off.
const LOG: &str = r#"{"time":"2026-03-01T12:00:00Z","id":"1","surface":"http","revision":1,"request":{"subject":{"roles":["staff"]},"action":{"method":"GET"},"resource":{"path":"/orders/1"}},"decision":"permit","policy":"staff","previous":"0"}
{"time":"2026-03-01T12:00:01Z","id":"2","surface":"http","revision":1,"request":{"subject":{"roles":["staff"]},"action":{"method":"PUT"},"resource":{"path":"/orders/1"}},"decision":"permit","policy":"staff","previous":"0"}
{"time":"2026-03-01T12:00:02Z","id":"3","surface":"http","revision":1,"request":{"subject":{"roles":["staff"]},"action":{"method":"PUT"},"resource":{"path":"/orders/2"}},"decision":"permit","policy":"staff","previous":"0"}
{"time":"2026-03-01T12:00:03Z","id":"4","surface":"http","revision":1,"request":{"subject":{"roles":["staff"]},"action":{"method":"GET"},"resource":{"path":"/orders/1/refund"}},"decision":"deny","policy":"frozen","previous":"0"}
{"time":"2026-03-01T12:00:04Z","id":"5","surface":"http","revision":1,"requ
"#;

const ACCESS_LOG: &str = r#"{"method":"GET","path":"/orders/1?page=2","authority":"shop.example","response_code":200,"response_code_details":"via_upstream","user":{"roles":"staff"}}
{"method":"POST","path":"/orders/1","authority":"shop.example","response_code":200,"response_code_details":"via_upstream","user":{"roles":"staff"}}
{"method":"POST","path":"/orders/1","authority":"shop.example","response_code":403,"response_code_details":"ext_authz_denied","user":{"roles":"-"}}
"#;

fn replayed(line: &str) -> String {
    let files = [
        ("policies.yaml", POLICIES),
        ("draft.yaml", DRAFT),
        ("mesh.yaml", "type: Mesh\nname: default\n"),
        ("log.jsonl", LOG),
        ("access.log", ACCESS_LOG),
    ];
    with_files(&files, line)
}

macro_rules! replayed {
    ($name:ident, $line:literal) => {
        snapshot!("replay_", $name, replayed($line), from $line);
    };
}

replayed!(table, "replay log.jsonl -f policies.yaml --against draft.yaml");
replayed!(json, "replay log.jsonl -f policies.yaml --against draft.yaml -o json");
replayed!(jsonl, "replay log.jsonl -f policies.yaml --against draft.yaml -o jsonl");
replayed!(markdown, "replay log.jsonl -f policies.yaml --against draft.yaml -o markdown");
replayed!(itself, "replay log.jsonl -f policies.yaml");
replayed!(mapped, "replay access.log -f draft.yaml --map subject.role=user.roles");
replayed!(wrong_map, "replay access.log -f draft.yaml --map subject.rol=user.roles");
replayed!(no_log, "replay nothing.jsonl -f draft.yaml");
replayed!(no_draft, "replay log.jsonl -f policies.yaml --against nothing");
replayed!(help, "replay --help");
replayed!(lint, "lint -f draft.yaml --log log.jsonl --log access.log --only UP404,UP407");
replayed!(lint_json, "lint -f draft.yaml --log log.jsonl --only UP404,UP407 -o json");
replayed!(lint_without_requests, "lint -f draft.yaml --log policies.yaml");
replayed!(lint_without_deciders, "lint -f mesh.yaml --log log.jsonl");
replayed!(known_requests, "diff policies.yaml draft.yaml --log log.jsonl");

#[test]
fn requests_without_decisions_are_decided_by_the_files_and_by_a_revision() {
    let request = r#"{"subject":{"type":"user","id":"ann","properties":{"roles":["staff"]}},"action":{"name":"put"},"resource":{"type":"route","id":"/orders/7"}}"#;
    let folder = folder(&[("a.yaml", DRAFT), ("log.jsonl", request)]);
    git(folder.path(), &["init", "--quiet", "--initial-branch=main"]);
    git(folder.path(), &["add", "--all"]);
    git(folder.path(), &["commit", "--quiet", "--message", "Start"]);
    std::fs::write(folder.path().join("a.yaml"), POLICIES).expect("writable");
    let against = shown(&run(folder.path(), "replay log.jsonl -f a.yaml --against HEAD"));
    assert!(
        against.starts_with("exit 1") && against.contains("1 of 1 known request is decided otherwise"),
        "{against}"
    );
    let alone = shown(&run(folder.path(), "replay log.jsonl -f a.yaml"));
    assert!(alone.starts_with("exit 3") && alone.contains("1 line does not say what was decided"), "{alone}");
}

/// More lines than are held at a time, and one that is too long for all of them.
#[test]
fn a_long_log_is_read_in_pieces_and_every_line_keeps_its_number() {
    let mut log = String::new();
    for number in 0..10_000 {
        let decision = if number % 2_500 == 7 { "deny" } else { "permit" };
        let request =
            r#""request":{"subject":{"roles":["staff"]},"action":{"method":"GET"},"resource":{"path":"/orders/1"}}"#;
        writeln!(log, r#"{{{request},"decision":"{decision}"}}"#).expect("a text");
    }
    writeln!(log, "{{\"{}\": 1}}", "x".repeat(3 << 20)).expect("a text");
    log.push_str("{}\n");
    let folder = folder(&[("a.yaml", DRAFT), ("log.jsonl", &log)]);
    let shown = shown(&run(folder.path(), "replay log.jsonl -f a.yaml"));
    for part in [
        "exit 1",
        "4 of 10000 known requests are decided otherwise",
        "2 lines cannot be read",
        "log.jsonl:10001:",
        "log.jsonl:10002:",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
}
