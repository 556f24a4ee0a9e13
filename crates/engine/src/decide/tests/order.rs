//! What the order of policies means, and what no policy more or less may change.

use proptest::prelude::*;
use smol_str::SmolStr;

use super::laws::decider;
use super::world::{all_of, requests, rule, sets};
use crate::decide::*;
use crate::{Scratch, Silent, ask};

/// The answer without numbers, which other policies may change.
fn answer(set: Set, request: &Request) -> (Value, Outcome, bool, Option<SmolStr>) {
    let decide = Decide::new(set, Strictness::Strict);
    let decided = ask(&decide, &request, &mut Scratch::default(), &mut Silent);
    (decided.value, decided.outcome, decided.about, decider(&decide, &decided))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn the_order_in_the_list_does_not_matter_where_priorities_differ(
        set in sets(6),
        request in requests(1),
        turn in 0..6_usize,
    ) {
        let ranked = each_set(set, &|set| {
            let members = set.members.into_iter().zip(0..).map(|(member, rank)| with_priority(member, f64::from(rank)));
            Set { members: members.collect(), ..set }
        });
        let other = each_set(ranked.clone(), &|mut set| {
            set.members.reverse();
            let length = set.members.len().max(1);
            set.members.rotate_left(turn % length);
            set
        });
        prop_assert_eq!(answer(ranked, &request), answer(other, &request));
    }

    #[test]
    fn only_those_of_the_same_priority_must_keep_their_order(set in sets(8), request in requests(1)) {
        let lowest_first = each_set(set.clone(), &|mut set| {
            set.members.sort_by(|one, other| priority(one).total_cmp(&priority(other)));
            set
        });
        prop_assert_eq!(answer(set, &request), answer(lowest_first, &request));
    }

    #[test]
    fn a_policy_that_matches_nothing_changes_nothing(
        set in sets(6),
        request in requests(1),
        (kind, place, rank, permits) in (0..3_usize, 0..6_usize, -2..3_i32, prop::bool::ANY),
    ) {
        // Whoever has no id has not this one; of an id that nobody knows, nobody can say that.
        prop_assume!(kind != 0 || request.subject.id != Maybe::Unknown);
        let any_method = Matcher { tests: vec![Test::Method(vec![ANY_METHOD.into()])] };
        let (target, status) = match kind {
            0 => (Target { subjects: all_of(vec![Test::Id(vec!["nobody".into()])]), ..Target::default() }, Status::On),
            1 => (Target { actions: all_of(vec![Test::Not(any_method)]), ..Target::default() }, Status::On),
            _ => (Target::default(), Status::Off),
        };
        let effect = if permits { Effect::Permit } else { Effect::Deny };
        let idle = Rule { priority: f64::from(rank), status, ..rule("idle", effect, target) };
        let more = each_set(set.clone(), &|mut set| {
            set.members.insert(place.min(set.members.len()), idle.clone().into());
            set
        });
        prop_assert_eq!(answer(set, &request), answer(more, &request));
    }
}

/// Changes a set and all sets in it.
fn each_set(set: Set, change: &impl Fn(Set) -> Set) -> Set {
    let members = set.members.into_iter().map(|member| match member {
        Member::Set(inner) => each_set(*inner, change).into(),
        rule @ Member::Rule(_) => rule,
    });
    change(Set { members: members.collect(), ..set })
}

fn with_priority(member: Member, priority: f64) -> Member {
    match member {
        Member::Rule(rule) => Rule { priority, ..(*rule).clone() }.into(),
        Member::Set(set) => Set { priority, ..*set }.into(),
    }
}

fn priority(member: &Member) -> f64 {
    match member {
        Member::Rule(rule) => rule.priority,
        Member::Set(set) => set.priority,
    }
}
