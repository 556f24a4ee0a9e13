//! UTF-16 code units, each written as one character.
//!
//! A character beyond U+FFFF is two units to JavaScript, and `.` takes only one of them. The halves are surrogates, which are
//! no characters to Rust, so they are moved to U+10000 and following. All characters there are split, so nothing else is found.

use std::borrow::Cow;

const SURROGATES: (u16, u16) = (0xD800, 0xDFFF);
/// From a surrogate to the character that it is written as.
const SHIFT: u32 = 0x1_0000 - 0xD800;

/// A text with one character for each of its code units.
pub(super) fn split(text: &str) -> Cow<'_, str> {
    // UTF-8 begins characters beyond U+FFFF, and only these, with such a byte.
    if text.bytes().any(|byte| byte >= 0xF0) {
        Cow::Owned(text.encode_utf16().map(letter).collect())
    } else {
        Cow::Borrowed(text)
    }
}

/// The code unit that a letter of a split text is written for.
pub(super) fn unit(letter: char) -> u16 {
    let code = u32::from(letter);
    u16::try_from(code).or_else(|_| u16::try_from(code - SHIFT)).unwrap_or(u16::MAX)
}

/// How a code unit is written.
pub(super) fn letter(unit: u16) -> char {
    let code = u32::from(unit);
    char::from_u32(code).or_else(|| char::from_u32(code + SHIFT)).unwrap_or(char::REPLACEMENT_CHARACTER)
}

/// A set of code units.
#[derive(Clone, Debug, Default)]
pub(super) struct Units {
    ranges: Vec<(u16, u16)>,
}

impl Units {
    /// Those in these ranges.
    pub(super) fn of(ranges: &[(char, char)]) -> Self {
        Self { ranges: ranges.iter().map(|(first, last)| (unit(*first), unit(*last))).collect() }
    }

    /// This one only.
    pub(super) fn one(unit: u16) -> Self {
        Self { ranges: vec![(unit, unit)] }
    }

    /// What `.` takes: all but the ends of lines.
    pub(super) fn dot() -> Self {
        Self::of(&[('\n', '\n'), ('\r', '\r'), ('\u{2028}', '\u{2029}')]).complement()
    }

    /// What `\d` takes.
    pub(super) fn digits() -> Self {
        Self::of(&[('0', '9')])
    }

    /// What `\w` takes.
    pub(super) fn words() -> Self {
        Self::of(&[('0', '9'), ('A', 'Z'), ('a', 'z'), ('_', '_')])
    }

    /// What `\s` takes.
    pub(super) fn spaces() -> Self {
        Self::of(&[
            ('\t', '\r'),
            (' ', ' '),
            ('\u{A0}', '\u{A0}'),
            ('\u{1680}', '\u{1680}'),
            ('\u{2000}', '\u{200A}'),
            ('\u{2028}', '\u{2029}'),
            ('\u{202F}', '\u{202F}'),
            ('\u{205F}', '\u{205F}'),
            ('\u{3000}', '\u{3000}'),
            ('\u{FEFF}', '\u{FEFF}'),
        ])
    }

    /// Adds a range.
    pub(super) fn add(&mut self, first: u16, last: u16) {
        self.ranges.push((first, last));
    }

    /// Adds all of another set.
    pub(super) fn add_all(&mut self, other: &Self) {
        self.ranges.extend_from_slice(&other.ranges);
    }

    /// All others.
    pub(super) fn complement(mut self) -> Self {
        self.ranges.sort_unstable();
        let mut others = Self::default();
        // The first unit that may be in a gap; none behind the last of all.
        let mut start = Some(0);
        for (first, last) in self.ranges {
            let Some(from) = start else { break };
            if from < first {
                others.add(from, first - 1);
            }
            start = last.checked_add(1).map(|next| next.max(from));
        }
        if let Some(from) = start {
            others.add(from, u16::MAX);
        }
        others
    }

    /// Writes it in the syntax of the `regex` crate.
    pub(super) fn write(&self, regex: &mut String) {
        match self.ranges.as_slice() {
            [(first, last)] if first == last => write_letter(letter(*first), regex),
            [] => regex.push_str(r"[^\x{0}-\x{10FFFF}]"),
            ranges => {
                regex.push('[');
                for (first, last) in ranges.iter().flat_map(|range| written(*range)) {
                    write_letter(first, regex);
                    regex.push('-');
                    write_letter(last, regex);
                }
                regex.push(']');
            }
        }
    }
}

/// A range of code units as ranges of the characters that they are written as.
fn written((first, last): (u16, u16)) -> impl Iterator<Item = (char, char)> {
    let parts = [(0, SURROGATES.0 - 1), SURROGATES, (SURROGATES.1 + 1, u16::MAX)];
    parts.into_iter().filter_map(move |(from, to)| {
        let (first, last) = (first.max(from), last.min(to));
        // With all surrogates the whole space beyond is taken, which makes smaller programs.
        let end = if (first, last) == SURROGATES { char::MAX } else { letter(last) };
        (first <= last).then(|| (letter(first), end))
    })
}

fn write_letter(letter: char, regex: &mut String) {
    if letter.is_ascii_alphanumeric() {
        regex.push(letter);
    } else {
        regex.push_str(&format!("\\x{{{:X}}}", u32::from(letter)));
    }
}
