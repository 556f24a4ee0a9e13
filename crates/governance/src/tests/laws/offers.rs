//! I4: what is offered is what would be accepted.

use proptest::prelude::*;

use upheld_engine::comply::reference::random::OBJECTS;
use upheld_engine::comply::*;

use super::super::super::*;
use super::super::random::steps;
use super::super::world::{Tested, end_user, link, link_as};
use super::after;

const KINDS: [&str; 6] = ["project", "landingZone", "principal", "user", "buildingBlockDefinition", "workspace"];

/// What two objects, whichever comes first, would be asked for.
fn asked(comply: &Tested, one: ObjectId, other: ObjectId, role: Option<&str>) -> Action {
    let (a, b) = comply.in_order(one, other);
    let (a, b) = (comply.reference(a), comply.reference(b));
    match role {
        Some(role) => link_as(&a, &b, role),
        None => link(&a, &b),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, max_shrink_iters: 4000, ..ProptestConfig::default() })]

    #[test]
    fn i4_candidates_are_those_whom_end_users_could_link((start, steps) in steps(6)) {
        let comply = after(&start, &steps);
        let role = comply.lookup("projectRole/r1").ok();
        for object in OBJECTS {
            let Ok(object) = comply.lookup(object) else { continue };
            for (kind, role) in KINDS.iter().flat_map(|kind| [(*kind, None), (*kind, role)]) {
                let candidates = comply.candidates(object, kind, role).unwrap();
                let role = role.map(|role| comply.reference(role));
                for other in comply.objects() {
                    let kinds = comply.organisation.kinds_of(kind).unwrap();
                    if !comply.kind_of(other).is_some_and(|kind| kinds.contains(&kind)) {
                        continue;
                    }
                    let action = asked(&comply, object, other, role.as_deref());
                    let decision = comply.would(&end_user(), &action);
                    let outcome = decision.outcome;
                    // Nothing is offered that would be refused for whatever reason, or recorded as a violation of what is enforced.
                    if candidates.contains(&other) {
                        prop_assert!(outcome.is_done(), "{:?} {:?}", action, decision);
                        let ends = [object, other].map(|end| comply.reference(end));
                        let is_between = |own: &&Finding| ends.contains(&own.a.object) && ends.contains(&own.b.object);
                        let between = decision.violations.iter().filter(is_between);
                        prop_assert!(between.into_iter().all(|own| own.level != Level::Enforce), "{:?}", action);
                    }
                    // What is related already, or cannot be for other reasons, says nothing about policies.
                    let standing = comply.described(other).unwrap().standing == ObjectState::Disabled;
                    if standing {
                        prop_assert!(!candidates.contains(&other));
                    }
                    if outcome == Outcome::Invalid || comply.are_related(object, other) {
                        continue;
                    }
                    // What is tolerated refuses nothing, and is not offered all the same.
                    let tolerated = comply.settings().preexisting == Preexisting::Tolerated;
                    if candidates.contains(&other) || !tolerated {
                        prop_assert_eq!(candidates.contains(&other), outcome != Outcome::Blocked, "{:?}", action);
                    }
                }
            }
        }
    }
}
