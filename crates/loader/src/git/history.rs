//! The commits that changed some files, the latest first.

use std::collections::BTreeMap;
use std::path::Path;

use upheld_model::{Diagnostic, Fault, Timestamp};

use super::program::Git;
use super::unknown_revision;
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
    listed(git, &[], named, most)
}

/// The commits after one revision up to another that changed what is named, the latest first.
pub fn commits_between(
    named: &[impl AsRef<Path>],
    after: &str,
    until: &str,
    most: usize,
) -> Result<Vec<Commit>, Diagnostic> {
    let git = Git { folder: Path::new(".") };
    git.prefix()?;
    for revision in [after, until] {
        if git.tree(revision)?.is_none() {
            return Err(unknown_revision(&git, revision));
        }
    }
    listed(git, &[until.to_owned(), format!("^{after}")], named, most)
}

/// Who wrote each of some lines of a file last, by line; nothing for what is not committed yet.
pub fn blame(file: &str, lines: &[usize], revision: Option<&str>) -> Result<BTreeMap<usize, Commit>, Diagnostic> {
    if lines.is_empty() {
        return Ok(BTreeMap::new());
    }
    let told = Git { folder: Path::new(".") }.blame(file, lines, revision)?;
    let mut known: BTreeMap<String, Commit> = BTreeMap::new();
    let mut found = BTreeMap::new();
    // `NUMBER OLD-LINE LINE`, then what is known of the commit where it comes for the first time, then the line after a tab.
    let (mut id, mut line) = (String::new(), 0);
    for text in told.lines() {
        let mut words = text.split(' ');
        let first = words.next().unwrap_or_default();
        let rest = text.strip_prefix(first).unwrap_or_default().trim_start();
        let is_number = first.len() >= 40 && first.bytes().all(|byte| byte.is_ascii_hexdigit());
        if text.starts_with('\t') {
            if let Some(commit) = known.get(&id).filter(|_| !id.bytes().all(|byte| byte == b'0')) {
                found.insert(line, commit.clone());
            }
        } else if is_number {
            first.clone_into(&mut id);
            line = words.nth(1).and_then(|line| line.parse().ok()).unwrap_or(0);
            let new = Commit { id: id.clone(), author: String::new(), at: Timestamp(0), subject: String::new() };
            known.entry(id.clone()).or_insert(new);
        } else if let Some(commit) = known.get_mut(&id) {
            match first {
                "author" => rest.clone_into(&mut commit.author),
                "summary" => rest.clone_into(&mut commit.subject),
                "author-time" => {
                    let seconds: i64 = rest.parse().unwrap_or(0);
                    commit.at = Timestamp(seconds.saturating_mul(1_000_000_000));
                }
                _ => {}
            }
        }
    }
    Ok(found)
}

fn listed(git: Git<'_>, range: &[String], named: &[impl AsRef<Path>], most: usize) -> Result<Vec<Commit>, Diagnostic> {
    let mut paths = Vec::new();
    for named in named {
        let named = named.as_ref();
        // Whatever a pattern can mean is in its folder.
        let path =
            if Pattern::is_one(named) { Pattern::new(named)?.folder } else { named.to_string_lossy().into_owned() };
        paths.push(if path.is_empty() { ".".to_owned() } else { path });
    }
    let listing = git.log(range, &paths, most)?;
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
