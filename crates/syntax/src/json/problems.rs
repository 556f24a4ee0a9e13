//! What can be wrong with JSON, in words: what was expected, what was found, and what to do about common mistakes.

use upheld_model::{Diagnostic, Fault, SourceId};

use crate::{limits, quote};

/// Something wrong at a byte.
#[derive(Clone, Copy, Debug)]
pub(super) struct Problem {
    pub(super) at: usize,
    pub(super) wrong: Wrong,
}

/// What is wrong.
#[derive(Clone, Copy, Debug)]
pub(super) enum Wrong {
    /// Something else than what was expected.
    Found(Expected),
    TrailingComma,
    /// A text without a closing quote.
    Unclosed,
    /// A control character in a text.
    Control(u8),
    /// A backslash with something that it cannot have.
    Escape,
    /// Half of a pair of escapes.
    Surrogate,
    Number,
    TooDeep,
    TooManyValues,
}

/// What must come next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Expected {
    Value,
    Key,
    Colon,
    CommaOrBrace,
    CommaOrBracket,
    End,
}

impl Expected {
    fn words(self) -> &'static str {
        match self {
            Self::Value => "a value",
            Self::Key => "a key in double quotes",
            Self::Colon => "`:` after the key",
            Self::CommaOrBrace => "a comma or `}`",
            Self::CommaOrBracket => "a comma or `]`",
            Self::End => "nothing more after the value",
        }
    }
}

impl Problem {
    pub(super) fn fault(self) -> Fault {
        match self.wrong {
            Wrong::TooDeep | Wrong::TooManyValues => Fault::Limit,
            _ => Fault::Syntax,
        }
    }

    /// The words for it; what could be read ends at a byte.
    pub(super) fn explain(self, source: SourceId, text: &str, end: usize) -> Diagnostic {
        let found = found(text, self.at, end);
        let span = quote::span(self.at, found.len());
        let error = |message: &str| Diagnostic::error(Fault::Syntax, message).at(source, span, "");
        match self.wrong {
            Wrong::TooDeep => limits::too_deep(source, span),
            Wrong::TooManyValues => limits::too_many_values(source, span),
            Wrong::TrailingComma => {
                error("a comma after the last entry").help("remove it: JSON allows none before a closing bracket")
            }
            Wrong::Unclosed => Diagnostic::error(Fault::Syntax, "the text is not closed")
                .at(source, quote::span(self.at, 1), "opened here")
                .help("close it with `\"` on the same line; write a line break inside it as `\\n`"),
            Wrong::Control(byte) => {
                error(&format!("control character U+{byte:04X} in a text")).help(format!("write it as `\\u{byte:04x}`"))
            }
            Wrong::Escape => error("unknown escape")
                .help("`\\` comes before one of `\"\\/bfnrt`, or before `u` and four hexadecimal digits"),
            Wrong::Surrogate => error("half of a surrogate pair")
                .help("characters beyond U+FFFF take two escapes, for example `\\ud83d\\ude00`"),
            Wrong::Number => error(&format!("`{}` is not a JSON number", quote::short(found)))
                .help("numbers have no leading zero and digits on both sides of the point; put text in double quotes"),
            Wrong::Found(expected) => {
                let shown = if !found.is_empty() {
                    format!("`{}`", quote::short(found))
                } else if end < text.len() {
                    "the end of the line".to_owned()
                } else {
                    "the end of the text".to_owned()
                };
                let mut problem = error(&format!("expected {}, found {shown}", expected.words()));
                problem.help.extend(help(expected, found));
                problem
            }
        }
    }
}

/// What to do about something unexpected, if it is a common mistake.
fn help(expected: Expected, found: &str) -> Option<String> {
    let constant = ["true", "false", "null"].into_iter().find(|constant| found.eq_ignore_ascii_case(constant));
    let help = match (found.as_bytes(), expected) {
        ([b'/' | b'#', ..], _) => "JSON has no comments: remove it, or name the file `.yaml`".to_owned(),
        ([b'\'', ..], _) => "put JSON texts in double quotes: `\"`".to_owned(),
        ([], Expected::CommaOrBrace | Expected::CommaOrBracket) => "close what is open".to_owned(),
        ([b'"' | b'{' | b'[', ..], Expected::CommaOrBrace | Expected::CommaOrBracket) => {
            "put a comma between entries".to_owned()
        }
        ([b'{' | b'[', ..], Expected::End) => {
            "a JSON file has one value; name a file with one value a line `.jsonl`".to_owned()
        }
        (_, Expected::Value) if let Some(constant) = constant => format!("write `{constant}`"),
        ([first, ..], Expected::Value | Expected::Key) if first.is_ascii_alphabetic() => {
            format!("put it in double quotes: `\"{}\"`", quote::short(found))
        }
        _ => return None,
    };
    Some(help)
}

/// What stands at a byte: a text with its quotes, a word or number, or one character; nothing at the end.
fn found(text: &str, at: usize, end: usize) -> &str {
    let rest = text.get(at..end).unwrap_or_default();
    let mut characters = rest.char_indices();
    let Some((_, first)) = characters.next() else { return "" };
    let is_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '+' | '.' | '$');
    let length = match first {
        '"' | '\'' => characters.find(|(_, c)| *c == first).map_or(1, |(index, _)| index + 1),
        '\\' => characters.nth(1).map_or(rest.len(), |(index, _)| index),
        first if is_word(first) => characters.find(|(_, c)| !is_word(*c)).map_or(rest.len(), |(index, _)| index),
        first => first.len_utf8(),
    };
    rest.get(..length).unwrap_or_default()
}
