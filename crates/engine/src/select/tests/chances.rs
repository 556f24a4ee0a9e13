//! A policy can win somewhere if and only if it wins at one of its own smallest questions.

use proptest::prelude::*;

use super::super::reference::Tags;
use super::world::{Sources, World, end, kind, policies};
use crate::ask::gather;
use crate::kind::Resolve;
use crate::witness::Matched;
use crate::{Question, Scratch, Silent, ask};
use upheld_model::Code;

fn some_ends() -> impl Strategy<Value = Vec<Option<Vec<Tags>>>> {
    proptest::collection::vec(end(), 1..12)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn who_wins_somewhere_wins_at_a_smallest_question(
        policies in policies(), kind in kind(), callers in some_ends(), called in some_ends(),
    ) {
        let world = World::reading(Sources::Match, &policies, &kind, Resolve::First);
        let Some(select) = world.select() else { return Ok(()) };
        let chances = select.chances();
        let ends = |all: &[Option<Vec<Tags>>]| -> Vec<_> { all.iter().flatten().map(|parts| world.tag_sets(parts)).collect() };
        let (sources, destinations) = (ends(&callers), ends(&called));
        let mut scratch = Scratch::default();
        let found = select.matching_policies(sources.iter().map(Vec::as_slice), destinations.iter().map(Vec::as_slice));
        for source in &sources {
            for destination in &destinations {
                let question = Question { source: Some(source), destination: Some(destination) };
                let winner = ask(select, &question, &mut scratch, &mut Silent).winner;
                let Some(policy) = winner.and_then(|winner| select.entry(winner)).map(|entry| entry.policy) else { continue };
                let chance = chances.iter().find(|chance| chance.policy == policy).expect("every policy has one");
                prop_assert!(chance.stands > 0, "{policy:?} wins at {question:?}, and at none of its smallest questions");
                // Who beats another one by tags alone, though that one is more exact, is known to.
                if let ([_], [_]) = (source.as_slice(), destination.as_slice()) {
                    gather(select, &question, &mut scratch, &mut Matched::default());
                    let hits = scratch.hits().to_vec();
                    let winning = hits.iter().find(|hit| Some(hit.entry) == winner).expect("the winner matches");
                    for hit in hits.iter().filter(|hit| hit.certain && hit.measure.exact > winning.measure.exact) {
                        let beaten = select.entry(hit.entry).expect("is there").policy;
                        let by_tags = select.separation(winning, hit).is_some_and(|(_, reason)| reason.code == Code::SelectMoreTags);
                        if by_tags && beaten != policy {
                            prop_assert!(chance.outranked.iter().any(|known| known.policy == beaten), "{:?} and {:?} at {:?}", policy, beaten, question);
                        }
                    }
                }
                // Unknown tags are swept, and counted by nobody.
                let known = [source, destination].into_iter().flatten().all(|tags| !tags.has_unknown());
                prop_assert!(!known || found.contains(&policy), "{policy:?} matches {question:?}");
            }
        }
    }
}
