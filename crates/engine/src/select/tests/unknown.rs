//! Unknown is not false: a decided answer holds whatever the unknown value turns out to be.

use proptest::prelude::*;

use super::super::reference::{NaiveKind, NaivePolicy, NaiveRung, Tags, winner};
use super::world::{KEYS, World, kind, parts, policies};
use crate::kind::Resolve;
use crate::{Question, Scratch, Silent, ask};

/// Every way to fill in the unknown values, one that no policy names among them.
fn completions(tags: &Tags) -> Vec<Tags> {
    let Some(key) = tags.iter().find(|(_, value)| *value == "?").map(|(key, _)| key.clone()) else {
        return vec![tags.clone()];
    };
    let mut all = Vec::new();
    for value in ["one", "two", "three"] {
        let mut filled = tags.clone();
        filled.insert(key.clone(), value.to_owned());
        all.extend(completions(&filled));
    }
    all
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn a_decided_answer_holds_for_every_completion(
        policies in policies(), kind in kind(), source in parts(), destinations in parts(),
        unknown in proptest::sample::subsequence(KEYS.to_vec(), 1..=2),
    ) {
        let world = World::new(&policies, &kind, Resolve::First);
        let Some(select) = world.select() else { return Ok(()) };
        let mut source = source[0].clone();
        for key in unknown {
            source.insert(key.to_owned(), "?".to_owned());
        }
        let (sources, called) = (world.tag_sets(std::slice::from_ref(&source)), world.tag_sets(&destinations));
        let question = Question { source: Some(&sources), destination: Some(&called) };
        let answer = ask(select, &question, &mut Scratch::default(), &mut Silent);
        let answers: Vec<Option<&str>> = completions(&source)
            .iter()
            .map(|filled| {
                let found = winner(&policies, &kind, std::slice::from_ref(filled), &destinations);
                found.map(|policy| policy.name.as_str())
            })
            .collect();
        let decided = answer.winner.map(|entry| world.name(entry));
        // The converse does not hold: two uncertain matches that exclude each other are not told apart.
        if !answer.undecided {
            prop_assert!(answers.iter().all(|found| *found == decided), "{answers:?} but decided {decided:?}");
        }
    }
}

fn tags(pairs: &[(&str, &str)]) -> Tags {
    pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
}

/// Who wins for a caller of service `one` and an unknown version, and whether that is decided.
fn asked(policies: &[(&str, Vec<Tags>)]) -> (Option<String>, bool) {
    let policies: Vec<NaivePolicy> = policies
        .iter()
        .map(|(name, sources)| NaivePolicy {
            name: (*name).to_owned(),
            created: None,
            sources: sources.clone(),
            destinations: vec![Tags::new()],
        })
        .collect();
    let kind = NaiveKind { ladder: vec![NaiveRung::MoreTags, NaiveRung::Name], ..NaiveKind::default() };
    let world = World::new(&policies, &kind, Resolve::First);
    let sources = world.tag_sets(&[tags(&[("service", "one"), ("version", "?")])]);
    let destinations = world.tag_sets(&[Tags::new()]);
    let question = Question { source: Some(&sources), destination: Some(&destinations) };
    let answer = ask(world.select().unwrap(), &question, &mut Scratch::default(), &mut Silent);
    (answer.winner.map(|entry| world.name(entry).to_owned()), answer.undecided)
}

#[test]
fn an_uncertain_hit_of_the_winner_does_not_hide_that_of_another() {
    let both = tags(&[("service", "one"), ("version", "one")]);
    let answer = asked(&[("sure", vec![Tags::new(), both]), ("perhaps", vec![tags(&[("version", "one")])])]);
    assert_eq!(answer, (Some("sure".to_owned()), true));
}

#[test]
fn what_ranks_below_the_winner_may_stay_unknown() {
    let wide = tags(&[("service", "one"), ("version", "*")]);
    let answer = asked(&[("sure", vec![wide]), ("perhaps", vec![tags(&[("version", "one")])])]);
    assert_eq!(answer, (Some("sure".to_owned()), false));
}

#[test]
fn a_tag_that_is_there_matches_any_value() {
    assert_eq!(asked(&[("any", vec![tags(&[("version", "*")])])]), (Some("any".to_owned()), false));
}
