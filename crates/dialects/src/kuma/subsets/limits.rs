//! How much a listing may take. A few dozen tags are enough for more cells than there are atoms.

/// How large a listing may get.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The most cells of all groups together; 100 000 unless told otherwise.
    pub cells: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { cells: 100_000 }
    }
}

/// The listing would have more cells than the limit, or would take as long as if it had.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooManyCells {
    /// The most that are listed.
    pub limit: usize,
    /// How many were counted: at least so many there are. A count within the limit means that the groups of the items
    /// are too hard to find, or the items too many to list them for each cell.
    pub cells: usize,
}

/// Steps that one cell is worth. A step is about as long as looking at one item or at 64 bits.
const STEPS_IN_A_CELL: usize = 1024;

/// Steps that eight bytes are worth which stay until the end.
const STEPS_IN_A_WORD: usize = 8;

/// A low limit is for few cells, not for few items.
const ALWAYS_GRANTED: usize = 10_000 * STEPS_IN_A_CELL;

/// Counts what a listing takes, so that it stops in time.
#[derive(Debug)]
pub(super) struct Effort {
    limit: usize,
    cells: usize,
    steps_left: usize,
}

impl Effort {
    pub(super) fn new(limits: Limits) -> Self {
        let steps_left = limits.cells.saturating_mul(STEPS_IN_A_CELL).max(ALWAYS_GRANTED);
        Self { limit: limits.cells, cells: 0, steps_left }
    }

    /// More cells will be listed.
    pub(super) fn add_cells(&mut self, cells: usize) -> Result<(), TooManyCells> {
        self.cells = self.cells.saturating_add(cells);
        if self.cells > self.limit { Err(self.too_many()) } else { Ok(()) }
    }

    /// Some work is about to be done.
    pub(super) fn spend(&mut self, steps: usize) -> Result<(), TooManyCells> {
        self.steps_left = self.steps_left.checked_sub(steps).ok_or(self.too_many())?;
        Ok(())
    }

    /// Some words of memory are about to be filled.
    pub(super) fn keep(&mut self, words: usize) -> Result<(), TooManyCells> {
        self.spend(words.saturating_mul(STEPS_IN_A_WORD))
    }

    fn too_many(&self) -> TooManyCells {
        TooManyCells { limit: self.limit, cells: self.cells }
    }
}
