//! Other values in a text, with everything else in it as it was: comments, blanks, the way it is written.
//!
//! ```text
//! Value of a map, key, values ──▶ Replacements of byte ranges ──▶ text
//! ```
//!
//! What cannot be changed without a look at the whole is not changed: then there are no replacements, and somebody has to do it by hand.

mod gone;
mod lists;
mod scalars;

use upheld_model::Span;
use upheld_model::tree::{Kind, Value};

pub use self::gone::remaining;
use crate::Format;
use crate::quote::span;
use lists::Listed;
use scalars::scalar;

/// Bytes of a text that become others.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Replacement {
    /// Which bytes; none where something comes in between.
    pub span: Span,
    /// What stands there then.
    pub text: String,
}

impl Replacement {
    fn new(start: usize, end: usize, text: impl Into<String>) -> Self {
        Self { span: span(start, end.saturating_sub(start)), text: text.into() }
    }
}

/// A file that changes.
#[derive(Clone, Debug)]
pub struct FileEdit {
    /// How users call it.
    pub name: String,
    /// What it says now.
    pub before: String,
    /// What it says then.
    pub after: String,
    /// In what the two differ.
    pub replacements: Vec<Replacement>,
}

/// The text after replacements; nothing if two of them are about the same bytes.
pub fn applied(text: &str, replacements: &[Replacement]) -> Option<String> {
    let mut sorted: Vec<&Replacement> = replacements.iter().collect();
    sorted.sort();
    let (mut after, mut at) = (String::with_capacity(text.len() + 64), 0);
    for Replacement { span, text: own } in sorted {
        let (start, end) = (span.start as usize, span.end as usize);
        after.push_str(text.get(at..start)?);
        after.push_str(own);
        at = end;
    }
    after.push_str(text.get(at..)?);
    Some(after)
}

/// A text that is to be changed.
#[derive(Clone, Copy, Debug)]
pub struct Edited<'t> {
    /// The text.
    pub text: &'t str,
    /// How it is written.
    pub format: Format,
}

impl<'t> Edited<'t> {
    /// What it takes that a key of a map has these values: one, several or none.
    pub fn set(self, map: Value<'t>, key: &str, values: &[&str]) -> Option<Vec<Replacement>> {
        let entry = map.entries().find(|(name, _)| name.text() == key);
        match (self.format, entry) {
            (Format::Csv, Some((_, value))) => self.cell(value, values),
            (Format::Csv, None) => None,
            (_, Some((name, value))) => self.value(name, value, values),
            (_, None) => {
                let likes_lists = map.entries().any(|(_, value)| value.kind() == Kind::List);
                let text = if likes_lists { self.list(values) } else { self.written(values) };
                self.entry(map, key, &text)
            }
        }
    }

    /// What it takes that a key of a map has one value, which is no list.
    pub fn set_one(self, map: Value<'t>, key: &str, value: &str) -> Option<Vec<Replacement>> {
        match map.entries().find(|(name, _)| name.text() == key) {
            _ if self.format == Format::Csv => None,
            Some((name, old)) => self.value(name, old, &[value]),
            None => self.entry(map, key, &self.scalar(value)),
        }
    }

    /// What it takes that a map has a map under a key, in which another key has these values.
    pub fn set_within(self, outer: Value<'t>, name: &str, key: &str, values: &[&str]) -> Option<Vec<Replacement>> {
        if self.format == Format::Csv {
            return None;
        }
        let inner = format!("{{{}: {}}}", self.scalar(key), self.written(values));
        self.entry(outer, name, &inner)
    }

    /// Other values in place of those that are there.
    fn value(self, name: Value<'t>, value: Value<'t>, values: &[&str]) -> Option<Vec<Replacement>> {
        let Span { start, end } = value.span();
        let (start, end) = (start as usize, end as usize);
        match value.kind() {
            Kind::Map => None,
            Kind::List if self.is_flow(value) => Listed::of(self, value, values).flow(),
            Kind::List if values.is_empty() => {
                Some(vec![Replacement::new(self.colon(name)? + 1, self.end_of(value), " []")])
            }
            Kind::List => Listed::of(self, value, values).block(),
            Kind::Null if start == end => {
                let after = self.colon(name)? + 1;
                Some(vec![Replacement::new(after, after, format!(" {}", self.written(values)))])
            }
            // What goes over several lines, or is an alias of something else, is not ours to change.
            _ if self.text.get(start..end)?.contains('\n') || self.text.get(start..)?.starts_with(['*', '&', '!']) => {
                None
            }
            _ => Some(vec![Replacement::new(start, end, self.written(values))]),
        }
    }

    /// One more entry of a map.
    fn entry(self, map: Value<'t>, key: &str, text: &str) -> Option<Vec<Replacement>> {
        if map.kind() != Kind::Map {
            return None;
        }
        let line = format!("{}: {text}", self.scalar(key));
        let Some((name, value)) = map.entries().last() else {
            let inside = map.span().start as usize + 1;
            return self.is_flow(map).then(|| vec![Replacement::new(inside, inside, line)]);
        };
        let end = self.end_of(value).max(self.colon(name)? + 1);
        if self.is_flow(map) {
            return Some(vec![Replacement::new(end, end, format!(", {line}"))]);
        }
        let (first, _) = map.entries().next()?;
        let indent = self.column(first.span().start as usize)?;
        let end = self.line_end(end);
        Some(vec![Replacement::new(end, end, format!("{}{}{line}", self.line_break(), " ".repeat(indent)))])
    }

    /// A cell of a table, in which `;` stands between values.
    fn cell(self, value: Value<'t>, values: &[&str]) -> Option<Vec<Replacement>> {
        let first = value.items().next().unwrap_or(value).span().start as usize;
        let last = value.items().last().unwrap_or(value).span().end as usize;
        let is_single = value.kind() != Kind::List;
        let is_plain = |value: &&str| !value.contains([',', ';', '"', '\n', '\r']) && value.trim() == *value;
        let was = self.text.get(first..last)?;
        if !values.iter().all(is_plain) || was.contains(['"', '\n']) || (is_single && values.len() > 1) {
            return None;
        }
        Some(vec![Replacement::new(first, last, values.join(";"))])
    }

    /// Values as they are written in one line.
    fn written(self, values: &[&str]) -> String {
        match values {
            [only] => self.scalar(only),
            _ => self.list(values),
        }
    }

    fn list(self, values: &[&str]) -> String {
        let items: Vec<String> = values.iter().map(|value| self.scalar(value)).collect();
        format!("[{}]", items.join(", "))
    }

    fn scalar(self, value: &str) -> String {
        scalar(value, self.format)
    }

    /// Whether a list or map stands in brackets.
    fn is_flow(self, value: Value<'t>) -> bool {
        self.text.get(value.span().start as usize..).is_some_and(|rest| rest.starts_with(['[', '{']))
    }

    /// Where a value ends: blocks end with the last thing in them, not with the blanks after it.
    fn end_of(self, value: Value<'t>) -> usize {
        let own = value.span().end as usize;
        let inner = match value.kind() {
            Kind::List if !self.is_flow(value) => value.items().map(|item| self.end_of(item)).max(),
            Kind::Map if !self.is_flow(value) => {
                value.entries().map(|(name, value)| self.end_of(value).max(name.span().end as usize)).max()
            }
            _ => None,
        };
        inner.unwrap_or(own)
    }

    /// The colon after a key.
    fn colon(self, name: Value<'t>) -> Option<usize> {
        let end = name.span().end as usize;
        let rest = self.text.get(end..)?;
        let blanks = rest.len() - rest.trim_start_matches([' ', '\t']).len();
        rest.get(blanks..)?.starts_with(':').then_some(end + blanks)
    }

    fn line_start(self, at: usize) -> usize {
        self.text.get(..at).and_then(|before| before.rfind('\n')).map_or(0, |end| end + 1)
    }

    /// The end of a line, before its line break.
    fn line_end(self, at: usize) -> usize {
        let rest = self.text.get(at..).unwrap_or_default();
        let line = rest.split('\n').next().unwrap_or_default();
        at + line.strip_suffix('\r').unwrap_or(line).len()
    }

    fn line_break(self) -> &'static str {
        if self.text.contains("\r\n") { "\r\n" } else { "\n" }
    }

    /// How far from the beginning of its line something stands, if only blanks and dashes of lists are before it.
    fn column(self, at: usize) -> Option<usize> {
        let before = self.text.get(self.line_start(at)..at)?;
        before.chars().all(|letter| matches!(letter, ' ' | '-')).then_some(before.len())
    }
}
