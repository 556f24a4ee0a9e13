//! What holds after any actions, by the names of the invariants.

mod ends;
mod export;
mod family;
mod offers;
mod order;
mod plans;
mod sets;

use proptest::prelude::*;

use self::export::{export, facts, rebuilt, same};
use super::super::reference::{NaiveEdition, NaiveOrganisation, NaiveViolation};
use super::super::*;
use super::random::{Start, steps};
use super::world::{Tested, World, administrator, delete, policy, set_tags, unlink};

/// The violations that the engine lists are those that the naive way finds; and all its books agree.
fn audited(comply: &Tested, edition: NaiveEdition) -> Result<(), TestCaseError> {
    let naive = NaiveOrganisation::of(comply, edition);
    let listed: Vec<NaiveViolation> = comply.violations().iter().map(NaiveViolation::of).collect();
    prop_assert_eq!(&listed, &naive.violations());
    prop_assert_eq!(comply.pair_count(), naive.pairs().len());
    prop_assert_eq!(comply.violation_count(), listed.len());
    let in_order = |mut ids: Vec<FindingId>| {
        ids.sort();
        ids
    };
    let from_scratch = comply.audit().into_iter().flat_map(|violating| comply.ids_of(violating)).collect();
    prop_assert_eq!(in_order(from_scratch), in_order(comply.violation_ids()));
    // Scope by scope they are the same.
    let scopes = comply.objects().into_iter().filter(|object| comply.kind_of(*object) == comply.profile().scope);
    let mut by_scope: Vec<Finding> = scopes.flat_map(|scope| comply.violations_in(Some(scope))).collect();
    by_scope.extend(comply.violations_in(None));
    by_scope.sort();
    prop_assert_eq!(by_scope, comply.violations());
    // So are those of the checks that fail, and the tallies.
    let mut failed = comply.checks(&Filter::default(), comply.now());
    failed.retain(|check| !check.verdict.holds());
    prop_assert_eq!(failed, comply.violations());
    let counted: usize = comply.tallies(&Filter::default()).iter().map(|tally| tally.violated).sum();
    prop_assert_eq!(counted, listed.len());
    Ok(())
}

/// The organisation after some actions, whatever became of them.
fn after(start: &Start, steps: &[(Actor, Action)]) -> Tested {
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
    start: &Start,
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
        audited(&start.build(), start.edition)?;
        each(&start, &steps, |comply, actor, action| {
            comply.act(actor, action);
            audited(comply, start.edition)
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
            audited(comply, start.edition)
        })?;
    }
}

/// Enough pairs around one object, and enough rules, that each signature is judged once for all of them.
#[test]
fn i1_hubs_are_judged_as_everybody_else() {
    let edition = NaiveEdition::Classic;
    let rules = |count: usize| vec![Rule { a: "env".into(), b: "env".into() }; count];
    let mut world = World::classic().open(&["project.env", "landingZone.env"]).object("project/p", "env=dev");
    for number in 0..200 {
        let zone = format!("landingZone/l{number}");
        let env = ["", "env=dev", "env=qa", "env=qa,prod"][number % 4];
        world = world.object(&zone, env).link("project/p", &zone);
    }
    // A word full of rules that are all violated, one with room, and one that begins.
    for count in [1, 64, 65, 130] {
        let id = format!("rules-{count}");
        let many = Policy { rules: rules(count), level: Level::Warn, ..policy(&id, "project.env", "landingZone.env") };
        world = world.with(many);
    }
    let mut comply = world.build();
    audited(&comply, edition).unwrap();
    for action in [
        set_tags("project/p", "env=test"),
        set_tags("project/p", "env=qa"),
        Action::DeletePolicy { policy: "rules-64".into() },
        set_tags("project/p", "env="),
        unlink("project/p", "landingZone/l3"),
        Action::UpdatePolicy(policy("rules-130", "landingZone.env", "project.env")),
        delete("landingZone/l4"),
        set_tags("landingZone/l5", "env=test"),
    ] {
        assert!(comply.act(&administrator(), &action).outcome.is_done(), "{action:?}");
        audited(&comply, edition).unwrap();
    }
}
