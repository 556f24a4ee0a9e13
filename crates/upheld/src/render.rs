//! Reports as text: tables for people, JSON and YAML for programs, diagnostics with carets.

pub(crate) mod bar;
pub(crate) mod compliance;
pub(crate) mod diagnostics;
pub(crate) mod hints;
pub(crate) mod replayed;
pub(crate) mod report;
pub(crate) mod shifts;
pub(crate) mod style;
pub(crate) mod table;
pub(crate) mod tested;

use std::io::{self, IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use serde::Serialize;
use upheld_answers::Stamp;
pub(crate) use upheld_answers::formats::{visible, yaml};

use crate::cli::{Color, Format};

/// Where answers go, and how wide it is. Only terminals have a width: piped output never depends on one.
#[derive(Debug)]
pub(crate) struct Screen {
    /// How to print.
    pub(crate) format: Format,
    /// Columns of the terminal, if there is one.
    pub(crate) width: Option<usize>,
    /// Show everything.
    pub(crate) verbose: bool,
    /// Plain symbols only.
    pub(crate) ascii: bool,
}

impl Screen {
    /// Prints text; colours are removed where they are not wanted. A closed pipe ends the output, not the program.
    pub(crate) fn print(&self, text: &str) {
        let mut out = anstream::stdout().lock();
        let text = if self.ascii { text.replace('→', "->").replace('…', "...") } else { text.to_owned() };
        note_failure(out.write_all(text.as_bytes()).and_then(|()| out.flush()));
    }

    /// Whether the format is for people.
    pub(crate) fn for_people(&self) -> bool {
        matches!(self.format, Format::Table | Format::Wide | Format::Name)
    }

    /// Prints a report for programs; as JSON where the format is for people.
    pub(crate) fn print_data(&self, report: &impl Serialize) {
        let text = match self.format {
            Format::Jsonl => serde_json::to_string(report).map(|text| text + "\n").ok(),
            Format::Yaml => yaml(report),
            Format::Json | Format::Table | Format::Wide | Format::Name => {
                serde_json::to_string_pretty(report).map(|text| text + "\n").ok()
            }
        };
        print_plain(&text.unwrap_or_default());
    }
}

/// The last line of an answer: which edition of the rules gave it and, where there is room for it, out of which documents.
pub(crate) fn stamp(stamp: &Stamp, screen: &Screen) -> String {
    let Stamp { semantics, snapshot } = stamp;
    let wide = screen.verbose || screen.format == Format::Wide;
    let editions = (!semantics.is_empty()).then(|| format!("Semantics: {}", semantics.join(", ")));
    let documents = wide.then(|| format!("Snapshot: {snapshot}"));
    let lines = editions.into_iter().chain(documents);
    let told: String = lines.map(|text| table::indented(&style::paint(style::DIM, &text), 2, screen.width)).collect();
    if told.is_empty() { told } else { format!("\n{told}") }
}

/// Prints text as it is: data must not be changed by options for people.
pub(crate) fn print_plain(text: &str) {
    let mut out = io::stdout().lock();
    note_failure(out.write_all(text.as_bytes()).and_then(|()| out.flush()));
}

/// As [`print_plain`], for what is written piece by piece.
pub(crate) fn print_pieces(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) {
    let mut out = io::BufWriter::with_capacity(1 << 16, io::stdout().lock());
    note_failure(write(&mut out).and_then(|()| out.flush()));
}

static WRITING_FAILED: AtomicBool = AtomicBool::new(false);

/// Whether an answer could not be written; a reader that has enough is no failure.
pub(crate) fn writing_failed() -> bool {
    WRITING_FAILED.load(Ordering::Relaxed)
}

fn note_failure(written: io::Result<()>) {
    if let Err(error) = written
        && error.kind() != io::ErrorKind::BrokenPipe
        && !WRITING_FAILED.swap(true, Ordering::Relaxed)
    {
        drop(writeln!(anstream::stderr(), "error: cannot write the answer: {error}"));
    }
}

/// Sets the colour for the whole run and measures the terminal.
pub(crate) fn screen(format: Format, color: Color, verbose: bool, ascii: bool) -> Screen {
    match color {
        Color::Auto => {}
        Color::Always => anstream::ColorChoice::Always.write_global(),
        Color::Never => anstream::ColorChoice::Never.write_global(),
    }
    let width = io::stdout().is_terminal().then(terminal_size::terminal_size).flatten();
    Screen { format, width: width.map(|(columns, _)| usize::from(columns.0)), verbose, ascii }
}
