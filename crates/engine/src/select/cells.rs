//! Pairs in cells: ends that no policy can tell apart form a class, and a cell is two classes.

use std::ops::Range;

use upheld_model::{Side, Sym, TagSet, Want};

use super::{Question, Select};
use crate::partition::{CellTable, Partition, Visible, VisibleTags};
use crate::work;

/// All pairs of some sources and some destinations.
#[derive(Debug)]
pub struct Cells<'o> {
    sources: Ends<'o>,
    destinations: Ends<'o>,
}

/// Pairs with one answer: a class of sources and one of destinations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Cell {
    /// The class of the sources.
    pub source: usize,
    /// The class of the destinations.
    pub destination: usize,
}

impl<'o> Cells<'o> {
    /// No ends yet.
    pub fn new(select: &Select) -> Self {
        let granted = select
            .entries
            .iter()
            .flatten()
            .flat_map(|entry| entry.grants.iter().flat_map(|wants| wants.iter().copied()));
        Self { sources: Ends::of(select, Side::Source, granted), destinations: Ends::of(select, Side::Destination, []) }
    }

    /// The class of a source, made if it is new; nothing where nobody asks about the source.
    pub fn add_source(&mut self, parts: Option<&'o [TagSet]>) -> usize {
        self.sources.add(parts)
    }

    /// The class of a destination, made if it is new; nothing where nobody asks about the destination.
    pub fn add_destination(&mut self, parts: Option<&'o [TagSet]>) -> usize {
        self.destinations.add(parts)
    }

    /// The classes of sources.
    pub fn sources(&self) -> Range<usize> {
        self.sources.table.cells()
    }

    /// The classes of destinations.
    pub fn destinations(&self) -> Range<usize> {
        self.destinations.table.cells()
    }

    /// A source of a class, if that was asked about.
    pub fn source(&self, class: usize) -> Option<&'o [TagSet]> {
        self.sources.first(class)
    }

    /// A destination of a class, if that was asked about.
    pub fn destination(&self, class: usize) -> Option<&'o [TagSet]> {
        self.destinations.first(class)
    }

    /// The cells of a class of sources, in the order of the destinations.
    pub fn row(&self, source: usize) -> impl Iterator<Item = Cell> + use<> {
        self.destinations().map(move |destination| Cell { source, destination })
    }
}

impl<'o> Partition for Cells<'o> {
    type Question<'p>
        = Question<'p>
    where
        'o: 'p;
    type Cell = Cell;

    fn cells(&self) -> impl Iterator<Item = Cell> {
        self.sources().flat_map(|source| self.row(source))
    }

    fn representative(&self, cell: Cell) -> Question<'_> {
        Question { source: self.source(cell.source), destination: self.destination(cell.destination) }
    }

    fn size(&self, cell: Cell) -> u64 {
        self.sources.table.size(cell.source) * self.destinations.table.size(cell.destination)
    }

    fn locate(&self, question: Question<'_>) -> Option<Cell> {
        let source = self.sources.locate(question.source)?;
        Some(Cell { source, destination: self.destinations.locate(question.destination)? })
    }
}

/// The ends of one side in classes.
#[derive(Debug)]
struct Ends<'o> {
    visible: Visible,
    table: CellTable<VisibleParts, Option<&'o [TagSet]>>,
}

/// What is seen of each part, each once: any of them may match, so their order and number mean nothing.
type VisibleParts = Option<Vec<VisibleTags>>;

impl<'o> Ends<'o> {
    fn of(select: &Select, side: Side, granted: impl IntoIterator<Item = (Sym, Want)>) -> Self {
        let index = select.side(side);
        // Tags that the kind does not look at on this side are as if they were not there.
        let sees = index.item().and_then(|item| item.sees.as_deref());
        let matched = index.all_wants().filter(|(key, _)| sees.is_none_or(|keys| keys.contains(key)));
        let mut visible = Visible::default();
        for (key, want) in matched.chain(granted) {
            work::step();
            visible.add(key, want);
        }
        Self { visible, table: CellTable::default() }
    }

    fn add(&mut self, parts: Option<&'o [TagSet]>) -> usize {
        self.table.add(self.visible(parts), parts)
    }

    fn first(&self, class: usize) -> Option<&'o [TagSet]> {
        self.table.first(class).copied().flatten()
    }

    fn locate(&self, parts: Option<&[TagSet]>) -> Option<usize> {
        self.table.find(&self.visible(parts))
    }

    fn visible(&self, parts: Option<&[TagSet]>) -> VisibleParts {
        let mut parts: Vec<VisibleTags> = parts?.iter().map(|tags| self.visible.of(tags)).collect();
        parts.sort_unstable();
        parts.dedup();
        Some(parts)
    }
}
