//! A write that leads from one state to another is judged as what was done in between.

use std::collections::BTreeSet;

use proptest::prelude::*;
use upheld_engine::comply::Finding;

use super::super::super::*;
use super::super::random::steps;
use super::super::world::Tested;
use super::{after, facts, rebuilt, same};
use crate::admit::Write;

const ANYBODY: [Actor; 1] = [Actor::System];

/// What is there after all that lies between two states was done: the second. Nothing to be said where it cannot be done at once: a tag that was
/// cleared before its definition made it mandatory, or a relationship of somebody who takes none.
fn arrives(before: &Tested, after: &Tested) -> Result<(), TestCaseError> {
    let write = Write::of(&before.organisation, &after.organisation, after.now(), &ANYBODY);
    prop_assume!(write.is_ok());
    let sorted = |comply: &Tested| {
        let mut lines = facts(comply);
        lines.sort();
        lines
    };
    write.map_or(Ok(()), |write| same(&sorted(&Tested::new(write.organisation, after.now())), &sorted(after)))
}

/// Who violates what. A policy that turns its sides round finds the same.
fn in_order(own: &Finding) -> (Option<&str>, &str, usize, &str, &str) {
    let (scope, policy, rule, a, b) = own.identity();
    (scope, policy, rule, a.min(b), a.max(b))
}

fn identities(findings: &[Finding]) -> BTreeSet<(Option<&str>, &str, usize, &str, &str)> {
    findings.iter().map(in_order).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, max_shrink_iters: 4000, ..ProptestConfig::default() })]

    #[test]
    fn actions_between_two_states_lead_from_one_to_the_other((start, steps) in steps(12)) {
        let (before, after) = (start.build(), after(&start, &steps));
        arrives(&before, &after)?;
        arrives(&before, &rebuilt(&after))?;
        arrives(&rebuilt(&after), &rebuilt(&before))?;
    }

    #[test]
    fn a_write_is_judged_as_the_action_that_it_comes_to((start, steps) in steps(12)) {
        let mut before = start.build();
        for (actor, action) in &steps {
            let mut after = Tested::new(before.organisation.clone(), before.now());
            if !after.act(&Actor::System, action).outcome.is_done() {
                continue;
            }
            let expected = before.would(actor, action);
            let writers = [actor.clone()];
            let admission = before.organisation.admission(&after.organisation, before.now(), &writers);
            // Nothing was written of an object without a document; then nobody asks who may.
            let is_mentioned = |(_, action): &(Actor, Action)| {
                matches!(action, Action::Create(NewObject { filling: Filling::Mentioned, .. }))
            };
            let is_judged = !admission.actions.is_empty() && !admission.actions.iter().any(is_mentioned);
            if is_judged && !matches!(action, Action::Advance { .. }) {
                prop_assert_eq!(admission.outcome, expected.outcome, "{:?} {:#?}", action, admission);
                let blocked: Vec<Finding> = admission.blocked.iter().flat_map(|own| own.violations.clone()).collect();
                let told = if expected.outcome == Outcome::Blocked { &blocked } else { &admission.new };
                prop_assert_eq!(identities(told), identities(&expected.violations), "{:?}", action);
            }
            before.act(&Actor::System, action);
        }
    }

    /// What a write begins and ends is what a fresh audit finds before and after.
    #[test]
    fn what_a_write_begins_and_ends_is_the_difference_of_two_audits((start, steps) in steps(12)) {
        let (before, after) = (start.build(), after(&start, &steps));
        let admission = before.organisation.admission(&after.organisation, after.now(), &ANYBODY);
        // All at once may be refused where one after the other was not.
        prop_assume!(admission.outcome.is_done());
        let (was, is) = (before.violations(), after.violations());
        let begun: Vec<Finding> = admission.begun.iter().flat_map(|own| own.findings.clone()).collect();
        let only = |one: &[Finding], other: &[Finding]| -> Vec<Finding> {
            one.iter().filter(|own| !other.iter().any(|known| in_order(known) == in_order(own))).cloned().collect()
        };
        let (come, gone) = (only(&is, &was), only(&was, &is));
        prop_assert_eq!(identities(&begun), identities(&come));
        prop_assert_eq!(identities(&admission.ended), identities(&gone));
    }
}
