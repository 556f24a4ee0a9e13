//! Texts in quotes, with their escapes.

use smol_str::SmolStr;

use super::{Lexer, TokenKind};

const ESCAPES: &str = "a backslash itself is written `\\\\`; raw texts like r'\\d' have no escapes";

impl Lexer<'_> {
    /// A text in quotes of any sort, from its first quote on; none if it is broken.
    pub(super) fn quoted(&mut self, raw: bool) -> Option<TokenKind> {
        let start = self.position;
        let quote = self.next()?;
        let triple = self.takes_two(quote);
        let problems = self.problems.len();
        let mut text = String::new();
        loop {
            let at = self.position;
            match self.next() {
                Some(next) if next == quote && (!triple || self.takes_two(quote)) => break,
                None | Some('\n' | '\r') if !triple || self.rest().is_empty() => {
                    self.position = at;
                    self.problem(start, "this text is not closed", "close it with the quote that it begins with");
                    // Which quotes open and which close is no longer known.
                    self.position = self.text.len();
                    return None;
                }
                Some('\\') if !raw => match self.escape() {
                    Some(character) => text.push(character),
                    None => self.problem(at, "unknown escape", ESCAPES),
                },
                Some(other) => text.push(other),
                None => {}
            }
        }
        (self.problems.len() == problems).then(|| TokenKind::Text(SmolStr::from(text)))
    }

    /// Moves past two more quotes, if there are two.
    fn takes_two(&mut self, quote: char) -> bool {
        let two = self.rest().starts_with([quote; 2].iter().collect::<String>().as_str());
        if two {
            self.position += 2;
        }
        two
    }

    /// The character that an escape stands for, after its backslash.
    fn escape(&mut self) -> Option<char> {
        let first = self.peek()?;
        // A line break ends the text, also after a backslash.
        if matches!(first, '\n' | '\r') {
            return None;
        }
        if matches!(first, '0'..='3') {
            return self.code(3, 8);
        }
        self.next();
        Some(match first {
            'a' => '\u{7}',
            'b' => '\u{8}',
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'v' => '\u{b}',
            '\\' | '?' | '"' | '\'' | '`' => first,
            'x' | 'X' => return self.code(2, 16),
            'u' => return self.code(4, 16),
            'U' => return self.code(8, 16),
            _ => return None,
        })
    }

    /// The character with a code of so many digits.
    fn code(&mut self, digits: usize, radix: u32) -> Option<char> {
        let written = self.rest().get(..digits).filter(|written| written.chars().all(|digit| digit.is_digit(radix)))?;
        let code = u32::from_str_radix(written, radix).ok()?;
        self.position += digits;
        char::from_u32(code)
    }
}
