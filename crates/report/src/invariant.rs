//! Whether something holds that must hold everywhere, with what speaks against it.

use serde::{Deserialize, Serialize};

use crate::{At, Certainty, Example, Holding, Phrase, Size};

/// What an invariant comes to.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Proof {
    /// Whether it holds.
    pub verdict: Proved,
    /// The sentence that answers.
    pub headline: Phrase,
    /// What speaks against it, each with an example that was asked.
    pub breaches: Vec<Breach>,
}

/// Whether an invariant holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Proved {
    /// Everywhere that was looked at, and all was looked at.
    Holds,
    /// Not everywhere.
    Broken,
    /// Nobody can tell.
    Undecided,
}

impl Proved {
    /// The word that people see.
    pub fn word(self) -> &'static str {
        match self {
            Self::Holds => "HOLDS",
            Self::Broken => "BROKEN",
            Self::Undecided => "UNDECIDED",
        }
    }
}

/// Questions whose answers are not as they must be, in one way and because of the same policies.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Breach {
    /// The policies that the answer comes from, or what the default is called; nothing if it is about an object itself.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub policies: Vec<String>,
    /// Where the first of them was written, or the object.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<At>,
    /// What it comes to: `permits`, `http.requestTimeout is 60s`.
    pub says: String,
    /// For how many.
    pub size: Size,
    /// One of them.
    pub example: Example,
    /// Whether it is known to happen.
    #[serde(flatten)]
    pub certainty: Certainty,
}

impl Breach {
    fn is_sure(&self) -> bool {
        self.certainty == Certainty::Sure
    }
}

impl Proof {
    /// What was found, where everything was looked at.
    pub fn of(breaches: Vec<Breach>, holds: Holding) -> Self {
        Self::bounded(breaches, None, holds)
    }

    /// What was found until a bound was met, if one was: something that is known to happen speaks against it all the same.
    pub fn bounded(mut breaches: Vec<Breach>, bound: Option<String>, holds: Holding) -> Self {
        breaches.sort_by_key(|breach| (!breach.is_sure(), std::cmp::Reverse(breach.size.count())));
        let (verdict, headline) = match (breaches.first(), bound) {
            (Some(first), _) if first.is_sure() => (Proved::Broken, Holding::broken(first, breaches.len() - 1)),
            (_, Some(bound)) => (Proved::Undecided, Holding::Bound { bound }),
            (Some(first), None) => (Proved::Undecided, Holding::may(first)),
            (None, None) => (Proved::Holds, holds),
        };
        Self { verdict, headline: headline.into(), breaches }
    }
}
