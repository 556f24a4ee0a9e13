//! Unknown is not false: an answer that is decided holds whatever the unknown tags turn out to be.

use proptest::prelude::*;

use super::super::reference::{NaiveQuestion, Texts};
use super::random::{CALLER, TAGS, VALUES, proxy, world};
use super::world::{World, result};
use crate::{Ruling, Scratch, Silent, ask};

/// Tags, some of which are there with a value that is not known.
fn partly_known() -> impl Strategy<Value = Texts> {
    let value = proptest::option::of(proptest::sample::select(&["one", "two", "?", "?"][..]));
    proptest::collection::vec(value, TAGS.len()).prop_map(|values| {
        let pairs = TAGS.iter().zip(values).filter_map(|(key, value)| Some(((*key).to_owned(), value?.to_owned())));
        pairs.collect()
    })
}

/// All ways to fill in what is not known; `other` is a value that nobody names.
fn completions(tags: &Texts) -> Vec<Texts> {
    tags.iter().fold(vec![Texts::new()], |all, (key, value)| {
        let values: Vec<&str> = if value == "?" { VALUES.into_iter().chain(["other"]).collect() } else { vec![value] };
        let with = |tags: &Texts, value: &str| {
            let mut tags = tags.clone();
            tags.insert(key.clone(), value.to_owned());
            tags
        };
        all.iter().flat_map(|tags| values.iter().map(|value| with(tags, value)).collect::<Vec<_>>()).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn a_decided_answer_holds_for_every_completion(
        naive in world(), proxy in proxy(), tags in partly_known(), part in proptest::option::of(0..3_usize),
    ) {
        let world = World::new(&naive);
        let Some(merge) = world.merge() else { return Ok(()) };
        let question = |tags: &Texts| match part {
            Some(part) => NaiveQuestion::Client(part, tags.clone()),
            None => NaiveQuestion::Service(tags.clone()),
        };
        let asked = question(&tags);
        let answer = world.with(&proxy, &asked, |question| ask(merge, question, &mut Scratch::default(), &mut Silent));
        let explained = world.with(&proxy, &asked, |question| Ruling::explain(merge, question));
        prop_assert_eq!(answer.undecided, explained.answer.undecided);
        if answer.undecided {
            return Ok(());
        }
        for completed in completions(&tags) {
            prop_assert_eq!(naive.answer(&proxy, &question(&completed)), result(&answer), "{:?}", completed);
        }
    }

    #[test]
    fn an_answer_for_a_caller_of_unknown_identity_holds_whoever_it_is(
        naive in world(), proxy in proxy(), part in 0..3_usize,
    ) {
        let world = World::new(&naive);
        let Some(merge) = world.merge() else { return Ok(()) };
        let question = |identity: &str| {
            NaiveQuestion::Inbound(part, Texts::from([(CALLER.to_owned(), identity.to_owned())]))
        };
        let asked = question("?");
        let answer = world.with(&proxy, &asked, |question| ask(merge, question, &mut Scratch::default(), &mut Silent));
        if !answer.undecided {
            for identity in ["one", "two", "twenty", "other"] {
                prop_assert_eq!(naive.answer(&proxy, &question(identity)), result(&answer), "{:?}", identity);
            }
        }
    }
}
