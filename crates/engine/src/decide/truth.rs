//! True, false, or not to be decided.

use std::ops::Not;

/// Whether something holds. What cannot be evaluated is an error: neither true nor false.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Truth {
    /// It holds.
    True,
    /// It does not.
    False,
    /// A fact is missing, or of a type that makes no sense here.
    Error,
}

impl Truth {
    /// Both: false beats an error beats true.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::False, _) | (_, Self::False) => Self::False,
            (Self::Error, _) | (_, Self::Error) => Self::Error,
            (Self::True, Self::True) => Self::True,
        }
    }

    /// One of both: true beats an error beats false.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        match (self, other) {
            (Self::True, _) | (_, Self::True) => Self::True,
            (Self::Error, _) | (_, Self::Error) => Self::Error,
            (Self::False, Self::False) => Self::False,
        }
    }
}

impl Not for Truth {
    type Output = Self;

    fn not(self) -> Self {
        match self {
            Self::True => Self::False,
            Self::False => Self::True,
            Self::Error => Self::Error,
        }
    }
}

impl From<bool> for Truth {
    fn from(holds: bool) -> Self {
        if holds { Self::True } else { Self::False }
    }
}
