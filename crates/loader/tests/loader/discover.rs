//! What users name is found, in order, once, and under the names that they would write.

use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;
use upheld_loader::discover::discover_in;
use upheld_model::Fault;

/// A folder with empty files.
pub(crate) fn folder(files: &[&str]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for file in files {
        let path = folder.path().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "a: 1\n").unwrap();
    }
    folder
}

/// The names that are found, and the messages with their help.
fn found(current: &Path, named: &[&str]) -> (Vec<String>, Vec<String>) {
    let (inputs, problems) = discover_in(current, named);
    let names = inputs.iter().map(|input| input.name().to_owned()).collect();
    assert!(problems.iter().all(|problem| problem.fault == Fault::Unreadable));
    let messages = problems.iter().map(|problem| format!("{} / {}", problem.message, problem.help.join(" / ")));
    (names, messages.collect())
}

/// The names that are found; there must be no problems.
fn names(current: &Path, named: &[&str]) -> Vec<String> {
    let (names, problems) = found(current, named);
    assert_eq!(problems, Vec::<String>::new());
    names
}

const TREE: [&str; 13] = [
    "b.yaml",
    "a.yml",
    "c/d.json",
    "c/e/f.jsonl",
    "c/e/g.ndjson",
    "c/e/i.csv",
    "c-d.yaml",
    "README.md",
    ".hidden.yaml",
    ".git/config.yaml",
    "target/debug.yaml",
    "node_modules/package.json",
    "c/e/h.txt",
];

#[test]
fn a_folder_is_searched_for_manifests_in_a_fixed_order() {
    let folder = folder(&TREE);
    let all = ["a.yml", "b.yaml", "c-d.yaml", "c/d.json", "c/e/f.jsonl", "c/e/g.ndjson", "c/e/i.csv"];
    assert_eq!(names(folder.path(), &["."]), all);
    assert_eq!(names(folder.path(), &["./"]), all);
    assert_eq!(names(folder.path(), &["c"]), ["c/d.json", "c/e/f.jsonl", "c/e/g.ndjson", "c/e/i.csv"]);
    assert_eq!(
        names(&folder.path().join("c/e"), &[".."]),
        ["../d.json", "../e/f.jsonl", "../e/g.ndjson", "../e/i.csv"]
    );
}

#[test]
fn what_is_named_is_read_whatever_it_is_called() {
    let folder = folder(&TREE);
    let named = ["README.md", "./.hidden.yaml", "target", ".git/"];
    assert_eq!(names(folder.path(), &named), [".git/config.yaml", ".hidden.yaml", "README.md", "target/debug.yaml"]);
    let absolute = folder.path().join("b.yaml");
    let absolute = absolute.to_str().unwrap();
    assert_eq!(names(Path::new(""), &[absolute]), [absolute.replace('\\', "/")]);
}

#[test]
fn each_file_is_read_once() {
    let folder = folder(&TREE);
    let named = ["b.yaml", "./b.yaml", "c/../b.yaml", "*.yaml", "-", "-"];
    assert_eq!(names(folder.path(), &named), ["-", "b.yaml", "c-d.yaml"]);
}

#[test]
fn patterns() {
    let folder = folder(&TREE);
    let cases: [(&str, &[&str]); 7] = [
        ("*.yaml", &["b.yaml", "c-d.yaml"]),
        ("./?.y*", &["a.yml", "b.yaml"]),
        ("**/*.json*", &["c/d.json", "c/e/f.jsonl"]),
        ("c/**", &["c/d.json", "c/e/f.jsonl", "c/e/g.ndjson", "c/e/i.csv"]),
        ("c/*/[fx].*", &["c/e/f.jsonl"]),
        ("{a,b}.{yml,yaml}", &["a.yml", "b.yaml"]),
        ("target/*", &["target/debug.yaml"]),
    ];
    for (pattern, expected) in cases {
        assert_eq!(names(folder.path(), &[pattern]), expected, "{pattern}");
    }
    assert_eq!(names(&folder.path().join("c"), &["../*.yml"]), ["../a.yml"]);
}

#[test]
fn a_file_whose_name_looks_like_a_pattern_is_that_file() {
    let folder = folder(&["a[1].yaml", "a1.yaml"]);
    assert_eq!(names(folder.path(), &["a[1].yaml"]), ["a[1].yaml"]);
}

#[test]
fn all_problems_are_told_at_once() {
    let folder = folder(&["policies/logging.yaml", "empty/README.md", "b.yaml"]);
    let named =
        ["policy/logging.yaml", "policies/loging.yaml", "x", "empty", "*.json", "polices/*.yaml", "a[.yaml", "b.yaml"];
    let (names, problems) = found(folder.path(), &named);
    let looked_for = "looked for files ending in `.yaml`, `.yml`, `.json`, `.jsonl`, `.ndjson` and `.csv`; hidden ones, `target` and `node_modules` are skipped unless named";
    assert_eq!(names, ["b.yaml"]);
    assert_eq!(
        problems,
        [
            "`policy/logging.yaml` does not exist / did you mean `policies/logging.yaml`?".to_owned(),
            "`policies/loging.yaml` does not exist / did you mean `policies/logging.yaml`?".to_owned(),
            "`x` does not exist / ".to_owned(),
            format!("there are no files to read in `empty` / {looked_for}"),
            format!("no file matches `*.json` / {looked_for}"),
            "`polices` does not exist / did you mean `policies`?".to_owned(),
            "broken pattern `a[.yaml`: unclosed character class; missing ']' / ".to_owned(),
        ]
    );
}

#[cfg(unix)]
#[test]
fn linked_files_are_read_and_linked_folders_are_not_entered() {
    use std::os::unix::fs::symlink;

    // As Kubernetes mounts a ConfigMap.
    let folder = folder(&["mount/..2024/a.yaml", "elsewhere/b.yaml"]);
    let mount = folder.path().join("mount");
    symlink("..2024", mount.join("..data")).unwrap();
    symlink("..data/a.yaml", mount.join("a.yaml")).unwrap();
    symlink("../elsewhere", mount.join("folder")).unwrap();
    symlink("..", mount.join("loop")).unwrap();
    assert_eq!(names(folder.path(), &["mount"]), ["mount/a.yaml"]);
    assert_eq!(names(folder.path(), &["mount/folder"]), ["mount/folder/b.yaml"], "unless it is named");
    assert_eq!(names(folder.path(), &["mount", "mount/..data/a.yaml"]), ["mount/..data/a.yaml"], "it is one file");
}

#[cfg(unix)]
#[test]
fn a_link_to_nothing_is_told() {
    let folder = folder(&["a.yaml"]);
    std::os::unix::fs::symlink("nowhere.yaml", folder.path().join("b.yaml")).unwrap();
    let (names, problems) = found(folder.path(), &["."]);
    assert_eq!(names, ["a.yaml"]);
    assert_eq!(problems, ["cannot read `b.yaml`: it does not exist / "]);
}

#[test]
fn nothing_named_is_nothing_found() {
    let (inputs, problems) = upheld_loader::discover(&Vec::<PathBuf>::new());
    assert!(inputs.is_empty() && problems.is_empty());
}
