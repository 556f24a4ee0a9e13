//! Policies with one thing otherwise: every kind of mutant, and what holds for all of them.

use std::sync::Arc;

use proptest::prelude::*;
use smol_str::SmolStr;
use upheld_model::{NodeRef, SourceId};

use super::laws::decider;
use super::world::{all_of, path, requests, rule, set, sets};
use crate::decide::*;
use crate::{Scratch, Silent, ask};

fn group(name: &str) -> Test {
    Test::Group(vec![name.into()])
}

fn role(name: &str) -> Test {
    Test::Role(vec![Wildcard::parse(name).unwrap()])
}

fn methods(names: &[&str]) -> Test {
    Test::Method(names.iter().map(SmolStr::new).collect())
}

/// What is otherwise, in few words.
fn told(mutation: &Mutation) -> String {
    match mutation {
        Mutation::Effect { was, becomes } => format!("{} for {}", becomes.word(), was.word()),
        Mutation::Removed => "removed".to_owned(),
        Mutation::Alternative { clause, asks } => format!("{} -{asks}", clause.word()),
        Mutation::Everything { clause, asks } => format!("{} any for {asks}", clause.word()),
        Mutation::Test { clause, was, becomes } => format!("{} {becomes} for {was}", clause.word()),
        Mutation::Values { field, was, becomes } => format!("{field} {becomes} for {was}"),
        Mutation::Condition { asks } => format!("-{asks}"),
        Mutation::Duty { id, .. } => format!("-{id}"),
        Mutation::Priority { was } => format!("priority {was}"),
        Mutation::Default { was, becomes } => format!("default {} for {}", becomes.word(), was.word()),
        Mutation::Target { asks } => format!("target -{asks}"),
    }
}

fn all(decide: &Decide) -> Vec<String> {
    mutants(decide).map(|mutant| told(&mutant.mutation)).collect()
}

fn alone(rule: Rule) -> Decide {
    Decide::new(set(Algorithm::DenyOverrides, vec![rule.into()]), Strictness::Strict)
}

#[test]
fn of_a_policy_as_a_whole() {
    assert_eq!(
        all(&alone(rule("p", Effect::Permit, Target::default()))),
        ["deny for permit", "removed", "default permit for deny"]
    );
    let off = Rule { status: Status::Off, ..rule("p", Effect::Permit, Target::default()) };
    assert_eq!(all(&alone(off)), ["default permit for deny"], "one that is switched off does not count");
}

#[test]
fn of_its_clauses() {
    let one = |subjects: Vec<Matcher>| {
        let decide = alone(rule("p", Effect::Deny, Target { subjects, ..Target::default() }));
        let mut all = all(&decide);
        all.retain(|told| told.starts_with("subjects"));
        all
    };
    assert_eq!(one(all_of(vec![role("a")])), ["subjects any for role=a"]);
    let both = vec![role("a"), group("g")];
    assert_eq!(
        one(all_of(both.clone())),
        [
            "subjects any for role=a group=g",
            "subjects group=g for role=a group=g",
            "subjects role=a for role=a group=g"
        ]
    );
    let two = [all_of(both.clone()), all_of(vec![group("h")])].concat();
    assert_eq!(
        one(two),
        [
            "subjects any for role=a group=g or group=h",
            "subjects -role=a group=g",
            "subjects group=g for role=a group=g",
            "subjects role=a for role=a group=g",
            "subjects -group=h"
        ]
    );
    let covered = [all_of(both), all_of(vec![group("g")])].concat();
    assert_eq!(
        one(covered),
        ["subjects any for role=a group=g or group=g", "subjects role=a for role=a group=g", "subjects -group=g"],
        "what another alternative covers may go, so nobody could notice"
    );
}

#[test]
fn of_values_and_paths() {
    let target = |paths: &[&str], wanted: &[&str]| Target {
        resources: all_of(vec![Test::Path(
            paths.iter().map(|text| PathPattern::Glob(Glob::parse(text).unwrap())).collect(),
        )]),
        actions: all_of(vec![methods(wanted)]),
        ..Target::default()
    };
    let some = |target: Target, word: &str| {
        let mut all = all(&alone(rule("p", Effect::Deny, target)));
        all.retain(|told| told.starts_with(word));
        all
    };
    assert_eq!(some(target(&["/a/*"], &["GET"]), "path"), ["path /a/** for /a/*"]);
    assert_eq!(some(target(&["/a"], &["GET"]), "path"), ["path /a, /a/** for /a"]);
    assert_eq!(
        some(target(&["/a", "/a/**"], &["GET"]), "path"),
        ["path /a/** for /a, /a/**", "path /a for /a, /a/**"],
        "it has the wider one already"
    );
    assert_eq!(
        some(target(&["/a/**"], &["GET", "HEAD"]), "method"),
        ["method HEAD for GET, HEAD", "method GET for GET, HEAD"]
    );
    assert_eq!(some(target(&["/a/**"], &["GET", "*"]), "method"), ["method GET for GET, *"], "the star has them all");
    assert!(some(target(&["/a/**"], &["*"]), "actions").is_empty(), "any method is all there is");
}

#[test]
fn of_conditions_and_duties() {
    let condition = Condition::Address(AddressLists::Networks {
        allow: Some(vec!["192.0.2.0/24".parse().unwrap()]),
        block: Vec::new(),
    });
    let duty = |id: &str, on: Effect| Duty { binding: Binding::Obligation, id: id.into(), on, at: None };
    let with = |conditions: Vec<Condition>, duties: Vec<Duty>| {
        all(&alone(Rule { conditions, duties, ..rule("p", Effect::Deny, Target::default()) }))
    };
    let frame = ["permit for deny", "removed", "default permit for deny"];
    let duties = vec![duty("alert", Effect::Deny), duty("never", Effect::Permit)];
    let expected = ["permit for deny", "removed", "-ip in 192.0.2.0/24", "-alert", "default permit for deny"];
    assert_eq!(with(vec![condition.clone()], duties), expected);
    assert_eq!(with(vec![condition.clone(), condition, Condition::Always], Vec::new()), frame, "written twice");
    assert_eq!(with(vec![Condition::Never], Vec::new()), ["default permit for deny"], "it never applies");
}

#[test]
fn of_priorities_where_the_order_decides() {
    let named = |name: &str, priority: f64| Rule { priority, ..rule(name, Effect::Permit, Target::default()) };
    let of = |algorithm: Algorithm, rules: Vec<Rule>| {
        let members = (0..)
            .zip(rules)
            .map(|(node, rule)| Member::from(Rule { at: NodeRef { source: SourceId::new(0), node }, ..rule }));
        let decide = Decide::new(set(algorithm, members.collect()), Strictness::Strict);
        let moved = mutants(&decide).filter(|mutant| matches!(mutant.mutation, Mutation::Priority { .. }));
        let orders = moved
            .filter_map(|mutant| mutant.applied(&decide, |at| at))
            .map(|decide| decide.rules().iter().map(|rule| rule.name.to_string()).collect::<Vec<_>>().join(" "));
        orders.collect::<Vec<_>>()
    };
    let rules = || vec![named("a", 1.0), named("b", 2.0), named("c", 0.0)];
    assert_eq!(of(Algorithm::FirstApplicable, rules()), ["a b c"], "the other one stays where it is");
    assert_eq!(of(Algorithm::PriorityDenyOverrides, rules()), ["a b c", "b a c"]);
    assert!(of(Algorithm::DenyOverrides, rules()).is_empty());
}

#[test]
fn of_sets() {
    let duty = Duty { binding: Binding::Advice, id: "ask".into(), on: Effect::Permit, at: None };
    let inner = Set {
        name: "inner".into(),
        default: Some(Effect::Permit),
        target: Target { resources: all_of(vec![path("/a/**")]), ..Target::default() },
        duties: vec![duty],
        ..set(Algorithm::DenyOverrides, Vec::new())
    };
    let around = |algorithm: Algorithm| Decide::new(set(algorithm, vec![inner.clone().into()]), Strictness::Strict);
    let own = ["default deny for permit", "target -/a/**", "-ask"];
    let mut expected = vec!["default permit for deny"];
    expected.extend(own);
    assert_eq!(all(&around(Algorithm::DenyOverrides)), expected);
    assert_eq!(all(&around(Algorithm::DenyUnlessPermit)), own, "an algorithm that always speaks needs no default");
}

/// Everything in the outermost set where it was written.
fn in_places(root: Set) -> Set {
    let at = |node: u32| NodeRef { source: SourceId::new(0), node };
    let members = (0..).zip(root.members.clone()).map(|(node, member)| match member {
        Member::Rule(rule) => Rule { at: at(node), ..(*rule).clone() }.into(),
        Member::Set(set) => Set { at: Some(at(node)), ..*set }.into(),
    });
    Set { members: members.collect(), ..root }
}

/// The same change made to the tree of sets.
fn edited(set: &Set, before: &Decide, mutant: &Mutant, after: &Decide, next: &mut usize) -> Set {
    let number = *next;
    *next += 1;
    let mut members = set.members.clone();
    members.sort_by_key(|member| match member {
        Member::Rule(rule) => Rank::of(rule.priority),
        Member::Set(set) => Rank::of(set.priority),
    });
    let place = match mutant.of {
        MutantOf::Policy(entry) => before.rules().get(entry.index()),
        MutantOf::Set(_) => None,
    };
    let edited = members.into_iter().filter_map(|member| match member {
        Member::Rule(rule) if place.is_some_and(|place| Arc::ptr_eq(place, &rule)) => {
            after.rules().iter().find(|known| known.name == rule.name).map(|rule| Member::Rule(Arc::clone(rule)))
        }
        Member::Rule(rule) => Some(Member::Rule(rule)),
        Member::Set(inner) => Some(edited(&inner, before, mutant, after, next).into()),
    });
    let members = edited.collect();
    match after.sets().nth(number) {
        Some(known) if mutant.of == MutantOf::Set(number) => Set { members, ..known.clone() },
        _ => Set { members, ..set.clone() },
    }
}

fn answered(decide: &Decide, request: &Request) -> (Value, Outcome, Option<SmolStr>, Vec<Duty>) {
    let mut scratch = Scratch::default();
    let decided = ask(decide, &request, &mut scratch, &mut Silent);
    let duties = decide.duties(request, scratch.hits()).into_iter().map(|(duty, _)| duty.clone());
    (decided.value, decided.outcome, decider(decide, &decided), duties.collect())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, ..ProptestConfig::default() })]

    /// Policies that were changed in place are those that are built of the changed tree, and whoever is not touched answers alike.
    #[test]
    fn a_mutant_is_the_policies_with_that_one_change(
        root in sets(5),
        all in prop::collection::vec(requests(1), 4),
        compat in prop::bool::weighted(0.2),
    ) {
        let strictness = if compat { Strictness::Compat } else { Strictness::Strict };
        let root = in_places(root);
        let before = Decide::new(root.clone(), strictness);
        for mutant in mutants(&before) {
            let Some(after) = mutant.applied(&before, |at| at) else { continue };
            // One that moves keeps its place among those that were written.
            if !matches!(mutant.mutation, Mutation::Priority { .. }) {
                let built = Decide::new(edited(&root, &before, &mutant, &after, &mut 0), strictness);
                for request in &all {
                    prop_assert_eq!(answered(&after, request), answered(&built, request), "{:?}", mutant);
                }
            }
            for request in all.iter().filter(|request| !mutant.touches(&before, request)) {
                prop_assert_eq!(answered(&after, request), answered(&before, request), "{:?}", mutant);
            }
        }
    }
}
