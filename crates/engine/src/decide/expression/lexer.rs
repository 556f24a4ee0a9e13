//! From text to tokens.

mod quoted;

use crate::decide::number::Number;
use std::ops::Range;

use smol_str::SmolStr;

use super::Problem;

/// One word of the language and where it stands.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Token {
    pub(super) kind: TokenKind,
    pub(super) range: Range<usize>,
}

/// What a token is.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum TokenKind {
    Number(Number),
    Text(SmolStr),
    Name(SmolStr),
    Mark(&'static str),
    End,
}

impl TokenKind {
    /// How messages speak of it.
    pub(super) fn words(&self) -> String {
        match self {
            Self::Number(number) => format!("`{number}`"),
            Self::Text(_) => "a text".to_owned(),
            Self::Name(name) => format!("`{name}`"),
            Self::Mark(mark) => format!("`{mark}`"),
            Self::End => "the end".to_owned(),
        }
    }
}

/// Longer ones first, so that `<=` is not read as `<`.
const MARKS: [&str; 22] = [
    "==", "!=", "<=", ">=", "&&", "||", "<", ">", "!", "-", "+", "*", "/", "%", "?", ":", "(", ")", "[", "]", ".", ",",
];

/// The tokens of a text; the last one is its end.
pub(super) fn tokens(text: &str) -> Result<Vec<Token>, Vec<Problem>> {
    let mut lexer = Lexer { text, position: 0, problems: Vec::new() };
    let mut tokens = Vec::new();
    loop {
        lexer.skip_blanks();
        let start = lexer.position;
        let Some(first) = lexer.peek() else { break };
        if let Some(kind) = lexer.token(first) {
            tokens.push(Token { kind, range: start..lexer.position });
        }
    }
    tokens.push(Token { kind: TokenKind::End, range: text.len()..text.len() });
    if lexer.problems.is_empty() { Ok(tokens) } else { Err(lexer.problems) }
}

struct Lexer<'t> {
    text: &'t str,
    position: usize,
    problems: Vec<Problem>,
}

impl<'t> Lexer<'t> {
    fn rest(&self) -> &'t str {
        self.text.get(self.position..).unwrap_or_default()
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let next = self.peek()?;
        self.position += next.len_utf8();
        Some(next)
    }

    fn take_while(&mut self, belongs: impl Fn(char) -> bool) -> &'t str {
        let rest = self.rest();
        let end = rest.find(|character| !belongs(character)).unwrap_or(rest.len());
        self.position += end;
        rest.get(..end).unwrap_or_default()
    }

    fn skip_blanks(&mut self) {
        loop {
            self.take_while(|character| matches!(character, ' ' | '\t' | '\n' | '\r' | '\u{c}'));
            if !self.rest().starts_with("//") {
                return;
            }
            self.take_while(|character| character != '\n');
        }
    }

    fn problem(&mut self, start: usize, message: impl Into<String>, help: &str) {
        self.problems.push(Problem::new(start..self.position, message).help(help));
    }

    /// The next token, of which the first character is known; none if it is broken. Always moves on.
    fn token(&mut self, first: char) -> Option<TokenKind> {
        let after = self.rest().chars().nth(1);
        match first {
            '0'..='9' => self.number(),
            '.' if after.is_some_and(|digit| digit.is_ascii_digit()) => self.number(),
            '"' | '\'' => self.quoted(false),
            'r' | 'R' if matches!(after, Some('"' | '\'')) => {
                self.next();
                self.quoted(true)
            }
            'a'..='z' | 'A'..='Z' | '_' => self.name(),
            _ => self.mark(first),
        }
    }

    fn name(&mut self) -> Option<TokenKind> {
        let start = self.position;
        let name = self.take_while(|character| character.is_ascii_alphanumeric() || character == '_');
        if name.eq_ignore_ascii_case("b") && matches!(self.peek(), Some('"' | '\'')) {
            self.quoted(true);
            self.problem(start, "bytes are not supported", "write a text, without the `b`");
            return None;
        }
        Some(TokenKind::Name(name.into()))
    }

    fn mark(&mut self, first: char) -> Option<TokenKind> {
        let start = self.position;
        if let Some(mark) = MARKS.into_iter().find(|mark| self.rest().starts_with(mark)) {
            self.position += mark.len();
            return Some(TokenKind::Mark(mark));
        }
        self.next();
        let help = match first {
            '=' => "to compare, write `==`",
            '&' => "use `&&` where both must hold",
            '|' => "use `||` where one must hold",
            '{' | '}' => "maps cannot be written; compare their fields one by one",
            '`' => "write such a name as `[\"name\"]`",
            _ => "put text in quotes",
        };
        self.problem(start, format!("`{}` is not valid here", first.escape_debug()), help);
        None
    }

    fn number(&mut self) -> Option<TokenKind> {
        let start = self.position;
        if matches!(self.rest().as_bytes(), [b'0', b'x' | b'X', ..]) {
            self.position += 2;
            let digits = self.take_while(|character| character.is_ascii_hexdigit());
            let value = u64::from_str_radix(digits, 16).ok();
            return self.whole_number(start, value);
        }
        let whole = self.take_while(|character| character.is_ascii_digit());
        let fraction = matches!(self.rest().as_bytes(), [b'.', b'0'..=b'9', ..]);
        if fraction {
            self.next();
            self.take_while(|character| character.is_ascii_digit());
        }
        let exponent = matches!(
            self.rest().as_bytes(),
            [b'e' | b'E', b'0'..=b'9', ..] | [b'e' | b'E', b'+' | b'-', b'0'..=b'9', ..]
        );
        if exponent {
            self.position += 2;
            self.take_while(|character| character.is_ascii_digit());
        }
        if !fraction && !exponent {
            return self.whole_number(start, whole.parse().ok());
        }
        let value = self.text.get(start..self.position).and_then(|digits| digits.parse().ok());
        self.finish_number(start, value.filter(|number: &f64| number.is_finite()).map(Number::from))
    }

    /// A number without a fraction, which must be exact: a rounded one would equal its neighbours.
    fn whole_number(&mut self, start: usize, value: Option<u64>) -> Option<TokenKind> {
        if matches!(self.peek(), Some('u' | 'U')) {
            self.next();
        }
        self.finish_number(start, value.map(Number::from))
    }

    fn finish_number(&mut self, start: usize, value: Option<Number>) -> Option<TokenKind> {
        let glued = self.take_while(|character| character.is_ascii_alphanumeric() || character == '_');
        if !glued.is_empty() {
            self.problem(start, "this is not a valid number", "put text in quotes");
            return None;
        }
        if value.is_none() {
            self.problem(start, "this number cannot be represented", "whole numbers go up to 18446744073709551615");
        }
        value.map(TokenKind::Number)
    }
}
