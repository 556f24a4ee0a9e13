//! What git ignores is not read, and neither is what somebody excludes; both are told.

use std::fs;
use std::path::Path;

use upheld_loader::{Discovered, Exclude, Why, discover_without};

use crate::discover::folder;

fn found(current: &Path, named: &[&str], exclude: &[&str]) -> (Vec<String>, Vec<(Why, Vec<String>)>) {
    let exclude = Exclude::new(exclude.iter().map(|pattern| (current, *pattern))).unwrap();
    let Discovered { inputs, problems, aside } = discover_without(current, named, &exclude);
    assert!(problems.is_empty(), "{problems:?}");
    let names = inputs.iter().map(|input| input.name().to_owned()).collect();
    (names, aside.by_reason.into_iter().map(|(why, names)| (why, names.into_iter().collect())).collect())
}

#[test]
fn what_git_ignores_is_left_out_and_counted_once_for_a_folder() {
    let folder = folder(&[
        "a.yaml",
        "out/b.yaml",
        "out/deep/c.yaml",
        "deep/keep.local.yaml",
        "deep/d.local.yaml",
        "deep/e.yaml",
        "info.yaml",
    ]);
    let path = folder.path();
    fs::write(path.join(".gitignore"), "/out/\n*.local.yaml\n").unwrap();
    fs::write(path.join("deep/.gitignore"), "!keep.local.yaml\n").unwrap();
    let all = [
        "a.yaml",
        "deep/d.local.yaml",
        "deep/e.yaml",
        "deep/keep.local.yaml",
        "info.yaml",
        "out/b.yaml",
        "out/deep/c.yaml",
    ];
    assert_eq!(found(path, &["."], &[]).0, all, "outside of a repository nobody ignores anything");
    fs::create_dir_all(path.join(".git/info")).unwrap();
    fs::write(path.join(".git/info/exclude"), "info.yaml\n").unwrap();
    let (names, aside) = found(path, &["."], &[]);
    assert_eq!(names, ["a.yaml", "deep/e.yaml", "deep/keep.local.yaml"]);
    assert_eq!(aside, [(Why::Ignored, vec!["deep/d.local.yaml".into(), "info.yaml".into(), "out".into()])]);
    // Rules count wherever one asks from.
    assert_eq!(found(&path.join("deep"), &["."], &[]).0, ["e.yaml", "keep.local.yaml"]);
    assert_eq!(found(path, &["**/*.yaml"], &[]).0, ["a.yaml", "deep/e.yaml", "deep/keep.local.yaml"]);
    // What is named is wanted.
    assert_eq!(
        found(path, &["out", "deep/d.local.yaml"], &[]).0,
        ["deep/d.local.yaml", "out/b.yaml", "out/deep/c.yaml"]
    );
}

#[test]
fn what_is_excluded_is_left_out_also_if_it_was_named() {
    let folder = folder(&["a.yaml", "charts/b.yaml", "charts/deep/c.yaml", "deep/charts/d.yaml"]);
    let path = folder.path();
    let (names, aside) = found(path, &["."], &["charts"]);
    assert_eq!(names, ["a.yaml"]);
    assert_eq!(aside, [(Why::Excluded, vec!["charts".into(), "deep/charts".into()])]);
    assert_eq!(found(path, &["."], &["./charts"]).0, ["a.yaml", "deep/charts/d.yaml"]);
    assert_eq!(found(path, &["."], &["charts/*.yaml"]).0, ["a.yaml", "charts/deep/c.yaml", "deep/charts/d.yaml"]);
    assert_eq!(found(path, &["a.yaml", "charts/b.yaml"], &["charts"]).0, ["a.yaml"]);
    assert!(found(path, &["."], &["*.yaml"]).0.is_empty(), "who excludes everything means it");
    assert!(Exclude::new([(path, "{a")]).is_err());
}
