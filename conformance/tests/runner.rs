//! The command from outside: how it ends, and what it counts.

use std::fs;
use std::path::Path;
use std::process::Command;

fn conformance(root: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_conformance"));
    command.arg("--root").arg(root);
    command
}

#[test]
fn a_family_without_an_adapter_is_skipped_and_counted() {
    let root = tempfile::tempdir().unwrap();
    let family = root.path().join("authz/unheard-of");
    fs::create_dir_all(&family).unwrap();
    fs::write(family.join("one.case.yaml"), "name: one\n").unwrap();
    let output = conformance(root.path()).output().unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    assert!(printed.ends_with("0 passed, 0 failed, 1 skipped\n"), "{printed}");
    assert!(output.status.success());
}

#[test]
fn a_case_that_cannot_be_read_fails_the_run() {
    let root = tempfile::tempdir().unwrap();
    let family = root.path().join("authz/xacml-tables");
    fs::create_dir_all(&family).unwrap();
    fs::write(family.join("one.case.yaml"), "name: [\n").unwrap();
    let output = conformance(root.path()).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{output:?}");
}

#[test]
fn a_folder_without_corpora_is_an_error_that_names_it() {
    let root = tempfile::tempdir().unwrap();
    let output = conformance(root.path()).output().unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(told.contains(root.path().to_str().unwrap()), "{told}");
}
