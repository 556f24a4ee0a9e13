//! Asking about a pair is asking about the representative of its cell.

use std::collections::BTreeSet;

use proptest::prelude::*;
use upheld_model::TagSet;

use super::super::cells::{Cell, Cells};
use super::super::matrix::{Matrix, RowScratch};
use super::super::reference::{NaivePolicy, Tags};
use super::laws::resolve;
use super::world::{Sources, World, end, kind, parts, policies};
use crate::kind::Resolve;
use crate::{Partition, Question, Ruling, Scratch, Select, Silent, ask};

type End = Option<Vec<TagSet>>;

fn ends(world: &World, all: &[Option<Vec<Tags>>]) -> Vec<End> {
    all.iter().map(|end| end.as_ref().map(|parts| world.tag_sets(parts))).collect()
}

/// The cells of all pairs, and the cell of each pair in the order of the ends.
fn cells<'o>(select: &Select, sources: &'o [End], destinations: &'o [End]) -> (Cells<'o>, Vec<Cell>) {
    let mut cells = Cells::new(select);
    let sources: Vec<usize> = sources.iter().map(|end| cells.add_source(end.as_deref())).collect();
    let destinations: Vec<usize> = destinations.iter().map(|end| cells.add_destination(end.as_deref())).collect();
    let pairs = sources.iter().flat_map(|source| destinations.iter().map(|destination| (*source, *destination)));
    let pairs = pairs.map(|(source, destination)| Cell { source, destination }).collect();
    (cells, pairs)
}

fn pairs<'o>(sources: &'o [End], destinations: &'o [End]) -> Vec<Question<'o>> {
    let pairs = sources.iter().flat_map(|source| destinations.iter().map(move |destination| (source, destination)));
    let question = |(source, destination): (&'o End, &'o End)| Question {
        source: source.as_deref(),
        destination: destination.as_deref(),
    };
    pairs.map(question).collect()
}

fn meaning() -> impl Strategy<Value = Sources> {
    prop_oneof![Just(Sources::Match), Just(Sources::Grant)]
}

fn some_ends() -> impl Strategy<Value = Vec<Option<Vec<Tags>>>> {
    proptest::collection::vec(end(), 1..6)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn asking_is_asking_the_representative_of_the_cell(
        policies in policies(), kind in kind(), resolve in resolve(), meaning in meaning(),
        callers in some_ends(), called in some_ends(),
    ) {
        let world = World::reading(meaning, &policies, &kind, resolve);
        let Some(select) = world.select() else { return Ok(()) };
        let (sources, destinations) = (ends(&world, &callers), ends(&world, &called));
        let (cells, found) = cells(select, &sources, &destinations);
        for (question, cell) in pairs(&sources, &destinations).into_iter().zip(found) {
            prop_assert_eq!(cells.locate(question), Some(cell));
            let representative = cells.representative(cell);
            let (own, other) = (Ruling::matched(select, &question), Ruling::matched(select, &representative));
            prop_assert_eq!(own.answer, other.answer, "{:?} and {:?}", question, representative);
            prop_assert_eq!(own.candidates, other.candidates, "{:?} and {:?}", question, representative);
        }
    }

    #[test]
    fn cells_are_those_of_their_representatives_and_have_every_pair_once(
        policies in policies(), kind in kind(), meaning in meaning(), callers in some_ends(), called in some_ends(),
    ) {
        let world = World::reading(meaning, &policies, &kind, Resolve::First);
        let Some(select) = world.select() else { return Ok(()) };
        let (sources, destinations) = (ends(&world, &callers), ends(&world, &called));
        let (cells, found) = cells(select, &sources, &destinations);
        let all: BTreeSet<Cell> = cells.cells().collect();
        prop_assert_eq!(all.len(), cells.cells().count());
        prop_assert_eq!(&all, &found.iter().copied().collect());
        for cell in all {
            prop_assert_eq!(cells.locate(cells.representative(cell)), Some(cell));
            prop_assert_eq!(cells.size(cell), found.iter().filter(|known| **known == cell).count() as u64);
        }
        let size: u64 = cells.cells().map(|cell| cells.size(cell)).sum();
        prop_assert_eq!(size, (callers.len() * called.len()) as u64);
    }

    #[test]
    fn the_order_of_arrival_never_shows(
        policies in policies().prop_shuffle(), kind in kind(), meaning in meaning(), callers in some_ends(), called in some_ends(),
    ) {
        let together = |policies: &[NaivePolicy], turned: bool| {
            let world = World::reading(meaning, policies, &kind, Resolve::First);
            let (mut sources, mut destinations) = (ends(&world, &callers), ends(&world, &called));
            if turned {
                sources.reverse();
                destinations.reverse();
            }
            let mut found = cells(world.select()?, &sources, &destinations).1;
            if turned {
                found.reverse();
            }
            // Which pairs are in the cell of each pair.
            let with = |cell: &Cell| found.iter().map(|other| other == cell).collect::<Vec<_>>();
            Some(found.iter().map(with).collect::<Vec<_>>())
        };
        let mut sorted = policies.clone();
        sorted.sort_by(|a, b| a.name.cmp(&b.name));
        prop_assert_eq!(together(&policies, false), together(&sorted, true));
    }

    #[test]
    fn all_pairs_equal_single_questions(
        policies in policies(), kind in kind(),
        callers in proptest::collection::vec(parts(), 1..6), called in proptest::collection::vec(parts(), 1..4),
    ) {
        let world = World::new(&policies, &kind, Resolve::First);
        let Some(select) = world.select() else { return Ok(()) };
        let known = |all: Vec<Vec<Tags>>| ends(&world, &all.into_iter().map(Some).collect::<Vec<_>>());
        let (sources, destinations) = (known(callers), known(called));
        let (cells, found) = cells(select, &sources, &destinations);
        let matrix = Matrix::new(select, cells.destinations().filter_map(|class| cells.destination(class)));
        let mut scratch = RowScratch::default();
        let mut rows = Vec::new();
        for class in cells.sources() {
            let mut row = Vec::new();
            matrix.row(cells.source(class).unwrap(), &mut scratch, |winner| row.push(winner));
            rows.push(row);
        }
        for (question, cell) in pairs(&sources, &destinations).iter().zip(found) {
            let asked = ask(select, question, &mut Scratch::default(), &mut Silent).winner;
            prop_assert_eq!(rows[cell.source][cell.destination], asked);
        }
    }
}
