//! Texts in double quotes.

use memchr::memchr2;
use upheld_model::Span;

use super::Reader;
use super::problems::{Problem, Wrong};
use crate::quote;

/// Bytes that are looked at one by one.
const SHORT: usize = 24;

impl Reader<'_> {
    /// Reads the text whose opening quote is the next byte. Returns where it stands with its quotes, and where
    /// without them if it has no escapes; if it has, the text is in `self.unescaped`.
    pub(super) fn string(&mut self) -> Result<(Span, Option<Span>), Problem> {
        let start = self.at;
        let content = start + 1;
        let (mut end, mut stop) = self.run(start, content)?;
        let mut escaped = false;
        if stop == b'\\' {
            escaped = true;
            self.unescaped.clear();
            let mut run = content;
            while stop == b'\\' {
                self.unescaped.push_str(self.text.get(run..end).unwrap_or_default());
                run = self.escape(end)?;
                (end, stop) = self.run(start, run)?;
            }
            self.unescaped.push_str(self.text.get(run..end).unwrap_or_default());
        }
        self.at = end + 1;
        let span = quote::span(start, self.at - start);
        Ok((span, (!escaped).then(|| quote::span(content, end - content))))
    }

    /// Finds the next quote or backslash, over characters that mean themselves.
    fn run(&self, string: usize, from: usize) -> Result<(usize, u8), Problem> {
        let rest = self.bytes.get(from..).unwrap_or_default();
        // Most texts are short, and are over before a search that is made for long ones has begun.
        match rest.iter().take(SHORT).position(|&byte| matches!(byte, b'"' | b'\\' | ..b' ')) {
            Some(length) if rest.get(length).is_some_and(|&stop| stop >= b' ') => {
                return Ok((from + length, rest.get(length).copied().unwrap_or_default()));
            }
            _ => {}
        }
        let length = memchr2(b'"', b'\\', rest);
        let run = rest.get(..length.unwrap_or(rest.len())).unwrap_or_default();
        if let Some(control) = run.iter().position(|&byte| byte < b' ') {
            return Err(match run.get(control) {
                Some(b'\n' | b'\r') | None => Problem { at: string, wrong: Wrong::Unclosed },
                Some(&byte) => Problem { at: from + control, wrong: Wrong::Control(byte) },
            });
        }
        match length.and_then(|length| rest.get(length).map(|&stop| (from + length, stop))) {
            Some(found) => Ok(found),
            None => Err(Problem { at: string, wrong: Wrong::Unclosed }),
        }
    }

    /// Reads the escape whose backslash is at a byte, and returns the byte after it.
    fn escape(&mut self, at: usize) -> Result<usize, Problem> {
        let character = match self.bytes.get(at + 1) {
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            Some(b'/') => '/',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => return self.unicode_escape(at),
            _ => return Err(Problem { at, wrong: Wrong::Escape }),
        };
        self.unescaped.push(character);
        Ok(at + 2)
    }

    /// Reads `\u0041`, or two of them that make one character, as `\ud83d\ude00`.
    fn unicode_escape(&mut self, at: usize) -> Result<usize, Problem> {
        let first = self.hexadecimal(at)?;
        let mut end = at + 6;
        let mut code = first;
        if (0xd800..0xdc00).contains(&first) && self.bytes.get(end..end + 2) == Some(br"\u") {
            let second = self.hexadecimal(end)?;
            if (0xdc00..0xe000).contains(&second) {
                code = 0x1_0000 + ((first - 0xd800) << 10) + (second - 0xdc00);
                end += 6;
            }
        }
        let character = char::from_u32(code).ok_or(Problem { at, wrong: Wrong::Surrogate })?;
        self.unescaped.push(character);
        Ok(end)
    }

    /// The four hexadecimal digits of the escape whose backslash is at a byte.
    fn hexadecimal(&self, at: usize) -> Result<u32, Problem> {
        let digits = self.bytes.get(at + 2..at + 6).unwrap_or_default();
        let value = |code: u32, &digit: &u8| char::from(digit).to_digit(16).map(|digit| code * 16 + digit);
        let code = if digits.len() == 4 { digits.iter().try_fold(0, value) } else { None };
        code.ok_or(Problem { at, wrong: Wrong::Escape })
    }
}
