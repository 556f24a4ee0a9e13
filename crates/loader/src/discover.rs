//! What users name on the command line: in go files, folders, patterns and `-`, out come inputs in a fixed order.
//!
//! ```text
//! policies/a.yaml      the file, whatever its ending
//! policies             all manifests below the folder, not hidden ones
//! policies/**/*.yaml   all manifests that match
//! -                    standard input
//! ```
//!
//! All problems are reported at once, and what could be found is found all the same.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use upheld_model::Diagnostic;

use crate::paths;
use crate::pattern::Pattern;
use crate::read::Input;

/// Finds what is named, sorted by name, each file once.
pub fn discover(named: &[impl AsRef<Path>]) -> (Vec<Input>, Vec<Diagnostic>) {
    discover_in(Path::new(""), named)
}

/// Finds what is named as if another folder were the current one. The names that are shown do not have that folder.
pub fn discover_in(current: &Path, named: &[impl AsRef<Path>]) -> (Vec<Input>, Vec<Diagnostic>) {
    let mut search = Search { current, found: Vec::new(), standard_input: false, problems: Vec::new() };
    for named in named {
        search.named(named.as_ref());
    }
    search.finish()
}

struct Search<'a> {
    current: &'a Path,
    found: Vec<Found>,
    standard_input: bool,
    problems: Vec<Diagnostic>,
}

struct Found {
    /// As shown to users.
    name: String,
    path: PathBuf,
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
            Ok(_) => self.found.push(Found { name, path: self.on_disk(named) }),
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
        let mut folders = vec![(folder.to_path_buf(), 0)];
        while let Some((folder, level)) = folders.pop() {
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
                // A linked folder is not entered: it may lead back here.
                if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                    if level < depth && paths::is_wanted_folder(&own_name) {
                        folders.push((path, level + 1));
                    }
                    continue;
                }
                let name = paths::display(&path);
                if !paths::is_wanted_file(&own_name) || !accepts(&name) {
                    continue;
                }
                // A linked file is read: this is how Kubernetes mounts configuration.
                match fs::metadata(entry.path()) {
                    Ok(metadata) if metadata.is_file() => self.found.push(Found { name, path: entry.path() }),
                    Ok(_) => {}
                    Err(error) => self.problems.push(paths::unreadable(&name, &error)),
                }
            }
        }
        self.found.len() + self.problems.len() > before
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

    fn finish(mut self) -> (Vec<Input>, Vec<Diagnostic>) {
        self.found.sort_by(|a, b| a.name.cmp(&b.name));
        // The same file may be named twice, or reached by two links. A pipe has no other path than its own.
        let mut seen = HashSet::new();
        self.found.retain(|found| seen.insert(found.path.canonicalize().unwrap_or_else(|_| found.path.clone())));
        let mut inputs: Vec<Input> = self.found.into_iter().map(|found| Input::file(found.name, found.path)).collect();
        if self.standard_input {
            inputs.push(Input::standard_input());
            inputs.sort_by(|a, b| a.name().cmp(b.name()));
        }
        (inputs, self.problems)
    }
}
