//! Whose table it is, by the names of its columns.

use super::cells::{self, Cell, Separator};

/// Whether there is a column by which documents are known: of objects, or of relations between them.
pub(super) fn is_ours(cells: &[Cell], text: &str) -> bool {
    are_ours(|name| cells.iter().any(|cell| cells::slice(text, cell.inner()) == name))
}

/// Where the table begins, and what its cells are separated by if a line before it says so: `sep=;`.
pub(super) fn separator_line(text: &str) -> (usize, Option<Separator>) {
    let line = text.split('\n').next().unwrap_or_default();
    let said = line.strip_suffix('\r').unwrap_or(line).strip_prefix("sep=");
    match said.map(str::as_bytes) {
        Some([byte]) => match Separator::of(*byte) {
            Some(separator) => ((line.len() + 1).min(text.len()), Some(separator)),
            None => (0, None),
        },
        _ => (0, None),
    }
}

/// Whether the first line of a text may be the header of a table of ours with something wrong: with other separators,
/// with blanks around names, or in another encoding.
pub fn seems_ours(text: &str) -> bool {
    let line = text.trim_start().lines().next().unwrap_or_default();
    // What is left of the other halves of characters in UTF-16, and of what is not UTF-8.
    let line = line.replace('\0', "");
    let written = line.split([',', ';', '\t', '|']);
    let names = written.map(|name| name.trim_matches([' ', '"', '\'', char::REPLACEMENT_CHARACTER]));
    are_ours(|name| names.clone().any(|other| other == name))
}

fn are_ours(has: impl Fn(&str) -> bool) -> bool {
    ["ref", "type", "kind"].into_iter().any(&has) || (has("a") && has("b"))
}
