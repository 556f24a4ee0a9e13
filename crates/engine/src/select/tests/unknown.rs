//! Unknown is not false: a decided answer holds whatever the unknown value turns out to be.

use proptest::prelude::*;

use super::super::reference::{NaivePolicy, NaiveRung, Tags, winner};
use super::world::{KEYS, World, ladder, parts, policies};
use crate::kind::Resolve;
use crate::{Question, Scratch, Silent, ask};

/// Every way to fill in the unknown values, a value that no policy names and absence among them.
fn completions(tags: &Tags) -> Vec<Tags> {
    let Some(key) = tags.iter().find(|(_, value)| *value == "?").map(|(key, _)| key.clone()) else {
        return vec![tags.clone()];
    };
    let mut all = Vec::new();
    for value in [Some("one"), Some("two"), Some("three"), None] {
        let mut filled = tags.clone();
        match value {
            Some(value) => filled.insert(key.clone(), value.to_owned()),
            None => filled.remove(&key),
        };
        all.extend(completions(&filled));
    }
    all
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn a_decided_answer_holds_for_every_completion(
        policies in policies(), ladder in ladder(), source in parts(), destinations in parts(),
        unknown in proptest::sample::subsequence(KEYS.to_vec(), 1..=2),
    ) {
        let world = World::new(&policies, &ladder, Resolve::First);
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
                let found = winner(&policies, &ladder, std::slice::from_ref(filled), &destinations);
                found.map(|policy| policy.name.as_str())
            })
            .collect();
        let decided = answer.winner.map(|entry| world.name(entry));
        if !answer.undecided {
            prop_assert!(answers.iter().all(|found| *found == decided), "{answers:?} but decided {decided:?}");
        }
    }
}

#[test]
fn an_uncertain_hit_of_the_winner_does_not_hide_that_of_another() {
    let tags = |pairs: &[(&str, &str)]| -> Tags {
        pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
    };
    let policy = |name: &str, sources: Vec<Tags>| NaivePolicy {
        name: name.to_owned(),
        created: None,
        sources,
        destinations: vec![Tags::new()],
    };
    let policies = [
        policy("sure", vec![Tags::new(), tags(&[("service", "one"), ("version", "one")])]),
        policy("perhaps", vec![tags(&[("version", "one")])]),
    ];
    let world = World::new(&policies, &[NaiveRung::MoreTags, NaiveRung::Name], Resolve::First);
    let sources = world.tag_sets(&[tags(&[("service", "?"), ("version", "?")])]);
    let destinations = world.tag_sets(&[Tags::new()]);
    let question = Question { source: Some(&sources), destination: Some(&destinations) };
    let answer = ask(world.select().unwrap(), &question, &mut Scratch::default(), &mut Silent);
    assert_eq!(answer.winner.map(|entry| world.name(entry)), Some("sure"));
    assert!(answer.undecided);
}
