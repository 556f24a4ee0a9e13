//! Why a server cannot know whom to trust.

use std::fmt::Display;
use std::path::{Path, PathBuf};

use upheld_loader::load::Broken;

/// Why a server cannot know whom to trust. Never has a secret in it.
#[derive(Debug, thiserror::Error)]
pub enum SecurityError {
    /// A file cannot be used.
    #[error("{}: {problem}", path.display())]
    File {
        /// Which file.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// The policies that say who may do what are broken.
    #[error("the rights in {} cannot be read", path.display())]
    Rights {
        /// Where they are.
        path: PathBuf,
        /// What is wrong with them.
        broken: Box<Broken>,
    },
    /// A setting does not make sense.
    #[error("{0}")]
    Setting(String),
}

impl SecurityError {
    pub(crate) fn file(path: &Path, problem: impl Display) -> Self {
        Self::File { path: path.to_owned(), problem: problem.to_string() }
    }
}
