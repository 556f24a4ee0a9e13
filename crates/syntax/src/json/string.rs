//! Texts in double quotes.

use memchr::memchr2;
use upheld_model::Span;

use super::Reader;
use super::problems::{Problem, Wrong};
use crate::quote;

/// Words of eight bytes that are looked at before a search begins that is made for long texts.
const SHORT: usize = 3;

/// The highest bit of the first of eight bytes that does not mean itself: a quote, a backslash or a control. Those of bytes
/// after it mean nothing.
fn special(word: u64) -> u64 {
    const ONES: u64 = 0x0101_0101_0101_0101;
    // A byte that is looked for becomes zero, and what is too small borrows from its highest bit.
    let below = |word: u64, least: u8| word.wrapping_sub(ONES * u64::from(least)) & !word;
    let is = |byte: u8| below(word ^ (ONES * u64::from(byte)), 1);
    (is(b'"') | is(b'\\') | below(word, b' ')) & (ONES << 7)
}

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
        let (words, _) = rest.as_chunks::<8>();
        for (before, word) in words.iter().take(SHORT).enumerate() {
            let found = special(u64::from_le_bytes(*word));
            if found != 0 {
                let length = before * 8 + found.trailing_zeros() as usize / 8;
                match rest.get(length) {
                    Some(&stop) if stop >= b' ' => return Ok((from + length, stop)),
                    _ => break,
                }
            }
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

#[cfg(test)]
mod tests {
    use super::special;

    #[test]
    fn every_byte_is_told_in_every_place() {
        for byte in 0..=u8::MAX {
            let expected = matches!(byte, b'"' | b'\\' | ..b' ');
            for place in 0..8 {
                for (before, after) in
                    [(b'a', b'a'), (b'z', 0), (0xff, b'"'), (b' ', b'\\'), (b'#', 0x80), (b'!', b'\n')]
                {
                    let mut bytes = [after; 8];
                    bytes[..place].fill(before);
                    bytes[place] = byte;
                    let found = special(u64::from_le_bytes(bytes)).trailing_zeros() as usize / 8;
                    let first = bytes.iter().position(|&byte| matches!(byte, b'"' | b'\\' | ..b' ')).unwrap_or(8);
                    assert_eq!(found, first, "{bytes:?}");
                    assert!(!expected || found == place);
                }
            }
        }
    }
}
