//! An indexed answer equals the naive one; a recorded answer equals the silent one; losers do not matter.

use std::sync::Arc;

use proptest::prelude::*;
use upheld_model::State;
use upheld_model::config::{Config, Content};

use super::super::reference::{NaiveObject, NaiveQuestion, NaiveValue, NaiveWorld, merged};
use super::super::{Layered, Merge, Merged, fold};
use super::random::{config, patch, proxy, question, world};
use super::world::{World, config_of, lookup, meeting, result, value};
use crate::support::differing;
use crate::words::{EndNames, Words};
use crate::{Ruling, Scratch, Silent, ask};

fn silent(world: &World, proxy: &NaiveObject, question: &NaiveQuestion) -> Option<Layered> {
    let merge = world.merge()?;
    Some(world.with(proxy, question, |question| ask(merge, question, &mut Scratch::default(), &mut Silent)))
}

fn explained(world: &World, proxy: &NaiveObject, question: &NaiveQuestion) -> Option<Ruling<Merge>> {
    let merge = world.merge()?;
    Some(world.with(proxy, question, |question| Ruling::explain(merge, question)))
}

fn answer(world: &World, proxy: &NaiveObject, question: &NaiveQuestion) -> Option<NaiveValue> {
    silent(world, proxy, question).as_ref().and_then(result)
}

/// Everything that a person would read, in order.
fn told(world: &World, ruling: &Ruling<Merge>) -> Vec<String> {
    let lookup = lookup(world);
    let merge = world.merge().unwrap();
    let words = Words { lookup: &lookup, ends: EndNames { source: "web", destination: "backend" } };
    let rows = ruling.candidates.iter().map(|candidate| {
        let because = words.because(candidate.state, &candidate.reason);
        let layer = world.layers(merge, &[candidate.entry]);
        format!("{} {layer:?} {} {because}", candidate.state.word(), candidate.distance)
    });
    let leaves = ruling.answer.results.iter().flat_map(Merged::leaves).map(|leaf| format!("{} {}", leaf.path, leaf.by));
    rows.chain(leaves).chain([format!("{:?} {:?}", ruling.decided, ruling.default)]).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn nearest_rulings_are_the_beginning_of_the_one_that_has_everything(
        naive in world(), proxy in proxy(), question in question(),
    ) {
        let world = World::new(&naive);
        let Some(merge) = world.merge() else { return Ok(()) };
        prop_assert_eq!(world.with(&proxy, &question, |question| differing(merge, question)), None);
    }

    #[test]
    fn a_fold_equals_naive_patching(layers in proptest::collection::vec(config(), 0..5), patch in patch()) {
        let best_first: Vec<fold::Layer> =
            layers.iter().rev().enumerate().map(|(by, layer)| fold::Layer { by, config: config_of(layer) }).collect();
        let folded = fold::fold(&meeting(&patch), &best_first).and_then(|merged| merged.config());
        prop_assert_eq!(folded.map(|config| value(&config)), merged(layers.iter(), &patch));
    }

    #[test]
    fn who_does_not_contribute_can_go_alone_and_together(
        layers in proptest::collection::vec(config(), 1..6), patch in patch(), going in any::<u8>(),
    ) {
        let all: Vec<fold::Layer> =
            layers.iter().enumerate().map(|(by, layer)| fold::Layer { by, config: config_of(layer) }).collect();
        let strategy = meeting(&patch);
        let Some(result) = fold::fold(&strategy, &all) else { return Ok(()) };
        let contributors = result.contributors();
        let stays = |layer: &&fold::Layer| contributors.contains(&layer.by) || going & 1 << layer.by == 0;
        let rest: Vec<fold::Layer> = all.iter().filter(stays).cloned().collect();
        let without = fold::fold(&strategy, &rest).and_then(|merged| merged.config());
        prop_assert_eq!(result.config().map(|config| value(&config)), without.map(|config| value(&config)));
    }

    #[test]
    fn an_indexed_answer_equals_the_naive_one(naive in world(), proxy in proxy(), question in question()) {
        let world = World::new(&naive);
        let Some(answer) = silent(&world, &proxy, &question) else { return Ok(()) };
        let speaking = naive.speaking(&proxy, &question);
        let layers: Vec<_> =
            speaking.iter().map(|(policy, _, statement)| (policy.name.clone(), statement.config.clone())).collect();
        prop_assert_eq!(world.layers(world.merge().unwrap(), &answer.entries), layers);
        prop_assert_eq!(result(&answer), naive.answer(&proxy, &question));
        prop_assert!(!answer.undecided);
    }

    #[test]
    fn all_witnesses_hear_the_same_answer(naive in world(), proxy in proxy(), question in question()) {
        let world = World::new(&naive);
        let Some(merge) = world.merge() else { return Ok(()) };
        let quiet = silent(&world, &proxy, &question).unwrap();
        let matched = world.with(&proxy, &question, |question| Ruling::matched(merge, question));
        let everything = explained(&world, &proxy, &question).unwrap();
        for answer in [&matched.answer, &everything.answer] {
            prop_assert_eq!(&quiet.entries, &answer.entries);
            prop_assert_eq!(&quiet.results, &answer.results);
        }
        let hits: Vec<_> = everything.candidates.iter().filter(|candidate| candidate.measure.is_some()).copied().collect();
        prop_assert_eq!(matched.candidates, hits);
    }

    /// By how much the one layer that counts wins: against the best of those below it that say something.
    #[test]
    fn it_wins_on_the_first_rung_on_which_the_best_below_it_is_worse(
        naive in world(), proxy in proxy(), question in question(),
    ) {
        let world = World::new(&naive);
        let Some(ruling) = explained(&world, &proxy, &question) else { return Ok(()) };
        let merge = world.merge().unwrap();
        let order = &ruling.answer.entries;
        let winner = ruling.in_state(State::Won).next().and_then(|won| order.iter().position(|entry| *entry == won.entry));
        let says = |entry: &crate::EntryId| matches!(&merge.entry(*entry).unwrap().config.content, Content::Map(entries) if !entries.is_empty());
        let spoken = naive.speaking(&proxy, &question);
        let expected = winner.and_then(|winner| {
            let beaten = (winner + 1..order.len()).find(|place| says(&order[*place]))?;
            naive.margin(spoken[winner], spoken[beaten])
        });
        prop_assert_eq!(ruling.decided, expected);
    }

    #[test]
    fn a_ruling_rederives_its_answer(naive in world(), proxy in proxy(), question in question()) {
        let world = World::new(&naive);
        let (Some(merge), Some(ruling)) = (world.merge(), explained(&world, &proxy, &question)) else { return Ok(()) };
        // Those that count come to the same without the others.
        let counting = |state: State| matches!(state, State::Won | State::Kept);
        let mut counted: Vec<_> =
            ruling.candidates.iter().filter(|candidate| counting(candidate.state)).map(|candidate| candidate.entry).collect();
        merge.rank(&mut counted);
        let again = Layered { results: merge.fold(&counted), ..Layered::default() };
        prop_assert_eq!(result(&again), result(&ruling.answer));
        prop_assert_eq!(ruling.default.state == State::Won, counted.is_empty());
        // Every field stands where its origin wrote it.
        for leaf in ruling.answer.results.iter().flat_map(Merged::leaves) {
            let layer = merge.entry(ruling.answer.entries[leaf.by]).unwrap();
            if leaf.path.contains('[') {
                continue;
            }
            let mut keys = leaf.path.split('.').filter(|key| !key.is_empty());
            let said = keys.try_fold(&layer.config, |config, key| config.get(key));
            match leaf.value {
                // Nulls that are ignored leave an empty map.
                Some(value) if value.content == Content::Map(Vec::new()) => {
                    let is_null = |config: &Arc<Config>| config.content == Content::Null;
                    prop_assert!(said.is_some_and(|said| said.entries().iter().all(|(_, entry)| is_null(entry))));
                }
                Some(value) => prop_assert_eq!(Some(value), said),
                None => prop_assert_eq!(said.map(|said| value(said)), Some(NaiveValue::Null)),
            }
        }
    }

    #[test]
    fn the_order_of_arrival_never_shows(
        naive in world(), order in Just((0..7_usize).collect::<Vec<_>>()).prop_shuffle(), proxy in proxy(), question in question(),
    ) {
        let policies = order.iter().filter_map(|place| naive.policies.get(*place).cloned()).collect();
        let shuffled = NaiveWorld { policies, ..naive.clone() };
        let tell = |naive: &NaiveWorld| {
            let world = World::new(naive);
            explained(&world, &proxy, &question).map(|ruling| told(&world, &ruling))
        };
        prop_assert_eq!(tell(&naive), tell(&shuffled));
    }

    #[test]
    fn removing_a_loser_or_one_that_does_not_match_changes_nothing(
        naive in world(), proxy in proxy(), question in question(),
    ) {
        let world = World::new(&naive);
        let (Some(merge), Some(ruling)) = (world.merge(), explained(&world, &proxy, &question)) else { return Ok(()) };
        let before = answer(&world, &proxy, &question);
        for candidate in ruling.candidates.iter().filter(|c| matches!(c.state, State::Lost | State::Skip)) {
            let entry = merge.entry(candidate.entry).unwrap();
            let attached = merge.policy(entry.slot).unwrap();
            let name = world.snapshot.text(attached.name);
            let number = attached.entries.iter().position(|id| *id == candidate.entry).unwrap();
            let mut rest = naive.clone();
            rest.policies.iter_mut().find(|policy| policy.name == name).unwrap().statements.remove(number);
            prop_assert_eq!(&answer(&World::new(&rest), &proxy, &question), &before);
        }
    }
}
