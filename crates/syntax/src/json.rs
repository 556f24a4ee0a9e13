//! JSON as in RFC 8259, and JSON Lines: in goes a text, out come a tree and what is wrong with the text.
//!
//! Every JSON text is YAML too, but this reader takes a small part of the time: it looks at each byte about once,
//! allocates nothing for a value, and remembers what is open in a list of its own instead of calling itself.

mod number;
mod problems;
mod string;
mod write;

use std::borrow::Cow;

use upheld_model::tree::Written;
use upheld_model::{Diagnostic, Fault, Kind, SourceId, Tree, TreeBuilder};

use self::problems::{Expected, Problem, Wrong};
use crate::keys::{self, Keys};
use crate::problems::Problems;
use crate::{limits, quote};

pub use self::write::write;

/// Reads a text that is one JSON value, or nothing.
///
/// ```
/// use upheld_syntax::json;
/// use upheld_model::SourceId;
///
/// let (tree, problems) = json::read(SourceId::new(0), r#"{"kind": "Mesh"}"#.to_owned());
/// assert!(problems.is_empty());
/// let document = tree.documents().next().unwrap();
/// assert_eq!(document.get("kind").and_then(|kind| kind.as_text()), Some("Mesh"));
/// ```
pub fn read(source: SourceId, text: String) -> (Tree, Vec<Diagnostic>) {
    let mut reader = Reader::new(source, &text);
    reader.document();
    let Reader { tree, found, .. } = reader;
    (tree.finish(text), found.finish())
}

/// Reads a text that has one JSON value a line. An error in one line does not hide the others.
pub fn read_lines(source: SourceId, text: String) -> (Tree, Vec<Diagnostic>) {
    let mut reader = Reader::new(source, &text);
    let mut start = 0;
    while let Some(rest) = text.as_bytes().get(start..).filter(|rest| !rest.is_empty()) {
        let end = memchr::memchr(b'\n', rest).map_or(text.len(), |length| start + length);
        reader.go_to(start, end);
        if !reader.document() {
            break;
        }
        start = end + 1;
    }
    let Reader { tree, found, .. } = reader;
    (tree.finish(text), found.finish())
}

/// Reads one value after the other from a text.
struct Reader<'t> {
    text: &'t str,
    /// The text up to where reading ends: its own end, or the end of a line.
    bytes: &'t [u8],
    /// The next byte.
    at: usize,
    tree: TreeBuilder,
    keys: Keys<'t>,
    found: Problems,
    /// The lists and maps that have begun and not ended, the innermost last.
    open: Vec<Kind>,
    /// The last text that had escapes, without them.
    unescaped: String,
}

/// Whether another value must follow.
#[derive(PartialEq, Eq)]
enum After {
    Value,
    Nothing,
}

impl<'t> Reader<'t> {
    fn new(source: SourceId, text: &'t str) -> Self {
        Self {
            text,
            bytes: text.as_bytes(),
            at: 0,
            tree: TreeBuilder::with_room_for(text.len()),
            keys: Keys::default(),
            found: Problems::new(source),
            open: Vec::new(),
            unescaped: String::new(),
        }
    }

    /// Reads on from one byte to before another.
    fn go_to(&mut self, start: usize, end: usize) {
        self.at = start;
        self.bytes = self.text.as_bytes().get(..end).unwrap_or_default();
    }

    /// Reads one value and what follows up to the end, which must be blank. Blanks alone are not a document. Says
    /// whether more can be read.
    fn document(&mut self) -> bool {
        if self.peek().is_none() {
            return true;
        }
        let first = self.tree.next_node();
        let Err(problem) = self.value().and_then(|()| self.end()) else { return true };
        self.tree.rewind(first);
        self.open.clear();
        self.keys.clear();
        let (text, end) = (self.text, self.bytes.len());
        self.found.add(problem.fault(), |source| problem.explain(source, text, end));
        !matches!(problem.wrong, Wrong::TooManyValues)
    }

    /// Reads a value with all that is in it.
    fn value(&mut self) -> Result<(), Problem> {
        loop {
            match self.peek() {
                Some(b'"') => self.text_value()?,
                Some(b'{') => {
                    self.begin(Kind::Map)?;
                    if self.peek() != Some(b'}') {
                        self.key()?;
                        continue;
                    }
                    self.close();
                }
                Some(b'[') => {
                    self.begin(Kind::List)?;
                    if self.peek() != Some(b']') {
                        continue;
                    }
                    self.close();
                }
                Some(b'-' | b'0'..=b'9') => self.number()?,
                Some(b't') => self.word("true", Kind::Bool)?,
                Some(b'f') => self.word("false", Kind::Bool)?,
                Some(b'n') => self.word("null", Kind::Null)?,
                _ => return Err(self.expected(Expected::Value)),
            }
            if self.after_value()? == After::Nothing {
                return Ok(());
            }
        }
    }

    /// A value is complete: reads on to where the next one begins, or to the end of the outermost.
    fn after_value(&mut self) -> Result<After, Problem> {
        while let Some(&kind) = self.open.last() {
            let (end, expected) = match kind {
                Kind::Map => (b'}', Expected::CommaOrBrace),
                _ => (b']', Expected::CommaOrBracket),
            };
            match self.peek() {
                Some(b',') => {
                    self.check_count()?;
                    let comma = self.at;
                    self.at += 1;
                    if self.peek() == Some(end) {
                        return Err(Problem { at: comma, wrong: Wrong::TrailingComma });
                    }
                    if kind == Kind::Map {
                        self.key()?;
                    }
                    return Ok(After::Value);
                }
                Some(byte) if byte == end => self.close(),
                _ => return Err(self.expected(expected)),
            }
        }
        Ok(After::Nothing)
    }

    fn begin(&mut self, kind: Kind) -> Result<(), Problem> {
        if self.open.len() >= limits::DEPTH {
            return Err(Problem { at: self.at, wrong: Wrong::TooDeep });
        }
        self.tree.open(kind, quote::span(self.at, 1));
        self.open.push(kind);
        if kind == Kind::Map {
            self.keys.open();
        }
        self.at += 1;
        Ok(())
    }

    /// The bracket that ends the innermost list or map is the next byte.
    fn close(&mut self) {
        self.at += 1;
        self.tree.close(quote::span(self.at, 0).end);
        if self.open.pop() == Some(Kind::Map) {
            self.keys.close();
        }
    }

    /// Reads a key and the colon after it.
    fn key(&mut self) -> Result<(), Problem> {
        if self.peek() != Some(b'"') {
            return Err(self.expected(Expected::Key));
        }
        let (span, inner) = self.string()?;
        let (written, key) = match inner {
            Some(inner) => {
                let key = self.text.get(inner.start as usize..inner.end as usize).unwrap_or_default();
                (Written::Verbatim(inner), Cow::Borrowed(key))
            }
            None => (Written::Unescaped(&self.unescaped), Cow::Owned(self.unescaped.clone())),
        };
        let node = self.tree.scalar(Kind::Text, span, written);
        if let Some(first) = self.keys.insert(key, node) {
            let key = self.tree.text(node, self.text);
            let first = self.tree.span(first).unwrap_or_default();
            self.found.add(Fault::DuplicateKey, |source| keys::duplicate(source, key, first, span));
        }
        if self.peek() != Some(b':') {
            return Err(self.expected(Expected::Colon));
        }
        self.at += 1;
        Ok(())
    }

    fn text_value(&mut self) -> Result<(), Problem> {
        let (span, inner) = self.string()?;
        let written = inner.map_or(Written::Unescaped(&self.unescaped), Written::Verbatim);
        self.tree.scalar(Kind::Text, span, written);
        Ok(())
    }

    /// Reads `true`, `false` or `null`.
    fn word(&mut self, word: &str, kind: Kind) -> Result<(), Problem> {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let ends = |next: Option<&u8>| !next.is_some_and(u8::is_ascii_alphanumeric);
        if !rest.starts_with(word.as_bytes()) || !ends(rest.get(word.len())) {
            return Err(self.expected(Expected::Value));
        }
        let span = quote::span(self.at, word.len());
        self.tree.scalar(kind, span, Written::Verbatim(span));
        self.at += word.len();
        Ok(())
    }

    fn end(&mut self) -> Result<(), Problem> {
        self.check_count()?;
        if self.peek().is_some() { Err(self.expected(Expected::End)) } else { Ok(()) }
    }

    fn check_count(&self) -> Result<(), Problem> {
        let too_many = self.tree.node_count() > limits::VALUES;
        if too_many { Err(Problem { at: self.at, wrong: Wrong::TooManyValues }) } else { Ok(()) }
    }

    /// The next byte that is not blank.
    fn peek(&mut self) -> Option<u8> {
        loop {
            match self.bytes.get(self.at) {
                Some(b' ' | b'\t' | b'\n' | b'\r') => self.at += 1,
                other => return other.copied(),
            }
        }
    }

    fn expected(&self, expected: Expected) -> Problem {
        Problem { at: self.at, wrong: Wrong::Found(expected) }
    }
}
