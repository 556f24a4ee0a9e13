//! Questions in cells with equal answers: what listings, class tables and memos have in common.

/// A partition of questions. Law: asking a question gives the same answer as asking the representative of its cell.
pub trait Partition {
    /// What is asked.
    type Question: ?Sized;
    /// A set of questions with one answer.
    type Cell;

    /// All cells.
    fn cells(&self) -> &[Self::Cell];

    /// A question of the cell.
    fn representative<'c>(&self, cell: &'c Self::Cell) -> &'c Self::Question;

    /// The cell of a question.
    fn locate(&self, question: &Self::Question) -> Option<usize>;
}
