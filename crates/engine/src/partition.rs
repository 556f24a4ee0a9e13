//! Questions in cells with equal answers: what listings, class tables, audits and memos have in common. Whoever wants to know
//! something about all questions walks over cells, asks each of them once, and multiplies by its size.
//!
//! Every family has its own: `select::cells`, `merge::cells`, `hierarchy::cells`, `decide::cells`. A family says what an
//! answer depends on (a key); [`CellTable`] keeps the cells, and [`Visible`] is the part of a key that tags make up.

mod rows;
mod visible;

use std::hash::Hash;
use std::ops::Range;

use rustc_hash::FxHashMap;

pub use rows::{CellRows, SizedCell};
pub use visible::{Visible, VisibleTags};

/// A partition of questions. Law: asking a question gives the same answer as asking the representative of its cell.
pub trait Partition {
    /// What is asked.
    type Question<'p>
    where
        Self: 'p;
    /// Which set of questions with one answer.
    type Cell: Copy;

    /// All cells, each once.
    fn cells(&self) -> impl Iterator<Item = Self::Cell>;

    /// A question of the cell.
    fn representative(&self, cell: Self::Cell) -> Self::Question<'_>;

    /// How many of the questions that the partition was made of are in the cell.
    fn size(&self, cell: Self::Cell) -> u64;

    /// The cell of a question; nothing for one that is like none of those that the partition was made of.
    fn locate(&self, question: Self::Question<'_>) -> Option<Self::Cell>;
}

/// Cells by what an answer depends on: of each its first question, and how many there are. Cells are numbered as they come.
#[derive(Clone, Debug)]
pub struct CellTable<K, Q> {
    all: Vec<(Q, u64)>,
    known: FxHashMap<K, usize>,
}

impl<K, Q> Default for CellTable<K, Q> {
    fn default() -> Self {
        Self { all: Vec::new(), known: FxHashMap::default() }
    }
}

impl<K: Eq + Hash, Q> CellTable<K, Q> {
    /// The cell of a question, made if it is new.
    pub fn add(&mut self, key: K, question: Q) -> usize {
        let cell = *self.known.entry(key).or_insert(self.all.len());
        match self.all.get_mut(cell) {
            Some((_, size)) => *size += 1,
            None => self.all.push((question, 1)),
        }
        cell
    }

    /// The cell with a key, if some question has it.
    pub fn find(&self, key: &K) -> Option<usize> {
        self.known.get(key).copied()
    }
}

impl<K, Q> CellTable<K, Q> {
    /// All cells.
    pub fn cells(&self) -> Range<usize> {
        0..self.all.len()
    }

    /// The first question of a cell.
    pub fn first(&self, cell: usize) -> Option<&Q> {
        self.all.get(cell).map(|(question, _)| question)
    }

    /// How many questions a cell has.
    pub fn size(&self, cell: usize) -> u64 {
        self.all.get(cell).map_or(0, |(_, size)| *size)
    }

    /// How many cells there are.
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }
}
