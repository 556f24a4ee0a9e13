//! Files of a git revision are found as they are found on disk.

use std::fs;
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;
use upheld_loader::git::discover_at_in;
use upheld_loader::read;
use upheld_model::{Diagnostic, Fault};

use crate::discover::folder;

fn git(current: &Path, arguments: &[&str]) {
    let identity = ["-c", "user.name=Test", "-c", "user.email=test@example.org", "-c", "commit.gpgsign=false"];
    let output = Command::new("git").current_dir(current).args(identity).args(arguments).output().unwrap();
    assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// A repository whose branch `main` has files that its working folder no longer has.
fn repository() -> TempDir {
    let folder =
        folder(&["policies/a.yaml", "policies/deep/b.json", "policies/README.md", "top.yml", ".hidden/c.yaml"]);
    let path = folder.path();
    fs::write(path.join("policies/deep/b.json"), "{\"b\": 1}").unwrap();
    git(path, &["init", "--quiet", "--initial-branch", "main"]);
    git(path, &["add", "--all"]);
    git(path, &["commit", "--quiet", "--message", "first"]);
    git(path, &["tag", "v1.0"]);
    fs::remove_file(path.join("policies/a.yaml")).unwrap();
    fs::write(path.join("top.yml"), "changed: true\n").unwrap();
    folder
}

fn found(current: &Path, revision: &str, named: &[&str]) -> (Vec<String>, Vec<Diagnostic>) {
    let (inputs, problems) = discover_at_in(current, revision, named);
    (inputs.iter().map(|input| input.name().to_owned()).collect(), problems)
}

fn names(current: &Path, named: &[&str]) -> Vec<String> {
    let (names, problems) = found(current, "main", named);
    assert_eq!(problems, []);
    names
}

/// The only problem as `message / help`.
fn told(current: &Path, revision: &str, named: &[&str]) -> String {
    let (names, problems) = found(current, revision, named);
    assert_eq!((names.len(), problems.len()), (0, 1), "{problems:?}");
    format!("{} / {}", problems[0].message, problems[0].help.join(" / "))
}

#[test]
fn files_folders_and_patterns() {
    let folder = repository();
    let path = folder.path();
    assert_eq!(names(path, &["."]), ["policies/a.yaml", "policies/deep/b.json", "top.yml"]);
    assert_eq!(names(path, &["policies/"]), ["policies/a.yaml", "policies/deep/b.json"]);
    assert_eq!(names(path, &["./top.yml", "policies/README.md"]), ["policies/README.md", "top.yml"]);
    assert_eq!(names(path, &["**/*.json"]), ["policies/deep/b.json"]);
    assert_eq!(names(path, &["policies/*"]), ["policies/a.yaml"]);
    assert_eq!(names(path, &[".hidden"]), [".hidden/c.yaml"]);
    assert_eq!(names(path, &["top.yml", "top.yml", "policies/../top.yml"]), ["policies/../top.yml"]);
}

#[test]
fn the_content_is_that_of_the_revision() {
    let folder = repository();
    for revision in ["main", "v1.0", "HEAD"] {
        let (inputs, problems) = discover_at_in(folder.path(), revision, &["top.yml", "policies/deep/b.json"]);
        assert_eq!(problems, []);
        let (files, problems) = read(inputs);
        assert_eq!(problems.as_slice(), []);
        let texts: Vec<_> = files.iter().map(|(_, file)| file.tree.text()).collect();
        assert_eq!(texts, ["{\"b\": 1}", "a: 1\n"]);
    }
}

#[test]
fn in_a_subfolder_of_the_repository() {
    let folder = repository();
    let policies = folder.path().join("policies");
    assert_eq!(names(&policies, &["."]), ["a.yaml", "deep/b.json"]);
    assert_eq!(names(&policies, &["a.yaml", "../top.yml"]), ["../top.yml", "a.yaml"]);
    assert_eq!(names(&policies, &["*.yaml", "../*.yml"]), ["../top.yml", "a.yaml"]);
    assert_eq!(names(&policies, &[".."]), ["../policies/a.yaml", "../policies/deep/b.json", "../top.yml"]);
    assert_eq!(told(&policies, "main", &["../.."]), "`../..` is outside the git repository / ");
}

#[cfg(unix)]
#[test]
fn an_absolute_path() {
    let folder = repository();
    let absolute = folder.path().canonicalize().unwrap().join("policies/a.yaml");
    let absolute = absolute.to_str().unwrap();
    assert_eq!(names(folder.path(), &[absolute]), [absolute]);
}

#[test]
fn unknown_revisions() {
    let folder = repository();
    let path = folder.path();
    assert_eq!(told(path, "mian", &["."]), "git has no revision `mian` / did you mean `main`?");
    assert_eq!(told(path, "v1.1", &["."]), "git has no revision `v1.1` / did you mean `v1.0`?");
    let (_, problems) = found(path, "nothing-like-this", &["."]);
    assert_eq!(problems[0].fault, Fault::NotFound);
    for option in ["--all", "-v", "--output=/dev/null", ""] {
        assert!(told(path, option, &["."]).starts_with(&format!("git has no revision `{option}`")));
    }
}

#[test]
fn paths_that_the_revision_does_not_have() {
    let folder = repository();
    let path = folder.path();
    assert_eq!(
        told(path, "main", &["policies/b.yaml"]),
        "`policies/b.yaml` does not exist in revision `main` / did you mean `policies/a.yaml`?"
    );
    assert!(told(path, "main", &["*.json"]).starts_with("no file matches `*.json` in revision `main` / looked for"));
    assert!(told(path, "main", &["-"]).starts_with("there is no standard input in revision `main`"));
    let (names, problems) = found(path, "main", &["x", "top.yml", "y"]);
    assert_eq!((names.len(), problems.len()), (1, 2), "all problems at once");
}

#[test]
fn outside_of_a_repository() {
    let folder = folder(&["a.yaml"]);
    // The temporary folder itself may be inside of a repository: this one is broken, so git stops here.
    fs::write(folder.path().join(".git"), "gitdir: nowhere\n").unwrap();
    assert!(told(folder.path(), "main", &["a.yaml"]).starts_with("this is not a git repository / git says: fatal: "));
}

#[cfg(unix)]
#[test]
fn links_are_followed_inside_of_the_revision() {
    use std::os::unix::fs::symlink;

    let folder = repository();
    let path = folder.path();
    symlink("../top.yml", path.join("policies/link.yaml")).unwrap();
    symlink("deep", path.join("policies/folder")).unwrap();
    symlink("loop.yaml", path.join("loop.yaml")).unwrap();
    git(path, &["add", "--all"]);
    git(path, &["commit", "--quiet", "--message", "links"]);
    assert_eq!(names(path, &["policies"]), ["policies/deep/b.json", "policies/link.yaml"]);
    assert_eq!(names(path, &["policies/link.yaml", "top.yml"]), ["policies/link.yaml"], "it is one file");
    assert_eq!(names(path, &["policies/folder"]), ["policies/folder/b.json"]);
    assert!(told(path, "main", &["loop.yaml"]).starts_with("`loop.yaml` does not exist in revision `main`"));
}

#[test]
fn names_with_blanks_quotes_and_other_letters() {
    let folder = folder(&["with blank.yaml", "é \u{1f600}.yaml", "it's.yaml"]);
    git(folder.path(), &["init", "--quiet", "--initial-branch", "main"]);
    git(folder.path(), &["add", "--all"]);
    git(folder.path(), &["commit", "--quiet", "--message", "names"]);
    assert_eq!(names(folder.path(), &["."]), ["it's.yaml", "with blank.yaml", "é \u{1f600}.yaml"]);
}
