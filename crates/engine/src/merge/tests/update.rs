//! An index that changed answers like a fresh one, and what did not change keeps its numbers.

use std::collections::BTreeMap;

use proptest::prelude::*;
use upheld_model::Object;

use super::super::reference::{NaivePolicy, NaiveWorld};
use super::super::{Merge, Targets};
use super::random::{policies, proxy, question, world};
use super::world::{self, World, result};
use crate::snapshot::{ObjectId, PolicyId};
use crate::{Scratch, Silent, ask};

/// One change after the other: a policy comes, or another takes its name, or one goes.
#[derive(Clone, Debug)]
pub(super) enum Step {
    Put(NaivePolicy),
    Remove(String),
}

pub(super) fn steps() -> impl Strategy<Value = Vec<Step>> {
    let put = (policies(), 0..9_usize).prop_filter_map("a policy", |(policies, number)| {
        let policy = policies.into_iter().next()?;
        Some(Step::Put(NaivePolicy { name: format!("p{number}"), ..policy }))
    });
    let remove = (0..9_usize).prop_map(|number| Step::Remove(format!("p{number}")));
    proptest::collection::vec(prop_oneof![3 => put, 1 => remove], 0..5)
}

/// The index after a step, and the slot that changed; `None` if there was nothing to remove.
pub(super) fn stepped(
    world: &World,
    symbols: &mut upheld_model::Symbols,
    merge: &Merge,
    step: &Step,
) -> Option<(Merge, u32)> {
    match step {
        Step::Put(naive) => {
            let policy = world::policy(naive, symbols);
            let targets = Targets::new(world.snapshot.objects().iter());
            let after = merge.clone().change(&[], &[(PolicyId::new(99), &policy)], symbols, &targets);
            let slot = after.slot_of(policy.name).unwrap();
            Some((after, slot))
        }
        Step::Remove(name) => {
            let name = symbols.get(name)?;
            let slot = merge.slot_of(name)?;
            Some((merge.clone().change(&[name], &[], symbols, &Targets::default()), slot))
        }
    }
}

/// What there is after a step.
pub(super) fn stepped_naively(naive: &mut NaiveWorld, step: &Step) {
    let (Step::Put(NaivePolicy { name, .. }) | Step::Remove(name)) = step;
    naive.policies.retain(|policy| policy.name != *name);
    if let Step::Put(policy) = step {
        naive.policies.push(policy.clone());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn a_changed_index_equals_a_fresh_one(
        naive in world(), steps in steps(), proxy in proxy(), question in question(),
    ) {
        let world = World::new(&naive);
        let Some(first) = world.merge() else { return Ok(()) };
        let mut symbols = world.snapshot.symbols().clone();
        let (mut naive, mut merge) = (naive, first.clone());
        for step in &steps {
            let before = merge.clone();
            let Some((after, slot)) = stepped(&world, &mut symbols, &merge, step) else { continue };
            // What did not change has the numbers that it had.
            for (other, policy) in before.policies().filter(|(other, _)| *other != slot) {
                prop_assert_eq!(after.policy(other).map(|policy| policy.name), Some(policy.name));
                prop_assert_eq!(after.policy(other).map(|policy| policy.entries.clone()), Some(policy.entries.clone()));
            }
            stepped_naively(&mut naive, step);
            merge = after;
        }
        let texts = |merge: &Merge, entries: &[crate::EntryId]| -> Vec<_> {
            let entry = |id: &crate::EntryId| merge.entry(*id).unwrap();
            entries.iter().map(|id| {
                let name = merge.policy(entry(id).slot).unwrap().name;
                (symbols.text(name).to_owned(), world::value(&entry(id).config))
            }).collect()
        };
        let answer = world.with(&proxy, &question, |question| ask(&merge, question, &mut Scratch::default(), &mut Silent));
        let speaking = naive.speaking(&proxy, &question);
        let layers: Vec<_> =
            speaking.iter().map(|(policy, _, statement)| (policy.name.clone(), statement.config.clone())).collect();
        prop_assert_eq!(texts(&merge, &answer.entries), layers);
        prop_assert_eq!(result(&answer), naive.answer(&proxy, &question));
        let explained = world.with(&proxy, &question, |question| crate::Ruling::explain(&merge, question));
        prop_assert_eq!(explained.answer.entries, answer.entries);
    }

    /// Objects go, come, and become others under their ids; each is in the one world, in the other, or nowhere.
    #[test]
    fn references_mean_what_they_mean_in_a_fresh_index(
        naive in world(), other in world(), steps in proptest::collection::vec((0..6_usize, 0..3_u8), 1..8),
    ) {
        let world = World::new(&naive);
        let Some(merge) = world.merge() else { return Ok(()) };
        let objects = |naive: &NaiveWorld| naive.objects.iter().map(|object| world.object(object)).collect::<Vec<_>>();
        let ways = [objects(&naive), objects(&other)];
        let mut now: BTreeMap<ObjectId, &Object> = BTreeMap::new();
        let mut targets = Targets::default();
        let mut merge = Merge::new(merge.kind()).change(
            &[], &world.snapshot.policies().iter().collect::<Vec<_>>(), world.snapshot.symbols(), &targets,
        );
        for (place, way) in steps {
            let id = ObjectId::new(place);
            let came = ways.get(usize::from(way)).and_then(|objects| objects.get(place));
            let gone = now.remove(&id);
            now.extend(came.map(|object| (id, object)));
            let (old, new): (Vec<_>, Vec<_>) =
                (gone.map(|object| (id, object)).into_iter().collect(), came.map(|object| (id, object)).into_iter().collect());
            targets.change(&old, &new);
            let touched: Vec<&Object> = old.iter().chain(&new).map(|(_, object)| *object).collect();
            merge = merge.with_objects(&touched, &targets);
            let fresh = Merge::compile(
                merge.kind(),
                &world.snapshot.policies().iter().collect::<Vec<_>>(),
                world.snapshot.symbols(),
                &Targets::new(now.iter().map(|(id, object)| (*id, *object))),
            );
            let reached = |merge: &Merge| merge.policies().flat_map(|(_, policy)| policy.entries.to_vec())
                .map(|id| format!("{:?}", merge.entry(id).map(|entry| entry.reach.clone()))).collect::<Vec<_>>();
            prop_assert_eq!(reached(&merge), reached(&fresh));
        }
    }
}
