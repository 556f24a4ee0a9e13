//! I6, I7 and I8: what waivers, removing and deleting do to the list, and what they leave alone.

use proptest::prelude::*;
use upheld_model::State;

use upheld_engine::comply::reference::random::{POLICIES, waivers};
use upheld_engine::comply::*;

use super::super::super::*;
use super::super::random::{ending, starts, steps};
use super::super::world::{BEGIN, Tested};
use super::{after, same};

/// Violations without what waivers make of them, and since when.
fn bare(comply: &Tested) -> Vec<String> {
    let tell = |violation: Finding| {
        let seen = comply.seen(&violation);
        format!("{:?} {seen:?}", Finding { waiver: None, state: State::Soft, ..violation })
    };
    comply.violations().into_iter().map(tell).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, max_shrink_iters: 4000, ..ProptestConfig::default() })]

    #[test]
    fn i6_a_waiver_changes_no_other_record((start, steps) in steps(6), waiver in waivers()) {
        let mut comply = after(&start, &steps);
        let (before, listed) = (bare(&comply), comply.violations());
        let decision = comply.act(&Actor::System, &Action::Grant(waiver.clone()));
        prop_assert_eq!(decision.violations, []);
        same(&before, &bare(&comply))?;
        let now = comply.now();
        let covers = |violation: &Finding| {
            let fits = |wanted: &Option<smol_str::SmolStr>, own: Option<&smol_str::SmolStr>| {
                wanted.as_ref().is_none_or(|wanted| Some(wanted) == own)
            };
            violation.policy == waiver.policy
                && fits(&waiver.a, Some(&violation.a.object))
                && fits(&waiver.b, Some(&violation.b.object))
                && fits(&waiver.scope, violation.scope.as_ref())
                && waiver.in_force(now)
        };
        let granted = decision.outcome == Outcome::Allowed;
        for (was, is) in listed.iter().zip(comply.violations()) {
            let expected = was.waiver.clone().or_else(|| (granted && covers(was)).then(|| waiver.id.clone()));
            prop_assert_eq!(&is.waiver, &expected, "{:?}", is);
        }
        if granted {
            let revoked = comply.act(&Actor::System, &Action::Revoke { waiver: waiver.id.clone() });
            prop_assert_eq!(comply.violations(), listed.clone());
            // What is back in force is reported.
            let back = listed.into_iter().filter(|was| was.waiver.is_none() && covers(was));
            let accepted = back.map(|was| Finding { state: State::Soft, ..was });
            prop_assert_eq!(revoked.violations, accepted.collect::<Vec<_>>());
        }
    }

    #[test]
    fn i7_removing_never_adds_a_violation((start, steps) in steps(6), endings in prop::collection::vec(ending(), 1..6)) {
        let mut comply = after(&start, &steps);
        // A project that leaves the provider's own workspace, or one that a policy leaves alone, is looked at from then on.
        let leaves = |action: &&Action| match action {
            Action::Unlink { a, b, .. } => a.starts_with("workspace/") && b.starts_with("project/"),
            _ => false,
        };
        let leaves_alone = |policy: &Policy| {
            policy.only.iter().flat_map(|only| &only.except).any(|selector| !selector.scopes.is_empty())
        };
        let exempt =
            start.settings.partners == Partners::Exempt || comply.each_policy().any(leaves_alone);
        for action in endings.iter().filter(|action| !(exempt && leaves(action))) {
            let before = bare_identities(&comply);
            let decision = comply.act(&Actor::System, action);
            prop_assert!(decision.outcome != Outcome::Blocked);
            let added: Vec<_> = bare_identities(&comply).into_iter().filter(|now| !before.contains(now)).collect();
            prop_assert!(added.is_empty(), "{:?} added {:?}", action, added);
        }
    }

    #[test]
    fn i8_deleting_a_policy_removes_exactly_its_records((start, steps) in steps(6)) {
        let mut comply = after(&start, &steps);
        for policy in POLICIES {
            let tell = |comply: &Tested, violation: Finding| (comply.seen(&violation), violation);
            let others = comply.violations().into_iter().filter(|violation| violation.policy != policy);
            let others: Vec<_> = others.map(|violation| tell(&comply, violation)).collect();
            let known = comply.policy(policy).is_some();
            let decision = comply.act(&Actor::System, &Action::DeletePolicy { policy: policy.into() });
            prop_assert_eq!(decision.outcome, if known { Outcome::Allowed } else { Outcome::Invalid });
            let rest: Vec<_> = comply.violations().into_iter().map(|violation| tell(&comply, violation)).collect();
            prop_assert_eq!(rest, others);
        }
    }

    #[test]
    fn waivers_end_by_the_clock(start in starts()) {
        let mut comply = start.build();
        for later in 0..10 {
            let now = upheld_model::Timestamp(BEGIN.0 + later);
            let waived = |violation: &Finding| violation.waiver.is_some();
            let before: Vec<Finding> = comply.violations().into_iter().filter(waived).collect();
            let decision = comply.act(&Actor::System, &Action::Advance { to: now });
            let identity = |own: &Finding| (own.policy.clone(), own.rule, own.a.clone(), own.b.clone(), own.scope.clone());
            let active: Vec<_> = comply.violations().into_iter().filter(|own| !waived(own)).map(|own| identity(&own)).collect();
            let back: Vec<_> = before.iter().map(identity).filter(|own| active.contains(own)).collect();
            prop_assert_eq!(decision.violations.iter().map(identity).collect::<Vec<_>>(), back);
        }
    }
}

/// What is violated by whom. Where counts no more for what was taken out of its workspace.
fn bare_identities(comply: &Tested) -> Vec<String> {
    let tell = |own: &Finding| format!("{} {} {} {}", own.policy, own.rule, own.a.object, own.b.object);
    comply.violations().iter().map(tell).collect()
}
