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
pub(crate) mod text;

use std::fmt::Display;
use std::io::{self, IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use serde::Serialize;
use upheld_answers::Stamp;
use upheld_answers::formats::{json, json_line, yaml};
use upheld_answers::report::{Skipped, Visible, steers, visible, visible_lines};

use self::text::{Text, text};

use crate::cli::{Color, Format};

/// Where answers go, and how wide it is. Only terminals have a width: piped output never depends on one.
#[derive(Clone, Debug)]
pub(crate) struct Screen {
    /// How to print.
    pub(crate) format: Format,
    /// Columns of the terminal, if there is one.
    pub(crate) width: Option<usize>,
    /// Show everything.
    pub(crate) verbose: bool,
    /// How many policies that do not match are wanted, if the user said it.
    pub(crate) wanted: Option<Skipped>,
    /// Plain symbols only.
    pub(crate) ascii: bool,
}

impl Screen {
    /// How many policies that do not match are listed.
    pub(crate) fn skipped(&self) -> Skipped {
        self.wanted.clone().unwrap_or(if self.verbose { Skipped::All } else { Skipped::default() })
    }

    /// Prints text; colours are removed where they are not wanted. A closed pipe ends the output, not the program.
    pub(crate) fn print(&self, text: &Text) {
        let plain = |text: &str| text.replace('→', "->").replace('…', "...");
        if self.ascii { print_text(&Text::laid_out(plain(text.as_str()))) } else { print_text(text) }
    }

    /// Whether the format is for people.
    pub(crate) fn for_people(&self) -> bool {
        matches!(self.format, Format::Table | Format::Wide | Format::Name)
    }

    /// Prints a report for programs; as JSON where the format is for people.
    pub(crate) fn print_data(&self, report: &impl Serialize) {
        let text = match self.format {
            Format::Jsonl => json_line(report),
            Format::Yaml => yaml(report).unwrap_or_default(),
            Format::Json | Format::Table | Format::Wide | Format::Name => json(report),
        };
        print_document(&text);
    }
}

/// The last line of an answer: which edition of the rules gave it and, where there is room for it, out of which documents.
pub(crate) fn stamp(stamp: &Stamp, screen: &Screen) -> Text {
    let Stamp { semantics, snapshot } = stamp;
    let wide = screen.verbose || screen.format == Format::Wide;
    let editions = (!semantics.is_empty()).then(|| format!("Semantics: {}", semantics.join(", ")));
    let documents = wide.then(|| format!("Snapshot: {snapshot}"));
    let lines = editions.into_iter().chain(documents);
    let told: Text = lines.map(|text| table::indented(&style::paint(style::DIM, &text), 2, screen.width)).collect();
    if told.is_empty() { told } else { text!("\n{}", told) }
}

/// Prints text for people, where there are no options for it.
pub(crate) fn print_text(text: &Text) {
    write_out(&mut anstream::stdout().lock(), text.as_str());
}

/// Prints text for people beside the answer.
pub(crate) fn print_aside(text: &Text) {
    // A person who closed the stream reads nothing.
    drop(anstream::stderr().lock().write_all(text.as_str().as_bytes()));
}

/// Prints names, a line each: a name that would end one stays in it.
pub(crate) fn print_names(names: impl IntoIterator<Item = impl Display>) {
    let lines: Text = names.into_iter().map(|name| text!("{}\n", name)).collect();
    print_document(lines.as_str());
}

/// Prints a document in a format of its own, which says how its words are written; what still steers is shown.
pub(crate) fn print_document(document: &str) {
    write_out(&mut io::stdout().lock(), &visible_lines(document));
}

/// As [`print_document`], for what is written piece by piece.
pub(crate) fn print_pieces(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) {
    let mut out = document();
    note_failure(write(&mut out).and_then(|()| out.flush()));
}

/// Where a document in a format of its own goes.
pub(crate) type Document = Visible<io::BufWriter<io::StdoutLock<'static>>>;

/// Standard output for such a document.
pub(crate) fn document() -> Document {
    Visible::lines(io::BufWriter::with_capacity(1 << 16, io::stdout().lock()))
}

/// Prints text of this program itself, such as scripts and manual pages.
pub(crate) fn print_own(text: &[u8]) {
    let mut out = io::stdout().lock();
    note_failure(out.write_all(text).and_then(|()| out.flush()));
}

/// Prints what the argument parser has to say: help and version are answers, all else is beside them. It repeats arguments as they are.
pub(crate) fn print_usage(error: &clap::Error) {
    let arguments = std::env::args_os().map(|argument| argument.to_string_lossy().into_owned());
    let rendered = arguments.fold(error.render().ansi().to_string(), |rendered, argument| {
        // It may name one in parts: the flag before `=`, and its value.
        let steering = argument.trim_matches(|character| !steers(character));
        if steering.is_empty() { rendered } else { rendered.replace(steering, &visible(steering)) }
    });
    let text = Text::rendered(&rendered);
    if error.use_stderr() { print_aside(&text) } else { print_text(&text) }
}

/// Begins a terminal anew.
pub(crate) fn clear_screen() {
    print_own(b"\x1b[2J\x1b[H");
}

/// Prints a text that must arrive to the byte.
pub(crate) fn print_exactly(text: &str) {
    write_out(&mut exact(), text);
}

/// Where texts go that must arrive to the byte: a patch that is applied, a history that is signed.
pub(crate) fn exact() -> Box<dyn Write> {
    exactly(io::stdout().lock(), if io::stdout().is_terminal() { Reader::Terminal } else { Reader::Program })
}

/// Who reads what is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reader {
    /// A terminal, which would obey.
    Terminal,
    /// A program, which wants every byte.
    Program,
}

fn exactly<'w>(out: impl Write + 'w, reader: Reader) -> Box<dyn Write + 'w> {
    match reader {
        Reader::Terminal => Box::new(Visible::lines(out)),
        Reader::Program => Box::new(out),
    }
}

fn write_out(out: &mut dyn Write, text: &str) {
    note_failure(out.write_all(text.as_bytes()).and_then(|()| out.flush()));
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
        print_aside(&text!("error: cannot write the answer: {}\n", error));
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
    Screen { format, width: width.map(|(columns, _)| usize::from(columns.0)), verbose, wanted: None, ascii }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exact_texts_reach_programs_to_the_byte_and_steer_no_terminal() {
        let patch = "-name: a\t\u{1b}[2J\r\n+name: b\u{202e}\n";
        let written = |reader: Reader| {
            let mut out = Vec::new();
            exactly(&mut out, reader).write_all(patch.as_bytes()).unwrap();
            String::from_utf8(out).unwrap()
        };
        assert_eq!(written(Reader::Program), patch);
        assert_eq!(written(Reader::Terminal), "-name: a\\t\\u{1b}[2J\\r\n+name: b\\u{202e}\n");
    }
}
