//! What is not known is neither true nor false.

use super::world::{all_of, path, rule, set};
use crate::decide::number::Number;
use crate::decide::*;
use crate::{Scratch, Silent, ask};

fn decide(algorithm: Algorithm, rules: Vec<Rule>, default: Effect) -> Decide {
    let root = set(algorithm, rules.into_iter().map(Member::from).collect());
    Decide::new(Set { default: Some(default), ..root }, Strictness::Strict)
}

fn outcome(decide: &Decide, request: &Request) -> (Outcome, By) {
    let decided = ask(decide, &request, &mut Scratch::default(), &mut Silent);
    (decided.outcome, decided.by)
}

fn level(order: Order, bound: f64) -> Target {
    let operator = Operator::Order(order, bound.into());
    let test = FactTest {
        of: FactOf::Subject,
        name: "level".into(),
        called: None,
        path: vec!["level".into()],
        operator,
        absent: Truth::Error,
        mismatch: Truth::Error,
    };
    Target { subjects: all_of(vec![Test::Fact(test)]), ..Target::default() }
}

fn with_level(fact: Option<Fact>) -> Request {
    let claims = fact.map(|fact| ("level".into(), fact)).into_iter().collect();
    Request { subject: Subject { claims, ..Subject::default() }, ..Request::default() }
}

#[test]
fn the_empty_request_the_empty_set_and_an_open_default_are_answered() {
    let request = Request::default();
    let nothing = |default| outcome(&decide(Algorithm::DenyOverrides, Vec::new(), default), &request);
    assert_eq!(nothing(Effect::Deny), (Outcome::Deny, By::Default));
    assert_eq!(nothing(Effect::Permit), (Outcome::Permit, By::Default));
    let all = rule("all", Effect::Permit, Target::default());
    let (one, by) = outcome(&decide(Algorithm::DenyOverrides, vec![all], Effect::Deny), &request);
    assert_eq!((one, by), (Outcome::Permit, By::Policy(crate::EntryId::new(0))));
    let routes = Target { resources: all_of(vec![path("/**")]), ..Target::default() };
    let routes = decide(Algorithm::DenyOverrides, vec![rule("routes", Effect::Permit, routes)], Effect::Deny);
    assert_eq!(outcome(&routes, &request), (Outcome::Deny, By::Default));
}

#[test]
fn a_missing_fact_makes_a_deny_undecided_not_open() {
    let rules =
        vec![rule("low", Effect::Deny, level(Order::Less, 5.0)), rule("all", Effect::Permit, Target::default())];
    let decide = decide(Algorithm::DenyOverrides, rules, Effect::Deny);
    assert_eq!(outcome(&decide, &with_level(None)), (Outcome::Undecided, By::Nobody));
    assert_eq!(outcome(&decide, &with_level(Some(Fact::Unknown))), (Outcome::Undecided, By::Nobody));
    assert_eq!(outcome(&decide, &with_level(Some(Fact::Number(Number::from(7.0))))).0, Outcome::Permit);
    assert_eq!(outcome(&decide, &with_level(Some(Fact::Number(Number::from(3.0))))).0, Outcome::Deny);
}

#[test]
fn a_claim_of_the_wrong_type_never_matches_and_never_throws() {
    let facts = [
        Fact::Text("9".into()),
        Fact::Bool(true),
        Fact::Null,
        Fact::List(vec![Fact::Number(Number::from(9.0))]),
        Fact::Map(Facts::default()),
        Fact::Number((f64::NAN).into()),
    ];
    for fact in facts {
        let decide = decide(
            Algorithm::DenyOverrides,
            vec![rule("high", Effect::Permit, level(Order::Greater, 5.0))],
            Effect::Deny,
        );
        let (outcome, _) = outcome(&decide, &with_level(Some(fact.clone())));
        assert_ne!(outcome, Outcome::Permit, "{fact:?}");
    }
}

#[test]
fn what_cannot_change_the_answer_does_not_make_it_undecided() {
    let rules =
        vec![rule("never", Effect::Deny, Target::default()), rule("high", Effect::Permit, level(Order::Greater, 5.0))];
    let decide = decide(Algorithm::DenyOverrides, rules, Effect::Deny);
    assert_eq!(outcome(&decide, &with_level(None)).0, Outcome::Deny);
}

#[test]
fn a_path_that_nobody_can_read_permits_nothing() {
    let routes = Target { resources: all_of(vec![path("/**")]), ..Target::default() };
    let of = |default| decide(Algorithm::DenyOverrides, vec![rule("routes", Effect::Permit, routes.clone())], default);
    for path in ["/a%00", "/%zz", "/%ff"] {
        let resource = Resource { path: Maybe::Is(path.into()), ..Resource::default() };
        let request = Request { resource, ..Request::default() };
        assert_eq!(outcome(&of(Effect::Deny), &request), (Outcome::Undecided, By::Nobody), "{path}");
        assert!(of(Effect::Deny).bad_path(&request).is_some());
        // The policy permits, and so does the default: the path makes no difference.
        assert_eq!(outcome(&of(Effect::Permit), &request), (Outcome::Permit, By::Default), "{path}");
    }
}

#[test]
fn an_unknown_deny_over_a_default_deny_is_a_deny() {
    let rules = || vec![rule("low", Effect::Deny, level(Order::Less, 5.0))];
    let union = decide(Algorithm::DenyOverrides, rules(), Effect::Deny);
    assert_eq!(outcome(&union, &with_level(None)), (Outcome::Deny, By::Default));
    let xacml = decide(Algorithm::DenyOverrides, rules(), Effect::Deny).treating_unknowns(Unknowns::Xacml);
    assert_eq!(outcome(&xacml, &with_level(None)), (Outcome::Undecided, By::Nobody));
}

#[test]
fn tricks_with_paths_reach_the_policy_that_covers_them() {
    let admin = Target { resources: all_of(vec![path("/admin/**")]), ..Target::default() };
    let all = Target { resources: all_of(vec![path("/**")]), ..Target::default() };
    let rules = vec![rule("shut", Effect::Deny, admin), rule("open", Effect::Permit, all)];
    let decide = decide(Algorithm::DenyOverrides, rules, Effect::Deny);
    let table = [
        ("/admin/users", Outcome::Deny),
        ("/admin/", Outcome::Deny),
        // The bare prefix is another path; policies name it if they mean it.
        ("/admin", Outcome::Permit),
        ("/public/../admin/users", Outcome::Undecided),
        ("/./admin/users", Outcome::Undecided),
        ("/%61dmin/users", Outcome::Deny),
        ("/admin%2Fusers", Outcome::Deny),
        ("/public/%2e%2e/admin/users", Outcome::Undecided),
        ("/public/..;/admin/users", Outcome::Undecided),
        ("/public/..\\admin/users", Outcome::Undecided),
        ("/admin//users", Outcome::Deny),
        ("/admin/../public", Outcome::Undecided),
        ("//admin/users", Outcome::Undecided),
        ("/a/../b//c;d", Outcome::Permit),
        // This is another path to every server that tells letters apart.
        ("/ADMIN/users", Outcome::Permit),
        ("/admin/\u{0}", Outcome::Undecided),
    ];
    for (path, expected) in table {
        let resource = Resource { path: Maybe::Is(path.into()), ..Resource::default() };
        assert_eq!(outcome(&decide, &Request { resource, ..Request::default() }).0, expected, "{path:?}");
    }
}

/// If the policy does not apply, the default of its set denies: nobody may take the set for a permit or nothing.
#[test]
fn the_default_of_a_set_is_not_forgotten_where_a_policy_in_it_is_not_known() {
    let high = rule("high", Effect::Permit, level(Order::Greater, 5.0));
    let inner = Set { default: Some(Effect::Deny), ..set(Algorithm::DenyOverrides, vec![high.into()]) };
    let all = rule("all", Effect::Permit, Target::default());
    let root = set(Algorithm::DenyOverrides, vec![all.into(), inner.into()]);
    let decide = Decide::new(root, Strictness::Strict);
    assert_eq!(outcome(&decide, &with_level(Some(Fact::Number(Number::Whole(7))))).0, Outcome::Permit);
    assert_eq!(outcome(&decide, &with_level(Some(Fact::Number(Number::Whole(3))))).0, Outcome::Deny);
    assert_eq!(outcome(&decide, &with_level(Some(Fact::Unknown))), (Outcome::Undecided, By::Nobody));
    // A deny or the default, which is deny, is a deny: there is nothing to hide.
    let low = rule("low", Effect::Deny, level(Order::Less, 5.0));
    let inner = Set { default: Some(Effect::Deny), ..set(Algorithm::DenyOverrides, vec![low.into()]) };
    let decide = Decide::new(set(Algorithm::PermitUnlessDeny, vec![inner.into()]), Strictness::Strict);
    assert_eq!(outcome(&decide, &with_level(Some(Fact::Unknown))).0, Outcome::Deny);
}

/// `deny-unless-permit` passes over a permit that may apply. If it applies, it decides first and brings its obligation.
#[test]
fn a_permit_that_is_passed_over_brings_its_obligation() {
    let duty = Duty { binding: Binding::Obligation, id: "mask".into(), on: Effect::Permit, at: None };
    let high = Rule { duties: vec![duty], ..rule("high", Effect::Permit, level(Order::Greater, 5.0)) };
    let first = Set { priority: 1.0, ..set(Algorithm::DenyUnlessPermit, vec![high.into()]) };
    let all = rule("all", Effect::Permit, Target::default());
    let decide = Decide::new(set(Algorithm::PermitOverrides, vec![first.into(), all.into()]), Strictness::Strict);
    let obligations = |request: &Request| {
        let mut scratch = Scratch::default();
        assert_eq!(ask(&decide, &request, &mut scratch, &mut Silent).outcome, Outcome::Permit);
        decide.duties(request, scratch.hits()).len()
    };
    let number = |number| with_level(Some(Fact::Number(Number::Whole(number))));
    assert_eq!(obligations(&number(7)), 1);
    assert_eq!(obligations(&number(3)), 0);
    assert_eq!(obligations(&with_level(Some(Fact::Unknown))), 1);
}
