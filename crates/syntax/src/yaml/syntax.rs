//! Syntax errors in plain words: in goes what the parser says, out come a headline, a place and what to do.
//!
//! The parser says what it could not do at a byte. People want to know what they wrote wrong, which is often a little
//! earlier: the quote that was opened, the tab, the missing space.

use std::borrow::Cow;

use granit_parser::{ErrorKind, ScanError};
use upheld_model::{Diagnostic, Fault, SourceId};

use super::problems::TEMPLATE;
use crate::{limits, quote};

/// The code of an error.
pub(super) fn fault(error: &ScanError) -> Fault {
    match error.kind() {
        ErrorKind::RecursionLimitExceeded => Fault::Limit,
        ErrorKind::UndeclaredTagHandle => Fault::UnknownTag,
        _ => Fault::Syntax,
    }
}

/// The words for an error. `end` is where the last good value ended.
pub(super) fn explain(source: SourceId, text: &str, error: &ScanError, end: u32) -> Diagnostic {
    let at = error.marker().byte_offset().unwrap_or(text.len()).min(text.len());
    let span = |at: usize| quote::span(at, quote::word(text, at).len());
    if *error.kind() == ErrorKind::RecursionLimitExceeded {
        return limits::too_deep(source, span(at));
    }
    let place = Place { text, at, end: end as usize };
    let words = place.words(error.kind());
    let mut diagnostic = Diagnostic::error(fault(error), words.message).at(source, span(words.at), words.label);
    diagnostic.help = words.help.into_iter().chain(place.surroundings()).map(Cow::into_owned).collect();
    diagnostic
}

/// What to say, and where.
struct Words {
    at: usize,
    message: Cow<'static, str>,
    label: &'static str,
    help: Option<Cow<'static, str>>,
}

impl Words {
    fn new(at: usize, message: impl Into<Cow<'static, str>>) -> Self {
        Self { at, message: message.into(), label: "", help: None }
    }

    fn label(self, label: &'static str) -> Self {
        Self { label, ..self }
    }

    fn help(self, help: impl Into<Cow<'static, str>>) -> Self {
        Self { help: Some(help.into()), ..self }
    }
}

/// Where the parser stopped.
struct Place<'t> {
    text: &'t str,
    at: usize,
    /// Where the last good value ended.
    end: usize,
}

impl Place<'_> {
    fn words(&self, kind: &ErrorKind) -> Words {
        use ErrorKind as Kind;
        let here = |message: &'static str| Words::new(self.at, message);
        match kind {
            Kind::TabInBlockIndentation | Kind::TabInIndentation | Kind::TabNotAllowed => self.tab(1),
            // These two are found at the beginning of the text; the tab is in a line below.
            Kind::TabInPlainScalar | Kind::TabAtBlockScalarStart => self.tab(usize::MAX),

            Kind::UnclosedQuotedScalar | Kind::InvalidQuotedScalarIndent | Kind::DocumentIndicatorInQuotedScalar => {
                Words::new(self.opening_quote(), "the quote is not closed")
                    .label("opened here")
                    .help("close it at the end of the text; more lines of the same text must be indented")
            }
            Kind::InvalidTrailingSingleQuotedScalar => here("unexpected text after the closing quote")
                .help("inside single quotes, write a single quote twice: `'it''s'`"),
            Kind::InvalidTrailingDoubleQuotedScalar => here("unexpected text after the closing quote")
                .help("inside double quotes, write a double quote as `\\\"`"),
            Kind::UnknownQuotedScalarEscape => Words::new(self.unknown_escape(), "unknown escape in double quotes")
                .help("write a backslash as `\\\\`, or use single quotes, where it means itself"),
            Kind::InvalidQuotedScalarHexEscape | Kind::InvalidUnicodeEscape => {
                here("broken escape: `\\x`, `\\u` and `\\U` take 2, 4 and 8 hexadecimal digits of a character")
            }
            Kind::InvalidLowSurrogateHexEscape
            | Kind::InvalidLowSurrogate
            | Kind::MissingLowSurrogate
            | Kind::UnpairedLowSurrogate => here("broken escape: one half of a surrogate pair"),

            Kind::MappingValueNotAllowed => self.unexpected_colon(),
            Kind::SimpleKeyExpected | Kind::InvalidSimpleKey => self.missing_colon(),
            Kind::InvalidMappingValueWhitespace | Kind::FlowMappingValueAdjacentCollection => {
                here("a space is missing after `:`")
            }
            Kind::MappingKeyNotAllowed => here("a key is not allowed here"),
            Kind::ExpectedBlockMappingKey | Kind::ExpectedBlockSequenceEntry | Kind::InvalidIndentation => {
                self.misaligned()
            }
            Kind::InvalidBlockScalarIndent => here("wrong indentation in a text block"),
            Kind::InvalidFlowScalarIndent => here("wrong indentation inside brackets"),

            Kind::UnclosedFlowCollection { open } => {
                Words::new(self.at, format!("`{open}` is not closed")).label("opened here")
            }
            Kind::MismatchedFlowCollectionEnd { open, close } => {
                Words::new(self.at, format!("`{open}` is closed by `{close}`")).label("opened here")
            }
            Kind::MisplacedFlowCollectionEnd => here("this bracket closes nothing"),
            Kind::ExpectedFlowMappingSeparator => {
                here("expected `,` or `}`").help("put a comma between entries, and `}` after the last one")
            }
            Kind::ExpectedFlowSequenceSeparator | Kind::InvalidColonPlacement => {
                here("expected `,` or `]`").help("put a comma between items, and `]` after the last one")
            }
            Kind::UnexpectedEofFlowSequence => here("the text ends inside `[`"),
            Kind::UnexpectedEofFlowMapping | Kind::UnexpectedEofImplicitFlowMapping => here("the text ends inside `{`"),
            Kind::UnexpectedEofBlockSequence
            | Kind::UnexpectedEofBlockMapping
            | Kind::UnexpectedEof
            | Kind::UnexpectedEndOfPlainScalar => here("the text ends too early"),

            Kind::BlockEntryInFlowCollection => here("`- ` is not allowed inside brackets"),
            Kind::BlockSequenceEntryNotAllowed => {
                here("a list cannot begin here").help("put `- ` on its own line, below the key")
            }
            Kind::InvalidBlockEntryWhitespace => here("a space is missing after `-`"),
            Kind::PlainScalarStartsWithDashFlowIndicator => {
                here("text cannot begin with `-` here").help("put it in quotes")
            }
            Kind::ExpectedNodeContent => here("a value is missing before this"),
            Kind::UnexpectedCharacter { character } if character.is_control() => {
                Words::new(self.at, format!("control character U+{:04X} is not allowed", u32::from(*character)))
                    .help("remove it, or write it as an escape in double quotes")
            }
            Kind::UnexpectedCharacter { character } => {
                Words::new(self.at, format!("text cannot begin with `{character}`")).help("put it in quotes")
            }
            Kind::MissingAnchorOrAliasName => {
                here("a name is missing after `&` or `*`").help("put the value in quotes if it is text")
            }
            Kind::CommentNotSeparated => here("a space is missing before `#`"),
            Kind::CommentInterceptedScalar => here("a comment is not allowed inside a text of several lines"),
            Kind::InvalidBlockScalarHeader | Kind::ZeroBlockScalarIndent => {
                here("only `+`, `-` and a digit from 1 to 9 can follow `|` or `>`")
                    .help("put the text on the next line, indented; or in quotes")
            }
            Kind::BomInsideDocument => here("a byte order mark is not allowed inside the text").help("remove it"),
            Kind::InvalidDocumentEnd => here("nothing can follow `...` on its line"),
            Kind::MissingDocumentEndBeforeDirective => here("a `%` directive needs a line `...` before it"),
            Kind::ExpectedDocumentStart => here("a line `---` is missing here"),
            Kind::UnsupportedYamlMajorVersion => here("only YAML 1 can be read"),
            Kind::UndeclaredTagHandle => here("unknown tag").help("remove it"),

            Kind::ExpectedTagBang
            | Kind::InvalidGlobalTagCharacter
            | Kind::InvalidTagTerminator
            | Kind::MissingTagUri
            | Kind::UnclosedVerbatimTag
            | Kind::InvalidTagEscape
            | Kind::InvalidTagUtf8LeadingByte
            | Kind::InvalidTagUtf8TrailingByte
            | Kind::InvalidTagUtf8 => {
                here("broken tag").help("put the value in quotes if it is text that begins with `!`")
            }

            Kind::DuplicateVersionDirective
            | Kind::DuplicateTagDirective
            | Kind::ExpectedTagDirectiveBang
            | Kind::InvalidDirectiveTerminator
            | Kind::MissingYamlVersionSeparator
            | Kind::MissingDirectiveName
            | Kind::InvalidDirectiveName
            | Kind::DirectiveByteLimitExceeded { .. }
            | Kind::TooManyReservedDirectiveParams { .. }
            | Kind::YamlVersionTooLong
            | Kind::MissingYamlVersion
            | Kind::InvalidTagDirectiveTerminator => {
                here("broken directive: a line that begins with `%`").help("remove it: manifests do not need one")
            }
            other => Words::new(self.at, other.to_string()),
        }
    }

    /// A `:` where no key can be: a missing space above, a second `:` in the line, or wrong indentation.
    fn unexpected_colon(&self) -> Words {
        let (start, line) = quote::line(self.text, self.at);
        let above = quote::line(self.text, start.saturating_sub(1));
        if let Some(words) = missing_space(above).or_else(|| missing_space((start, line))) {
            return words;
        }
        let before = self.text.get(start..self.at).unwrap_or_default();
        if before.contains(": ") {
            return Words::new(self.at, "a second `:` in one line")
                .help("put the value in quotes if the `:` belongs to it");
        }
        Words::new(self.at, "a key is not allowed here")
            .label("the value above would continue here")
            .help("align keys of one map; a key with a value on its line has no keys below it")
    }

    /// A word alone on its line where a key must be.
    fn missing_colon(&self) -> Words {
        let (start, line) = quote::line(self.text, self.at);
        missing_space((start, line)).unwrap_or_else(|| {
            let word = quote::short(quote::word(self.text, self.at));
            Words::new(self.at, format!("expected `:` after `{word}`"))
                .help("write `key: value`; more lines of a text must be indented deeper than its key")
        })
    }

    /// Something that is neither the next entry of its list or map nor the end of it.
    fn misaligned(&self) -> Words {
        let (start, _) = quote::line(self.text, self.at);
        let before = self.text.get(start..self.at).unwrap_or_default();
        match before.trim() {
            "" => Words::new(self.at, "wrong indentation")
                .label("aligned with nothing above it")
                .help("give all entries of one list or map the same indentation"),
            "-" => Words::new(self.at, "a list item is not allowed among the keys of a map")
                .help("indent it below its key, or make it a key"),
            _ => {
                let word = quote::short(quote::word(self.text, self.at));
                Words::new(self.at, format!("unexpected `{word}` after the value"))
                    .help("put the whole value in quotes if this belongs to it")
            }
        }
    }

    /// What the line or the one above it hints at.
    fn surroundings(&self) -> Option<Cow<'static, str>> {
        let (start, line) = quote::line(self.text, self.at);
        let (_, above) = quote::line(self.text, start.saturating_sub(1));
        let lines = [line, above];
        if lines.iter().any(|line| line.contains("{{")) {
            return Some(TEMPLATE.into());
        }
        let is_conflict = |line: &&str| ["<<<<<<<", "=======", ">>>>>>>"].iter().any(|mark| line.starts_with(mark));
        lines.iter().any(is_conflict).then(|| "this looks like an unresolved merge conflict".into())
    }

    /// The first tab in the indentation of this and the following lines.
    fn tab(&self, lines: usize) -> Words {
        let (mut start, _) = quote::line(self.text, self.at);
        let mut at = self.at;
        for line in self.text.get(start..).unwrap_or_default().split_inclusive('\n').take(lines) {
            let indentation = line.len() - line.trim_start_matches([' ', '\t']).len();
            if let Some(tab) = line.get(..indentation).and_then(|blanks| blanks.find('\t')) {
                at = start + tab;
                break;
            }
            start += line.len();
        }
        Words::new(at, "a tab is used for indentation")
            .label("this is a tab")
            .help("indent with spaces; YAML allows no tabs there")
    }

    /// The first quote after the last good value that is not in a comment.
    fn opening_quote(&self) -> usize {
        let between = self.text.get(self.end..).unwrap_or_default();
        let mut start = self.end;
        for line in between.split_inclusive('\n') {
            let code = line.find(" #").and_then(|comment| line.get(..comment)).unwrap_or(line);
            if let Some(quote) = code.find(['"', '\'']) {
                return start + quote;
            }
            start += line.len();
            if start > self.at {
                break;
            }
        }
        self.at
    }

    /// The first backslash of a text in double quotes that no known escape begins with.
    fn unknown_escape(&self) -> usize {
        let mut bytes = self.text.bytes().enumerate().skip(self.at + 1);
        while let Some((at, byte)) = bytes.next() {
            if byte == b'\\' && !bytes.next().is_some_and(|(_, next)| b"0abt\tnvfre \"/\\N_LPxuU\r\n".contains(&next)) {
                return at;
            }
        }
        self.at
    }
}

/// `name:web`, alone on its line: the parser takes it for one word.
fn missing_space((start, line): (usize, &str)) -> Option<Words> {
    let entry = line.trim_start_matches([' ', '-']);
    let (key, value) = entry.split_once(':')?;
    let is_key = !key.is_empty() && key.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.'));
    if !is_key || value.is_empty() || value.starts_with([' ', '\t', '/', ':']) {
        return None;
    }
    let (key, value) = (quote::short(key), quote::short(value));
    let words = Words::new(start + line.len() - entry.len(), "a space is missing after `:`")
        .help(format!("write `{key}: {value}`"));
    Some(words)
}
