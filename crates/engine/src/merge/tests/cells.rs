//! Asking about a subject is asking about the representative of its cell.

use proptest::prelude::*;
use upheld_model::Object;

use super::super::reference::{NaiveObject, NaiveQuestion, NaiveWorld};
use super::super::{Cells, Classes, Merge, Question, Subject};
use super::random::{any_question, proxy, question, world};
use super::world::{Asked, World};
use crate::{Partition, Ruling};

/// What a person would be told of those that match, and what they come to.
fn answered(merge: &Merge, question: &Question<'_>) -> String {
    let Ruling { answer, candidates, default, decided, notes, .. } = Ruling::matched(merge, question);
    let rows: Vec<_> = candidates.iter().map(|row| (row.entry, row.state, row.reason, row.distance)).collect();
    let results: Vec<_> = answer.results.iter().map(|one| (one.config(), one.contributors())).collect();
    format!("{:?} {results:?} {} {rows:?} {default:?} {decided:?} {notes:?}", answer.entries, answer.undecided)
}

fn questions() -> impl Strategy<Value = Vec<(NaiveObject, NaiveQuestion)>> {
    // Few proxies, so that the same one is asked several things.
    let proxies = proptest::collection::vec(proxy(), 1..4);
    let asked = proptest::collection::vec((0..4_usize, any_question()), 1..16);
    (proxies, asked).prop_map(|(proxies, asked)| {
        asked.into_iter().map(|(number, question)| (proxies[number % proxies.len()].clone(), question)).collect()
    })
}

fn cells<'q>(merge: &Merge, asked: &'q [Asked<'_>]) -> (Cells<'q>, Vec<usize>) {
    let mut cells = Cells::new([merge]);
    let found = asked.iter().map(|asked| cells.classify(asked.question())).collect();
    (cells, found)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn asking_is_asking_the_representative_of_the_cell(naive in world(), questions in questions()) {
        let world = World::new(&naive);
        let Some(merge) = world.merge() else { return Ok(()) };
        let asked: Vec<Asked<'_>> = questions.iter().map(|(proxy, question)| world.asked(proxy, question)).collect();
        let (cells, found) = cells(merge, &asked);
        for (asked, cell) in asked.iter().zip(found) {
            let question = asked.question();
            prop_assert_eq!(cells.locate(question), Some(cell));
            let representative = cells.representative(cell);
            prop_assert_eq!(answered(merge, &question), answered(merge, &representative));
        }
    }

    #[test]
    fn cells_are_those_of_their_representatives_and_have_every_question_once(naive in world(), questions in questions()) {
        let world = World::new(&naive);
        let Some(merge) = world.merge() else { return Ok(()) };
        let asked: Vec<Asked<'_>> = questions.iter().map(|(proxy, question)| world.asked(proxy, question)).collect();
        let (cells, found) = cells(merge, &asked);
        for cell in cells.cells() {
            prop_assert_eq!(cells.locate(cells.representative(cell)), Some(cell));
            prop_assert_eq!(cells.size(cell), found.iter().filter(|known| **known == cell).count() as u64);
        }
        prop_assert_eq!(cells.cells().map(|cell| cells.size(cell)).sum::<u64>(), asked.len() as u64);
    }

    #[test]
    fn the_order_of_arrival_never_shows(
        naive in world(), order in Just((0..7_usize).collect::<Vec<_>>()).prop_shuffle(), questions in questions(),
    ) {
        let policies = order.iter().filter_map(|place| naive.policies.get(*place).cloned()).collect();
        let shuffled = NaiveWorld { policies, ..naive.clone() };
        // Which questions are in the cell of each question.
        let together = |naive: &NaiveWorld, questions: Vec<&(NaiveObject, NaiveQuestion)>| {
            let world = World::new(naive);
            let asked: Vec<Asked<'_>> = questions.iter().map(|(proxy, question)| world.asked(proxy, question)).collect();
            let found = cells(world.merge()?, &asked).1;
            let with = |cell: &usize| found.iter().map(|other| other == cell).collect::<Vec<_>>();
            Some(found.iter().map(with).collect::<Vec<_>>())
        };
        let turned = together(&shuffled, questions.iter().rev().collect()).map(|mut rows| {
            rows.reverse();
            for row in &mut rows {
                row.reverse();
            }
            rows
        });
        prop_assert_eq!(together(&naive, questions.iter().collect()), turned);
    }

    #[test]
    fn subjects_of_one_class_get_the_same_answer_to_every_question(
        naive in world(), proxies in proptest::collection::vec(proxy(), 1..8), question in question(),
    ) {
        let world = World::new(&naive);
        let Some(merge) = world.merge() else { return Ok(()) };
        let objects: Vec<Object> = proxies.iter().map(|proxy| world.object(proxy)).collect();
        let mut classes = Classes::new([merge]);
        let found: Vec<usize> = objects.iter().map(|object| classes.classify(Subject::of(object))).collect();
        for (proxy, (object, class)) in proxies.iter().zip(objects.iter().zip(found)) {
            prop_assert_eq!(classes.locate(Subject::of(object)), Some(class));
            let asked = world.asked(proxy, &question);
            let about = asked.question().about;
            let representative = Question { subject: classes.representative(class), about };
            prop_assert_eq!(answered(merge, &asked.question()), answered(merge, &representative));
        }
        for class in classes.cells() {
            prop_assert_eq!(classes.locate(classes.representative(class)), Some(class));
        }
        prop_assert_eq!(classes.cells().map(|class| classes.size(class)).sum::<u64>(), proxies.len() as u64);
    }
}
