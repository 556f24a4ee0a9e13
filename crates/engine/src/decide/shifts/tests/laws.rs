//! What holds for all policies on two sides.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::world::{Sides, decision, grid, is_confirmed, is_plain, plain_requests, sides};
use crate::decide::shifts::{Bound, Bounds, Certainty, Decision, Verdict, shifts};
use crate::decide::*;

fn pairs(verdict: &Verdict) -> BTreeSet<String> {
    verdict.shifts().iter().map(|shift| format!("{:?} {:?}", shift.before, shift.after)).collect()
}

fn pair(before: Decision, after: Decision) -> String {
    format!("{before:?} {after:?}")
}

/// The same policies, none of which is kept in the same place.
fn copied(set: &Set) -> Set {
    let members = set.members.iter().map(|member| match member {
        Member::Rule(rule) => Rule { name: format!("copy of {}", rule.name).into(), ..(**rule).clone() }.into(),
        Member::Set(inner) => copied(inner).into(),
    });
    Set { members: members.collect(), ..set.clone() }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 120, ..ProptestConfig::default() })]

    #[test]
    fn a_request_is_in_a_shift_iff_the_answers_differ(
        Sides { sets, before, after } in sides(4),
        random in plain_requests(40),
    ) {
        let verdict = shifts(&before, &after, &Bounds::default());
        prop_assert!(!matches!(verdict, Verdict::Undecided { .. }), "{:?}", verdict);
        let found = pairs(&verdict);
        for shift in verdict.shifts() {
            prop_assert!(is_confirmed(&before, &after, shift), "{:?}", shift);
            prop_assert!(shift.before.outcome != shift.after.outcome);
        }
        let (grid, all) = grid(&sets, 1_000);
        let mut known = BTreeSet::new();
        for request in grid.iter().chain(&random).filter(|request| is_plain(&before, request)) {
            let (one, other) = (decision(&before, request), decision(&after, request));
            if one.outcome != other.outcome {
                prop_assert!(found.contains(&pair(one, other)), "{:?} of {:?}: {:#?}", pair(one, other), request, verdict);
                known.insert(pair(one, other));
            }
        }
        let is_sure = verdict.shifts().iter().all(|shift| shift.certainty == Certainty::Sure);
        if all && is_sure {
            prop_assert_eq!(found, known);
        }
    }

    #[test]
    fn the_other_way_round_is_the_mirror(Sides { before, after, .. } in sides(4)) {
        let there = shifts(&before, &after, &Bounds::default());
        let back = shifts(&after, &before, &Bounds::default());
        let turned: BTreeSet<String> =
            back.shifts().iter().map(|shift| pair(shift.after, shift.before)).collect();
        prop_assert_eq!(pairs(&there), turned);
    }

    #[test]
    fn nothing_differs_from_itself_whatever_it_is_called(Sides { sets: [set, _], before, .. } in sides(4)) {
        prop_assert_eq!(shifts(&before, &before, &Bounds::default()), Verdict::Equal { changed: 0, classes: 0 });
        let copy = Decide::new(copied(&set), Strictness::Strict);
        prop_assert_eq!(shifts(&before, &copy, &Bounds::default()), Verdict::Equal { changed: 0, classes: 0 });
    }

    #[test]
    fn a_lower_bound_never_gives_another_verdict(
        Sides { before, after, .. } in sides(4),
        states in 1..200_usize,
        nodes in 1..60_usize,
        steps in 1..600_usize,
    ) {
        let all = shifts(&before, &after, &Bounds::default());
        for bounds in [
            Bounds { states, ..Bounds::default() },
            Bounds { nodes, ..Bounds::default() },
            Bounds { steps, ..Bounds::default() },
        ] {
            match shifts(&before, &after, &bounds) {
                Verdict::Undecided { bound, found } => {
                    prop_assert!(!matches!(bound, Bound::NotCovered(_)));
                    let all = pairs(&all);
                    prop_assert!(found.iter().all(|shift| all.contains(&pair(shift.before, shift.after))));
                }
                same => prop_assert_eq!(&same, &all),
            }
        }
    }
}
