//! `reach`: every form of question, answer and mistake; the server says the same.

use std::fs;

use serde_json::{Value as Json, json};

use super::served::Client;
use super::support::{example, root, run, snapshot, upheld, with_files};

macro_rules! reached {
    ($name:ident, $line:literal) => {
        snapshot!("reach__", $name, super::support::in_root($line), from $line);
    };
}

reached!(by_subject, "reach -f examples/access-directory --subject user/ann");
reached!(by_resource, "reach -f examples/access-directory --action read --resource document/plan");
reached!(by_both, "reach -f examples/access-directory --subject user/bob --resource document/notes --verbose");
reached!(by_action, "reach -f examples/access-directory --action read -o name");
reached!(somebody_with_a_role, "reach -f examples/access-directory --subject role=reader --resource type=document");
reached!(
    names_are_those_that_are_permitted,
    "reach -f examples/access-directory --subject user/ann --resource document/plan -o name"
);
reached!(as_yaml, "reach -f examples/access-directory --subject user/bob --action archive -o yaml");
reached!(as_lines, "reach -f examples/access-directory --subject user/eve --action read --verbose -o jsonl");
reached!(misspelt, "reach -f examples/access-directory --subject user/anm");
reached!(about_nothing, "reach -f examples/access-directory");
reached!(
    about_one_request,
    "reach -f examples/access-directory --subject user/ann --action read --resource document/plan"
);
reached!(without_a_directory, "reach -f examples/access --subject user/ann");
reached!(other_formats, "reach -f examples/access-directory --subject user/ann -o sarif");

fn json(folder: &std::path::Path, line: &str) -> Json {
    let output = run(folder, &format!("{line} -o json"));
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|_| panic!("{line}: {}", String::from_utf8_lossy(&output.stderr)))
}

/// Every row is what `can` says of its request.
#[test]
fn every_row_is_what_can_says_of_its_request() {
    let folder = example("access-directory");
    let reach = json(folder.path(), "reach --action read --verbose");
    let rows = reach["items"].as_array().unwrap();
    assert_eq!(rows.len(), 9);
    let lines: String = rows.iter().map(|row| format!("{}\n", row["request"])).collect();
    let questions = super::support::folder(&[("questions.jsonl", &lines)]);
    let file = questions.path().join("questions.jsonl");
    let output = upheld(folder.path()).args(["can", "-o", "jsonl", "--batch"]).arg(file).output().unwrap();
    let said: Vec<Json> =
        String::from_utf8(output.stdout).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    for (row, own) in rows.iter().zip(&said) {
        for field in ["decision", "policy", "reason"] {
            assert_eq!(row[field], own[field], "{row}");
        }
    }
}

#[test]
fn pages_go_on_where_they_ended() {
    let folder = example("access-directory");
    let whole = json(folder.path(), "reach --subject user/ann");
    let first = json(folder.path(), "reach --subject user/ann --limit 4");
    let rest = json(folder.path(), &format!("reach --subject user/ann --after {}", first["next"].as_str().unwrap()));
    let items = |page: &Json| page["items"].as_array().unwrap().clone();
    assert_eq!([items(&first), items(&rest)].concat(), items(&whole));
    assert_eq!((&whole["next"], &rest["next"]), (&Json::Null, &Json::Null));
}

#[test]
fn a_request_may_come_from_a_file() {
    let folder = example("access-directory");
    fs::write(folder.path().join("question.yaml"), "subject: {type: user, id: bob}\naction: {operation: read}\n")
        .unwrap();
    let by_file = json(folder.path(), "reach --request question.yaml");
    assert_eq!(by_file["items"], json(folder.path(), "reach --subject user/bob --action read")["items"]);
}

#[test]
fn the_server_says_the_same() {
    let folder = root().join("examples/access-directory");
    let client = Client::of(&folder, Vec::new());
    for (line, question) in [
        ("reach --subject user/ann", json!({"subject": "user/ann"})),
        ("reach --action read --resource document/plan", json!({"action": "read", "resource": ["document/plan"]})),
        ("reach --action read --verbose", json!({"request": {"action": {"operation": "read"}}, "denied": true})),
    ] {
        let (status, _, served) = client.tries("/v1/reach", &question);
        assert_eq!(status, 200, "{served}");
        let printed = json(&folder, line);
        for field in ["headline", "counts", "items", "next", "semantics"] {
            assert_eq!(served[field], printed[field], "{line}: {field}");
        }
    }
    let (status, _, page) = client.tries("/v1/reach?limit=2", &json!({"subject": "user/ann"}));
    assert_eq!((status, page["items"].as_array().unwrap().len()), (200, 2));
    let next = format!("/v1/reach?limit=1000&after={}", page["next"].as_str().unwrap());
    let (_, _, rest) = client.tries(&next, &json!({"subject": "user/ann"}));
    assert_eq!((rest["items"].as_array().unwrap().len(), &rest["next"]), (5, &Json::Null));
    for (path, question, expected) in [
        ("/v1/reach?limit=0", json!({"subject": "user/ann"}), 400),
        ("/v1/reach", json!({"subjekt": "user/ann"}), 400),
        ("/v1/reach", json!({"subject": "user/anm"}), 422),
        ("/v1/reach?after=x", json!({"subject": "user/ann"}), 422),
    ] {
        assert_eq!(client.tries(path, &question).0, expected, "{path} {question}");
    }
}

#[test]
fn a_directory_may_lack_what_is_looked_for() {
    let only_people = "kind: Directory\nsubjects: [{type: user, id: ann}]\n";
    let policy = "{id: all, effect: permit, subjects: [], resources: [], actions: []}\n";
    let files = [("directory.yaml", only_people), ("policies.yaml", policy)];
    let said = with_files(&files, "reach --subject user/ann --action read");
    assert!(said.starts_with("exit 2") && said.contains("the Directory lists no resources"), "{said}");
    assert!(with_files(&files, "reach --action read --resource /x").contains("1 of 1 request is permitted"));
}
