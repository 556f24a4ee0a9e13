//! `upheld test --mutate`: which changes of policies no test notices, in every format.

use std::fs;

use serde_json::Value as Json;

use crate::support::{example, folder, in_root, run, shown, snapshot};

/// Runs a line in the root of the project and compares all that it printed.
macro_rules! mutated {
    ($name:ident, $line:literal) => {
        snapshot!("mutate_", $name, in_root($line), from $line);
    };
}

mutated!(access, "test --mutate -f examples/access");
mutated!(some_tests, "test --mutate -f examples/access --tag audit");
mutated!(some_tests_verbose, "test --mutate -f examples/access --tag audit --no-coverage --verbose");
mutated!(json, "test --mutate -f examples/access --only 'admins*' -o json");
mutated!(jsonl, "test --mutate -f examples/access --only 'admins*' --no-coverage -o jsonl");
mutated!(names, "test --mutate -f examples/access --tag audit -o name");
mutated!(junit, "test --mutate -f examples/access --tag audit -o junit");
mutated!(tap, "test --mutate -f examples/access --tag audit --no-coverage -o tap");
mutated!(no_tests, "test --mutate -f examples/access-conditions");
mutated!(other_families, "test --mutate -f examples/network-policies --no-coverage");

/// The example with one more document of tests.
fn with(tests: &str, line: &str) -> String {
    let folder = example("access");
    fs::write(folder.path().join("more.test.yaml"), format!("kind: PolicyTests\ncases:\n{tests}")).expect("writable");
    shown(&run(folder.path(), line))
}

#[test]
fn a_test_that_was_suggested_can_be_pasted() {
    let text = in_root("test --mutate -f examples/access");
    let (_, case) = text.split_once("is right:\n").expect("a test is suggested");
    let text = with(case, "test --mutate");
    assert!(text.starts_with("exit 0\n--- stdout\n21 passed, 1 skipped\n"), "{text}");
    assert!(text.ends_with("18 of 18 changes are noticed by 21 tests.\n"), "{text}");
}

#[test]
fn a_test_that_fails_is_an_error_whatever_is_noticed() {
    let all = "- {name: no path, request: {subject: role=admin, action: GET}, expect: deny}\n";
    assert!(with(all, "test --mutate").starts_with("exit 0"), "{}", with(all, "test --mutate"));
    let fails = "- {name: wrong, request: {subject: role=guest, action: GET, resource: /x}, expect: permit}\n";
    let text = with(&format!("{all}{fails}"), "test --mutate");
    assert!(text.starts_with("exit 1") && text.contains("18 of 18 changes are noticed by 21 tests."), "{text}");
    let text = with("- {nam: broken}\n", "test --mutate");
    assert!(text.starts_with("exit 2"), "{text}");
}

#[test]
fn every_format_has_the_same_survivors() {
    let line = |format: &str| in_root(&format!("test --mutate -f examples/access --tag audit -o {format}"));
    let out = |format: &str| line(format).strip_prefix("exit 1\n--- stdout\n").expect("something survives").to_owned();
    let document: Json = serde_json::from_str(&out("json")).expect("is JSON");
    let survivors = document["mutation"]["survivors"].as_array().expect("a list");
    let name = |one: &Json| format!("{}: {}", one["policy"].as_str().unwrap(), one["change"]["text"].as_str().unwrap());
    let names: Vec<String> = survivors.iter().map(name).collect();
    assert!(names.len() > 5);
    assert_eq!(out("name").lines().collect::<Vec<_>>(), names);
    let xml = out("junit");
    let xml = roxmltree::Document::parse(&xml).expect("well-formed");
    let suite = xml.descendants().find(|node| node.attribute("name") == Some("changes of policies")).expect("a suite");
    let cases: Vec<_> = suite.children().filter(|node| node.has_tag_name("testcase")).collect();
    assert_eq!(cases.iter().filter_map(|case| case.attribute("name")).collect::<Vec<_>>(), names);
    assert!(cases.iter().all(|case| case.children().any(|node| node.has_tag_name("failure"))));
    assert_eq!(suite.attribute("failures"), Some(names.len().to_string().as_str()));
    let tap = out("tap");
    let failed: Vec<&str> = tap.lines().filter(|line| line.starts_with("not ok ")).collect();
    assert_eq!(failed.len(), names.len());
    assert!(tap.contains(&format!("1..{}\n", names.len() + 1)), "{tap}");
}

/// So many policies and cases are common.
#[test]
fn many_policies_and_cases_are_changed_and_asked() {
    let policies: String = (0..55)
        .map(|number| {
            format!(
                "- id: p{number}\n  effect: permit\n  subjects: [{{role: [r{number}, admin]}}]\n  \
                 resources: [{{path: /s{number}/*}}, {{path: /s{number}}}]\n  actions: [{{method: GET}}, {{method: POST}}]\n"
            )
        })
        .collect();
    let paths: Vec<String> = (0..50).map(|number| format!("/s{number}/a")).collect();
    let tests = format!(
        "kind: PolicyTests\ncases:\n- name: all\n  matrix: {{subject: [role=admin, role=guest], resource: [{}]}}\n  \
         request: {{action: GET}}\n  expect: deny\n  except: [{{when: {{subject: role=admin}}, expect: permit}}]\n",
        paths.join(", ")
    );
    let folder = folder(&[("policies.yaml", &policies), ("tests.yaml", &tests)]);
    let text = shown(&run(folder.path(), "test --mutate -o json --no-coverage"));
    let document: Json =
        serde_json::from_str(text.strip_prefix("exit 1\n--- stdout\n").expect("survivors")).expect("JSON");
    let mutation = &document["mutation"];
    assert_eq!(mutation["tests"], 100);
    assert!(
        mutation["of"].as_u64() > Some(550) && mutation["noticed"].as_u64() > Some(200),
        "{}",
        mutation["headline"]
    );
}
