//! What holds after any actions, by the names of the invariants.

mod admissions;
mod documents;
mod ends;
mod export;
mod fixes;
mod offers;
mod plans;

use std::collections::BTreeMap;

use proptest::prelude::*;
use smol_str::SmolStr;
use upheld_model::State;

use upheld_engine::comply::Finding;
use upheld_engine::comply::reference::{NaiveEdition, NaiveOrganisation, NaiveViolation};

use self::export::{export, facts, rebuilt, same};
use super::super::*;
use super::random::{Began, steps};
use super::world::Tested;

/// The violations that are listed are those that the naive way finds; all else that the evaluator keeps is its own law.
fn audited(comply: &Tested, edition: NaiveEdition) -> Result<(), TestCaseError> {
    let naive = NaiveOrganisation::of(comply, edition, comply.now());
    let listed: Vec<NaiveViolation> = comply.violations().iter().map(NaiveViolation::of).collect();
    prop_assert_eq!(&listed, &naive.violations());
    prop_assert_eq!(comply.pair_count(), naive.pairs().len());
    // What was accepted is soft, and nothing else is told of it.
    let history = comply.organisation.history();
    let soft = |own: Finding| match own.state {
        State::Hard if history.seen(&own).is_some() => Finding { state: State::Soft, ..own },
        _ => own,
    };
    prop_assert_eq!(comply.recorded(), comply.violations().into_iter().map(soft).collect::<Vec<_>>());
    // Whoever only counts counts the same.
    let mut counts: BTreeMap<SmolStr, [usize; 3]> = BTreeMap::new();
    for own in comply.recorded() {
        let [hard, soft, waived] = counts.entry(own.policy).or_default();
        *(match own.state {
            State::Hard => hard,
            State::Soft => soft,
            _ => waived,
        }) += 1;
    }
    let counted = comply.organisation.violations_by_policy(comply.now()).into_iter();
    let counted: BTreeMap<SmolStr, [usize; 3]> =
        counted.map(|(policy, own)| (policy, [own.hard, own.soft, own.waived])).collect();
    prop_assert_eq!(counted, counts);
    Ok(())
}

/// The organisation after some actions, whatever became of them.
fn after(start: &Began, steps: &[(Actor, Action)]) -> Tested {
    let mut comply = start.build();
    for (actor, action) in steps {
        comply.act(actor, action);
    }
    comply
}

/// Who violates what, and where.
fn identity(own: &Finding) -> String {
    format!("{:?} {} {} {} {}", own.scope, own.policy, own.rule, own.a.object, own.b.object)
}

fn identities(comply: &Tested) -> Vec<String> {
    comply.violations().iter().map(identity).collect()
}

/// What happens, step by step.
fn each(
    start: &Began,
    steps: &[(Actor, Action)],
    mut check: impl FnMut(&mut Tested, &Actor, &Action) -> Result<(), TestCaseError>,
) -> Result<(), TestCaseError> {
    let mut comply = start.build();
    for (actor, action) in steps {
        check(&mut comply, actor, action)?;
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, max_shrink_iters: 4000, ..ProptestConfig::default() })]

    #[test]
    fn i1_records_equal_a_fresh_audit_after_every_action((start, steps) in steps(20)) {
        audited(&start.build(), start.start.edition)?;
        each(&start, &steps, |comply, actor, action| {
            comply.act(actor, action);
            audited(comply, start.start.edition)
        })?;
    }

    #[test]
    fn i1_what_changed_equals_what_is_built_anew((start, steps) in steps(20)) {
        each(&start, &steps, |comply, actor, action| {
            comply.act(actor, action);
            let anew = rebuilt(comply);
            same(&facts(comply), &facts(&anew))
        })?;
    }

    #[test]
    fn i2_what_is_refused_leaves_no_trace((start, steps) in steps(20)) {
        each(&start, &steps, |comply, actor, action| {
            let before = export(comply);
            let predicted = comply.would(actor, action);
            same(&before, &export(comply))?;
            let decision = comply.act(actor, action);
            prop_assert_eq!(&Decision { version: predicted.version, ..decision.clone() }, &predicted);
            if !decision.outcome.is_done() {
                same(&before, &export(comply))?;
            }
            audited(comply, start.start.edition)
        })?;
    }
}
