//! Secrets that operators give.

use std::fmt;
use std::path::PathBuf;

use serde::Deserialize;

/// A secret that an operator gives. It does not show itself.
#[derive(Clone, PartialEq, Eq, Deserialize)]
#[serde(from = "PathBuf")]
pub enum GivenSecret {
    /// What is in a file, without spaces around it.
    File(PathBuf),
    /// It itself.
    Text(String),
}

impl From<PathBuf> for GivenSecret {
    fn from(file: PathBuf) -> Self {
        Self::File(file)
    }
}

impl fmt::Debug for GivenSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => f.debug_tuple("File").field(path).finish(),
            Self::Text(_) => f.write_str("Text(…)"),
        }
    }
}
