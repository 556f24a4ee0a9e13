//! Ranking: a ladder of rungs, each of which reads one integer.
//!
//! A rung is a key and not a comparator, so every ladder is a total preorder and a document can name it. Which integers
//! there are to read is the business of a family: its columns.

use upheld_model::Code;

/// Something that a family can read of a match or of an entry, as one integer.
pub trait Column: Copy + Eq {
    /// The column that separates any two entries.
    const IDENTITY: Self;

    /// The reason that a difference here gives.
    fn code(self, best: Best) -> Code;

    /// Whether a difference here says nothing about the policies: it flips when one is renamed.
    fn arbitrary(self) -> bool;
}

/// Which end of a column is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Best {
    /// The highest number.
    Highest,
    /// The lowest number.
    Lowest,
}

/// One ranking key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Rung<C> {
    /// What it reads.
    pub column: C,
    /// Which end is better.
    pub best: Best,
}

impl<C: Column> Rung<C> {
    /// The reason that it gives.
    pub fn code(self) -> Code {
        self.column.code(self.best)
    }

    /// Whether a win here says nothing about the policies.
    pub fn arbitrary(self) -> bool {
        self.column.arbitrary()
    }

    /// Greater if the first number is the better one.
    pub fn compare(self, mine: i64, theirs: i64) -> std::cmp::Ordering {
        match self.best {
            Best::Highest => mine.cmp(&theirs),
            Best::Lowest => theirs.cmp(&mine),
        }
    }
}

/// Rungs, the one that counts most first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ladder<C> {
    rungs: Vec<Rung<C>>,
}

impl<C: Column> Ladder<C> {
    /// A ladder of these rungs. Unless it ends with an arbitrary one, the identity is added: the last rung must separate
    /// any two, else the order of arrival would show.
    pub fn new(mut rungs: Vec<Rung<C>>) -> Self {
        let complete =
            rungs.last().is_some_and(|rung| rung.arbitrary()) || rungs.iter().any(|rung| rung.column == C::IDENTITY);
        if !complete {
            rungs.push(Rung { column: C::IDENTITY, best: Best::Lowest });
        }
        Self { rungs }
    }

    /// The same ladder with the identity below it, for entries that share even their name.
    #[must_use]
    pub fn with_identity(mut self) -> Self {
        if self.rungs.last().is_none_or(|rung| rung.column != C::IDENTITY) {
            self.rungs.push(Rung { column: C::IDENTITY, best: Best::Lowest });
        }
        self
    }

    /// The rungs in order.
    pub fn rungs(&self) -> &[Rung<C>] {
        &self.rungs
    }

    /// The place of a column in the ladder.
    pub fn position(&self, column: C) -> Option<usize> {
        self.rungs.iter().position(|rung| rung.column == column)
    }

    /// The first rung on which two differ, with its number.
    pub fn separate(&self, mine: impl Fn(C) -> i64, theirs: impl Fn(C) -> i64) -> Option<(usize, Rung<C>)> {
        self.rungs
            .iter()
            .enumerate()
            .find(|(_, rung)| rung.compare(mine(rung.column), theirs(rung.column)).is_ne())
            .map(|(number, rung)| (number, *rung))
    }
}
