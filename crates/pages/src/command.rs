//! The command line that asks the same as a page.

use serde_json::Value as Json;
use upheld_report::{explain_command, quoted};

/// `upheld explain`, with a flag for each word of a question.
pub fn explain(server: Option<&str>, words: &Json) -> Option<String> {
    words.is_object().then(|| explain_command(&named(server), words))
}

/// Any other command with what follows it.
pub fn of(command: &str, server: Option<&str>, rest: &[&str]) -> String {
    rest.iter().fold(begun(command, server), |all, word| format!("{all} {}", quoted(word)))
}

fn begun(command: &str, server: Option<&str>) -> String {
    format!("upheld {command}{}", named(server))
}

fn named(server: Option<&str>) -> String {
    server.map(|server| format!(" --server {}", quoted(server))).unwrap_or_default()
}
