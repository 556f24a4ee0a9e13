//! Differences between the engine and the naive way that were found by chance, by name.

use smol_str::SmolStr;

use super::world::{all_of, path, rule, set};
use crate::decide::number::Number;
use crate::decide::*;
use crate::{Scratch, Silent, ask};

fn applies(target: Target, request: &Request) -> bool {
    let root = set(Algorithm::PermitOverrides, vec![rule("p", Effect::Permit, target).into()]);
    let decide = Decide::new(root, Strictness::Strict);
    ask(&decide, &request, &mut Scratch::default(), &mut Silent).value == Value::Permit
}

fn methods(names: &[&str]) -> Test {
    Test::Method(names.iter().copied().map(Into::into).collect())
}

fn get(path: &str) -> Request {
    let action = Action { method: Maybe::Is("GET".into()), ..Action::default() };
    let resource = Resource { path: Maybe::Is(path.into()), ..Resource::default() };
    Request { action, resource, ..Request::default() }
}

fn claim(operator: Operator, absent: Truth) -> Vec<Matcher> {
    let (of, name, mismatch) = (FactOf::Subject, "x".into(), Truth::Error);
    all_of(vec![Test::Fact(FactTest { of, name, called: None, path: vec!["x".into()], operator, absent, mismatch })])
}

#[test]
fn all_path_tests_of_an_alternative_count() {
    let both = |one: &str, other: &str| Target { resources: all_of(vec![path(one), path(other)]), ..Target::default() };
    assert!(applies(both("/a/*", "/*/b"), &get("/a/b")));
    assert!(!applies(both("/a/*", "/c/*"), &get("/a/b")));
    assert!(!applies(both("/c/*", "/a/*"), &get("/a/b")));
}

#[test]
fn a_path_test_without_patterns_fits_nothing() {
    let none = Target { resources: all_of(vec![Test::Path(Vec::new())]), ..Target::default() };
    assert!(!applies(none, &get("/a")));
    assert!(!applies(
        Target { actions: all_of(vec![methods(&["GET"]), Test::Path(Vec::new())]), ..Target::default() },
        &get("/a")
    ));
}

#[test]
fn all_method_tests_of_an_alternative_count() {
    let both = |one: &[&str], other: &[&str]| Target {
        actions: all_of(vec![methods(one), methods(other)]),
        ..Target::default()
    };
    assert!(applies(both(&["GET", "PUT"], &["*"]), &get("/")));
    assert!(!applies(both(&["GET", "PUT"], &["PUT"]), &get("/")));
    assert!(!applies(both(&["GET"], &[]), &get("/")));
}

#[test]
fn method_tests_that_contradict_each_other_are_unknown_where_the_method_is() {
    let actions = all_of(vec![methods(&["POST"]), methods(&["GET"])]);
    let permit = rule("p", Effect::Permit, Target { actions, ..Target::default() });
    let root = set(Algorithm::DenyOverrides, vec![permit.into()]);
    let action = Action { method: Maybe::Unknown, ..Action::default() };
    let request = Request { action, ..Request::default() };
    let decide = Decide::new(root.clone(), Strictness::Strict);
    let mut buffer = Readings::default();
    let (naive, _) = reference::decide(&root, decide.asked(&request, &mut buffer), decide.unknowns());
    let decided = ask(&decide, &&request, &mut Scratch::default(), &mut Silent);
    assert_eq!(
        (decided.value, naive),
        (Value::Unknown(PossibleEffect::Permit), Value::Unknown(PossibleEffect::Permit))
    );
}

#[test]
fn a_method_test_counts_in_any_clause() {
    let resources = |test: Test| Target { resources: all_of(vec![path("/a"), test]), ..Target::default() };
    assert!(applies(resources(methods(&["get"])), &get("/a")));
    assert!(!applies(resources(methods(&["PUT"])), &get("/a")));
}

#[test]
fn a_claim_that_may_be_absent_is_not_looked_up() {
    let wanted = || Operator::In(vec![Fact::Text("a".into())]);
    let subjects = |absent: Truth| Target { subjects: claim(wanted(), absent), ..Target::default() };
    assert!(applies(subjects(Truth::True), &Request::default()));
    assert!(!applies(subjects(Truth::False), &Request::default()));
}

#[test]
fn a_value_of_another_type_does_not_undo_one_that_is_contained() {
    let given = |fact: Fact| {
        let claims = Facts::from_iter([("x".into(), fact)]);
        Request { subject: Subject { claims, ..Subject::default() }, ..Request::default() }
    };
    for wanted in [
        vec![Fact::Text("b".into()), Fact::Number(Number::from(5.0))],
        vec![Fact::Number(Number::from(5.0)), Fact::Text("b".into())],
    ] {
        let target = Target { subjects: claim(Operator::ContainsAny(wanted), Truth::Error), ..Target::default() };
        assert!(applies(target.clone(), &given(Fact::Text("abc".into()))));
        assert!(applies(target.clone(), &given(Fact::List(vec![Fact::Number(Number::from(5.0))]))));
        assert!(!applies(target, &given(Fact::Text("ac".into()))));
    }
}

/// A set of these members that asks for something to be done where it permits.
fn with_obligation(members: Vec<Member>) -> Member {
    let duty = Duty { binding: Binding::Obligation, id: "mask".into(), on: Effect::Permit, at: None };
    Set { duties: vec![duty], ..set(Algorithm::PermitOverrides, members) }.into()
}

fn obligations(root: Set, request: &Request) -> (Outcome, Vec<SmolStr>) {
    let decide = Decide::new(root, Strictness::Strict);
    let mut scratch = Scratch::default();
    let outcome = ask(&decide, &request, &mut scratch, &mut Silent).outcome;
    let duties = decide.duties(request, scratch.hits());
    (outcome, duties.into_iter().map(|(duty, _)| duty.id.clone()).collect())
}

#[test]
fn a_set_that_permits_only_if_a_deny_is_hidden_hides_no_obligation_of_others() {
    let docs = Target { resources: all_of(vec![path("/docs/**")]), ..Target::default() };
    let hiding = set(Algorithm::PermitUnlessDeny, vec![rule("docs", Effect::Deny, docs).into()]);
    let permitting = with_obligation(vec![rule("all", Effect::Permit, Target::default()).into()]);
    let root = set(Algorithm::DenyUnlessPermit, vec![hiding.into(), permitting]);
    assert_eq!(obligations(root.clone(), &get("/docs/%zz")), (Outcome::Permit, vec!["mask".into()]));
    assert_eq!(obligations(root.clone(), &get("/docs/a")), (Outcome::Permit, vec!["mask".into()]));
    // Here the first set permits by itself.
    assert_eq!(obligations(root, &get("/other")), (Outcome::Permit, Vec::new()));
}

#[test]
fn a_set_that_only_perhaps_permits_hides_no_obligation_of_others() {
    let tier =
        Target { subjects: claim(Operator::In(vec![Fact::Text("a".into())]), Truth::Error), ..Target::default() };
    let strict = set(Algorithm::DenyUnlessPermit, vec![rule("tier", Effect::Permit, tier).into()]);
    let perhaps = set(Algorithm::PermitUnlessDeny, vec![strict.into()]);
    let permitting = with_obligation(vec![rule("all", Effect::Permit, Target::default()).into()]);
    let root = set(Algorithm::PermitOverrides, vec![perhaps.into(), permitting]);
    assert_eq!(obligations(root, &get("/a")), (Outcome::Permit, vec!["mask".into()]));
}
