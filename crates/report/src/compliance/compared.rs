//! An audit beside an earlier one.

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

/// Whether a violation was there before.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum BaselineState {
    /// It was not.
    New,
    /// It was, and is as it was.
    Unchanged,
    /// It was, with other values, another level, or another waiver.
    Updated,
}

impl BaselineState {
    /// As it is printed.
    pub fn name(self) -> &'static str {
        match self {
            Self::New => "new",
            Self::Unchanged => "unchanged",
            Self::Updated => "updated",
        }
    }
}

/// What an audit came to, beside an earlier one.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Compared {
    /// How many violations were not there before.
    pub new: usize,
    /// How many are as they were.
    pub unchanged: usize,
    /// How many are others than they were.
    pub updated: usize,
    /// Those that were there and are not.
    pub absent: Vec<Absent>,
}

/// A violation that was there before.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Absent {
    /// Its fingerprint.
    pub id: String,
    /// The policy that it was of.
    pub policy: String,
    /// What was said of it.
    pub message: String,
    /// All that the earlier report had, if that was one for code scanning.
    #[serde(skip)]
    pub result: Option<Json>,
}

impl Compared {
    /// `2 new, 5 known, 1 gone`.
    pub fn sentence(&self) -> String {
        format!("{} new, {} known, {} gone", self.new, self.unchanged + self.updated, self.absent.len())
    }
}
