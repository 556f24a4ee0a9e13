//! `upheld test` for policies about related objects: changes, audits, relations, and which rules no test judges.

use std::fs;

use serde_json::Value as Json;

use crate::support::{example, in_root, root, run, shown, snapshot};

macro_rules! tested {
    ($name:ident, $line:literal) => {
        snapshot!("test_related_", $name, in_root($line), from $line);
    };
}

tested!(passes, "test -f examples/compliance");
tested!(verbose, "test -f examples/compliance --verbose");
tested!(json, "test -f examples/compliance --only 'production*' -o json");

/// The example with other tests.
fn with(tests: &str, line: &str) -> String {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for file in ["policies.yaml", "organisation.yaml", "tags.yaml", "changes.yaml"] {
        fs::copy(root().join("examples/compliance").join(file), folder.path().join(file)).expect("writable");
    }
    fs::write(folder.path().join("policies.test.yaml"), tests).expect("writable");
    shown(&run(folder.path(), line))
}

macro_rules! with {
    ($name:ident, $line:literal, $tests:expr) => {
        snapshot!("test_related_", $name, with($tests, $line), from $line);
    };
}

/// Everything that can differ.
const FAILING: &str = "kind: PolicyTests
now: 2026-03-01T00:00:00Z
cases:
- name: blocked by another policy
  can: link project/checkout~user/ben
  expect: {outcome: blocked, policies: [env-project-customer]}
- name: allowed after all
  can: link project/checkout~user/ben
  expect: allowed
- name: by nobody who is known
  can: link project/checkout~user/ben
  as: visitor
  expect: blocked
- name: nobody violates
  audit: {}
  expect: {hard: 0, violations: {env-project-landingzone: {state: hard, a: {ref: project/a}}}}
- name: they agree
  relation: project/a~landingZone/lz-1
  expect: pass
- name: with something that is not there
  relation: project/a~landingZone/lz-9
  expect: pass
- name: before it was moved
  relation: project/a~landingZone/lz-1
  expect: soft
  skip: nobody knows what was before
";

with!(fails, "test --no-coverage", FAILING);

/// Every mistake of a document.
const BROKEN: &str = "kind: PolicyTests
cases:
- name: no such word
  can: link project/a~user/ben
  expect: permitted
- name: no such part
  can: link project/a~user/ben
  expect: {outcom: allowed}
- name: no such flag
  audit: {workspce: shop}
  expect: {hard: 0}
- name: nothing is expected
  audit: {}
  expect: {}
- name: a number as a word
  audit: {}
  expect: {hard: none}
- name: not a pair
  relation: [project/a, user/ben]
  expect: pass
- name: no time
  can: link project/a~user/ben
  now: yesterday
  expect: allowed
";

with!(broken, "test", BROKEN);

/// One case that holds, and one that violates.
const LITTLE: &str = "kind: PolicyTests
now: 2026-03-01T00:00:00Z
cases:
- name: ben works on project a
  relation: project/a~user/ben
  expect: pass
- name: and cannot work on production
  can: link project/checkout~user/ben
  expect: blocked
";

with!(coverage, "test", LITTLE);
with!(too_little, "test --fail-under 50 -o tap", LITTLE);

#[test]
fn every_policy_of_the_example_is_judged_both_ways_but_one() {
    let output = run(&root(), "test -f examples/compliance -o json");
    let report: Json = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(report["coverage"]["percent"], 100, "{report:#}");
    let never = report["coverage"]["clauses"].as_array().expect("clauses").iter().filter(|one| one["cases"] == 0);
    let never: Vec<String> = never.map(|one| format!("{} {}", one["policy"], one["clause"])).collect();
    assert_eq!(never, ["\"unit-project-landingzone\" \"violated\""]);
}

#[test]
fn tests_notice_when_a_policy_is_taken_away_or_turned_off() {
    let policies = fs::read_to_string(root().join("examples/compliance/policies.yaml")).expect("the example");
    let changes = [
        ("tag: environment}\ndescription: A project", "tag: environment}\nenforcement: warn\ndescription: A project"),
        ("severity: critical", "severity: critical\nenforcement: off"),
    ];
    for (from, to) in changes {
        let folder = example("compliance");
        let changed = policies.replace(from, to);
        assert_ne!(changed, policies);
        fs::write(folder.path().join("policies.yaml"), changed).expect("writable");
        let output = run(folder.path(), "test");
        assert_eq!(output.status.code(), Some(1), "{}", shown(&output));
    }
}
