//! I5 and I10: what is predicted is what happens, if nothing else happened in between.

use proptest::prelude::*;

use upheld_engine::comply::*;

use super::super::super::*;
use super::super::random::steps;
use super::super::world::Tested;
use super::{after, export, identities, identity, same};

/// Decisions apart from the version, which only counts what is done for good.
fn decisions(plan: &Plan) -> Vec<Decision> {
    plan.decisions.iter().map(|decision| Decision { version: 0, ..decision.clone() }).collect()
}

/// What is violated by whom and where, and whether it counts.
fn standing(comply: &Tested) -> Vec<String> {
    let tell = |own: &Finding| format!("{} {:?} {}", identity(own), own.level, own.waiver.is_some());
    comply.violations().iter().map(tell).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, max_shrink_iters: 4000, ..ProptestConfig::default() })]

    #[test]
    fn i5_what_is_predicted_happens((start, steps) in steps(16)) {
        let (first, batch) = steps.split_at(steps.len() / 2);
        let mut comply = after(&start, first);
        let (before, digest) = (export(&comply), comply.digest());
        let list = identities(&comply);
        let predicted = comply.what_if(batch);
        same(&before, &export(&comply))?;
        prop_assert_eq!(comply.digest(), digest.clone());
        let applied = comply.apply(batch, &digest).unwrap();
        prop_assert_eq!(decisions(&applied), decisions(&predicted));
        prop_assert_eq!(&applied.added, &predicted.added);
        prop_assert_eq!(&applied.removed, &predicted.removed);
        prop_assert_eq!((&applied.waived, &applied.unwaived), (&predicted.waived, &predicted.unwaived));
        prop_assert_eq!((applied.kept, &applied.flipped), (predicted.kept, &predicted.flipped));
        // The difference is that of the two lists.
        let now = identities(&comply);
        let only = |these: &[String], those: &[String]| -> Vec<String> {
            these.iter().filter(|own| !those.contains(own)).cloned().collect()
        };
        let told = |violations: &[Finding]| violations.iter().map(identity).collect::<Vec<_>>();
        prop_assert_eq!(told(&predicted.added), only(&now, &list));
        prop_assert_eq!(told(&predicted.removed), only(&list, &now));
        prop_assert_eq!(predicted.kept, list.len() - predicted.removed.len());
    }

    #[test]
    fn i10_a_plan_holds_for_the_state_that_it_was_made_for((start, steps) in steps(12)) {
        let mut comply = start.build();
        for (actor, action) in &steps {
            let (before, digest, version, then) = (export(&comply), comply.digest(), comply.version(), comply.now());
            let stood = standing(&comply);
            comply.act(actor, action);
            if comply.digest() == digest {
                // Whatever happened, the same questions have the same answers.
                prop_assert_eq!(standing(&comply), stood, "{:?}", action);
            } else {
                prop_assert!(comply.version() > version || comply.now() > then);
                prop_assert!(export(&comply) != before);
                prop_assert_eq!(comply.apply(&[], &digest), Err(comply.digest()));
            }
        }
    }
}
