//! Sets of policies: how they are combined, and what comes with their answers.

use serde_json::json;
use upheld_dialects::access::Edition;
use upheld_engine::decide::{PossibleEffect, Request, Value};
use upheld_engine::{Scratch, Silent, ask};

use crate::world::{decided, outcome, read, request};

/// A policy that says this: `permit`, `deny`, `?permit`, `?deny`, or nothing.
fn member(id: &str, says: &str, priority: i32) -> String {
    let (effect, subjects) = match says.strip_prefix('?') {
        Some(effect) => (effect, "[{claim: {name: x, operator: gt, value: 1}}]"),
        None if says == "nothing" => ("permit", "[{id: nobody}]"),
        None => (says, "[]"),
    };
    format!(
        "{{id: {id}, effect: {effect}, priority: {priority}, subjects: {subjects}, resources: [], actions: [], \
         duties: [{{kind: obligation, id: {id}, on: {effect}}}]}}"
    )
}

fn set(algorithm: &str, members: &[&str]) -> String {
    let members = (0..).zip(members).map(|(place, says)| {
        let (says, priority) = says.split_once('@').unwrap_or((says, "0"));
        member(&format!("p{place}"), says, priority.parse().unwrap())
    });
    format!(
        "{{kind: PolicySet, id: s, algorithm: {algorithm}, policies: [{}]}}",
        members.collect::<Vec<_>>().join(", ")
    )
}

fn value(text: &str) -> Value {
    decided(Edition::Strict, &read(Edition::Strict, text).unwrap(), &request(&[])).value
}

const UNKNOWN: Value = Value::Unknown(PossibleEffect::Either);

#[test]
fn unanimous_policies_agree() {
    let table: [(&[&str], Value); 7] = [
        (&["permit", "permit", "nothing"], Value::Permit),
        (&["deny", "deny"], Value::Deny),
        (&["permit", "deny"], UNKNOWN),
        (&["permit", "?deny"], UNKNOWN),
        (&["permit", "?permit"], Value::Permit),
        (&["?deny"], Value::Unknown(PossibleEffect::Deny)),
        (&["nothing"], Value::NotApplicable),
    ];
    for (members, expected) in table {
        assert_eq!(value(&set("unanimous", members)), expected, "{members:?}");
    }
}

#[test]
fn the_highest_priority_decides_and_there_a_deny() {
    let table: [(&[&str], Value); 9] = [
        (&["permit@2", "deny@1"], Value::Permit),
        (&["permit@2", "deny@2"], Value::Deny),
        (&["permit@1", "deny@2"], Value::Deny),
        (&["nothing@3", "permit@1"], Value::Permit),
        (&["permit@1", "?deny@1"], UNKNOWN),
        (&["permit@2", "?deny@1"], Value::Permit),
        (&["deny@1", "?permit@2"], UNKNOWN),
        (&["deny@1", "?permit@1"], Value::Deny),
        (&["?permit@1", "?deny@2"], UNKNOWN),
    ];
    for (members, expected) in table {
        assert_eq!(value(&set("priority-deny-overrides", members)), expected, "{members:?}");
    }
}

#[test]
fn only_one_may_be_about_a_request() {
    let table: [(&[&str], Value); 4] = [
        (&["permit", "nothing"], Value::Permit),
        (&["permit", "permit"], UNKNOWN),
        (&["permit", "?deny"], UNKNOWN),
        (&["nothing"], Value::NotApplicable),
    ];
    for (members, expected) in table {
        assert_eq!(value(&set("only-one-applicable", members)), expected, "{members:?}");
    }
}

#[test]
fn a_set_has_a_target_and_a_default() {
    let text = |fields: &str| {
        format!(
            "{{kind: PolicySet, id: s, algorithm: deny-overrides, {fields}, policies: [{}]}}",
            member("p", "nothing", 0)
        )
    };
    assert_eq!(value(&text("default: permit")), Value::Permit);
    assert_eq!(value(&text("default: permit, target: {subjects: [{id: nobody}]}")), Value::NotApplicable);
    let unsure = "default: permit, target: {subjects: [{claim: {name: x, operator: gt, value: 1}}]}";
    assert_eq!(value(&text(unsure)), Value::Unknown(PossibleEffect::Permit));
}

#[test]
fn sets_are_bounded() {
    let nested = |depth: usize| {
        let start = "{kind: PolicySet, id: s, algorithm: deny-overrides, policies: []}".to_owned();
        (1..depth).fold(start, |inner, _| format!("{{id: s, algorithm: deny-overrides, sets: [{inner}]}}"))
    };
    let top = |depth: usize| nested(depth).replacen('{', "{kind: PolicySet, ", usize::from(depth > 1));
    assert_ne!(outcome(Edition::Strict, &top(16), &request(&[])), "refused");
    assert_eq!(outcome(Edition::Strict, &top(17), &request(&[])), "refused");
}

/// The duties of those that were asked and say what the set says.
#[track_caller]
fn duties(algorithm: &str, members: &[&str], expected: &[&str]) {
    let loaded = read(Edition::Strict, &set(algorithm, members)).unwrap();
    let (_, decide) = loaded.snapshot.decides().next().unwrap();
    let request = &Request::default();
    let mut scratch = Scratch::default();
    ask(decide, &request, &mut scratch, &mut Silent);
    let duties = decide.duties(request, scratch.hits());
    let ids: Vec<&str> = duties.iter().map(|(duty, _)| duty.id.as_str()).collect();
    assert_eq!(ids, expected, "{algorithm} {members:?}");
}

#[test]
fn duties_come_from_those_that_were_asked() {
    duties("deny-overrides", &["permit", "permit"], &["p0", "p1"]);
    duties("deny-overrides", &["permit", "deny", "deny"], &["p1"]);
    duties("ordered-permit-overrides", &["deny", "permit", "permit"], &["p1"]);
    duties("permit-overrides", &["deny", "nothing", "deny"], &["p0", "p2"]);
    duties("first-applicable", &["nothing", "deny", "deny"], &["p1"]);
    duties("deny-unless-permit", &["deny", "?permit", "deny"], &["p0", "p2"]);
    duties("deny-unless-permit", &["deny", "permit", "permit"], &["p1"]);
    duties("permit-unless-deny", &["permit", "permit"], &["p0", "p1"]);
    duties("only-one-applicable", &["nothing", "deny"], &["p1"]);
    duties("unanimous", &["permit", "permit"], &["p0", "p1"]);
    duties("deny-overrides", &["?deny", "permit"], &[]);
    duties("deny-overrides", &["nothing"], &[]);
}

#[test]
fn algorithms_that_always_speak_do() {
    assert_eq!(value(&set("deny-unless-permit", &["nothing"])), Value::Deny);
    assert_eq!(value(&set("permit-unless-deny", &["?deny"])), Value::Permit);
    let loaded = read(Edition::Strict, &set("permit-unless-deny", &["nothing"])).unwrap();
    assert_eq!(decided(Edition::Strict, &loaded, &json!({})).value, Value::Permit);
}
