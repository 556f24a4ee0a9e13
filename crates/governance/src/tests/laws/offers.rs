//! I4 and I9: what is offered is what would be accepted, and what is proposed mends.

use proptest::prelude::*;

use upheld_engine::comply::reference::random::OBJECTS;
use upheld_engine::comply::*;

use super::super::super::*;
use super::super::random::steps;
use super::super::world::{Tested, administrator, end_user, link, link_as};
use super::{after, export, identities, same};

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
                    let outcome = comply.would(&end_user(), &action).outcome;
                    // What is related already, or cannot be for other reasons, says nothing about policies.
                    let standing = comply.described(other).unwrap().standing == ObjectState::Disabled;
                    if standing {
                        prop_assert!(!candidates.contains(&other));
                    }
                    let defaults = !comply.missing_defaults(other).is_empty() || !comply.missing_defaults(object).is_empty();
                    if outcome == Outcome::Invalid || comply.are_related(object, other) || defaults {
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

    #[test]
    fn i9_a_fix_ends_its_violation_and_begins_none((start, steps) in steps(6), admin in any::<bool>()) {
        let comply = after(&start, &steps);
        let viewer = if admin { administrator() } else { end_user() };
        let before = export(&comply);
        for violation in comply.violations().iter().step_by(7).take(3) {
            let fixes = comply.fixes(&viewer, violation);
            same(&before, &export(&comply))?;
            let open = identities(&comply);
            let own = super::identity(violation);
            for fix in fixes {
                let mut mended = comply.clone();
                for edit in &fix.edits {
                    let action = mended.action_of(edit).unwrap();
                    let actor = if fix.by == By::Viewer { viewer.clone() } else { administrator() };
                    let decision = mended.act(&actor, &action);
                    prop_assert!(decision.outcome.is_done(), "{:?} {:?}", fix, decision);
                }
                let left = identities(&mended);
                prop_assert!(!left.contains(&own), "{:?} leaves {}", fix, own);
                let new: Vec<&String> = left.iter().filter(|left| !open.contains(left)).collect();
                prop_assert!(new.is_empty(), "{:?} adds {:?}", fix, new);
                // What a waiver covers was no trouble before.
                let violations = comply.violations();
                let counted = violations.iter().filter(|own| own.waiver.is_none()).map(super::identity);
                prop_assert_eq!(counted.filter(|own| !left.contains(own)).count(), fix.ends);
            }
        }
    }

    #[test]
    fn a_remedy_leaves_what_it_says((start, steps) in steps(4)) {
        let mut comply = after(&start, &steps);
        let before = export(&comply);
        let (fixes, left) = comply.remedy(&administrator(), None);
        same(&before, &export(&comply))?;
        for fix in &fixes {
            for edit in &fix.edits {
                let action = comply.action_of(edit).unwrap();
                prop_assert!(comply.act(&administrator(), &action).outcome.is_done(), "{:?}", fix);
            }
        }
        // With what is known of the past: what a change began was accepted, and stays so.
        let mut open = comply.organisation.violations(&Filter::default(), comply.now());
        open.retain(|own| own.waiver.is_none());
        prop_assert_eq!(open, left);
    }
}
