//! What all requests of a region must get, against asking one request after the other, and against a policy that outweighs all others.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::world::{Sides, decision, grid, is_confirmed, is_plain, plain_requests, rooted, rooted_set, sides};
use crate::decide::shifts::{
    Bound, Bounds, Breach, Certainty, Claim, Decision, Held, Verdict, held, shifts, shifts_within,
};
use crate::decide::tests::world::{action, all_of, condition, path, resource, rule, set, sets, subject};
use crate::decide::*;

fn region() -> impl Strategy<Value = Rule> {
    let clauses = (
        prop::collection::vec(subject(), 0..3),
        prop::collection::vec(resource(), 0..3),
        prop::collection::vec(action(), 0..2),
        prop::collection::vec(condition(), 0..2),
    );
    clauses.prop_map(|(subjects, resources, actions, conditions)| Rule {
        conditions,
        ..rule("region", Effect::Deny, rooted(Target { subjects, resources, actions }))
    })
}

fn claim() -> impl Strategy<Value = Claim> {
    let outcomes = [Outcome::Permit, Outcome::Deny, Outcome::Undecided];
    (0..3_usize, any::<bool>()).prop_map(move |(number, never)| {
        let outcome = outcomes[number];
        if never { Claim::Never(outcome) } else { Claim::Always(outcome) }
    })
}

fn inside(decide: &Decide, region: &Rule, request: &Request) -> Truth {
    let mut room = Readings::default();
    let asked = decide.asked(request, &mut room);
    region.conditions.iter().fold(region.target.covers(asked), |truth, one| truth.and(one.holds(asked)))
}

fn breaches(held: &Held) -> &[Breach] {
    match held {
        Held::Holds { .. } => &[],
        Held::Broken(breaches) | Held::Undecided { found: breaches, .. } => breaches,
    }
}

fn named(decisions: impl IntoIterator<Item = Decision>) -> BTreeSet<String> {
    decisions.into_iter().map(|decision| format!("{decision:?}")).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 120, ..ProptestConfig::default() })]

    #[test]
    fn what_is_broken_is_so_and_what_is_so_is_broken(
        policies in sets(4),
        region in region(),
        claim in claim(),
        random in plain_requests(40),
    ) {
        let policies = rooted_set(policies);
        let decide = Decide::new(policies.clone(), Strictness::Strict);
        let held = held(&decide, &region, claim, &Bounds::default());
        let is_bounded = matches!(held, Held::Undecided { bound: Some(_), .. });
        prop_assert!(!is_bounded, "{:?}", held);
        for breach in breaches(&held).iter().filter(|breach| breach.certainty == Certainty::Sure) {
            prop_assert_eq!(decision(&decide, &breach.example), breach.decision);
            prop_assert!(claim.is_broken_by(breach.decision.outcome));
            prop_assert!(claim.counts(inside(&decide, &region, &breach.example)));
        }
        let found = named(breaches(&held).iter().map(|breach| breach.decision));
        let around = set(Algorithm::DenyOverrides, vec![region.clone().into()]);
        let (grid, all) = grid(&[policies, around], 1_000);
        let mut known = BTreeSet::new();
        for request in grid.iter().chain(&random).filter(|request| is_plain(&decide, request)) {
            let decision = decision(&decide, request);
            if claim.counts(inside(&decide, &region, request)) && claim.is_broken_by(decision.outcome) {
                let name = format!("{decision:?}");
                prop_assert!(found.contains(&name), "{} of {:?}: {:#?}", name, request, held);
                known.insert(name);
            }
        }
        if all && breaches(&held).iter().all(|breach| breach.certainty == Certainty::Sure) {
            prop_assert_eq!(found, known);
        }
    }

    #[test]
    fn never_permit_is_that_an_overriding_deny_changes_no_permit(policies in sets(4), region in region()) {
        let inner = || Member::from(rooted_set(policies.clone()));
        let before = Decide::new(set(Algorithm::DenyOverrides, vec![inner()]), Strictness::Strict);
        let deny = Member::from(Rule { effect: Effect::Deny, ..region.clone() });
        let after = Decide::new(set(Algorithm::DenyOverrides, vec![inner(), deny]), Strictness::Strict);
        let changed = shifts(&before, &after, &Bounds::default());
        let held = held(&before, &region, Claim::Never(Outcome::Permit), &Bounds::default());
        let permits = changed.shifts().iter().map(|shift| shift.before);
        let permits = named(permits.filter(|decision| decision.outcome == Outcome::Permit));
        prop_assert_eq!(named(breaches(&held).iter().map(|breach| breach.decision)), permits);
    }

    #[test]
    fn what_changes_within_a_region_is_what_asking_there_says_otherwise(
        Sides { sets: [was, is], before, after } in sides(4),
        region in region(),
        random in plain_requests(40),
    ) {
        let pair = |before: Decision, after: Decision| format!("{before:?} {after:?}");
        let verdict = shifts_within(&before, &after, &region, &Bounds::default());
        prop_assert!(!matches!(verdict, Verdict::Undecided { .. }), "{:?}", verdict);
        for shift in verdict.shifts().iter().filter(|shift| shift.certainty == Certainty::Sure) {
            prop_assert!(is_confirmed(&before, &after, shift), "{:?}", shift);
            prop_assert!(inside(&after, &region, &shift.example) != Truth::False, "{:?}", shift);
        }
        let found: BTreeSet<String> =
            verdict.shifts().iter().map(|shift| pair(shift.before, shift.after)).collect();
        let around = set(Algorithm::DenyOverrides, vec![region.clone().into()]);
        let (grid, all) = grid(&[was, is, around], 1_000);
        let mut known = BTreeSet::new();
        for request in grid.iter().chain(&random).filter(|request| is_plain(&before, request)) {
            let (one, other) = (decision(&before, request), decision(&after, request));
            if one.outcome != other.outcome && inside(&after, &region, request) != Truth::False {
                prop_assert!(found.contains(&pair(one, other)), "{:?}: {:#?}", request, verdict);
                known.insert(pair(one, other));
            }
        }
        if all && verdict.shifts().iter().all(|shift| shift.certainty == Certainty::Sure) {
            prop_assert_eq!(found, known);
        }
        let everywhere = rule("region", Effect::Deny, Target::default());
        prop_assert_eq!(
            shifts_within(&before, &after, &everywhere, &Bounds::default()),
            shifts(&before, &after, &Bounds::default())
        );
    }

    #[test]
    fn a_lower_bound_never_gives_another_verdict(
        policies in sets(4),
        region in region(),
        claim in claim(),
        states in 1..200_usize,
        nodes in 1..60_usize,
        steps in 1..600_usize,
    ) {
        let decide = Decide::new(rooted_set(policies), Strictness::Strict);
        let all = held(&decide, &region, claim, &Bounds::default());
        for bounds in [
            Bounds { states, ..Bounds::default() },
            Bounds { nodes, ..Bounds::default() },
            Bounds { steps, ..Bounds::default() },
        ] {
            match held(&decide, &region, claim, &bounds) {
                Held::Undecided { bound: Some(bound), found } => {
                    prop_assert!(!matches!(bound, Bound::NotCovered(_)));
                    let all = named(breaches(&all).iter().map(|breach| breach.decision));
                    prop_assert!(named(found.iter().map(|breach| breach.decision)).is_subset(&all));
                }
                same => prop_assert_eq!(&same, &all),
            }
        }
    }
}

fn policy(name: &str, effect: Effect, who: &[&str], pattern: &str) -> Rule {
    let groups = Test::Group(who.iter().map(|group| (*group).into()).collect());
    let subjects = if who.is_empty() { Vec::new() } else { all_of(vec![groups]) };
    rule(name, effect, Target { subjects, resources: all_of(vec![path(pattern)]), actions: Vec::new() })
}

fn outside(group: &str, pattern: &str) -> Rule {
    let not = Test::Not(Matcher { tests: vec![Test::Group(vec![group.into()])] });
    let target = Target { subjects: all_of(vec![not]), resources: all_of(vec![path(pattern)]), actions: Vec::new() };
    rule("region", Effect::Deny, target)
}

fn decide(rules: Vec<Rule>) -> Decide {
    Decide::new(set(Algorithm::DenyOverrides, rules.into_iter().map(Member::from).collect()), Strictness::Strict)
}

#[test]
fn somebody_else_who_gets_in_is_shown_and_nobody_else_is_proved() {
    let never = Claim::Never(Outcome::Permit);
    let tight = vec![policy("ops", Effect::Permit, &["ops"], "/**"), policy("shop", Effect::Permit, &[], "/shop/**")];
    let region = outside("ops", "/admin/**");
    assert!(matches!(held(&decide(tight.clone()), &region, never, &Bounds::default()), Held::Holds { classes: 1 }));
    let loose = decide([tight, vec![policy("health", Effect::Permit, &[], "/*/health")]].concat());
    let Held::Broken(breaches) = held(&loose, &region, never, &Bounds::default()) else { panic!("it is broken") };
    let [breach] = breaches.as_slice() else { panic!("{breaches:#?}") };
    assert_eq!(breach.example.resource.path.known().map(smol_str::SmolStr::as_str), Some("/admin/health"));
    assert!(matches!(breach.decision.by, By::Policy(entry) if loose.rule(entry).unwrap().name == "health"));
}

#[test]
fn whoever_cannot_be_told_counts_for_never_and_not_for_always() {
    // Of whom no groups are known, nobody can say that they are not of the guests.
    let open = decide(vec![policy("open", Effect::Permit, &[], "/**")]);
    let shut = decide(vec![Rule { effect: Effect::Permit, ..outside("guests", "/**") }]);
    let region = outside("guests", "/**");
    assert!(matches!(held(&open, &region, Claim::Never(Outcome::Permit), &Bounds::default()), Held::Broken(_)));
    assert!(matches!(held(&shut, &region, Claim::Always(Outcome::Permit), &Bounds::default()), Held::Holds { .. }));
}

#[test]
fn too_many_patterns_end_in_a_bound() {
    let hostile =
        (0..12).map(|one| policy(&format!("p{one}"), Effect::Permit, &[], &format!("/**/a{one}/**/b{one}/**")));
    let decide = decide(hostile.collect());
    let region = policy("region", Effect::Deny, &[], "/**");
    match held(&decide, &region, Claim::Never(Outcome::Permit), &Bounds { states: 10_000, ..Bounds::default() }) {
        Held::Undecided { bound: Some(Bound::States(10_000)), .. } => {}
        other => panic!("{other:?}"),
    }
}
