//! The law of what is reported: changes that survive leave every test as it was, and all others make one fail.

use upheld_dialects::question::Options;
use upheld_loader::load::{Loaded, load};
use upheld_loader::{Format, Input};
use upheld_model::{Diagnostics, Timestamp};

use super::super::read::read;
use super::super::{TestQuestion, setting};
use super::*;
use crate::report::TestReport;

const POLICIES: &str = "
- id: users
  effect: permit
  priority: 10
  subjects: [{role: user, group: staff}, {role: admin}]
  resources: [{path: /a/*}, {path: /b, type: [page, post]}]
  actions: [{method: [GET, HEAD]}]
  duties: [{kind: obligation, id: log, on: permit}, {kind: advice, id: never, on: deny}]
- id: night
  effect: deny
  priority: 20
  subjects: []
  resources: [{path: /a/**, not: {type: page}}]
  actions: [{method: '*'}]
  conditions: [{type: time, after: '22:00', before: '06:00'}]
- id: off
  enabled: false
  effect: permit
  subjects: []
  resources: []
  actions: []
---
kind: PolicySet
id: shop
algorithm: first-applicable
default: permit
target: {resources: [{path: /shop/**}]}
policies:
- {id: blocked, effect: deny, subjects: [{id: eve}], resources: [], actions: []}
duties: [{kind: advice, id: ask-why, on: deny}]
";

const TESTS: &str = "
kind: PolicyTests
now: 2025-03-01T12:00:00Z
cases:
- name: users
  matrix:
    subject: ['role=user,group=staff', role=user, role=admin]
    action: [GET, POST]
    resource: [/a/x, /b, /c]
  expect: deny
  except:
  - {when: {subject: ['role=user,group=staff', role=admin], action: GET, resource: /a/x}, expect: permit}
- {name: at night, now: 2025-03-01T23:00:00Z, request: {subject: role=admin, action: GET, resource: 'path=/a/x,type=post'}, expect: {policy: night}}
- {name: eve, request: {subject: id=eve, action: GET, resource: /shop/1}, expect: {candidates: {blocked: {state: WON}}}}
- {name: fails, request: {subject: role=user, action: GET, resource: /a/x}, expect: permit}
";

const FIRST: &str = "combiningAlgorithm: first-applicable\ndefaultEffect: deny";

fn loaded(texts: &[&str]) -> Loaded {
    load(vec![Input::text("documents.yaml", Format::Yaml, texts.join("\n---\n"))], &[]).expect("is read")
}

fn report(loaded: &Loaded) -> TestReport {
    let options = Options::at(Timestamp(0));
    // As it comes over a network.
    let question: TestQuestion = serde_json::from_str(r#"{"mutate": true}"#).expect("is a question");
    World::new(&loaded.snapshot, &options).test(&question, &()).expect("is answered")
}

fn mutation(loaded: &Loaded) -> MutationReport {
    report(loaded).mutation.expect("was asked for")
}

/// What survives, sorted.
fn names(report: &MutationReport) -> Vec<String> {
    let mut names: Vec<String> = report.survivors.iter().map(Survivor::name).collect();
    names.sort();
    names
}

fn states(world: &World<'_>, cases: &[Case], instead: Option<(KindId, &Decide)>) -> Vec<TestState> {
    let mut runner = Runner { world, before: None, instead, counter: None };
    cases.iter().map(|case| runner.case(case).state).collect()
}

#[test]
fn survivors_leave_every_test_as_it_was_and_all_others_change_one() {
    for settings in ["", FIRST] {
        let loaded = loaded(&[POLICIES, TESTS, settings]);
        let (snapshot, options) = (&loaded.snapshot, Options::at(Timestamp(0)));
        let world = World::new(snapshot, &options);
        let cases =
            read(upheld_dialects::recognise::tests_of(snapshot), setting(&options), &mut Diagnostics::default());
        let before = states(&world, &cases, None);
        // The plainest way: every case is asked of every change, whether it is about the policy or not.
        let (mut noticed, mut survived) = (0, Vec::new());
        for (kind, decide) in deciders(snapshot) {
            for mutant in mutants(decide) {
                let change = Change { kind, decide, mutant };
                let Some(changed) = change.applied(snapshot) else { continue };
                let after = states(&world, &cases, Some((kind, &changed)));
                let fails = |(before, after)| (before, after) == (&TestState::Passed, &TestState::Failed);
                if before.iter().zip(&after).any(fails) {
                    noticed += 1;
                } else {
                    survived.push(change.survivor(snapshot).name());
                }
            }
        }
        survived.sort();
        let report = mutation(&loaded);
        assert_eq!(report.noticed, noticed);
        assert_eq!(names(&report), survived);
        assert_eq!(report.of, noticed + report.survivors.len());
        assert!(noticed > 5 && survived.len() > 5, "{noticed} {survived:?}");
        assert_eq!(report.tests, 20, "the one that fails notices nothing");
    }
}

#[test]
fn changes_are_told_in_plain_words_and_with_their_lines() {
    let report = mutation(&loaded(&[POLICIES, TESTS]));
    let told: Vec<String> =
        report.survivors.iter().map(|one| format!("{} {}", one.at.as_ref().map_or(0, At::line), one.name())).collect();
    let expected = [
        "6 users: resources without /b type=page, post",
        "6 users: path /a/** instead of /a/*",
        "6 users: path /b, /b/** instead of /b",
        "6 users: type post instead of page, post",
        "7 users: method GET instead of GET, HEAD",
        "2 users: without the obligation log",
        "13 night: resources /a/** instead of /a/** not type=page",
        "23 shop: default effect deny instead of permit",
        "23 shop: without the advice ask-why",
        "29 blocked: any subjects instead of id=eve",
    ];
    for one in expected {
        assert!(told.iter().any(|told| told == one), "{one}: {told:#?}");
    }
    assert!(!told.iter().any(|told| told.contains("off:") || told.contains("never")), "{told:#?}");
}

#[test]
fn a_suggested_test_passes_and_notices_what_it_is_for() {
    let (mut tests, mut before) = (TESTS.to_owned(), usize::MAX);
    let mut added = 0;
    loop {
        let report = report(&loaded(&[POLICIES, &tests]));
        assert_eq!(report.summary.failed, 1, "{tests}");
        let mutation = report.mutation.expect("was asked for");
        assert!(mutation.survivors.len() < before, "{tests}");
        before = mutation.survivors.len();
        let Some(test) = &mutation.suggested else { break };
        assert!(names(&mutation).contains(&test.name), "{}", test.name);
        tests.push_str(&test.case());
        added += 1;
    }
    assert!(added > 5, "{added}");
}

#[test]
fn without_policies_or_tests_of_them_it_says_so() {
    let explained = "kind: PolicyTests\ncases: [{name: a, explain: {kind: TrafficLog, from: a, to: b}, expect: {outcome: decided}}]";
    let report = mutation(&loaded(&[explained]));
    assert_eq!((report.of, report.headline.text.as_str()), (0, "There are no access policies to change."));
    let report = mutation(&loaded(&[POLICIES, explained]));
    assert!(report.headline.text.starts_with("No test that passes asks access policies"), "{}", report.headline.text);
    assert_eq!(report.survivors.len(), report.of);
}
