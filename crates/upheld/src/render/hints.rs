//! Commands that are suggested to people: they ask of the same files, or of the same server, as the one before them.

use std::sync::OnceLock;

use crate::report::quoted;

/// The flags that say what is read, as somebody wrote them. A process runs one command line.
static SOURCES: OnceLock<String> = OnceLock::new();

/// Commands that read documents.
const READING: [&str; 23] = [
    "affected",
    "audit",
    "bisect",
    "blame",
    "can",
    "candidates",
    "explain",
    "fix",
    "graph",
    "inspect",
    "kinds",
    "lint",
    "list",
    "reach",
    "resolve",
    "show",
    "status",
    "test",
    "values",
    "verify",
    "waivers",
    "what-if",
    "why-not",
];

/// Remembers which files or which server the command line names.
pub(crate) fn remember(files: &[String], server: Option<&str>) {
    // The first command line is the only one.
    SOURCES.set(flags(files, server)).ok();
}

/// A text in which suggested commands name what the command line names.
pub(crate) fn with_sources(text: &str) -> String {
    SOURCES.get().map_or_else(|| text.to_owned(), |flags| adding(flags, text))
}

fn flags(files: &[String], server: Option<&str>) -> String {
    let server = server.map(|server| format!(" --server {}", quoted(server)));
    files.iter().map(|file| format!(" -f {}", quoted(file))).chain(server).collect()
}

/// Commands stand in backticks.
fn adding(flags: &str, text: &str) -> String {
    if flags.is_empty() {
        return text.to_owned();
    }
    let parts = text.split('`').enumerate().map(|(place, part)| {
        let quoted = !place.is_multiple_of(2);
        if quoted && is_reading(part) { format!("{part}{flags}") } else { part.to_owned() }
    });
    parts.collect::<Vec<_>>().join("`")
}

/// Whether a command can be pasted as it is, reads documents, and does not say which.
fn is_reading(command: &str) -> bool {
    let mut words = command.split_whitespace();
    words.next() == Some("upheld")
        && words.next().is_some_and(|name| READING.contains(&name))
        && !words.clone().any(|word| matches!(word, "-f" | "--file" | "--server"))
        && !command.contains('…')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_that_read_documents_carry_what_is_read() {
        let flags = flags(&["a/b".to_owned(), "my files".to_owned()], Some("localhost:8181"));
        assert_eq!(flags, " -f a/b -f 'my files' --server localhost:8181");
        for (text, expected) in [
            ("`upheld list` shows all", "`upheld list -f x` shows all"),
            (
                "did you mean `upheld show a` or `upheld explain b`?",
                "did you mean `upheld show a -f x` or `upheld explain b -f x`?",
            ),
            ("`upheld codes UP001` explains", "`upheld codes UP001` explains"),
            ("`upheld explain --kind X … --to y`", "`upheld explain --kind X … --to y`"),
            ("`upheld list -f y`", "`upheld list -f y`"),
            ("name it with `--to`; upheld list does not count", "name it with `--to`; upheld list does not count"),
            ("an odd `upheld list", "an odd `upheld list -f x"),
        ] {
            assert_eq!(adding(" -f x", text), expected);
            assert_eq!(adding("", text), text);
        }
    }

    #[test]
    fn every_command_of_the_list_is_one() {
        let cli = crate::cli::command();
        let names: Vec<&str> = cli.get_subcommands().map(clap::Command::get_name).collect();
        for name in READING {
            assert!(names.contains(&name) || (name == "verify" && !cfg!(feature = "server")), "{name}: {names:?}");
        }
    }
}
