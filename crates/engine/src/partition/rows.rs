//! The cells of all pairs of two classes, kept as far as they differ: where each row tells few of its columns apart, there are as many
//! things to keep as rows tell apart, and not as many as there are pairs.

use std::collections::BTreeMap;

use crate::work;

/// The cell of each row and column. In a row, columns of one sort have one cell, but for those that it tells apart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CellRows {
    sort_of: Vec<usize>,
    /// The columns of each sort, in order.
    of_sort: Vec<Vec<usize>>,
    rows: Vec<CellRow>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct CellRow {
    /// By sort; nothing where the row tells all of its columns apart.
    usual: Vec<Option<u32>>,
    others: BTreeMap<usize, u32>,
}

/// A cell: its first row and column, and how many pairs it has.
pub type SizedCell = (usize, usize, u64);

impl CellRows {
    /// Without rows, for columns of these sorts.
    pub fn new(sort_of: Vec<usize>) -> Self {
        let mut of_sort = vec![Vec::new(); sort_of.iter().max().map_or(0, |last| last + 1)];
        for (column, sort) in sort_of.iter().enumerate() {
            if let Some(columns) = of_sort.get_mut(*sort) {
                columns.push(column);
            }
        }
        Self { sort_of, of_sort, rows: Vec::new() }
    }

    /// Adds a row: what its columns of a sort are, and those that it tells apart. They are numbered in the order of columns.
    pub fn add<K>(&mut self, usual: impl Fn(usize) -> K, others: BTreeMap<usize, K>, mut number: impl FnMut(K) -> u32) {
        work::steps((self.of_sort.len() + others.len()) as u64);
        let is_usual = |column: &&usize| !others.contains_key(column);
        let firsts = self.of_sort.iter().map(|columns| columns.iter().find(is_usual).copied());
        let firsts: BTreeMap<usize, usize> =
            firsts.enumerate().filter_map(|(sort, first)| Some((first?, sort))).collect();
        let mut row = CellRow { usual: vec![None; self.of_sort.len()], others: BTreeMap::new() };
        let mut firsts = firsts.into_iter().peekable();
        let mut others = others.into_iter().peekable();
        loop {
            let usual_comes = match (firsts.peek(), others.peek()) {
                (None, None) => break,
                (Some((first, _)), Some((other, _))) => first < other,
                (first, _) => first.is_some(),
            };
            if usual_comes {
                let Some((_, sort)) = firsts.next() else { break };
                let cell = number(usual(sort));
                if let Some(known) = row.usual.get_mut(sort) {
                    *known = Some(cell);
                }
            } else {
                let Some((column, key)) = others.next() else { break };
                row.others.insert(column, number(key));
            }
        }
        self.rows.push(row);
    }

    /// The cell of a row and a column.
    pub fn cell(&self, row: usize, column: usize) -> Option<u32> {
        self.rows.get(row)?.cell(column, *self.sort_of.get(column)?)
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The cell of every pair, by row and column.
    pub fn each(&self) -> Vec<Vec<u32>> {
        let cells = |row: &CellRow| {
            work::steps(self.sort_of.len() as u64);
            let columns = self.sort_of.iter().enumerate();
            columns.map(|(column, sort)| row.cell(column, *sort).unwrap_or(u32::MAX)).collect()
        };
        self.rows.iter().map(cells).collect()
    }

    /// All cells by number, where rows and columns stand for so many each. Nothing for one that has no pair.
    pub fn sized(&self, rows: &[u64], columns: &[u64]) -> Vec<Option<SizedCell>> {
        let size_of = |column: &usize| columns.get(*column).copied().unwrap_or_default();
        let sorts: Vec<u64> = self.of_sort.iter().map(|columns| columns.iter().map(size_of).sum()).collect();
        let mut cells: Vec<Option<SizedCell>> = Vec::new();
        for (number, (row, size)) in self.rows.iter().zip(rows).enumerate().filter(|(_, (_, size))| **size > 0) {
            let mut left = sorts.clone();
            for (column, cell) in &row.others {
                let sort = self.sort_of.get(*column).and_then(|sort| left.get_mut(*sort));
                if let Some(left) = sort {
                    *left -= size_of(column);
                }
                note(&mut cells, *cell, (number, *column, size * size_of(column)));
            }
            for ((usual, left), columns) in row.usual.iter().zip(left).zip(&self.of_sort) {
                let is_first = |column: &&usize| !row.others.contains_key(column) && size_of(column) > 0;
                if let (Some(cell), Some(first)) = (usual, columns.iter().find(is_first)) {
                    note(&mut cells, *cell, (number, *first, size * left));
                }
            }
        }
        cells
    }
}

impl CellRow {
    fn cell(&self, column: usize, sort: usize) -> Option<u32> {
        self.others.get(&column).copied().or_else(|| self.usual.get(sort).copied().flatten())
    }
}

/// Some pairs of a cell.
fn note(cells: &mut Vec<Option<SizedCell>>, cell: u32, (row, column, size): SizedCell) {
    let cell = cell as usize;
    if cells.len() <= cell {
        cells.resize(cell + 1, None);
    }
    let Some(known) = cells.get_mut(cell).filter(|_| size > 0) else { return };
    *known = Some(match *known {
        Some((first, of, before)) => {
            let (first, of) = (first, of).min((row, column));
            (first, of, before + size)
        }
        None => (row, column, size),
    });
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::{CellRows, SizedCell};

    /// What cells are where everything is kept: numbered as they come, row by row.
    fn naive(sorts: &[usize], rows: &[BTreeMap<usize, u8>]) -> Vec<Vec<u32>> {
        let mut known: Vec<u8> = Vec::new();
        let mut number = |key: u8| {
            let place = known.iter().position(|other| *other == key);
            let place = place.unwrap_or_else(|| {
                known.push(key);
                known.len() - 1
            });
            u32::try_from(place).expect("few")
        };
        let mut row = |others: &BTreeMap<usize, u8>| -> Vec<u32> {
            let key = |(column, sort): (usize, &usize)| others.get(&column).copied().unwrap_or_else(|| usual(*sort));
            sorts.iter().enumerate().map(|column| number(key(column))).collect()
        };
        rows.iter().map(&mut row).collect()
    }

    fn usual(sort: usize) -> u8 {
        u8::try_from(sort % 2).expect("few")
    }

    proptest! {
        #[test]
        fn rows_that_keep_what_differs_have_the_cells_of_all_pairs(
            sorts in prop::collection::vec(0_usize..3, 0..8),
            others in prop::collection::vec(prop::collection::btree_map(0_usize..8, 0_u8..5, 0..6), 0..5),
            sizes in prop::collection::vec(0_u64..3, 16),
        ) {
            let others: Vec<BTreeMap<usize, u8>> = others
                .into_iter()
                .map(|row| row.into_iter().filter(|(column, _)| *column < sorts.len()).collect())
                .collect();
            let mut kept = CellRows::new(sorts.clone());
            let mut known: Vec<u8> = Vec::new();
            for row in &others {
                kept.add(usual, row.clone(), |key| {
                    let place = known.iter().position(|other| *other == key).unwrap_or_else(|| {
                        known.push(key);
                        known.len() - 1
                    });
                    u32::try_from(place).expect("few")
                });
            }
            let all = naive(&sorts, &others);
            prop_assert_eq!(kept.each(), all.clone());
            let (rows, columns) = (&sizes[..8], &sizes[8..]);
            let mut expected: BTreeMap<u32, SizedCell> = BTreeMap::new();
            for (row, cells) in all.iter().enumerate() {
                for (column, cell) in cells.iter().enumerate().filter(|(column, _)| rows[row] * columns[*column] > 0) {
                    expected.entry(*cell).or_insert((row, column, 0)).2 += rows[row] * columns[column];
                }
            }
            let found = kept.sized(rows, columns).into_iter().enumerate();
            let found = found.filter_map(|(cell, sized)| Some((u32::try_from(cell).expect("few"), sized?)));
            prop_assert_eq!(found.collect::<BTreeMap<_, _>>(), expected);
        }
    }
}
