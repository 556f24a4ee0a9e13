//! Questions in cells with equal answers: what listings, class tables, audits and memos have in common. Whoever wants to know
//! something about all questions walks over cells, asks each of them once, and multiplies by its size.

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
