//! Files of a git revision: in go a revision and what users name, out come inputs as if that revision were checked out.
//!
//! The `git` program does the work, so whatever it can read can be read here. Files are found by the same rules, in the
//! same order and under the same names as [`crate::discover()`] finds them on disk.

mod history;
mod program;

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::{Component, Path};

use upheld_model::nearest::nearest;
use upheld_model::{Diagnostic, Fault};

pub use self::history::{Commit, blame, commits, commits_between, commits_in};
use self::program::{Blob, Blobs, Git};
use crate::aside::{LeftAside, Why};
use crate::discover::Discovered;
use crate::ignored::{Exclude, What};
use crate::paths;
use crate::pattern::Pattern;
use crate::read::{Input, Origin};
use upheld_syntax::limits;

/// Finds what is named in a revision (a branch, a tag, a commit), sorted by name, each file once.
pub fn discover_at(revision: &str, named: &[impl AsRef<Path>]) -> (Vec<Input>, Vec<Diagnostic>) {
    discover_at_in(Path::new("."), revision, named)
}

/// Finds what is named in a revision as if another folder were the current one.
pub fn discover_at_in(current: &Path, revision: &str, named: &[impl AsRef<Path>]) -> (Vec<Input>, Vec<Diagnostic>) {
    let Discovered { inputs, problems, .. } = discover_at_without(current, revision, named, &Exclude::default());
    (inputs, problems)
}

/// Finds what is named in a revision, without what somebody excludes. Whatever git keeps is found, also if it would ignore it today.
pub fn discover_at_without(
    current: &Path,
    revision: &str,
    named: &[impl AsRef<Path>],
    exclude: &Exclude,
) -> Discovered {
    let mut search = match Search::new(Git { folder: current }, revision, exclude) {
        Ok(search) => search,
        Err(problem) => return Discovered { problems: vec![problem], ..Discovered::default() },
    };
    for named in named {
        if let Err(problem) = search.named(named.as_ref()) {
            search.problems.push(problem);
        }
    }
    search.finish()
}

struct Search<'a> {
    git: Git<'a>,
    /// The end of a sentence: in which revision.
    place: String,
    /// The current folder from the top of the repository.
    prefix: String,
    /// All files of the revision, by their path from the top of the repository.
    entries: BTreeMap<String, program::Entry>,
    blobs: Blobs,
    exclude: &'a Exclude,
    found: Vec<Found>,
    problems: Vec<Diagnostic>,
    aside: LeftAside,
}

struct Found {
    /// As shown to users.
    name: String,
    origin: Origin,
    /// From the top of the repository, after following links.
    path: String,
}

/// A file that links to itself is followed this often.
const LINKS: usize = 40;

impl<'a> Search<'a> {
    fn new(git: Git<'a>, revision: &str, exclude: &'a Exclude) -> Result<Self, Diagnostic> {
        let prefix = git.prefix()?;
        let Some(tree) = git.tree(revision)? else { return Err(unknown_revision(&git, revision)) };
        let place = format!(" in revision `{revision}`");
        let (entries, blobs) = (git.entries(&tree)?, git.blobs()?);
        let (found, problems, aside) = (Vec::new(), Vec::new(), LeftAside::default());
        Ok(Self { git, place, prefix, entries, blobs, exclude, found, problems, aside })
    }

    fn named(&mut self, named: &Path) -> Result<(), Diagnostic> {
        let name = paths::display(named);
        if name == paths::STANDARD_INPUT {
            let message = format!("there is no standard input{}", self.place);
            return Err(Diagnostic::error(Fault::Unreadable, message).help("name files, folders or patterns"));
        }
        let path = self.in_repository(named)?;
        match self.follow(&path) {
            Some(path) if self.entries.contains_key(&path) => self.add(name, path, Origin::Named),
            Some(path) if self.has_folder(&path) => {
                if !self.below(&path, &name, |_| true) {
                    return Err(paths::nothing_in_folder(&name, &self.place));
                }
            }
            _ if Pattern::is_one(named) => {
                let pattern = Pattern::new(named)?;
                let folder = self.in_repository(Path::new(&pattern.folder))?;
                if !self.below(&folder, &pattern.folder, |name| pattern.matches(name)) {
                    return Err(paths::nothing_matches(&pattern.text, &self.place));
                }
            }
            _ => {
                let meant = paths::meant(named, |path| self.exists(path), |folder| self.names_in(folder));
                return Err(paths::missing(&name, &self.place, meant.as_deref()));
            }
        }
        Ok(())
    }

    /// Adds all manifests below a folder whose names are accepted. Says whether there were any, or a problem that
    /// explains why not.
    fn below(&mut self, folder: &str, shown: &str, accepts: impl Fn(&str) -> bool) -> bool {
        let candidates: Vec<(String, String)> = self
            .inside(folder)
            .filter(|(_, below)| paths::is_wanted_below(below))
            .map(|(path, below)| (path.to_owned(), paths::join(shown, below)))
            .filter(|(_, name)| accepts(name))
            .collect();
        let before = self.found.len() + self.problems.len() + self.aside.by_reason.len();
        for (path, name) in candidates {
            match self.follow(&path) {
                Some(path) if self.entries.contains_key(&path) => self.add(name, path, Origin::Found),
                // As on disk, a link to a folder is not entered unless it is named.
                Some(path) if self.has_folder(&path) => {}
                _ => self.problems.push(paths::missing(&name, &self.place, None).help("it is a broken link")),
            }
        }
        self.found.len() + self.problems.len() + self.aside.by_reason.len() > before
    }

    fn add(&mut self, name: String, path: String, origin: Origin) {
        if self.exclude.excludes(&self.git.folder.join(&name), What::File) {
            self.aside.add(Why::Excluded, name);
        } else {
            self.found.push(Found { name, origin, path });
        }
    }

    /// Where a path leads if it is a link, the path itself if it is not; nothing if it leads in a circle or out.
    fn follow(&mut self, path: &str) -> Option<String> {
        let mut path = path.to_owned();
        for _ in 0..LINKS {
            let Some(entry) = self.entries.get(&path).filter(|entry| entry.is_link) else { return Some(path) };
            let Ok(Blob::Bytes(target)) = self.blobs.read(&entry.object) else { return None };
            let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
            path = resolve(folder, Path::new(&*String::from_utf8_lossy(&target)))?;
        }
        None
    }

    /// A path from the top of the repository.
    fn in_repository(&self, named: &Path) -> Result<String, Diagnostic> {
        let path = if named.is_absolute() {
            let top = self.git.top()?;
            let inside = |path: &Path| path.strip_prefix(&top).ok().and_then(|path| resolve("", path));
            inside(named).or_else(|| inside(&named.canonicalize().ok()?))
        } else {
            resolve(&self.prefix, named)
        };
        path.ok_or_else(|| {
            let message = format!("`{}` is outside the git repository", paths::display(named));
            Diagnostic::error(Fault::Unreadable, message)
        })
    }

    fn exists(&self, named: &Path) -> bool {
        self.in_repository(named).is_ok_and(|path| self.entries.contains_key(&path) || self.has_folder(&path))
    }

    fn names_in(&self, named: &Path) -> Vec<String> {
        let Ok(folder) = self.in_repository(named) else { return Vec::new() };
        let names: BTreeSet<&str> = self.inside(&folder).filter_map(|(_, below)| below.split('/').next()).collect();
        names.into_iter().map(str::to_owned).collect()
    }

    fn has_folder(&self, path: &str) -> bool {
        path.is_empty() || self.inside(path).next().is_some()
    }

    /// The files inside of a folder: their paths from the top of the repository, and from that folder.
    fn inside(&self, folder: &str) -> impl Iterator<Item = (&str, &str)> {
        let start = if folder.is_empty() { String::new() } else { format!("{folder}/") };
        self.entries
            .range(start.clone()..)
            .map_while(move |(path, _)| Some((path.as_str(), path.strip_prefix(start.as_str())?)))
    }

    fn finish(mut self) -> Discovered {
        self.found.sort_by(|a, b| a.name.cmp(&b.name).then(a.origin.cmp(&b.origin)));
        let mut seen = HashSet::new();
        let mut inputs = Vec::new();
        for Found { name, origin, path } in self.found {
            let Some(entry) = self.entries.get(&path) else { continue };
            if !seen.insert(path) {
                continue;
            }
            match self.blobs.read(&entry.object) {
                Ok(Blob::Bytes(bytes)) => inputs.push(Input::bytes(name, bytes).of(origin)),
                Ok(Blob::TooLarge) => self.problems.push(limits::too_large(&name)),
                Err(error) => self.problems.push(paths::unreadable(&name, &error)),
            }
        }
        Discovered { inputs, problems: self.problems, aside: self.aside }
    }
}

/// A path inside of a folder, without `.` and `..`; nothing if it leads out of the repository.
fn resolve(folder: &str, path: &Path) -> Option<String> {
    let mut parts: Vec<String> = folder.split('/').filter(|part| !part.is_empty()).map(str::to_owned).collect();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => drop(parts.pop()?),
            Component::Normal(part) => parts.push(part.to_string_lossy().into_owned()),
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(parts.join("/"))
}

fn unknown_revision(git: &Git<'_>, revision: &str) -> Diagnostic {
    let problem = Diagnostic::error(Fault::NotFound, format!("git has no revision `{revision}`"));
    let names = git.references();
    problem.suggest_or(nearest(revision, names.iter().map(String::as_str)), || {
        "name a branch, a tag or a commit; `git log` shows them".to_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_resolved_inside_of_the_repository() {
        for (folder, path, resolved) in [
            ("", "a/./b", Some("a/b")),
            ("sub", "../a", Some("a")),
            ("sub/deep", ".", Some("sub/deep")),
            ("", ".", Some("")),
            ("sub", "../..", None),
            ("", "/etc", None),
        ] {
            assert_eq!(resolve(folder, Path::new(path)).as_deref(), resolved, "{folder} {path}");
        }
    }
}
