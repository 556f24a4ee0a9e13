//! Values and when they comply: each row of the table, and what counts as a value.

use super::super::reference::random::{BEGIN, policy};
use super::super::*;
use super::world::{World, told};

/// Whether a workspace and a project comply by intersection, and by subset.
fn comply(workspace: &[&str], project: &[&str]) -> (bool, bool) {
    let comply = World::current()
        .object("workspace/w", "")
        .object("project/p", "")
        .tag("workspace/w", "env", workspace)
        .tag("project/p", "env", project)
        .link("workspace/w", "project/p")
        .policy("intersection", "workspace.env", "project.env")
        .subset("subset", "workspace.env", "project.env")
        .build();
    let violated = comply.violations(BEGIN);
    let holds = |policy: &str| !violated.iter().any(|violation| violation.policy == policy);
    (holds("intersection"), holds("subset"))
}

#[test]
fn two_sides_without_values_comply() {
    assert_eq!(comply(&[], &[]), (true, true));
}

#[test]
fn one_side_without_values_violates_whichever_it_is() {
    assert_eq!(comply(&[], &["dev"]), (false, false));
    assert_eq!(comply(&["dev"], &[]), (false, false));
}

#[test]
fn equal_values_comply() {
    assert_eq!(comply(&["dev"], &["dev"]), (true, true));
    assert_eq!(comply(&["dev", "qa"], &["qa", "dev"]), (true, true));
}

#[test]
fn values_inside_comply() {
    assert_eq!(comply(&["dev", "qa", "prod"], &["qa", "dev"]), (true, true));
}

#[test]
fn values_that_stick_out_are_no_subset() {
    assert_eq!(comply(&["dev", "qa"], &["qa", "prod"]), (true, false));
    assert_eq!(comply(&["qa"], &["qa", "prod"]), (true, false));
}

#[test]
fn disjoint_values_violate() {
    assert_eq!(comply(&["dev", "qa"], &["prod"]), (false, false));
}

#[test]
fn duplicates_and_order_do_not_matter() {
    assert_eq!(comply(&["qa", "dev", "qa"], &["dev", "dev"]), (true, true));
}

#[test]
fn the_empty_text_is_a_value() {
    assert_eq!(comply(&[""], &[]), (false, false));
    assert_eq!(comply(&[], &[""]), (false, false));
    assert_eq!(comply(&[""], &[""]), (true, true));
    assert_eq!(comply(&["", "dev"], &["dev"]), (true, true));
}

#[test]
fn texts_are_compared_as_they_are() {
    for (one, other) in [("dev", "Dev"), ("dev", "dev "), ("007", "7"), ("caf\u{e9}", "cafe\u{301}"), ("a", "а")] {
        assert_eq!(comply(&[one], &[other]), (false, false), "{one:?} {other:?}");
    }
}

#[test]
fn keys_are_compared_as_they_are() {
    let comply = World::classic()
        .object("workspace/w", "Env=dev")
        .object("project/p", "env=dev")
        .link("workspace/w", "project/p")
        .policy("env", "workspace.env", "project.env")
        .build();
    assert_eq!(told(&comply.violations(BEGIN)), ["env: workspace/w <> project/p"]);
}

#[test]
fn each_rule_that_fails_is_a_violation_of_its_own() {
    let rule = |a: &str, b: &str| Rule { a: a.into(), b: b.into() };
    let rules = vec![rule("env", "env"), rule("unit", "unit"), rule("env", "unit")];
    let comply = World::classic()
        .object("workspace/w", "env=dev unit=one")
        .object("project/p", "env=dev unit=two")
        .link("workspace/w", "project/p")
        .with(Policy { rules, ..policy("all", "workspace.env", "project.env") })
        .build();
    assert_eq!(told(&comply.violations(BEGIN)), ["all#1: workspace/w <> project/p", "all#2: workspace/w <> project/p"]);
}

#[test]
fn all_policies_of_a_pair_must_hold() {
    let comply = World::classic()
        .object("workspace/w", "env=dev unit=one")
        .object("project/p", "env=dev unit=two")
        .link("workspace/w", "project/p")
        .policy("env", "workspace.env", "project.env")
        .policy("unit", "project.unit", "workspace.unit")
        .build();
    assert_eq!(told(&comply.violations(BEGIN)), ["unit: project/p <> workspace/w"], "in the order of the policy");
}

#[test]
fn tags_of_the_two_sides_may_have_other_names() {
    let comply = World::current()
        .object("workspace/w", "offers=dev,qa")
        .object("project/p", "stage=qa")
        .link("workspace/w", "project/p")
        .subset("stages", "workspace.offers", "project.stage")
        .build();
    assert_eq!(comply.violations(BEGIN), []);
}
