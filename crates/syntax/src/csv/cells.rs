//! From a text to rows of cells: where each stands, and how it is quoted. What a cell means is not known here.

use memchr::{memchr, memchr2};
use upheld_model::Span;

use crate::quote;

/// A cell where it stands.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cell {
    /// With its quotes.
    pub(super) span: Span,
    pub(super) form: Form,
}

/// How a cell is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// Without quotes around it. Quotes inside of it mean themselves.
    Bare,
    /// In quotes.
    Quoted,
    /// In quotes, with quotes inside that are written twice.
    Doubled,
}

impl Cell {
    /// Nothing stands there, not even quotes.
    pub(super) fn is_absent(self) -> bool {
        self.span.start == self.span.end
    }

    /// Without its quotes.
    pub(super) fn inner(self) -> Span {
        match self.form {
            Form::Bare => self.span,
            Form::Quoted | Form::Doubled => Span { start: self.span.start + 1, end: self.span.end - 1 },
        }
    }
}

/// A row of cells.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    /// From its first cell to its last.
    pub(super) span: Span,
    /// How many cells there are.
    pub(super) cells: usize,
    /// The first thing that is wrong with them.
    pub(super) flaw: Option<Flaw>,
}

/// Quotes that do not go together.
#[derive(Clone, Copy, Debug)]
pub(super) enum Flaw {
    /// A quote that nothing closes.
    Unclosed(Span),
    /// Text after the quote that closes a cell.
    AfterQuote { cell: Span, text: Span },
}

/// Reads one row after the other.
#[derive(Debug)]
pub(super) struct Rows<'t> {
    bytes: &'t [u8],
    /// The next byte.
    at: usize,
    pub(super) separator: Separator,
}

/// What stands between cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Separator {
    /// As RFC 4180 has it.
    Comma,
    /// As spreadsheets write where the comma is part of numbers.
    Semicolon,
    /// As spreadsheets copy.
    Tab,
}

impl Separator {
    /// All of them; the first that makes a table of ours counts.
    pub(super) const ALL: [Self; 3] = [Self::Comma, Self::Semicolon, Self::Tab];

    /// By the byte.
    pub(super) fn of(byte: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|separator| separator.byte() == byte)
    }

    pub(super) fn byte(self) -> u8 {
        match self {
            Self::Comma => b',',
            Self::Semicolon => b';',
            Self::Tab => b'\t',
        }
    }

    /// In words.
    pub(super) fn noun(self) -> &'static str {
        match self {
            Self::Comma => "comma",
            Self::Semicolon => "semicolon",
            Self::Tab => "tab",
        }
    }
}

impl<'t> Rows<'t> {
    /// The rows of a text from a byte on.
    pub(super) fn new(text: &'t str, at: usize, separator: Separator) -> Self {
        Self { bytes: text.as_bytes(), at, separator }
    }

    /// Reads the next row that is not blank. At most so many of its cells are kept: a table has rows of one length,
    /// and one of another length could be very long.
    pub(super) fn next(&mut self, cells: &mut Vec<Cell>, most: usize) -> Option<Row> {
        self.skip_blank_lines();
        if self.at >= self.bytes.len() {
            return None;
        }
        cells.clear();
        let start = self.at;
        let mut row = Row { span: quote::span(start, 0), cells: 0, flaw: None };
        loop {
            let cell = match self.cell() {
                Ok(cell) => cell,
                Err(flaw @ Flaw::AfterQuote { cell, .. }) => {
                    row.flaw.get_or_insert(flaw);
                    Cell { span: cell, form: Form::Quoted }
                }
                Err(flaw @ Flaw::Unclosed(quote)) => {
                    row.flaw.get_or_insert(flaw);
                    // Nearly always the quote was to close in its line, so the next one is read as a row. No other
                    // quote can be without an end then: those that follow come in pairs, or they would close this one.
                    let start = quote.start as usize;
                    self.at = memchr(b'\n', self.rest(start)).map_or(self.bytes.len(), |length| start + length + 1);
                    return Some(row);
                }
            };
            row.cells += 1;
            row.span.end = cell.span.end;
            if cells.len() < most {
                cells.push(cell);
            }
            let stop = self.bytes.get(self.at);
            // After a separator there is a cell, be it an empty one at the end of the text.
            self.at += 1;
            if stop != Some(&self.separator.byte()) {
                return Some(row);
            }
        }
    }

    fn skip_blank_lines(&mut self) {
        let mut at = self.at;
        loop {
            match self.bytes.get(at) {
                Some(b'\n') => self.at = at + 1,
                // A tab may be a row of empty cells.
                Some(b'\t') if self.separator == Separator::Tab => return,
                Some(b' ' | b'\t' | b'\r') => {}
                Some(_) => return,
                None => {
                    self.at = at;
                    return;
                }
            }
            at += 1;
        }
    }

    /// Reads a cell up to the separator or the line break after it, or to the end of the text.
    fn cell(&mut self) -> Result<Cell, Flaw> {
        let start = self.at;
        if self.bytes.get(start) != Some(&b'"') {
            self.at += self.bare_length(start);
            return Ok(Cell { span: quote::span(start, self.without_return(start) - start), form: Form::Bare });
        }
        let Some((end, form)) = self.closing(start + 1) else { return Err(Flaw::Unclosed(quote::span(start, 1))) };
        let span = quote::span(start, end - start);
        self.at = end + self.bare_length(end);
        let text = quote::span(end, self.without_return(end) - end);
        if text.start == text.end { Ok(Cell { span, form }) } else { Err(Flaw::AfterQuote { cell: span, text }) }
    }

    /// How many bytes there are before the next separator or line break.
    fn bare_length(&self, from: usize) -> usize {
        let rest = self.rest(from);
        memchr2(self.separator.byte(), b'\n', rest).unwrap_or(rest.len())
    }

    /// Where what began at a byte and stops here ends, without the first half of a line break as Windows has it.
    fn without_return(&self, start: usize) -> usize {
        let content = self.bytes.get(start..self.at).unwrap_or_default();
        let ends_line = self.bytes.get(self.at) != Some(&self.separator.byte());
        if ends_line && content.ends_with(b"\r") { self.at - 1 } else { self.at }
    }

    /// The byte after the quote that closes a cell, and whether there are doubled quotes before it.
    fn closing(&self, content: usize) -> Option<(usize, Form)> {
        let mut from = content;
        let mut form = Form::Quoted;
        loop {
            let quote = from + memchr(b'"', self.rest(from))?;
            if self.bytes.get(quote + 1) != Some(&b'"') {
                return Some((quote + 1, form));
            }
            form = Form::Doubled;
            from = quote + 2;
        }
    }

    fn rest(&self, from: usize) -> &'t [u8] {
        self.bytes.get(from..).unwrap_or_default()
    }
}

/// What stands at a place.
pub(super) fn slice(text: &str, span: Span) -> &str {
    text.get(span.start as usize..span.end as usize).unwrap_or_default()
}

/// Makes one quote of each two.
pub(super) fn unescape(written: &str, unescaped: &mut String) {
    unescaped.clear();
    let mut rest = written;
    while let Some((before, after)) = rest.split_once("\"\"") {
        unescaped.push_str(before);
        unescaped.push('"');
        rest = after;
    }
    unescaped.push_str(rest);
}

/// A number as it is written where the comma is part of numbers: `-1,5`. The point is in its place then.
pub(super) fn with_point(written: &str, number: &mut String) -> bool {
    let Some((whole, rest)) = written.split_once(',') else { return false };
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(whole.strip_prefix('-').unwrap_or(whole)) || !digits(rest) {
        return false;
    }
    number.clear();
    number.extend([whole, ".", rest]);
    true
}
