//! Names of files and folders: how they are shown, which are looked at, and the words for those that cannot be read.

use std::io;
use std::path::{Component, Path, PathBuf};

use upheld_model::nearest::nearest;
use upheld_model::{Diagnostic, Fault};

use upheld_syntax::format::{EXTENSIONS, Format};

/// What stands for standard input.
pub(crate) const STANDARD_INPUT: &str = "-";

/// A path as users write it: with forward slashes, without `./`.
pub(crate) fn display(path: &Path) -> String {
    let mut shown = String::new();
    for component in path.components() {
        if component == Component::CurDir {
            continue;
        }
        if component == Component::RootDir {
            shown.push('/');
            continue;
        }
        if !shown.is_empty() && !shown.ends_with('/') {
            shown.push('/');
        }
        shown.push_str(&component.as_os_str().to_string_lossy());
    }
    if shown.is_empty() { ".".to_owned() } else { shown }
}

/// A name inside of a folder, as users write it.
pub(crate) fn join(folder: &str, name: &str) -> String {
    match folder {
        "." | "" => name.to_owned(),
        folder if folder.ends_with('/') => format!("{folder}{name}"),
        folder => format!("{folder}/{name}"),
    }
}

/// The rest of a name inside of a folder.
pub(crate) fn below<'n>(name: &'n str, folder: &str) -> &'n str {
    name.strip_prefix(folder).map_or(name, |rest| rest.trim_start_matches('/'))
}

/// Whether a folder is looked into when it was not named itself.
pub(crate) fn is_wanted_folder(name: &str) -> bool {
    !name.starts_with('.') && !matches!(name, "target" | "node_modules")
}

/// Whether a file is read when it was not named itself.
pub(crate) fn is_wanted_file(name: &str) -> bool {
    !name.starts_with('.') && Format::of_name(name).is_some()
}

/// Whether a file below a folder is read when only the folder was named.
pub(crate) fn is_wanted_below(relative: &str) -> bool {
    let (folders, file) = relative.rsplit_once('/').unwrap_or(("", relative));
    is_wanted_file(file) && folders.split('/').filter(|folder| !folder.is_empty()).all(is_wanted_folder)
}

/// The existing path that a missing one most likely meant: its first wrong part is put right.
pub(crate) fn meant(
    named: &Path,
    exists: impl Fn(&Path) -> bool,
    names_in: impl Fn(&Path) -> Vec<String>,
) -> Option<String> {
    let mut parts = named.components();
    let mut existing = PathBuf::new();
    let wrong = loop {
        let part = parts.next()?;
        if !exists(&existing.join(part)) {
            break part.as_os_str().to_string_lossy();
        }
        existing.push(part);
    };
    let names = names_in(&existing);
    let meant = existing.join(nearest(&wrong, names.iter().map(String::as_str))?);
    let whole = meant.join(parts.as_path());
    Some(display(if exists(&whole) { &whole } else { &meant }))
}

/// A path that cannot be read, by what the system says.
pub(crate) fn unreadable(name: &str, error: &io::Error) -> Diagnostic {
    let why = match error.kind() {
        io::ErrorKind::NotFound => "it does not exist".to_owned(),
        io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
        _ => error.to_string(),
    };
    Diagnostic::error(Fault::Unreadable, format!("cannot read `{name}`: {why}"))
}

/// A path that nothing is at.
pub(crate) fn missing(name: &str, place: &str, meant: Option<&str>) -> Diagnostic {
    let problem = Diagnostic::error(Fault::Unreadable, format!("`{name}` does not exist{place}"));
    problem.suggest(meant)
}

/// A folder that has nothing to read.
pub(crate) fn nothing_in_folder(name: &str, place: &str) -> Diagnostic {
    Diagnostic::error(Fault::Unreadable, format!("there are no files to read in `{name}`{place}")).help(looked_for())
}

/// A pattern that nothing matches.
pub(crate) fn nothing_matches(pattern: &str, place: &str) -> Diagnostic {
    Diagnostic::error(Fault::Unreadable, format!("no file matches `{pattern}`{place}")).help(looked_for())
}

fn looked_for() -> String {
    format!(
        "looked for files ending in {EXTENSIONS}; hidden ones, `target` and `node_modules` are skipped unless named"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_shown_as_users_write_them() {
        let examples = [
            ("a/b.yaml", "a/b.yaml"),
            ("./a.yaml", "a.yaml"),
            ("a//./b/", "a/b"),
            ("../a", "../a"),
            ("/etc/a", "/etc/a"),
            (".", "."),
            ("/", "/"),
        ];
        for (path, shown) in examples {
            assert_eq!(display(Path::new(path)), shown, "{path}");
        }
    }

    #[test]
    fn what_is_looked_at_below_a_folder() {
        for wanted in ["a.yaml", "a/b/c.json", "targets/a.yml", "a.hidden/b.jsonl"] {
            assert!(is_wanted_below(wanted), "{wanted}");
        }
        for other in ["README.md", ".a.yaml", ".git/a.yaml", "a/.b/c.yaml", "target/a.yaml", "a/node_modules/b.json"] {
            assert!(!is_wanted_below(other), "{other}");
        }
    }
}
