//! Runs the program as users do.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

use super::reports;

/// A test that compares a text with the snapshot of its name, which says from which line it comes.
macro_rules! snapshot {
    ($prefix:literal, $name:ident, $text:expr $(, from $line:expr)?) => {
        #[test]
        fn $name() {
            insta::with_settings!({omit_expression => true, $(description => $line,)? prepend_module_to_snapshot => false}, {
                insta::assert_snapshot!(concat!($prefix, stringify!($name)), $text);
            });
        }
    };
}

pub(crate) use snapshot;

/// The root of the project.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The program in a folder, with none of the user's own settings.
pub(crate) fn upheld(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_upheld"));
    command.current_dir(folder).stdin(Stdio::null()).env_remove("HOME").env_remove("XDG_CONFIG_HOME");
    command.env("PATH", path_with_the_program());
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("UPHELD_") || name.contains("COLOR")) {
        command.env_remove(name);
    }
    command
}

/// Where the program is found by its name, as after an installation.
fn path_with_the_program() -> OsString {
    let own = Path::new(env!("CARGO_BIN_EXE_upheld")).parent().map(Path::to_owned);
    let others = std::env::var_os("PATH").unwrap_or_default();
    std::env::join_paths(own.into_iter().chain(std::env::split_paths(&others))).unwrap_or(others)
}

/// What a run printed, and how it ended, as one text.
pub(crate) fn shown(output: &Output) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).replace("\r\n", "\n");
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    let code = output.status.code().map_or("killed".to_owned(), |code| code.to_string());
    let section = |name: &str, text: &str| if text.is_empty() { String::new() } else { format!("--- {name}\n{text}") };
    format!("exit {code}\n{}{}", section("stdout", &out), section("stderr", &err))
}

/// A folder with these files.
pub(crate) fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for (name, text) in files {
        fs::write(folder.path().join(name), text).expect("the folder is writable");
    }
    folder
}

/// A copy of an example, to change it.
pub(crate) fn example(name: &str) -> TempDir {
    let folder = folder(&[]);
    copy(&root().join("examples").join(name), folder.path());
    folder
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("the copy is writable");
    for entry in fs::read_dir(from).expect("the example is readable").flatten() {
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).expect("the copy is writable");
        }
    }
}

/// What a line prints in the root of the project.
pub(crate) fn in_root(line: &str) -> String {
    shown(&run(&root(), line))
}

/// What a line prints in a folder with these files.
pub(crate) fn with_files(files: &[(&str, &str)], line: &str) -> String {
    shown(&run(folder(files).path(), line))
}

/// Runs with arguments as a shell would split them (no quotes inside quotes). Whatever is explained is also asked for as JSON,
/// and its reports are looked at.
pub(crate) fn run(folder: &Path, line: &str) -> Output {
    let words = words(line);
    let output = upheld(folder).args(&words).output().expect("the program starts");
    let explains = words.iter().any(|word| word == "explain") && !words.iter().any(|word| word == "--all-pairs");
    if explains && output.status.success() {
        let output = upheld(folder).args(&words).args(["-o", "json"]).output().expect("the program starts");
        // A question that was asked in some format already is looked at in that one.
        if let Ok(document) = serde_json::from_slice::<serde_json::Value>(&output.stdout) {
            // What is supposed has the answer in it.
            let supposed = document["kind"] == "Supposed";
            reports::look_at(if supposed { &document["answer"] } else { &document });
        }
    }
    output
}

/// Splits at spaces, except within single quotes.
pub(crate) fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (index, piece) in line.split('\'').enumerate() {
        if index % 2 == 1 {
            words.push(piece.to_owned());
        } else {
            words.extend(piece.split_whitespace().map(str::to_owned));
        }
    }
    words
}

/// Runs git as somebody.
pub(crate) fn git(folder: &Path, arguments: &[&str]) {
    let who = ["-c", "user.name=Ana", "-c", "user.email=ana@shop.example", "-c", "commit.gpgsign=false"];
    let output = Command::new("git").current_dir(folder).args(who).args(arguments).output().expect("git is there");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
