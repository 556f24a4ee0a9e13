//! Runs the program as users do.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// The root of the project.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The program in a folder, with none of the user's own settings.
pub(crate) fn upheld(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_upheld"));
    command.current_dir(folder).stdin(Stdio::null()).env_remove("HOME").env_remove("XDG_CONFIG_HOME");
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("UPHELD_") || name.contains("COLOR")) {
        command.env_remove(name);
    }
    command
}

/// What a run printed, and how it ended, as one text.
pub(crate) fn shown(output: &Output) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).replace("\r\n", "\n");
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    let code = output.status.code().map_or("killed".to_owned(), |code| code.to_string());
    let section = |name: &str, text: &str| if text.is_empty() { String::new() } else { format!("--- {name}\n{text}") };
    format!("exit {code}\n{}{}", section("stdout", &out), section("stderr", &err))
}

/// Runs with arguments as a shell would split them (no quotes inside quotes).
pub(crate) fn run(folder: &Path, line: &str) -> Output {
    upheld(folder).args(words(line)).output().expect("the program starts")
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
