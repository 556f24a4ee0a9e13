//! Which families there are below a root, and the case files of each.
//!
//! A family is a folder of a corpus, or a file directly in it, named by those two parts without an ending. Its cases are
//! its files `*.case.yaml`; without any, what lies directly in its folder, one case for each name before the first dot
//! (`a.input.yaml` and `a.golden.yaml` are one, and so are they with a folder `a`). Texts about a corpus are no cases.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Cases of one format.
#[derive(Debug)]
pub(crate) struct Family {
    /// Corpus and family, for example `kuma/v3-sort`.
    pub(crate) name: String,
    /// Its cases by name.
    pub(crate) cases: Vec<CaseFile>,
}

/// Where a case is.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct CaseFile {
    /// Its name.
    pub(crate) name: String,
    /// Its file or folder, the first if there are several.
    pub(crate) path: PathBuf,
}

/// The endings of files with data; the others are about them.
const DATA_ENDINGS: [&str; 3] = ["yaml", "yml", "json"];

/// The ending of files that are a case each.
const CASE_ENDING: &str = ".case.yaml";

/// All families by name.
pub(crate) fn families(root: &Path) -> io::Result<Vec<Family>> {
    let mut families = Vec::new();
    for corpus in data_in(root)?.into_iter().filter(|path| path.is_dir()) {
        for family in by_stem(data_in(&corpus)?) {
            let name = format!("{}/{}", file_name(&corpus), family.name);
            let cases = if family.path.is_dir() { cases_among(data_in(&family.path)?) } else { vec![family] };
            families.push(Family { name, cases });
        }
    }
    Ok(families)
}

/// The cases of a family, given what lies in its folder.
fn cases_among(mut paths: Vec<PathBuf>) -> Vec<CaseFile> {
    let is_case = |path: &PathBuf| file_name(path).ends_with(CASE_ENDING);
    if paths.iter().any(is_case) {
        paths.retain(is_case);
    }
    by_stem(paths)
}

fn by_stem(paths: Vec<PathBuf>) -> Vec<CaseFile> {
    let mut by_name: BTreeMap<String, PathBuf> = BTreeMap::new();
    for path in paths {
        by_name.entry(stem(&path)).or_insert(path);
    }
    by_name.into_iter().map(|(name, path)| CaseFile { name, path }).collect()
}

fn stem(path: &Path) -> String {
    let name = file_name(path);
    if path.is_dir() {
        return name;
    }
    let stem = name.strip_suffix(CASE_ENDING).or_else(|| name.split('.').next());
    stem.unwrap_or_default().to_owned()
}

/// Folders and files with data, by name.
fn data_in(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let ending = path.extension().unwrap_or_default();
        let is_data = path.is_dir() || DATA_ENDINGS.iter().any(|data| ending == *data);
        if is_data && !file_name(&path).starts_with('.') {
            paths.push(path);
        }
    }
    paths.sort();
    Ok(paths)
}

fn file_name(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(files: &[&str], expected: &[&str]) {
        let cases = cases_among(files.iter().map(PathBuf::from).collect());
        let names: Vec<_> = cases.iter().map(|case| case.name.as_str()).collect();
        assert_eq!(names, expected);
    }

    #[test]
    fn case_files_stand_for_themselves() {
        check(&["f/b.case.yaml", "f/a-1.2.case.yaml", "f/a-1.3.case.yaml", "f/notes.yaml"], &["a-1.2", "a-1.3", "b"]);
    }

    #[test]
    fn files_with_one_stem_are_one_case() {
        check(&["f/a", "f/a.golden.yaml", "f/a.input.yaml", "f/b.input.yaml"], &["a", "b"]);
    }
}
