//! Which families there are below a root, and the case files of each.
//!
//! A family is a folder of a corpus, or a file directly in it, named by those two parts without an ending. Its cases are
//! its files `*.case.yaml`; without any, what lies directly in its folder, one case for each name before the first dot
//! (`a.input.yaml` and `a.golden.yaml` are one). With a folder `a` beside them, each name in that folder is a case of its
//! own, `a/b`, that has the files of both. A file `a_00.golden.json` belongs to `a` if there is an `a.input.yaml`. A folder that
//! says what is expected is one case with all files below it, and one with nothing but folders is a group of cases. Texts about a
//! corpus are not cases, nor is a fixture, which cases share.

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
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct CaseFile {
    /// Its name.
    pub(crate) name: String,
    /// Its files, each with what its name has beyond that of the case: `input.yaml`, or `_00.golden.json`.
    pub(crate) files: Vec<(String, PathBuf)>,
}

impl CaseFile {
    /// The ending under which a file is known that is a case alone.
    pub(crate) const ALONE: &str = "case.yaml";

    fn alone(name: String, path: PathBuf) -> Self {
        Self { name, files: vec![(Self::ALONE.to_owned(), path)] }
    }
}

/// The endings of files with data; the others are about them.
const DATA_ENDINGS: [&str; 3] = ["yaml", "yml", "json"];

/// The ending of files with what goes in.
const INPUT_ENDING: &str = "input.yaml";

/// The name of a file with what the cases beside it have in common.
const FIXTURE: &str = "fixture";

/// The endings of files that say what is expected of the folder they are in.
const EXPECTED_ENDINGS: [&str; 2] = [".expect.yaml", ".expected.yaml"];

/// The ending of files that are a case each.
const CASE_ENDING: &str = ".case.yaml";

/// All families by name.
pub(crate) fn families(root: &Path) -> io::Result<Vec<Family>> {
    let mut families = Vec::new();
    for corpus in data_in(root)?.into_iter().filter(|path| path.is_dir()) {
        for family in data_in(&corpus)? {
            let name = format!("{}/{}", file_name(&corpus), stem(&family));
            let cases = if family.is_dir() {
                cases_among(data_in(&family)?)?
            } else {
                vec![CaseFile::alone(stem(&family), family)]
            };
            families.push(Family { name, cases });
        }
    }
    Ok(families)
}

/// The cases of a family, given what lies in its folder.
fn cases_among(mut paths: Vec<PathBuf>) -> io::Result<Vec<CaseFile>> {
    let is_case = |path: &PathBuf| file_name(path).ends_with(CASE_ENDING);
    if paths.iter().any(is_case) {
        paths.retain(is_case);
        return Ok(paths.into_iter().map(|path| CaseFile::alone(stem(&path), path)).collect());
    }
    paths.retain(|path| path.is_dir() || stem(path) != FIXTURE);
    let (folders, files): (Vec<_>, Vec<_>) = paths.into_iter().partition(|path| path.is_dir());
    let mut cases = by_stem(files);
    for folder in folders {
        let inside = data_in(&folder)?;
        let name = file_name(&folder);
        if inside.iter().any(|path| says_what_is_expected(path)) {
            cases.insert(name.clone(), files_of_case(&folder, &name)?);
            continue;
        }
        if !inside.is_empty() && inside.iter().all(|path| path.is_dir()) {
            let group = cases_among(inside)?.into_iter();
            cases.extend(group.map(|case| (format!("{name}/{}", case.name), case.files)));
            continue;
        }
        let whole = cases.remove(&name).unwrap_or_default();
        for (variant, mut files) in by_stem(inside) {
            files.extend(whole.iter().cloned());
            cases.insert(format!("{name}/{variant}"), files);
        }
    }
    Ok(cases.into_iter().map(|(name, files)| CaseFile { name, files }).collect())
}

type Files = Vec<(String, PathBuf)>;

/// Whether a file makes its folder one case.
fn says_what_is_expected(path: &Path) -> bool {
    let name = file_name(path);
    name == CaseFile::ALONE || EXPECTED_ENDINGS.iter().any(|ending| name.ends_with(ending))
}

/// All files below the folder of a case, each by its path in there, without the name of the case where it begins with that.
fn files_of_case(folder: &Path, case: &str) -> io::Result<Files> {
    let mut files = Vec::new();
    for path in data_in(folder)? {
        let name = file_name(&path);
        if path.is_dir() {
            let inside = files_of_case(&path, "")?.into_iter();
            files.extend(inside.map(|(file, path)| (format!("{name}/{file}"), path)));
        } else {
            let own = name.strip_prefix(case).and_then(|rest| rest.strip_prefix('.')).filter(|_| !case.is_empty());
            files.push((own.unwrap_or(&name).to_owned(), path));
        }
    }
    Ok(files)
}

fn by_stem(paths: Vec<PathBuf>) -> BTreeMap<String, Files> {
    let inputs: Vec<String> = paths.iter().filter(|path| ending(path) == INPUT_ENDING).map(|path| stem(path)).collect();
    let mut by_name: BTreeMap<String, Files> = BTreeMap::new();
    for path in paths {
        let (name, ending) = (stem(&path), ending(&path));
        let numbered = name.rsplit_once('_').filter(|(name, number)| {
            number.bytes().all(|byte| byte.is_ascii_digit()) && inputs.iter().any(|input| input == name)
        });
        let (name, ending) = match numbered {
            Some((whole, number)) if ending != INPUT_ENDING => (whole.to_owned(), format!("_{number}.{ending}")),
            _ => (name, ending),
        };
        by_name.entry(name).or_default().push((ending, path));
    }
    by_name
}

/// What a file name has after its first dot.
fn ending(path: &Path) -> String {
    file_name(path).split_once('.').map(|(_, ending)| ending.to_owned()).unwrap_or_default()
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

    fn cases(files: &[&str]) -> Vec<CaseFile> {
        cases_among(files.iter().map(PathBuf::from).collect()).unwrap()
    }

    #[track_caller]
    fn check(files: &[&str], expected: &[&str]) {
        let cases = cases(files);
        let names: Vec<_> = cases.iter().map(|case| case.name.as_str()).collect();
        assert_eq!(names, expected);
    }

    #[test]
    fn case_files_stand_for_themselves() {
        check(&["f/b.case.yaml", "f/a-1.2.case.yaml", "f/a-1.3.case.yaml", "f/notes.yaml"], &["b", "a-1.2", "a-1.3"]);
    }

    #[test]
    fn files_with_one_stem_are_one_case() {
        check(&["f/a.golden.yaml", "f/a.input.yaml", "f/b.input.yaml"], &["a", "b"]);
    }

    #[test]
    fn fixtures_are_no_cases() {
        check(&["f/a.json", "f/fixture.json", "f/fixture.yaml"], &["a"]);
    }

    #[test]
    fn numbered_files_belong_to_their_input() {
        let cases = cases(&["f/a.input.yaml", "f/a_00.golden.json", "f/a_01.golden.json", "f/b_00.golden.json"]);
        let endings: Vec<Vec<&str>> =
            cases.iter().map(|case| case.files.iter().map(|(ending, _)| ending.as_str()).collect()).collect();
        assert_eq!(endings, [vec!["input.yaml", "_00.golden.json", "_01.golden.json"], vec!["golden.json"]]);
    }
}
