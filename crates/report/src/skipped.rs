//! Which policies that do not match an explanation lists.

use std::str::FromStr;

use serde::Deserialize;
use smol_str::SmolStr;

use super::Candidate;

/// Which policies that do not match an explanation lists: those that come nearest to it, or one. The others are counted, and no work
/// is done for them.
///
/// ```
/// use upheld_report::Skipped;
///
/// assert_eq!("all".parse(), Ok(Skipped::All));
/// assert_eq!(Skipped::default(), Skipped::AtMost(20));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub enum Skipped {
    /// All of them.
    All,
    /// So many of each report.
    AtMost(usize),
    /// Those of one name.
    Named(SmolStr),
}

impl Skipped {
    /// None of them.
    pub const NONE: Self = Self::AtMost(0);

    /// How many are listed where nobody says it.
    pub const USUAL: usize = 20;

    /// How many of the nearest are listed at most.
    pub fn most(&self) -> usize {
        match self {
            Self::All => usize::MAX,
            Self::AtMost(most) => *most,
            Self::Named(_) => 0,
        }
    }

    /// The name of those that are listed, however far they are.
    pub fn named(&self) -> Option<&str> {
        match self {
            Self::All | Self::AtMost(_) => None,
            Self::Named(name) => Some(name),
        }
    }

    /// Whether a candidate is listed that does not match, after so many others.
    pub(crate) fn lists(&self, candidate: &Candidate, before: usize) -> bool {
        before < self.most() || self.named() == Some(&candidate.policy)
    }
}

impl Default for Skipped {
    fn default() -> Self {
        Self::AtMost(Self::USUAL)
    }
}

impl FromStr for Skipped {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.trim() {
            "all" => Ok(Self::All),
            number => number.parse().map(Self::AtMost).map_err(|_| format!("`{text}` is neither a number nor `all`")),
        }
    }
}

impl TryFrom<String> for Skipped {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}
