//! Pairs under a kind of layers, in the cells that its dialect makes.

use upheld_dialects::dialect::{LayeredCells, LayeredStanding, SomePairs};
use upheld_dialects::dialects;
use upheld_engine::{KindId, Resolve, Snapshot};
use upheld_model::Sym;

use super::{Pairs, Row, Standing};

/// As [`super::tally`] for a kind of layers: several policies may make the result of a pair.
pub(crate) fn layered(snapshot: &Snapshot, kind: KindId, mesh: Sym, among: &SomePairs) -> Option<Pairs> {
    let LayeredCells { callers, called, rows, cells } =
        dialects().find_map(|dialect| dialect.layered_cells(snapshot, kind, mesh, among))?;
    let (proxies, source_of) = callers.into_iter().unzip();
    let (destinations, destination_of) = called.into_iter().unzip();
    let standing = |one: LayeredStanding| Standing { policies: one.policies, granted: one.granted };
    Some(Pairs {
        mesh,
        rows: (0..rows.len()).map(Row::Layered).collect(),
        cells: rows,
        layered: cells.into_iter().map(standing).collect(),
        source_of,
        destination_of,
        proxies,
        destinations,
        resolve: Resolve::All,
        grants: false,
    })
}

impl Pairs {
    /// The cells of layers by number, those that have pairs: who calls and who is called in the first of these, and how many they are.
    pub(crate) fn layered_cells(&self) -> impl Iterator<Item = (Sym, &str, u64)> {
        let [callers, called] = [&self.source_of, &self.destination_of].map(|classes| members(classes));
        let sizes = |classes: &[(usize, u64)]| classes.iter().map(|(_, size)| *size).collect::<Vec<_>>();
        let sized = self.cells.sized(&sizes(&callers), &sizes(&called));
        sized.into_iter().flatten().filter_map(move |(from, to, size)| {
            let ((from, _), (to, _)) = (callers.get(from)?, called.get(to)?);
            Some((*self.proxies.get(*from)?, self.destinations.get(*to)?.as_str(), size))
        })
    }

    /// How many sorts of pairs layers tell apart.
    pub(crate) fn layered_cell_count(&self) -> usize {
        self.layered.len()
    }
}

/// The place of the first member of each class, and how many it has.
fn members(class_of: &[usize]) -> Vec<(usize, u64)> {
    let mut members = vec![(0, 0); class_of.iter().max().map_or(0, |last| last + 1)];
    for (place, class) in class_of.iter().enumerate().rev() {
        if let Some((first, size)) = members.get_mut(*class) {
            (*first, *size) = (place, *size + 1);
        }
    }
    members
}
