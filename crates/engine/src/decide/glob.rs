//! Patterns of paths, roles and applications: `*`, `**`, `?`, and nothing that could take long.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use smol_str::{SmolStr, SmolStrBuilder};

use super::pattern::Pattern;

/// The longest pattern, in characters.
pub const MAX_LENGTH: usize = 1024;
/// The most wildcards in a pattern.
pub const MAX_WILDCARDS: usize = 16;
/// What may stand after a `\`, which takes its meaning away here or in the language of another system.
const ESCAPED: [char; 12] = ['*', '?', '\\', '{', '}', '[', ']', '%', ':', '<', '(', ')'];
/// The most that a compiled regular expression may take, in bytes.
pub const MAX_REGEX: usize = 1 << 20;

/// A pattern of paths: `*` is any characters but `/`, `**` any run, `?` one character but `/`; `\` before one of
/// them takes its meaning away. A pattern that is `*` alone means any path.
#[derive(Clone, Debug)]
pub struct Glob {
    text: SmolStr,
    segments: Vec<Segment>,
    /// What follows the segments, where `**` is not a segment of its own: a whole rest of the path.
    rest: Option<Pattern>,
}

/// What stands between two slashes.
#[derive(Clone, Debug)]
pub enum Segment {
    /// This text.
    Literal(SmolStr),
    /// `*`: any segment.
    Any,
    /// `**`: one or more segments.
    Many,
    /// A segment with wildcards in it.
    Pattern(SegmentPattern),
}

/// A segment with wildcards in it.
#[derive(Clone, Debug)]
pub enum SegmentPattern {
    /// Texts with any run between them.
    Runs(Vec<SmolStr>),
    /// Characters; `None` is any one.
    Characters(Vec<Option<char>>),
    /// Both.
    Mixed(Pattern),
}

/// Why a pattern is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadPattern {
    /// What is wrong, in bytes of the pattern.
    pub range: Range<usize>,
    /// What it is.
    pub problem: PatternProblem,
}

/// What can be wrong with a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PatternProblem {
    /// There is nothing in it.
    Empty,
    /// It is longer than [`MAX_LENGTH`].
    TooLong,
    /// It has more than [`MAX_WILDCARDS`].
    TooManyWildcards,
    /// A `\` stands before something that needs none.
    NeedlessEscape,
}

impl PatternProblem {
    /// What to do about it.
    pub fn help(self) -> &'static str {
        match self {
            Self::Empty => "to match anything, leave the field out",
            Self::TooLong => "split it into several patterns",
            Self::TooManyWildcards => "in paths `**` covers any number of segments",
            Self::NeedlessEscape => "dots and all other characters stand for themselves: remove the `\\`",
        }
    }

    /// As a clause: `a pattern …`.
    pub fn sentence(self) -> String {
        match self {
            Self::Empty => "is empty, so it would match nothing".to_owned(),
            Self::TooLong => format!("is longer than {MAX_LENGTH} characters"),
            Self::TooManyWildcards => format!("has more than {MAX_WILDCARDS} wildcards"),
            Self::NeedlessEscape => {
                "has a `\\` that is not before `*`, `?`, `\\`, `%`, `:`, `<`, a brace, a bracket or a parenthesis"
                    .to_owned()
            }
        }
    }
}

impl Glob {
    /// Reads a pattern.
    pub fn parse(text: &str) -> Result<Self, BadPattern> {
        let tokens = tokens(text, Stars::BySegment)?;
        let whole = SmolStr::new(text);
        if text == "*" {
            return Ok(Self { text: whole, segments: vec![Segment::Many], rest: None });
        }
        let pieces: Vec<&[Token]> = tokens.split(|token| *token == Token::Character('/')).collect();
        let crosses = |piece: &&[Token]| piece.contains(&Token::Many) && piece.len() > 1;
        // From the first `**` on, if one of them is only part of a segment: where such a rest begins must be certain.
        let cut = if pieces.iter().any(crosses) {
            pieces.iter().position(|piece| piece.contains(&Token::Many))
        } else {
            None
        };
        let (segments, rest) = pieces.split_at(cut.unwrap_or(pieces.len()));
        let segments = segments.iter().map(|piece| Segment::of(piece)).collect();
        let rest = cut.map(|_| regex_of(&rest.join(&Token::Character('/')))).transpose()?;
        Ok(Self { text: whole, segments, rest })
    }

    /// As it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// What stands between its slashes, up to the rest.
    pub fn segments(&self) -> &[Segment] {
        &self.segments
    }

    /// What a whole rest of the path must look like after the segments.
    pub fn rest(&self) -> Option<&Pattern> {
        self.rest.as_ref()
    }

    /// What its automata weigh; what is told segment by segment weighs nothing.
    pub(super) fn weight(&self) -> usize {
        let mixed = self.segments.iter().filter_map(|segment| match segment {
            Segment::Pattern(SegmentPattern::Mixed(pattern)) => Some(pattern),
            _ => None,
        });
        mixed.chain(&self.rest).map(Pattern::weight).sum()
    }

    /// What it is made of.
    pub(super) fn tokens(&self) -> Vec<Token> {
        if self.text == "*" { vec![Token::Many] } else { tokens(&self.text, Stars::BySegment).unwrap_or_default() }
    }

    /// Whether it covers a path. The index does not ask this; explanations do.
    pub fn matches(&self, path: &str) -> bool {
        let Some(rest) = &self.rest else { return covers(&self.segments, path) };
        // No `**` stands before a rest, so it begins at one place.
        let (mut given, mut at) = (path.split('/'), 0);
        for wanted in &self.segments {
            match given.next() {
                Some(segment) if wanted.covers(segment) => at += segment.len() + 1,
                _ => return false,
            }
        }
        path.get(at..).is_some_and(|text| rest.is_match(text))
    }
}

/// Between two `**`, the leftmost place that fits leaves the most for what follows.
fn covers(wanted: &[Segment], path: &str) -> bool {
    let is_many = |segment: &Segment| matches!(segment, Segment::Many);
    let mut given = path.split('/');
    let Some(first) = wanted.iter().position(is_many) else {
        return wanted.iter().all(|wanted| given.next().is_some_and(|given| wanted.covers(given)))
            && given.next().is_none();
    };
    let last = wanted.iter().rposition(is_many).unwrap_or(first);
    let (head, tail) = (wanted.get(..first).unwrap_or_default(), wanted.get(last + 1..).unwrap_or_default());
    if !head.iter().all(|wanted| given.next().is_some_and(|given| wanted.covers(given)))
        || !tail.iter().rev().all(|wanted| given.next_back().is_some_and(|given| wanted.covers(given)))
    {
        return false;
    }
    for chunk in wanted.get(first + 1..last).into_iter().flat_map(|middle| middle.split(is_many)) {
        loop {
            // The `**` before it takes at least one segment.
            if given.next().is_none() {
                return false;
            }
            let mut after = given.clone();
            if chunk.iter().all(|wanted| after.next().is_some_and(|given| wanted.covers(given))) {
                given = after;
                break;
            }
        }
    }
    given.next().is_some()
}

impl Segment {
    fn of(tokens: &[Token]) -> Self {
        match tokens {
            [Token::Any] => Self::Any,
            [Token::Many] => Self::Many,
            _ => match literal(tokens) {
                Some(text) => Self::Literal(text),
                None => Self::Pattern(SegmentPattern::of(tokens)),
            },
        }
    }

    /// Whether it covers one segment.
    pub fn covers(&self, given: &str) -> bool {
        match self {
            Self::Literal(text) => text == given,
            Self::Any | Self::Many => true,
            Self::Pattern(like) => like.covers(given),
        }
    }
}

impl SegmentPattern {
    /// Whether it was written in the same way, so that it covers the same.
    pub(super) fn is_same_as(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Runs(own), Self::Runs(other)) => own == other,
            (Self::Characters(own), Self::Characters(other)) => own == other,
            (Self::Mixed(own), Self::Mixed(other)) => own.as_str() == other.as_str(),
            _ => false,
        }
    }

    fn of(tokens: &[Token]) -> Self {
        let character = |token: &Token| match token {
            Token::Character(character) => Some(*character),
            Token::Any | Token::Many | Token::One => None,
        };
        if !tokens.contains(&Token::One) {
            let runs = tokens.split(|token| matches!(token, Token::Any | Token::Many));
            return Self::Runs(runs.map(|run| run.iter().filter_map(character).collect()).collect());
        }
        match regex_of(tokens) {
            Ok(regex) if tokens.contains(&Token::Any) => Self::Mixed(regex),
            _ => Self::Characters(tokens.iter().map(character).collect()),
        }
    }

    /// Whether it covers a text.
    pub fn covers(&self, given: &str) -> bool {
        match self {
            Self::Runs(runs) => covers_runs(runs, given),
            Self::Characters(wanted) => {
                given.chars().count() == wanted.len()
                    && wanted.iter().zip(given.chars()).all(|(wanted, given)| wanted.is_none_or(|one| one == given))
            }
            Self::Mixed(regex) => regex.is_match(given),
        }
    }
}

/// The leftmost place of each text leaves the most for what follows.
fn covers_runs(runs: &[SmolStr], given: &str) -> bool {
    let [first, middle @ .., last] = runs else { return runs.first().is_some_and(|only| only == given) };
    let Some(mut left) = given.strip_prefix(first.as_str()) else { return false };
    for run in middle {
        let Some(at) = memchr::memmem::find(left.as_bytes(), run.as_bytes()) else { return false };
        left = left.get(at + run.len()..).unwrap_or_default();
    }
    left.ends_with(last.as_str())
}

/// A pattern of roles and applications: `*` is any characters, nothing else is special.
#[derive(Clone, Debug)]
pub enum Wildcard {
    /// This text.
    Exact(SmolStr),
    /// Texts with any run between them.
    Runs(SmolStr, SegmentPattern),
    /// What another system makes of it.
    Foreign(SmolStr, Arc<dyn ForeignPattern>),
    /// What another system fails on.
    Broken(SmolStr),
}

/// A pattern as another system reads it.
pub trait ForeignPattern: fmt::Debug + Send + Sync {
    /// Whether it covers a text. Must not take longer than the text is long, times a constant.
    fn covers(&self, text: &str) -> bool;
}

impl PartialEq for Wildcard {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Exact(own), Self::Exact(other)) | (Self::Runs(own, _), Self::Runs(other, _)) => own == other,
            (Self::Foreign(_, own), Self::Foreign(_, other)) => Arc::ptr_eq(own, other),
            (Self::Broken(_), Self::Broken(_)) => true,
            _ => false,
        }
    }
}

impl Wildcard {
    /// Reads a pattern.
    pub fn parse(text: &str) -> Result<Self, BadPattern> {
        let tokens = tokens(text, Stars::Anything)?;
        Ok(match literal(&tokens) {
            Some(text) => Self::Exact(text),
            None => Self::Runs(SmolStr::new(text), SegmentPattern::of(&tokens)),
        })
    }

    /// As it was written.
    pub fn text(&self) -> &str {
        match self {
            Self::Exact(text) | Self::Runs(text, _) | Self::Foreign(text, _) | Self::Broken(text) => text,
        }
    }

    /// What it is made of; nothing if that is the business of another system.
    pub(super) fn tokens(&self) -> Option<Vec<Token>> {
        match self {
            Self::Exact(text) => Some(text.chars().map(Token::Character).collect()),
            Self::Runs(text, _) => {
                let tokens = tokens(text, Stars::Anything).unwrap_or_default().into_iter();
                Some(tokens.map(|token| if token == Token::Any { Token::Many } else { token }).collect())
            }
            Self::Foreign(..) | Self::Broken(_) => None,
        }
    }

    /// Whether another system fails on it.
    pub(super) fn is_broken(&self) -> bool {
        matches!(self, Self::Broken(_))
    }

    /// The text with which everything begins that it covers.
    pub fn prefix(&self) -> &str {
        match self {
            Self::Exact(text) => text,
            Self::Runs(_, SegmentPattern::Runs(runs)) => runs.first().map_or("", SmolStr::as_str),
            Self::Runs(..) | Self::Foreign(..) | Self::Broken(_) => "",
        }
    }

    /// Whether it covers a text.
    pub fn covers(&self, given: &str) -> bool {
        match self {
            Self::Exact(text) => text == given,
            Self::Runs(_, like) => like.covers(given),
            Self::Foreign(_, pattern) => pattern.covers(given),
            Self::Broken(_) => false,
        }
    }
}

/// What a pattern is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token {
    /// This character.
    Character(char),
    /// `?`: one character but a slash.
    One,
    /// `*`: any characters but slashes.
    Any,
    /// `**`: any characters.
    Many,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stars {
    /// `*` stays within a segment, `**` does not; `?` and `\` are special.
    BySegment,
    /// `*` is anything; nothing else is special.
    Anything,
}

fn tokens(text: &str, stars: Stars) -> Result<Vec<Token>, BadPattern> {
    let bad = |range, problem| Err(BadPattern { range, problem });
    if text.is_empty() {
        return bad(0..0, PatternProblem::Empty);
    }
    if text.chars().count() > MAX_LENGTH {
        return bad(0..text.len(), PatternProblem::TooLong);
    }
    let mut tokens = Vec::with_capacity(text.len());
    let mut wildcards = 0;
    let mut characters = text.char_indices().peekable();
    while let Some((at, character)) = characters.next() {
        let token = match (character, stars) {
            ('\\', Stars::BySegment) => match characters.next() {
                Some((_, escaped)) if ESCAPED.contains(&escaped) => Token::Character(escaped),
                _ => return bad(at..at + 1, PatternProblem::NeedlessEscape),
            },
            ('*', Stars::Anything) => Token::Any,
            ('*', Stars::BySegment) => {
                let mut token = Token::Any;
                // A third star adds nothing to the run that two are.
                while characters.next_if(|(_, next)| *next == '*').is_some() {
                    token = Token::Many;
                }
                token
            }
            ('?', Stars::BySegment) => Token::One,
            (other, _) => Token::Character(other),
        };
        if !matches!(token, Token::Character(_)) {
            wildcards += 1;
            if wildcards > MAX_WILDCARDS {
                return bad(at..at + 1, PatternProblem::TooManyWildcards);
            }
        }
        tokens.push(token);
    }
    Ok(tokens)
}

fn literal(tokens: &[Token]) -> Option<SmolStr> {
    let mut text = SmolStrBuilder::new();
    for token in tokens {
        let Token::Character(character) = token else { return None };
        text.push(*character);
    }
    Some(text.finish())
}

/// A linear-time matcher for what cannot be known segment by segment.
fn regex_of(tokens: &[Token]) -> Result<Pattern, BadPattern> {
    let mut pattern = String::from("^(?s:");
    for token in tokens {
        match token {
            Token::Character(character) => pattern.push_str(&regex::escape(character.encode_utf8(&mut [0; 4]))),
            Token::One => pattern.push_str("[^/]"),
            Token::Any => pattern.push_str("[^/]*"),
            Token::Many => pattern.push_str(".*"),
        }
    }
    pattern.push_str(")$");
    Pattern::build(&pattern, None).map_err(|_| BadPattern { range: 0..tokens.len(), problem: PatternProblem::TooLong })
}
