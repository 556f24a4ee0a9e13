//! Single cases, by name.

use smol_str::SmolStr;

use super::world::decision;
use crate::decide::shifts::{Bound, Bounds, Cause, Certainty, NotCovered, Shift, Verdict, shifts};
use crate::decide::tests::world::{all_of, path, rule, set};
use crate::decide::*;

fn role(text: &str) -> Test {
    Test::Role(vec![Wildcard::parse(text).unwrap()])
}

fn method(text: &str) -> Test {
    Test::Method(vec![text.into()])
}

/// A policy about a role, a method if it is not empty, and patterns of paths.
fn policy(name: &str, effect: Effect, who: &str, how: &str, paths: &[&str]) -> Rule {
    let subjects = if who.is_empty() { Vec::new() } else { all_of(vec![role(who)]) };
    let actions = if how.is_empty() { Vec::new() } else { all_of(vec![method(how)]) };
    let resources = paths.iter().flat_map(|one| all_of(vec![path(one)])).collect();
    rule(name, effect, Target { subjects, resources, actions })
}

fn decide(algorithm: Algorithm, rules: Vec<Rule>) -> Decide {
    Decide::new(set(algorithm, rules.into_iter().map(Member::from).collect()), Strictness::Strict)
}

fn differences(before: &Decide, after: &Decide) -> Vec<Shift> {
    match shifts(before, after, &Bounds::default()) {
        Verdict::Differs(shifts) => shifts,
        other => panic!("{other:?}"),
    }
}

fn admin() -> Vec<Rule> {
    vec![
        policy("admin-access", Effect::Permit, "admin", "", &["/**"]),
        policy("user-read", Effect::Permit, "user", "GET", &["/**"]),
        policy("editor-write", Effect::Permit, "editor", "PUT", &["/articles/*"]),
        policy("deny-guests", Effect::Deny, "guest", "", &["/admin/**"]),
    ]
}

#[test]
fn a_policy_that_is_added_permits_what_was_denied() {
    let ops = policy("ops-health", Effect::Permit, "ops*", "GET", &["/admin/health", "/admin/health/**"]);
    let before = decide(Algorithm::DenyOverrides, admin());
    let after = decide(Algorithm::DenyOverrides, [admin(), vec![ops]].concat());
    let found = differences(&before, &after);
    let [shift] = found.as_slice() else { panic!("{found:#?}") };
    assert_eq!((shift.before.outcome, shift.after.outcome), (Outcome::Deny, Outcome::Permit));
    assert_eq!((shift.before.by, shift.certainty.clone()), (By::Default, Certainty::Sure));
    assert!(matches!(shift.cause, Cause::Added(entry) if after.rule(entry).unwrap().name == "ops-health"));
    assert_eq!(shift.example.resource.path.known().map(SmolStr::as_str), Some("/admin/health"));
    assert_eq!(shift.example.subject.roles.known(), ["ops"]);
    assert_eq!(shift.example.action.method.known().map(SmolStr::as_str), Some("GET"));
    // The thing itself, and what is below it.
    assert_eq!(shift.classes, 2);
}

#[test]
fn a_deny_outweighs_and_the_other_way_round() {
    let freeze = policy("freeze", Effect::Deny, "editor", "PUT", &["/articles/*"]);
    let before = decide(Algorithm::DenyOverrides, admin());
    let after = decide(Algorithm::DenyOverrides, [admin(), vec![freeze.clone()]].concat());
    let found = differences(&before, &after);
    // Instead of both who permitted it.
    assert_eq!(found.len(), 2, "{found:#?}");
    assert!(found.iter().all(|shift| shift.after.outcome == Outcome::Deny && shift.classes == 1));
    let weak = decide(Algorithm::PermitOverrides, [admin(), vec![freeze]].concat());
    let before = decide(Algorithm::PermitOverrides, admin());
    assert!(matches!(shifts(&before, &weak, &Bounds::default()), Verdict::Equal { changed: 1, .. }));
}

#[test]
fn two_halves_are_the_whole_and_order_counts_where_the_first_decides() {
    let before = decide(Algorithm::DenyOverrides, admin());
    let split = |rules: Vec<Rule>| -> Vec<Rule> {
        let halves = rules.into_iter().flat_map(|rule| {
            let half = |name: &str, tests: Vec<Test>| {
                let target = Target { actions: all_of(tests), ..rule.target.clone() };
                Rule { name: name.into(), target, ..rule.clone() }
            };
            if rule.name == "admin-access" {
                let not = Test::Not(Matcher { tests: vec![method("GET")] });
                // A request without a method is in neither half, so it has one of its own.
                let none = Target { subjects: all_of(vec![role("admin")]), ..rule.target.clone() };
                vec![half("one", vec![method("GET")]), half("other", vec![not]), Rule { target: none, ..rule.clone() }]
            } else {
                vec![rule]
            }
        });
        halves.collect()
    };
    let after = decide(Algorithm::DenyOverrides, split(admin()));
    assert!(matches!(shifts(&before, &after, &Bounds::default()), Verdict::Equal { changed: 2, .. }));
    let backwards: Vec<Rule> = admin().into_iter().rev().collect();
    let after = decide(Algorithm::DenyOverrides, backwards.clone());
    assert_eq!(shifts(&before, &after, &Bounds::default()), Verdict::Equal { changed: 0, classes: 0 });
    let (before, after) = (decide(Algorithm::FirstApplicable, admin()), decide(Algorithm::FirstApplicable, backwards));
    let found = differences(&before, &after);
    assert!(found.iter().all(|shift| shift.certainty == Certainty::Sure), "{found:#?}");
}

#[test]
fn a_default_and_an_algorithm_are_causes() {
    let of = |algorithm, default| {
        let members = admin().into_iter().map(Member::from).collect();
        Decide::new(Set { default: Some(default), ..set(algorithm, members) }, Strictness::Strict)
    };
    let before = of(Algorithm::DenyOverrides, Effect::Deny);
    let open = differences(&before, &of(Algorithm::DenyOverrides, Effect::Permit));
    assert!(open.iter().all(|shift| shift.cause == Cause::Default), "{open:#?}");
    let weak = differences(&before, &of(Algorithm::PermitOverrides, Effect::Deny));
    assert!(weak.iter().all(|shift| shift.cause == Cause::Algorithm), "{weak:#?}");
}

#[test]
fn an_expression_is_tried_or_said_to_be_open() {
    let with = |text: &str| {
        let condition = Condition::Expression(Expression::parse(text).unwrap());
        let plain = policy("size", Effect::Permit, "user", "", &["/files/**"]);
        decide(Algorithm::DenyOverrides, vec![Rule { conditions: vec![condition], ..plain }])
    };
    let without = decide(Algorithm::DenyOverrides, Vec::new());
    let found = differences(&without, &with("resource.size < 1000"));
    assert!(found.iter().any(|shift| shift.certainty == Certainty::Sure), "{found:#?}");
    for shift in found.iter().filter(|shift| shift.certainty == Certainty::Sure) {
        assert_eq!(decision(&with("resource.size < 1000"), &shift.example), shift.after);
    }
    // What is compared with values is known for all values, what is computed of them is not.
    let never = differences(&without, &with("resource.size < 1 && resource.size > 2"));
    let permits = |shift: &&Shift| shift.after.outcome == Outcome::Permit;
    assert_eq!(never.iter().filter(permits).count(), 0, "{never:#?}");
    let never = differences(&without, &with("size(resource.name) < 1 && size(resource.name) > 2"));
    let open = never.iter().find(permits).map(|shift| &shift.certainty);
    assert!(matches!(open, Some(Certainty::May(names)) if names.len() == 2), "{never:#?}");
    // What both sides say is not looked at.
    assert!(matches!(
        shifts(&with("resource.size < 1000"), &with("resource.size < 1000"), &Bounds::default()),
        Verdict::Equal { changed: 0, .. }
    ));
}

#[test]
fn what_is_not_covered_is_said() {
    let rules = || set(Algorithm::DenyOverrides, admin().into_iter().map(Member::from).collect());
    let (strict, compat) = (Decide::new(rules(), Strictness::Strict), Decide::new(rules(), Strictness::Compat));
    let bound = |before: &Decide, after: &Decide| match shifts(before, after, &Bounds::default()) {
        Verdict::Undecided { bound, .. } => bound,
        other => panic!("{other:?}"),
    };
    assert_eq!(bound(&strict, &compat), Bound::NotCovered(NotCovered::Compatibility));
    let decoded = strict.clone().reading_paths(PathReading::Decoded);
    assert_eq!(bound(&strict, &decoded), Bound::NotCovered(NotCovered::PathReading));
}

#[test]
fn hostile_policies_meet_a_named_bound() {
    let hostile = |count: usize| -> Vec<Rule> {
        (0..count)
            .map(|number| {
                let pattern = format!("/**/a{number}/**/b{number}/**");
                policy(&format!("p{number}"), Effect::Permit, "user", "", &[&pattern])
            })
            .collect()
    };
    let bounds = Bounds { states: 20_000, ..Bounds::default() };
    let (before, after) =
        (decide(Algorithm::DenyOverrides, hostile(12)), decide(Algorithm::DenyOverrides, hostile(13)));
    let verdict = shifts(&before, &after, &bounds);
    assert_eq!(verdict, Verdict::Undecided { bound: Bound::States(20_000), found: Vec::new() });
}
