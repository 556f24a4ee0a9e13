//! The commits that changed some files, the latest first.

use std::path::Path;

use upheld_model::{Diagnostic, Fault, Timestamp};

use super::program::Git;
use crate::pattern::Pattern;

/// A commit, with who made it and what for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Commit {
    /// Its whole number.
    pub id: String,
    /// Who wrote it.
    pub author: String,
    /// When.
    pub at: Timestamp,
    /// The first line of its message.
    pub subject: String,
}

impl Commit {
    /// The beginning of its number, as people write it.
    pub fn short(&self) -> &str {
        self.id.get(..10).unwrap_or(&self.id)
    }
}

/// The commits on the way to what is checked out that changed what is named, the latest first, and no more than `most`.
pub fn commits(named: &[impl AsRef<Path>], most: usize) -> Result<Vec<Commit>, Diagnostic> {
    commits_in(Path::new("."), named, most)
}

/// As [`commits`], as if another folder were the current one.
pub fn commits_in(current: &Path, named: &[impl AsRef<Path>], most: usize) -> Result<Vec<Commit>, Diagnostic> {
    let git = Git { folder: current };
    git.prefix()?;
    let mut paths = Vec::new();
    for named in named {
        let named = named.as_ref();
        // Whatever a pattern can mean is in its folder.
        let path =
            if Pattern::is_one(named) { Pattern::new(named)?.folder } else { named.to_string_lossy().into_owned() };
        paths.push(if path.is_empty() { ".".to_owned() } else { path });
    }
    let listing = git.log(&paths, most)?;
    let read = |commit: &str| {
        let mut fields = commit.split('\0');
        let mut next = || fields.next().map(str::to_owned);
        let (id, author, at, subject) = (next()?, next()?, next()?, next()?);
        Some(Commit { id, author, at: at.parse().ok()?, subject })
    };
    let commits = listing.lines().map(|line| {
        let unreadable = || Diagnostic::error(Fault::Unreadable, "git describes a commit in a way that cannot be read");
        read(line).ok_or_else(unreadable)
    });
    commits.collect()
}
