//! What git ignores and what users exclude.

use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use upheld_model::{Diagnostic, Fault};

/// What a path leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum What {
    File,
    Folder,
}

/// The rules of git that are in force in a folder, the outermost first. None outside of a repository.
#[derive(Clone, Debug)]
pub(crate) struct Ignored {
    rules: Vec<Arc<Gitignore>>,
    is_repository: bool,
}

impl Ignored {
    /// Those in force in a folder that somebody named. If git ignores the folder itself, only its own rules count: who names it
    /// wants it read.
    pub(crate) fn in_folder(folder: &Path) -> Self {
        let Ok(folder) = folder.canonicalize() else { return Self { rules: Vec::new(), is_repository: false } };
        let Some(top) = folder.ancestors().find(|folder| folder.join(".git").exists()) else {
            return Self { rules: Vec::new(), is_repository: false };
        };
        let mut around = Self { rules: Vec::new(), is_repository: true };
        around.add(top, &top.join(".git/info/exclude"));
        let mut folders: Vec<&Path> = folder.ancestors().take_while(|folder| *folder != top).collect();
        folders.push(top);
        folders.reverse();
        for (place, inner) in folders.iter().enumerate() {
            if place > 0 && around.ignores(inner, What::Folder) {
                around.rules.clear();
            }
            around.add(inner, &inner.join(".gitignore"));
        }
        around
    }

    /// Those in force in a folder below.
    pub(crate) fn below(&self, folder: &Path) -> Self {
        let mut below = self.clone();
        if let Some(folder) = self.is_repository.then(|| folder.canonicalize().ok()).flatten() {
            below.add(&folder, &folder.join(".gitignore"));
        }
        below
    }

    /// Whether git ignores something, given where it is without links.
    pub(crate) fn ignores(&self, path: &Path, what: What) -> bool {
        let said =
            self.rules.iter().rev().map(|rules| rules.matched(path, what == What::Folder)).find(|said| !said.is_none());
        matches!(said, Some(Match::Ignore(_)))
    }

    fn add(&mut self, folder: &Path, file: &Path) {
        if !file.is_file() {
            return;
        }
        let mut builder = GitignoreBuilder::new(folder);
        // A line that git could not read either ignores nothing.
        drop(builder.add(file));
        self.rules.extend(builder.build().ok().map(Arc::new));
    }
}

/// What users exclude, written as in a `.gitignore`: a name alone is looked for everywhere, a path from where it is written.
#[derive(Clone, Debug, Default)]
pub struct Exclude {
    rules: Vec<Arc<Gitignore>>,
}

impl Exclude {
    /// Patterns with the folder that each is written for. All mistakes at once.
    pub fn new<'p>(patterns: impl IntoIterator<Item = (&'p Path, &'p str)>) -> Result<Self, Vec<Diagnostic>> {
        let (mut rules, mut problems) = (Vec::new(), Vec::new());
        for (folder, pattern) in patterns {
            let mut builder = GitignoreBuilder::new(plain(folder));
            // `./charts` and `charts/` mean the same to those who write paths.
            let line = pattern.strip_prefix("./").map_or_else(|| pattern.to_owned(), |rest| format!("/{rest}"));
            let built = builder.add_line(None, &line).and_then(|builder| builder.build());
            match built {
                Ok(built) => rules.push(Arc::new(built)),
                Err(error) => problems.push(
                    Diagnostic::error(Fault::BadSetting, format!("`{pattern}` excludes nothing: {error}"))
                        .help("write a name or a path as in a .gitignore, for example `charts/**` or `*.tpl.yaml`"),
                ),
            }
        }
        if problems.is_empty() { Ok(Self { rules }) } else { Err(problems) }
    }

    /// Whether something, or a folder that it is in, is excluded.
    pub(crate) fn excludes(&self, path: &Path, what: What) -> bool {
        if self.rules.is_empty() {
            return false;
        }
        let path = plain(path);
        let excluded = |path: &Path, what: What| {
            let said = self
                .rules
                .iter()
                .rev()
                .map(|rules| rules.matched(path, what == What::Folder))
                .find(|said| !said.is_none());
            matches!(said, Some(Match::Ignore(_)))
        };
        excluded(&path, what) || path.ancestors().skip(1).any(|folder| excluded(folder, What::Folder))
    }
}

/// A path from the root, without dots. Links stay what they are called.
fn plain(path: &Path) -> PathBuf {
    let whole = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
    let mut plain = PathBuf::new();
    for part in whole.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => drop(plain.pop()),
            part => plain.push(part),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    fn excludes(pattern: &str, path: &str) -> bool {
        let folder = Path::new("/work");
        let exclude = Exclude::new([(folder, pattern)]).unwrap();
        exclude.excludes(&folder.join(path), What::File)
    }

    #[test]
    fn patterns_mean_what_they_mean_in_a_gitignore() {
        for (pattern, path, excluded) in [
            ("charts", "charts/a.yaml", true),
            ("charts", "deep/charts/b/c.yaml", true),
            ("./charts", "deep/charts/a.yaml", false),
            ("./charts", "charts/a.yaml", true),
            ("/charts/", "charts/a/b.yaml", true),
            ("charts/**", "charts/a/b.yaml", true),
            ("a/*.yaml", "a/b.yaml", true),
            ("a/*.yaml", "a/b/c.yaml", false),
            ("*.json", "a/b.json", true),
            ("*.json", "a/b.yaml", false),
            ("overlays/prod", "overlays/production/a.yaml", false),
        ] {
            assert_eq!(excludes(pattern, path), excluded, "{pattern} {path}");
        }
    }

    #[test]
    fn a_later_pattern_takes_back_what_an_earlier_one_excludes() {
        let folder = Path::new("/work");
        let exclude = Exclude::new([(folder, "*.yaml"), (folder, "!keep.yaml")]).unwrap();
        assert!(exclude.excludes(&folder.join("a.yaml"), What::File));
        assert!(!exclude.excludes(&folder.join("keep.yaml"), What::File));
        assert!(!Exclude::default().excludes(&folder.join("a.yaml"), What::File));
    }
}
