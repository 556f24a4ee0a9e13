//! Looking a target up equals asking about it.

use proptest::prelude::*;
use upheld_model::Facet;

use super::super::reference::NaiveQuestion;
use super::super::{About, AdmitScratch, Merge, Question, Subject, Target, chain};
use super::random::{self, proxy, target, world};
use super::world::{World, merged_value, result};
use crate::{EntryId, Scratch, Silent, ask};

fn direct(merge: &Merge, subject: Subject<'_>, targets: &[Target]) -> Option<super::super::Layered> {
    let question = Question { subject, about: About::Targets(targets) };
    let answer = ask(merge, &question, &mut Scratch::default(), &mut Silent);
    (!answer.entries.is_empty()).then_some(answer)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn all_rules_equal_single_questions(naive in world(), proxy in proxy()) {
        let world = World::new(&naive);
        let Some(merge) = world.merge() else { return Ok(()) };
        let object = world.object(&proxy);
        let entries = merge.entries_for(Subject::of(&object), Facet::Objects, &mut AdmitScratch::default());
        let mesh = world.mesh();
        let around = |_| mesh.map(Target::whole);
        let rules = merge.target_rules(&entries, &around);
        // Exactly the targets that somebody names have a rule, and it says what asking the naive twin gives.
        let named: Vec<_> = rules.iter().map(|(target, _)| world.naive_target(target)).collect();
        prop_assert_eq!(named.iter().cloned().collect::<std::collections::BTreeSet<_>>(), naive.named(&proxy));
        for (target, rule) in rules.iter() {
            let question = NaiveQuestion::Targets(random::chain(world.naive_target(target)));
            prop_assert_eq!(merged_value(&rule.results), naive.answer(&proxy, &question));
        }
    }

    #[test]
    fn a_lookup_equals_asking(naive in world(), proxy in proxy(), asked in target()) {
        let world = World::new(&naive);
        let (Some(merge), Some(asked)) = (world.merge(), world.target(&asked)) else { return Ok(()) };
        let object = world.object(&proxy);
        let subject = Subject::of(&object);
        let entries = merge.entries_for(subject, Facet::Objects, &mut AdmitScratch::default());
        let mesh = world.mesh();
        let around = |_| mesh.map(Target::whole);
        let found = merge.target_rules(&entries, &around).lookup(asked, &around).cloned();
        let layers = |entries: &[EntryId]| world.layers(merge, entries);
        let found = found.map(|rule| (layers(&rule.entries), merged_value(&rule.results)));
        // About the whole chain: what nobody names has no layers, so the wider targets answer alone.
        let keys = chain(asked, &around);
        let whole_chain = direct(merge, subject, &keys).map(|answer| (layers(&answer.entries), result(&answer)));
        prop_assert_eq!(&whole_chain, &found);
        // About the one key that the look-up finds.
        let targets = merge.targets_to_ask(&entries, &keys, &around);
        let one_key = direct(merge, subject, &targets).map(|answer| (layers(&answer.entries), result(&answer)));
        prop_assert_eq!(&one_key, &found);
    }

    #[test]
    fn the_first_key_with_a_rule_is_asked_as_a_whole(
        naive in world(), proxy in proxy(), keys in proptest::collection::vec(target(), 0..4),
    ) {
        let world = World::new(&naive);
        let Some(merge) = world.merge() else { return Ok(()) };
        let object = world.object(&proxy);
        let subject = Subject::of(&object);
        let entries = merge.entries_for(subject, Facet::Objects, &mut AdmitScratch::default());
        let mesh = world.mesh();
        let around = |_| mesh.map(Target::whole);
        let keys: Vec<Target> = keys.iter().filter_map(|key| world.target(key)).collect();
        let rules = merge.target_rules(&entries, &around);
        let found = rules.first(&keys).map(|rule| (rule.entries.clone(), merged_value(&rule.results)));
        let targets = merge.targets_to_ask(&entries, &keys, &around);
        let asked = direct(merge, subject, &targets).map(|answer| (answer.entries.clone(), result(&answer)));
        prop_assert_eq!(asked, found);
    }
}
