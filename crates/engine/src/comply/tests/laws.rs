//! What holds after any steps.

mod cells;
mod family;
mod order;
mod revision;
mod sets;

use std::collections::BTreeSet;
use std::sync::Arc;

use proptest::prelude::*;
use smol_str::SmolStr;
use upheld_model::{State, Timestamp};

use super::super::reference::random::{BEGIN, Start, policy};
use super::super::reference::{NaiveEdition, NaiveOrganisation, NaiveViolation};
use super::super::*;
use super::steps::{Step, steps};
use super::world::World;

/// A moment at which some waivers are over and others begin.
const NOW: Timestamp = Timestamp(BEGIN.0 + 4);

/// The violations that the engine lists are those that the naive way finds; and all that is kept agrees.
fn audited(comply: &Comply, edition: NaiveEdition) -> Result<(), TestCaseError> {
    let naive = NaiveOrganisation::of(comply, edition, NOW);
    let listed: Vec<NaiveViolation> = comply.violations(NOW).iter().map(NaiveViolation::of).collect();
    prop_assert_eq!(&listed, &naive.violations());
    prop_assert_eq!(comply.pair_count(), naive.pairs().len());
    prop_assert_eq!(comply.violation_count(), listed.len());
    let known: BTreeSet<FindingId> = comply.violation_ids().into_iter().collect();
    let fresh: BTreeSet<FindingId> = comply.audit().into_iter().flat_map(|own| comply.ids_of(own)).collect();
    prop_assert_eq!(&known, &fresh);
    // Scope by scope they are the same.
    let scopes = comply.objects().into_iter().filter(|object| comply.kind_of(*object) == comply.profile().scope);
    let mut by_scope: Vec<Finding> = scopes.flat_map(|scope| comply.violations_in(Some(scope), NOW)).collect();
    by_scope.extend(comply.violations_in(None, NOW));
    by_scope.sort();
    prop_assert_eq!(by_scope, comply.violations(NOW));
    // So are those of the checks that fail, and the tallies.
    let mut failed = comply.checks(&Filter::default(), NOW);
    failed.retain(|check| !check.verdict.holds());
    prop_assert_eq!(failed, comply.violations(NOW));
    let counted: usize = comply.cells(&Filter::default()).tallies().iter().map(|tally| tally.violated).sum();
    prop_assert_eq!(counted, listed.len());
    Ok(())
}

/// Everything that can be seen from outside.
fn export(comply: &Comply) -> (String, Vec<Finding>, String) {
    let naive = NaiveOrganisation::of(comply, NaiveEdition::Current, NOW);
    (format!("{naive:?}"), comply.checks(&Filter::default(), NOW), comply.digest(NOW))
}

/// The same facts, told to a new engine.
fn rebuilt(comply: &Comply) -> Comply {
    let mut draft = Draft::new(comply.profile().clone(), comply.partners());
    let objects = comply.objects();
    let ids: Vec<(ObjectId, ObjectId)> = objects
        .into_iter()
        .map(|object| {
            let reference = comply.reference(object);
            let (_, id) = reference.split_once('/').unwrap();
            (object, draft.refer(comply.kind_of(object).unwrap(), id, None))
        })
        .collect();
    let id = |object: ObjectId| ids.iter().find(|(own, _)| *own == object).map(|(_, new)| *new);
    for (object, new) in &ids {
        draft.describe(*new, comply.described(*object).unwrap().clone()).unwrap();
        for (key, values) in comply.tags_of(*object) {
            draft.tag(*new, &key, values.iter().map(SmolStr::as_str));
        }
        for (_, link) in comply.links_of(*object).filter(|(_, link)| link.a == *object) {
            assert!(draft.link(id(link.a).unwrap(), id(link.b).unwrap(), link.role.and_then(id), None));
        }
    }
    for policy in comply.policies() {
        assert!(draft.policy(policy.clone()));
    }
    for waiver in comply.waivers() {
        assert!(draft.waiver(waiver.clone()));
    }
    assert_eq!(draft.problems(), []);
    draft.build()
}

/// The organisation after some steps.
fn after(start: &Start, steps: &[Step]) -> Comply {
    let mut comply = start.build();
    for step in steps {
        step.take(&mut comply);
        comply.settle();
    }
    comply
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, max_shrink_iters: 4000, ..ProptestConfig::default() })]

    #[test]
    fn what_two_states_violate_otherwise_is_among_what_they_do_not_share((start, steps) in steps(16), from in 0_usize..16) {
        let before = after(&start, steps.get(..from).unwrap_or(&[]));
        let mut comply = before.clone();
        for step in steps.get(from..).unwrap_or(&steps) {
            step.take(&mut comply);
            comply.settle();
        }
        for (one, other) in [(&before, &comply), (&comply, &before)] {
            let only = |own: Vec<Finding>, others: &[Finding]| -> BTreeSet<FindingName> {
                let known: BTreeSet<(FindingName, State)> = others.iter().map(|found| (found.name(), found.state)).collect();
                let own = own.into_iter().filter(|found| !known.contains(&(found.name(), found.state)));
                own.map(|found| found.name()).collect()
            };
            let (unlike, others) = (one.violations_unlike(other, &Filter::default(), NOW, |_| false), other.violations(NOW));
            let all = one.violations(NOW);
            prop_assert!(unlike.iter().all(|found| all.contains(found)));
            prop_assert_eq!(only(unlike, &others), only(all, &others));
        }
    }

    #[test]
    fn what_is_known_equals_a_fresh_audit_after_every_step((start, steps) in steps(16)) {
        let mut comply = start.build();
        audited(&comply, start.edition)?;
        for step in &steps {
            step.take(&mut comply);
            audited(&comply, start.edition)?;
            comply.settle();
            audited(&comply, start.edition)?;
        }
    }

    #[test]
    fn what_changed_equals_what_is_built_anew((start, steps) in steps(16)) {
        let comply = after(&start, &steps);
        prop_assert_eq!(export(&comply), export(&rebuilt(&comply)));
    }

    #[test]
    fn what_is_taken_back_leaves_no_trace((start, steps) in steps(16)) {
        let (kept, tried) = steps.split_at(steps.len() / 2);
        let mut comply = after(&start, kept);
        let before = export(&comply);
        let mark = comply.mark();
        for step in tried {
            step.take(&mut comply);
        }
        comply.roll_back(mark);
        prop_assert_eq!(&export(&comply), &before);
        audited(&comply, start.edition)?;
        prop_assert!(comply.changed_since(mark).is_empty());
        comply.settle();
        prop_assert_eq!(export(&comply), before);
    }

    #[test]
    fn what_began_and_ended_is_the_difference((start, steps) in steps(12)) {
        let (kept, tried) = steps.split_at(steps.len() / 2);
        let mut comply = after(&start, kept);
        let before: BTreeSet<FindingId> = comply.violation_ids().into_iter().collect();
        let mark = comply.mark();
        for step in tried {
            step.take(&mut comply);
        }
        let now: BTreeSet<FindingId> = comply.violation_ids().into_iter().collect();
        let NetChange { begun, ended } = comply.changed_since(mark);
        prop_assert_eq!(begun.into_iter().collect::<BTreeSet<_>>(), now.difference(&before).copied().collect());
        prop_assert_eq!(ended.into_iter().collect::<BTreeSet<_>>(), before.difference(&now).copied().collect());
    }
}

/// Enough pairs around one object, and enough rules, that each signature is judged once for all of them.
#[test]
fn hubs_are_judged_as_everybody_else() {
    let edition = NaiveEdition::Classic;
    let rules = |count: usize| vec![Rule { a: "env".into(), b: "env".into() }; count];
    let mut world = World::classic().object("project/p", "env=dev");
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
    let tag =
        |object: &str, values: &[&str]| Step::Tag(object.into(), vec![("env".into(), super::world::texts(values))]);
    let turned = policy("rules-130", "landingZone.env", "project.env");
    for step in [
        tag("project/p", &["test"]),
        tag("project/p", &["qa"]),
        Step::Drop("rules-64"),
        tag("project/p", &[]),
        Step::Delete("landingZone/l3".into()),
        Step::Put(Box::new(turned)),
        Step::Delete("landingZone/l4".into()),
        tag("landingZone/l5", &["test"]),
    ] {
        step.take(&mut comply);
        audited(&comply, edition).unwrap();
        comply.settle();
    }
    comply.put_policy(&"rules-1".into(), Some(Arc::new(policy("rules-1", "project.env", "landingZone.env"))));
    audited(&comply, edition).unwrap();
}
