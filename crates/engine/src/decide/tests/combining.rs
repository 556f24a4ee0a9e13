//! Algorithms on lists of values.

use proptest::prelude::*;

use crate::EntryId;
use crate::decide::*;

fn tally(values: &[Value]) -> Tally {
    let mut tally = Tally::default();
    for (order, value) in values.iter().enumerate() {
        let number = u32::try_from(order).unwrap();
        let target = if *value == Value::NotApplicable { Truth::False } else { Truth::True };
        tally.add(Vote {
            order: number,
            rank: Rank::of(-f64::from(number)),
            target,
            value: *value,
            by: Some(EntryId::new(order)),
        });
    }
    tally
}

const P: Value = Value::Permit;
const D: Value = Value::Deny;
const N: Value = Value::NotApplicable;
const COULD_P: Value = Value::Unknown(PossibleEffect::Permit);
const COULD_D: Value = Value::Unknown(PossibleEffect::Deny);
const EITHER: Value = Value::Unknown(PossibleEffect::Either);

#[track_caller]
fn check(algorithm: Algorithm, values: &[Value], expected: Value, by: Option<usize>) {
    for unknowns in [Unknowns::Union, Unknowns::Xacml] {
        check_in(unknowns, algorithm, values, expected, by);
    }
}

#[track_caller]
fn check_in(unknowns: Unknowns, algorithm: Algorithm, values: &[Value], expected: Value, by: Option<usize>) {
    let combined = tally(values).combine(algorithm, unknowns);
    assert_eq!(
        (combined.value, combined.by.map(EntryId::index)),
        (expected, by),
        "{algorithm:?} {values:?} {unknowns:?}"
    );
}

#[test]
fn deny_overrides() {
    check(Algorithm::DenyOverrides, &[P, P, D, P], D, Some(2));
    check(Algorithm::DenyOverrides, &[P, N], P, Some(0));
    check(Algorithm::DenyOverrides, &[], N, None);
    check(Algorithm::DenyOverrides, &[COULD_D, P], EITHER, Some(0));
    check(Algorithm::DenyOverrides, &[COULD_P, D], D, Some(1));
    check(Algorithm::DenyOverrides, &[COULD_P, P], P, Some(1));
}

#[test]
fn permit_overrides() {
    check(Algorithm::PermitOverrides, &[D, D, P, D], P, Some(2));
    check(Algorithm::PermitOverrides, &[D, COULD_P], EITHER, Some(1));
}

#[test]
fn first_applicable() {
    check(Algorithm::FirstApplicable, &[N, D, P], D, Some(1));
    check(Algorithm::FirstApplicable, &[COULD_P, N], COULD_P, Some(0));
    check(Algorithm::FirstApplicable, &[D, COULD_P], D, Some(0));
}

/// By the tables of XACML, an unknown policy hides what follows; by the union, it may be passed over.
#[test]
fn what_follows_an_unknown_policy_counts() {
    let table = [
        (vec![COULD_P, D], (EITHER, Some(0)), (COULD_P, Some(0))),
        (vec![COULD_P, P], (P, Some(1)), (COULD_P, Some(0))),
        (vec![COULD_D, COULD_P, D], (EITHER, Some(0)), (COULD_D, Some(0))),
        (vec![COULD_D, N, D, P], (D, Some(2)), (COULD_D, Some(0))),
        (vec![COULD_D, COULD_D], (COULD_D, Some(0)), (COULD_D, Some(0))),
        (vec![EITHER, P], (EITHER, Some(0)), (EITHER, Some(0))),
    ];
    for (values, union, xacml) in table {
        check_in(Unknowns::Union, Algorithm::FirstApplicable, &values, union.0, union.1);
        check_in(Unknowns::Xacml, Algorithm::FirstApplicable, &values, xacml.0, xacml.1);
    }
}

/// The only one that may be about a request says what it says, or nothing.
#[test]
fn one_that_may_be_about_a_request_is_no_clash() {
    let doubt = |order: u32, value| Vote { order, rank: Rank::of(0.0), target: Truth::Error, value, by: None };
    let combined = |votes: &[Vote], unknowns| {
        let mut tally = Tally::default();
        for vote in votes {
            tally.add(*vote);
        }
        tally.combine(Algorithm::OnlyOneApplicable, unknowns).value
    };
    let one = [doubt(0, COULD_P)];
    let two = [doubt(0, COULD_P), doubt(1, COULD_P)];
    let certain = [doubt(0, COULD_P), Vote { target: Truth::True, ..doubt(1, P) }];
    assert_eq!((combined(&one, Unknowns::Union), combined(&one, Unknowns::Xacml)), (COULD_P, EITHER));
    for clash in [two, certain] {
        assert_eq!((combined(&clash, Unknowns::Union), combined(&clash, Unknowns::Xacml)), (EITHER, EITHER));
    }
}

#[test]
fn only_one_applicable() {
    check(Algorithm::OnlyOneApplicable, &[N, P], P, Some(1));
    check(Algorithm::OnlyOneApplicable, &[P, P], EITHER, None);
}

#[test]
fn unless() {
    check(Algorithm::DenyUnlessPermit, &[], D, None);
    check(Algorithm::DenyUnlessPermit, &[COULD_P], D, None);
    check(Algorithm::PermitUnlessDeny, &[COULD_D], P, None);
    check(Algorithm::PermitUnlessDeny, &[P, D], D, Some(1));
}

#[test]
fn unanimous() {
    check(Algorithm::Unanimous, &[P, P], P, Some(0));
    check(Algorithm::Unanimous, &[P, D], EITHER, None);
    check(Algorithm::Unanimous, &[P, COULD_P], P, Some(0));
    check(Algorithm::Unanimous, &[P, COULD_D], EITHER, Some(1));
}

#[test]
fn priority_deny_overrides() {
    // Each has a lower priority than the one before.
    check(Algorithm::PriorityDenyOverrides, &[P, D], P, Some(0));
    check(Algorithm::PriorityDenyOverrides, &[D, P], D, Some(0));
    check(Algorithm::PriorityDenyOverrides, &[COULD_D, P], EITHER, Some(0));
    check(Algorithm::PriorityDenyOverrides, &[P, COULD_D], P, Some(0));
}

#[test]
fn algorithms_and_effects_have_one_word_each() {
    for algorithm in Algorithm::ALL {
        assert_eq!(Algorithm::of(algorithm.word()), Some(algorithm));
    }
    assert_eq!(Effect::of("permit"), Some(Effect::Permit));
    assert_eq!(Effect::of("Permit"), None);
    assert_eq!(Algorithm::of("no-such"), None);
}

proptest! {
    #[test]
    fn the_order_of_arrival_does_not_matter(
        values in prop::collection::vec(prop::sample::select(vec![P, D, N, COULD_P, COULD_D, EITHER]), 0..6),
        place in 0..10_usize,
        unknowns in super::world::unknowns(),
    ) {
        let algorithm = Algorithm::ALL[place];
        let votes: Vec<Vote> = values.iter().enumerate().map(|(order, value)| {
            let number = u32::try_from(order).unwrap();
            let target = if *value == N { Truth::False } else { Truth::True };
            Vote { order: number, rank: Rank::of(-f64::from(number / 2)), target, value: *value, by: Some(EntryId::new(order)) }
        }).collect();
        let tally = |votes: &mut dyn Iterator<Item = &Vote>| {
            let mut tally = Tally::default();
            votes.for_each(|vote| tally.add(*vote));
            tally.combine(algorithm, unknowns)
        };
        prop_assert_eq!(tally(&mut votes.iter()), tally(&mut votes.iter().rev()));
    }
}
