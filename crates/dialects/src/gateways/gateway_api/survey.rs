//! Many places at once: those at which the same policies meet in the same way are one cell, and are asked once.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use upheld_engine::hierarchy::{CellKey, Effective};
use upheld_engine::{Hierarchy, Scratch, Silent, gather, settle};

use super::gateways::{GatewayKind, Network};
use super::places::Asked;
use super::topology::Place;

/// Cells, in the order in which they were met.
#[derive(Debug, Default)]
pub struct Survey {
    known: FxHashMap<CellKey, usize>,
    cells: Vec<Cell>,
    scratch: Scratch<Hierarchy>,
}

/// Places with one answer.
#[derive(Debug)]
pub struct Cell {
    /// What holds there.
    pub answer: Arc<Effective>,
    /// How many there are.
    pub size: usize,
}

impl Survey {
    /// For about so many different places.
    pub fn expecting(places: usize) -> Self {
        let (mut known, mut cells) = (FxHashMap::default(), Vec::new());
        known.reserve(places);
        cells.reserve(places);
        Self { known, cells, scratch: Scratch::default() }
    }

    /// The cell of a place, which is asked if it is a new one.
    pub fn meet(&mut self, asked: &Asked<'_>) -> usize {
        let Self { known, cells, scratch } = self;
        asked.with(|policies, question| {
            gather(policies, question, scratch, &mut Silent);
            let next = cells.len();
            let number = *known.entry(policies.cell_of(question, scratch.hits())).or_insert(next);
            match cells.get_mut(number) {
                Some(cell) => cell.size += 1,
                None => {
                    let answer = Arc::new(settle(policies, question, scratch, &mut Silent));
                    cells.push(Cell { answer, size: 1 });
                }
            }
            number
        })
    }

    /// A cell by its number.
    pub fn cell(&self, number: usize) -> Option<&Cell> {
        self.cells.get(number)
    }

    /// All cells.
    pub fn cells(&self) -> &[Cell] {
        &self.cells
    }
}

impl Asked<'_> {
    /// What the answer depends on.
    pub fn cell(&self) -> CellKey {
        self.with(Hierarchy::cell)
    }
}

impl<'s> Network<'s> {
    /// What holds on every way, in the order of ways.
    pub fn effective_ways(self, kind: GatewayKind<'s>) -> Vec<(Place, Arc<Effective>)> {
        let ways = self.topology().way_count();
        let mut survey = Survey::expecting(ways);
        let mut found = Vec::with_capacity(ways);
        self.survey_ways(kind, &mut survey, |place, cell| {
            found.push((place, Arc::clone(&cell.answer)));
        });
        found
    }

    /// Meets every way, and shows its cell.
    pub(crate) fn survey_ways(self, kind: GatewayKind<'s>, survey: &mut Survey, mut show: impl FnMut(Place, &Cell)) {
        for (gateway_place, gateway) in self.topology().gateways.iter().enumerate() {
            for (host_place, host) in gateway.hosts.iter().enumerate() {
                for (way_place, way) in host.ways.iter().enumerate() {
                    let number = survey.meet(&self.way(kind, gateway, host, way));
                    let place = Place { gateway: gateway_place, host: host_place, way: way_place };
                    if let Some(cell) = survey.cell(number) {
                        show(place, cell);
                    }
                }
            }
        }
    }
}
