//! Conditions of access policies: a part of CEL without loops, checked when it is read, bounded when it runs.
//!
//! ```text
//! text ──▶ tokens ──▶ syntax ──▶ nodes ──▶ a truth for each request
//!         lexer      parse      check     evaluate
//! ```
//!
//! - Numbers are those of JSON: `7 / 2` is `3.5`, and there is no whole-number division.
//! - Values of different types are not equal; to order them is an error.
//! - In regular expressions `\d`, `\w` and `\s` are those of ASCII.
//! - Reading what is absent or unknown is an error; `&&` and `||` answer in spite of an error where the other side
//!   alone decides, in either order.

mod arithmetic;
mod check;
mod clause;
mod evaluate;
mod functions;
mod lexer;
mod lookup;
mod node;
mod parse;
mod suggest;
mod syntax;
#[cfg(test)]
mod tests;
mod time;
mod value;

use std::ops::Range;

use smol_str::SmolStr;

pub(super) use self::clause::{Clause, Joined};
use self::node::Node;
use super::request::NormalizedRequest;
use super::truth::Truth;

/// How many bytes a text may have.
pub const MOST_BYTES: usize = 4096;
/// How deep parentheses, calls and operators may stand in each other.
pub const DEEPEST: usize = 32;
/// How many steps one evaluation may take. A visit of a node is one; long lists and texts cost more.
pub const MOST_STEPS: usize = 10_000;

/// A condition that was read and checked.
#[derive(Clone, Debug)]
pub struct Expression {
    text: Box<str>,
    root: Node,
    reads: Vec<SmolStr>,
    pub(super) size: usize,
}

impl Expression {
    /// What the automata of its patterns weigh.
    pub fn weight(&self) -> usize {
        fn inside(node: &Node) -> usize {
            let own = match &node.kind {
                node::Kind::Matches(_, pattern) => pattern.weight(),
                _ => 0,
            };
            own + node.parts().map(inside).sum::<usize>()
        }
        inside(&self.root)
    }
}

impl PartialEq for Expression {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Expression {
    /// Reads and checks a text. Mistakes in names and types come all at once, mistakes of grammar end the reading.
    pub fn parse(text: &str) -> Result<Self, Vec<Problem>> {
        if text.len() > MOST_BYTES {
            let message = format!("the expression is longer than {MOST_BYTES} bytes");
            return Err(vec![Problem::new(0..text.len(), message).help("split it into several policies")]);
        }
        let tokens = lexer::tokens(text)?;
        let syntax = parse::parse(&tokens).map_err(|problem| vec![problem])?;
        let (root, reads) = check::check(&syntax, text)?;
        let size = root.size();
        Ok(Self { text: text.into(), root, reads, size })
    }

    /// As it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether it holds for a request. What cannot be evaluated is an error.
    pub fn holds(&self, asked: NormalizedRequest<'_>) -> Truth {
        self.measured(asked).0
    }

    /// As [`Self::holds`], and how many steps that took.
    pub(super) fn measured(&self, asked: NormalizedRequest<'_>) -> (Truth, usize) {
        let (held, steps) = evaluate::run(&self.root, asked);
        (held.map_or(Truth::Error, Truth::from), steps)
    }

    /// As [`Self::holds`], and why an error is one.
    pub fn explain(&self, asked: NormalizedRequest<'_>) -> Result<bool, Failure> {
        evaluate::run(&self.root, asked).0.map_err(evaluate::Stop::failure)
    }

    /// The facts that it reads, as paths like `subject.claims.level`, each once and in order.
    pub fn reads(&self) -> &[SmolStr] {
        &self.reads
    }
}

/// What is wrong with the text of an expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The bytes to underline.
    pub range: Range<usize>,
    /// Lower-case, no full stop, what users wrote in backticks.
    pub message: String,
    /// What to do next.
    pub help: Option<String>,
}

impl Problem {
    fn new(range: Range<usize>, message: impl Into<String>) -> Self {
        Self { range, message: message.into(), help: None }
    }

    fn help(self, text: impl Into<String>) -> Self {
        Self { help: Some(text.into()), ..self }
    }

    fn too_deep(range: Range<usize>) -> Self {
        Self::new(range, format!("the expression is nested more than {DEEPEST} deep"))
            .help("split it into several policies")
    }
}

/// Why an expression has no truth for a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// What went wrong.
    pub cause: Cause,
    /// The fact that it is about, like `subject.claims.level`, if it is about one.
    pub path: Option<SmolStr>,
    /// The bytes of the expression where it went wrong.
    pub range: Range<usize>,
}

/// What can go wrong while an expression is evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Cause {
    /// The request has no such fact.
    Absent,
    /// The fact has a value that nobody knows.
    Unknown,
    /// The value has a type that makes no sense here.
    WrongType,
    /// A number was divided by zero.
    DivisionByZero,
    /// A number or a moment left the range that can be represented.
    OutOfRange,
    /// A text is not a number, moment or duration.
    Unreadable,
    /// Lists or maps stand too deep in each other to be compared.
    TooDeep,
    /// The evaluation took too many steps.
    TooManySteps,
}

impl Failure {
    /// As a clause: `subject.claims.level is absent`.
    pub fn clause(&self) -> String {
        let what = self.path.as_deref().unwrap_or("a value");
        let clause = match self.cause {
            Cause::Absent => "is absent",
            Cause::Unknown => "is not known",
            Cause::WrongType => "is of the wrong type",
            Cause::DivisionByZero => "is divided by zero",
            Cause::OutOfRange => "is out of range",
            Cause::Unreadable => "cannot be read",
            Cause::TooDeep => "is nested too deep",
            Cause::TooManySteps => return format!("it takes more than {MOST_STEPS} steps"),
        };
        format!("{what} {clause}")
    }
}
