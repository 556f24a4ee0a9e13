//! An indexed answer equals the naive one; a recorded answer equals the silent one; losers do not matter.

use proptest::prelude::*;
use upheld_model::{Lookup, State};

use super::super::reference::{NaivePolicy, Tags, margin, ranking};
use super::world::{World, kind, parts, policies};
use crate::kind::Resolve;
use crate::support::differing;
use crate::words::{EndNames, Words};
use crate::{Question, Ruling, Scratch, Select, Silent, ask};

/// Names of those that stand, through the index and without a witness.
fn silent(world: &World, sources: &[Tags], destinations: &[Tags]) -> Vec<String> {
    let Some(select) = world.select() else { return Vec::new() };
    let (sources, destinations) = (world.tag_sets(sources), world.tag_sets(destinations));
    let question = Question { source: Some(&sources), destination: Some(&destinations) };
    let standing = select.standing(&question, &mut Scratch::default());
    standing.into_iter().map(|entry| world.policy_name(entry.policy).to_owned()).collect()
}

fn explained(world: &World, sources: &[Tags], destinations: &[Tags]) -> Option<Ruling<Select>> {
    let (sources, destinations) = (world.tag_sets(sources), world.tag_sets(destinations));
    let question = Question { source: Some(&sources), destination: Some(&destinations) };
    world.select().map(|select| Ruling::explain(select, &question))
}

/// Everything that a person would read, in order.
fn told(world: &World, ruling: &Ruling<Select>) -> Vec<String> {
    let lookup = Lookup::new(world.snapshot.symbols());
    let words = Words { lookup: &lookup, ends: EndNames { source: "web", destination: "backend" } };
    let rows = ruling.candidates.iter().map(|candidate| {
        let because = words.because(candidate.state, &candidate.reason);
        format!("{} {} {:?} {because}", candidate.state.word(), world.name(candidate.entry), candidate.measure)
    });
    let notes = ruling.notes.iter().map(|note| words.because(State::Skip, note));
    rows.chain(notes).chain([format!("{:?} {:?}", ruling.decided, ruling.default)]).collect()
}

fn naive_names(found: &[&NaivePolicy], resolve: Resolve) -> Vec<String> {
    let count = if resolve == Resolve::First { 1 } else { usize::MAX };
    found.iter().take(count).map(|policy| policy.name.clone()).collect()
}

pub(super) fn resolve() -> impl Strategy<Value = Resolve> {
    prop_oneof![Just(Resolve::First), Just(Resolve::All)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn an_indexed_answer_equals_the_naive_one(
        policies in policies(), kind in kind(), sources in parts(), destinations in parts(), resolve in resolve(),
    ) {
        let world = World::new(&policies, &kind, resolve);
        let naive = ranking(&policies, &kind, &sources, &destinations);
        prop_assert_eq!(silent(&world, &sources, &destinations), naive_names(&naive, resolve));
    }

    #[test]
    fn all_witnesses_hear_the_same_answer(
        policies in policies(), kind in kind(), sources in parts(), destinations in parts(), resolve in resolve(),
    ) {
        let world = World::new(&policies, &kind, resolve);
        let Some(select) = world.select() else { return Ok(()) };
        let (source, destination) = (world.tag_sets(&sources), world.tag_sets(&destinations));
        let question = Question { source: Some(&source), destination: Some(&destination) };
        let quiet = ask(select, &question, &mut Scratch::default(), &mut Silent);
        let matched = Ruling::matched(select, &question);
        let everything = Ruling::explain(select, &question);
        prop_assert_eq!(quiet, matched.answer);
        prop_assert_eq!(quiet, everything.answer);
        let hits: Vec<_> = everything.candidates.iter().filter(|candidate| candidate.measure.is_some()).copied().collect();
        prop_assert_eq!(&matched.candidates, &hits);
        prop_assert_eq!(differing(select, &question), None);
    }

    #[test]
    fn a_ruling_rederives_its_answer_from_its_candidates(
        policies in policies(), kind in kind(), sources in parts(), destinations in parts(), resolve in resolve(),
    ) {
        let world = World::new(&policies, &kind, resolve);
        let Some(ruling) = explained(&world, &sources, &destinations) else { return Ok(()) };
        let standing: Vec<_> =
            ruling.candidates.iter().filter(|c| matches!(c.state, State::Won | State::Kept)).collect();
        prop_assert_eq!(ruling.answer.kept, standing.len());
        prop_assert_eq!(ruling.answer.winner, standing.first().map(|candidate| candidate.entry));
        prop_assert_eq!(ruling.default.state == State::Won, standing.is_empty());
        let pieces = if kind.split_sources { policies.iter().map(|policy| policy.sources.len()).sum() } else { policies.len() };
        prop_assert_eq!(ruling.candidates.len(), pieces);
        // The rung that decided separates the two best, and is named by the winner's reason.
        if let (Resolve::First, Some(rung)) = (resolve, ruling.decided) {
            let code = world.select().map(|select| select.ladder().rungs()[rung].code());
            prop_assert_eq!(code, standing.first().map(|winner| winner.reason.code));
        }
    }

    #[test]
    fn it_wins_on_the_first_rung_on_which_the_best_of_another_policy_is_worse(
        policies in policies(), kind in kind(), sources in parts(), destinations in parts(),
    ) {
        let world = World::new(&policies, &kind, Resolve::First);
        let Some(ruling) = explained(&world, &sources, &destinations) else { return Ok(()) };
        prop_assert_eq!(ruling.decided, margin(&policies, &kind, &sources, &destinations));
    }

    #[test]
    fn the_order_of_arrival_never_shows(
        policies in policies().prop_shuffle(), kind in kind(), sources in parts(), destinations in parts(), resolve in resolve(),
    ) {
        let world = World::new(&policies, &kind, resolve);
        let mut sorted = policies.clone();
        sorted.sort_by(|a, b| a.name.cmp(&b.name));
        let other = World::new(&sorted, &kind, resolve);
        let tell = |world: &World| explained(world, &sources, &destinations).map(|ruling| told(world, &ruling));
        prop_assert_eq!(tell(&world), tell(&other));
    }

    #[test]
    fn removing_a_loser_or_one_that_does_not_match_changes_nothing(
        policies in policies(), kind in kind(), sources in parts(), destinations in parts(), resolve in resolve(),
    ) {
        let world = World::new(&policies, &kind, resolve);
        let Some(ruling) = explained(&world, &sources, &destinations) else { return Ok(()) };
        let before = silent(&world, &sources, &destinations);
        for candidate in ruling.candidates.iter().filter(|c| matches!(c.state, State::Lost | State::Skip)) {
            let name = world.name(candidate.entry);
            if before.iter().any(|standing| standing == name) {
                // Another piece of the same policy stands.
                continue;
            }
            let rest: Vec<_> = policies.iter().filter(|policy| policy.name != name).cloned().collect();
            prop_assert_eq!(&silent(&World::new(&rest, &kind, resolve), &sources, &destinations), &before);
        }
    }
}
