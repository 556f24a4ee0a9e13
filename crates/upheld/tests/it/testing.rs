//! `upheld test`: cases that pass and fail, tests that are broken on purpose, and the formats for other tools.

use std::fs;

use crate::support::{example, folder, in_root, root, run, shown, snapshot};

/// Runs a line in the root of the project and compares all that it printed.
macro_rules! tested {
    ($name:ident, $line:literal) => {
        snapshot!("test_", $name, in_root($line), from $line);
    };
}

tested!(passes, "test -f examples/access");
tested!(verbose, "test -f examples/access --verbose");
tested!(json, "test -f examples/access --only 'admins*' -o json");
tested!(coverage_json, "test -f examples/access -o yaml --tag audit --fail-under 30");
tested!(tagged, "test -f examples/access --tag audit");
tested!(named, "test -f examples/access --only '*guest*' -v");
tested!(unknown_name, "test -f examples/access --only 'who may raed'");
tested!(unknown_tag, "test -f examples/access --tag audti");
tested!(no_tests, "test -f examples/demo");
tested!(no_policies, "test -f examples/access/policies.test.yaml");
tested!(two_families, "test -f examples/demo -f examples/mixed-tests");
tested!(enough, "test -f examples/access --fail-under 100 -o tap");
tested!(junit_elsewhere, "list -f examples/access -o junit");
tested!(junit_of_a_graph, "graph -f examples/access -o tap");
tested!(drawing_of_tests, "test -f examples/access -o svg");
tested!(help, "test --help");
tested!(schema, "schema -f builtin:demo PolicyTests");
tested!(passed_by, "list -f examples/access");

/// The policies of the example with other tests.
fn with(tests: &str, line: &str) -> String {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for file in ["policies.yaml", "manifest.yaml"] {
        fs::copy(root().join("examples/access").join(file), folder.path().join(file)).expect("writable");
    }
    fs::write(folder.path().join("policies.test.yaml"), tests).expect("writable");
    shown(&run(folder.path(), line))
}

macro_rules! with {
    ($name:ident, $line:literal, $tests:expr) => {
        snapshot!("test_", $name, with($tests, $line), from $line);
    };
}

/// Everything that can become of a case.
const MIXED: &str = "kind: PolicyTests
now: 2025-03-01T12:00:00Z
fixtures:
  subjects: {alice: {id: alice, roles: [admin]}, bob: {id: bob, roles: [user]}}
  resources: {audit: /api/audit/123}
  environments: {office: ip=192.0.2.7}
cases:
- name: admins delete audit logs
  request: {subject: alice, action: DELETE, resource: audit, environment: office}
  expect: {decision: permit, policy: admin-acces, obligations: []}
- name: users read
  matrix: {subject: [bob, {roles: [guest]}], action: [GET, HEAD]}
  request: {resource: /api/users}
  expect: permit
- name: 'a # \\ <&\" name'
  request: {subject: bob, action: POST, resource: /api/users}
  expect: undecided
- name: later
  request: {subject: bob, action: POST, resource: /api/users}
  expect: permit
  skip: 'waits for #12'
- name: nobody of that name
  explain: {kind: TrafficLog, from: web-1, to: backend-1}
  expect: {outcome: decided}
";

with!(fails, "test", MIXED);
with!(fails_json, "test -o json --no-coverage", MIXED);
with!(fails_jsonl, "test -o jsonl --no-coverage", MIXED);
with!(fails_names, "test -o name", MIXED);
with!(fails_junit, "test -o junit", MIXED);
with!(fails_tap, "test -o tap", MIXED);
with!(
    too_little_coverage,
    "test --fail-under 80",
    "kind: PolicyTests\ncases:\n- name: users\n  request: {subject: role=user, action: GET, resource: /api/x}\n  expect: permit\n"
);
with!(
    full_answers,
    "test",
    "kind: PolicyTests\ncases:\n- name: guests\n  request: {subject: role=guest, action: GET, resource: /api/x}\n  \
     expect:\n    policy: (default)\n    candidates: {user-read: {state: SKIP, distance: 1}}\n    default: {state: WON}\n    \
     answer: 'DENY by default effect: 3 policies looked at, none applies. Closest: admin-access (2 of 3 clauses; role: wants admin, has guest).'\n"
);

/// An example of another family with tests of its own.
fn beside(name: &str, tests: &str) -> String {
    let folder = example(name);
    fs::write(folder.path().join("all.test.yaml"), tests).expect("writable");
    shown(&run(folder.path(), "test"))
}

macro_rules! beside {
    ($name:ident, $example:literal, $tests:literal) => {
        snapshot!("test_", $name, beside($example, $tests), from $example);
    };
}

beside!(
    gateways,
    "kgateway-policy-application-and-merging",
    "kind: PolicyTests
cases:
- name: a request
  explain: {host: shop.example, path: /cart, header: {x-test: '1'}, kind: TrafficPolicy}
  expect: {fields: {rateLimit.local.tokenBucket.maxTokens: 99, timeouts: {request: 10s}, csrf: null}}
- name: a rule
  explain: {what: httproute/default/example-route#rule0, kind: TrafficPolicy, field: cors}
  expect: {broken: []}
- name: nobody there
  explain: {host: nowhere.example}
  expect: {broken: []}
"
);
beside!(
    layers,
    "kuma-matching-real-resources",
    "kind: PolicyTests
cases:
- name: the database of finance
  explain: {what: dataplane/web-1, to: meshservice/finance-db, kind: MeshTimeout}
  expect:
    outcome: merged
    policies: [finance, mesh-defaults]
    fields: {connectionTimeout: 2s, http: {requestTimeout: 15s}, http.streamIdleTimeout: null}
    candidates: {to-legacy: {state: SKIP}}
- name: all kinds
  explain: {what: dataplane/web-1, to: meshservice/backend}
  expect: {mesh: mesh-2}
"
);

/// A document with one case.
macro_rules! one {
    ($case:literal) => {
        concat!(
            "kind: PolicyTests\nfixtures:\n  subjects: {alice: role=admin, guest: {roles: [guest]}}\ncases:\n- name: one\n",
            $case
        )
    };
}

with!(unknown_field, "test", one!("  request: {subjct: alice}\n  expect: deny\n  tag: [x]\n"));
with!(unknown_decision, "test", one!("  request: {subject: alice, action: GET, resource: /x}\n  expect: dney\n"));
with!(without_expect, "test", one!("  request: {subject: alice, action: GET, resource: /x}\n"));
with!(empty_expect, "test", one!("  request: {subject: alice, action: GET, resource: /x}\n  expect: {}\n"));
with!(unknown_fixture, "test", one!("  request: {subject: alcie, action: GET, resource: users}\n  expect: deny\n"));
with!(
    exceptions_of_nothing,
    "test",
    one!(
        "  matrix: {subject: [alice, guest], action: [GET]}\n  expect: deny\n  except:\n  \
         - {when: {subject: gest}, expect: permit}\n  - {when: {resource: /x}, expect: permit}\n  - {when: {}, expect: permit}\n"
    )
);
with!(
    exception_after_another,
    "test",
    one!(
        "  matrix: {subject: [alice, guest], action: [GET]}\n  expect: deny\n  except:\n  \
         - {when: {subject: [alice, guest]}, expect: permit}\n  - {when: {subject: alice}, expect: permit}\n"
    )
);
with!(empty_matrix, "test", one!("  matrix: {subject: [], action: [GET]}\n  expect: deny\n"));
with!(
    wrong_rows,
    "test",
    one!("  table:\n  - [alice, GET, /x]\n  - [alice, GET, /x, permt]\n  - [alcie, GET, /x, deny]\n")
);
with!(question_without_host, "test", one!("  explain: {kind: TrafficLog, path: /x}\n  expect: {outcome: default}\n"));
with!(
    names_given_twice,
    "test",
    one!("  request: {subject: alice}\n  expect: deny\n- name: one\n  request: {}\n  expect: deny\n")
);
with!(wrong_moment, "test", "kind: PolicyTests\nnow: noon\ncases: []\n");
with!(misspelt_kind, "test", "kind: PolicyTest\ncases: []\n");
with!(unknown_kind_of_policy, "test", one!("  request: {subject: alice}\n  kind: AcessPolicy\n  expect: deny\n"));

#[test]
fn broken_tests_do_not_stop_other_commands() {
    let tests = one!("  request: {subjct: alice}\n");
    let text = with(tests, "can --subject role=admin --action GET --resource /api/users");
    assert!(text.starts_with("exit 0\n--- stdout\nPERMIT"), "{text}");
}

#[test]
fn what_is_wrong_with_policies_and_tests_is_told_together() {
    let folder = folder(&[
        ("policies.yaml", "- {id: a, effect: alow, subjects: []}\n"),
        ("tests.yaml", "kind: PolicyTests\ncases: [{nam: x}]\n"),
    ]);
    let text = shown(&run(folder.path(), "test"));
    assert!(
        text.starts_with("exit 2") && text.contains("policies.yaml:1") && text.contains("did you mean `name`"),
        "{text}"
    );
}

#[test]
fn junit_is_xml_that_says_what_happened() {
    let text = with(MIXED, "test -o junit --fail-under 100");
    let xml = text.strip_prefix("exit 1\n--- stdout\n").expect("nothing but XML");
    let document = roxmltree::Document::parse(xml).expect("well-formed");
    let number = |node: roxmltree::Node<'_, '_>, name: &str| node.attribute(name).and_then(|text| text.parse().ok());
    for node in document.descendants().filter(|node| ["testsuites", "testsuite"].contains(&node.tag_name().name())) {
        let count = |name: &str| node.descendants().filter(|inner| inner.has_tag_name(name)).count();
        assert_eq!(number(node, "tests"), Some(count("testcase")));
        assert_eq!(number(node, "failures"), Some(count("failure")));
        assert_eq!(number(node, "skipped"), Some(count("skipped")));
    }
    let names: Vec<&str> = document.descendants().filter_map(|node| node.attribute("name")).collect();
    assert!(names.contains(&r#"a # \ <&" name"#), "{names:?}");
    assert_eq!(document.descendants().filter(|node| node.has_tag_name("failure")).count(), 6);
}

#[test]
fn tap_numbers_every_point_and_escapes_names() {
    let text = with(MIXED, "test -o tap --no-coverage");
    let lines: Vec<&str> = text.lines().skip_while(|line| *line != "TAP version 14").collect();
    assert_eq!(lines.get(1), Some(&"1..8"));
    let points: Vec<&&str> =
        lines.iter().filter(|line| line.starts_with("ok ") || line.starts_with("not ok ")).collect();
    for (number, point) in (1..).zip(&points) {
        assert!(point.contains(&format!("ok {number} - ")), "{point}");
    }
    assert_eq!(points.len(), 8);
    assert!(text.contains(r#"a \# \\ <&" name"#) && text.contains(r"# SKIP waits for \#12"), "{text}");
    let (open, closed) = (lines.iter().filter(|line| **line == "  ---"), lines.iter().filter(|line| **line == "  ..."));
    assert_eq!(open.count(), closed.count());
}

#[test]
fn every_case_asks_at_the_same_moment_whatever_the_clock_says() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let policies = "- id: by-day\n  effect: permit\n  subjects: []\n  resources: []\n  actions: []\n  \
                    conditions: [{type: time, after: '09:00', before: '17:00'}]\n";
    let tests = "kind: PolicyTests\nnow: 2025-03-01T12:00:00Z\ncases:\n\
                 - {name: day, request: {action: GET}, expect: permit}\n\
                 - {name: night, now: 2025-03-01T03:00:00Z, request: {action: GET}, expect: deny}\n\
                 - {name: own, request: {environment: {time: 2025-03-01T03:00:00Z}}, expect: deny}\n";
    fs::write(folder.path().join("policies.yaml"), policies).expect("writable");
    fs::write(folder.path().join("tests.yaml"), tests).expect("writable");
    let text = shown(&run(folder.path(), "test --now 2025-03-01T20:00:00Z"));
    assert!(text.starts_with("exit 0\n--- stdout\n3 passed\n"), "{text}");
}
