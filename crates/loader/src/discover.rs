//! What users name on the command line: in go files, folders, patterns and `-`, out come inputs in a fixed order.
//!
//! ```text
//! policies/a.yaml      the file, whatever its ending
//! policies             all manifests below the folder, not hidden ones and none that git ignores
//! policies/**/*.yaml   all manifests that match
//! -                    standard input
//! ```
//!
//! All problems are reported at once, and what could be found is found all the same. What is left out is told.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use upheld_model::Diagnostic;

use crate::aside::{LeftAside, Why};
use crate::ignored::{Exclude, Ignored, What};
use crate::paths;
use crate::pattern::Pattern;
use crate::read::{Input, Origin};

/// Finds what is named, sorted by name, each file once.
pub fn discover(named: &[impl AsRef<Path>]) -> (Vec<Input>, Vec<Diagnostic>) {
    discover_in(Path::new(""), named)
}

/// Finds what is named as if another folder were the current one. The names that are shown do not have that folder.
pub fn discover_in(current: &Path, named: &[impl AsRef<Path>]) -> (Vec<Input>, Vec<Diagnostic>) {
    let Discovered { inputs, mut problems, aside } = discover_without(current, named, &Exclude::default());
    let broken = aside.by_reason.get(&Why::BrokenLink).into_iter().flatten();
    problems.extend(broken.map(|name| paths::unreadable(name, &io::ErrorKind::NotFound.into())));
    (inputs, problems)
}

/// What was found.
#[derive(Debug, Default)]
pub struct Discovered {
    /// Sorted by name, each file once.
    pub inputs: Vec<Input>,
    /// What could not be found or read.
    pub problems: Vec<Diagnostic>,
    /// What was left out.
    pub aside: LeftAside,
}

/// Finds what is named, without what somebody excludes. Links that lead nowhere are left aside.
pub fn discover_without(current: &Path, named: &[impl AsRef<Path>], exclude: &Exclude) -> Discovered {
    let aside = LeftAside::default();
    let mut search = Search { current, exclude, found: Vec::new(), standard_input: false, problems: Vec::new(), aside };
    for named in named {
        search.named(named.as_ref());
    }
    search.finish()
}

struct Search<'a> {
    current: &'a Path,
    exclude: &'a Exclude,
    found: Vec<Found>,
    standard_input: bool,
    problems: Vec<Diagnostic>,
    aside: LeftAside,
}

struct Found {
    /// As shown to users.
    name: String,
    path: PathBuf,
    origin: Origin,
}

impl Search<'_> {
    fn named(&mut self, named: &Path) {
        if named == Path::new(paths::STANDARD_INPUT) {
            self.standard_input = true;
            return;
        }
        let name = paths::display(named);
        match fs::metadata(self.on_disk(named)) {
            Ok(metadata) if metadata.is_dir() => {
                if !self.below(named, usize::MAX, |_| true) {
                    self.problems.push(paths::nothing_in_folder(&name, ""));
                }
            }
            Ok(_) if self.exclude.excludes(&self.on_disk(named), What::File) => self.aside.add(Why::Excluded, name),
            Ok(_) => self.found.push(Found { name, path: self.on_disk(named), origin: Origin::Named }),
            Err(_) if Pattern::is_one(named) => self.matching(named),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                self.problems.push(paths::missing(&name, "", self.meant(named).as_deref()));
            }
            Err(error) => self.problems.push(paths::unreadable(&name, &error)),
        }
    }

    fn matching(&mut self, named: &Path) {
        let pattern = match Pattern::new(named) {
            Ok(pattern) => pattern,
            Err(problem) => return self.problems.push(problem),
        };
        let folder = Path::new(&pattern.folder);
        if !self.on_disk(folder).is_dir() {
            let meant = self.meant(folder);
            self.problems.push(paths::missing(&pattern.folder, "", meant.as_deref()));
        } else if !self.below(folder, pattern.depth, |name| pattern.matches(name)) {
            self.problems.push(paths::nothing_matches(&pattern.text, ""));
        }
    }

    /// Adds all manifests below a folder whose names are accepted. Says whether there were any, or a problem that
    /// explains why not.
    fn below(&mut self, folder: &Path, depth: usize, accepts: impl Fn(&str) -> bool) -> bool {
        let before = self.found.len() + self.problems.len();
        let mut chosen = false;
        let mut folders = vec![(folder.to_path_buf(), 0, Ignored::in_folder(&self.on_disk(folder)))];
        while let Some((folder, level, ignored)) = folders.pop() {
            let real = self.on_disk(&folder).canonicalize().unwrap_or_else(|_| self.on_disk(&folder));
            let entries = match fs::read_dir(self.on_disk(&folder)).and_then(Iterator::collect::<Result<Vec<_>, _>>) {
                Ok(entries) => entries,
                Err(error) => {
                    self.problems.push(paths::unreadable(&paths::display(&folder), &error));
                    continue;
                }
            };
            for entry in entries {
                let path = folder.join(entry.file_name());
                let own_name = entry.file_name().to_string_lossy().into_owned();
                let name = paths::display(&path);
                let is = |wanted: fn(&fs::FileType) -> bool| entry.file_type().is_ok_and(|kind| wanted(&kind));
                let what = if is(fs::FileType::is_dir) { What::Folder } else { What::File };
                let is_wanted_folder = || level < depth && paths::is_wanted_folder(&own_name);
                let is_wanted = match what {
                    What::Folder => is_wanted_folder(),
                    What::File => paths::is_wanted_file(&own_name) && accepts(&name),
                };
                if !is_wanted {
                    if is(fs::FileType::is_symlink) && is_wanted_folder() && entry.path().is_dir() {
                        self.aside.add(Why::LinkedFolder, name);
                    }
                    continue;
                }
                let excluded = self.exclude.excludes(&entry.path(), what).then_some(Why::Excluded);
                let is_ignored = || ignored.ignores(&real.join(entry.file_name()), what).then_some(Why::Ignored);
                match (excluded.or_else(is_ignored), what) {
                    (Some(why), _) => {
                        self.aside.add(why, name);
                        chosen = true;
                    }
                    (None, What::Folder) => folders.push((path, level + 1, ignored.below(&entry.path()))),
                    (None, What::File) => self.file(name, entry.path()),
                }
            }
        }
        chosen || self.found.len() + self.problems.len() > before
    }

    /// Adds a file that was found. A linked file is read: this is how Kubernetes mounts configuration. A linked folder is not
    /// entered: it may lead back here.
    fn file(&mut self, name: String, path: PathBuf) {
        let is_link = fs::symlink_metadata(&path).is_ok_and(|metadata| metadata.is_symlink());
        match fs::metadata(&path) {
            Ok(metadata) if metadata.is_file() => self.found.push(Found { name, path, origin: Origin::Found }),
            Ok(metadata) if metadata.is_dir() => self.aside.add(Why::LinkedFolder, name),
            Ok(_) => {}
            Err(error) if is_link && error.kind() != io::ErrorKind::PermissionDenied => {
                self.aside.add(Why::BrokenLink, name);
            }
            Err(error) => self.problems.push(paths::unreadable(&name, &error)),
        }
    }

    fn meant(&self, named: &Path) -> Option<String> {
        let names_in = |folder: &Path| {
            let entries = fs::read_dir(self.on_disk(folder)).into_iter().flatten();
            entries.filter_map(|entry| Some(entry.ok()?.file_name().to_string_lossy().into_owned())).collect()
        };
        paths::meant(named, |path| self.on_disk(path).exists(), names_in)
    }

    fn on_disk(&self, path: &Path) -> PathBuf {
        let path = self.current.join(path);
        if path.as_os_str().is_empty() { PathBuf::from(".") } else { path }
    }

    fn finish(mut self) -> Discovered {
        // What was named counts as named, also if it was found besides.
        self.found.sort_by(|a, b| a.name.cmp(&b.name).then(a.origin.cmp(&b.origin)));
        // The same file may be named twice, or reached by two links. A pipe has no other path than its own.
        let mut seen = HashSet::new();
        self.found.retain(|found| seen.insert(found.path.canonicalize().unwrap_or_else(|_| found.path.clone())));
        let mut inputs: Vec<Input> =
            self.found.into_iter().map(|found| Input::file(found.name, found.path).of(found.origin)).collect();
        if self.standard_input {
            inputs.push(Input::standard_input());
            inputs.sort_by(|a, b| a.name().cmp(b.name()));
        }
        Discovered { inputs, problems: self.problems, aside: self.aside }
    }
}
