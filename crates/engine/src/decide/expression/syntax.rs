//! What the grammar says about a text, before anybody asks what the names mean.

use crate::decide::number::Number;
use std::ops::Range;

use smol_str::SmolStr;

use super::{DEEPEST, Problem};

/// A piece of syntax and where it stands.
#[derive(Clone, Debug)]
pub(super) struct Syntax {
    pub(super) kind: SyntaxKind,
    pub(super) range: Range<usize>,
    /// How many pieces stand in each other here; bounds every walk through the tree.
    pub(super) height: usize,
}

/// What a piece of syntax is. Chains of one operator are flat, so that their length is not a depth.
#[derive(Clone, Debug)]
pub(super) enum SyntaxKind {
    Null,
    Bool(bool),
    Number(Number),
    Text(SmolStr),
    List(Vec<Syntax>),
    Name(SmolStr),
    Field(Box<Syntax>, Word),
    Index(Box<[Syntax; 2]>),
    Call(Option<Box<Syntax>>, Word, Vec<Syntax>),
    Not(Box<Syntax>),
    Negative(Box<Syntax>),
    All(Vec<Syntax>),
    Any(Vec<Syntax>),
    Compare(Comparison, Box<[Syntax; 2]>),
    Chain(Box<Syntax>, Vec<(Arithmetic, Syntax)>),
    Choose(Box<[Syntax; 3]>),
}

/// A name that stands behind a dot or before a parenthesis.
#[derive(Clone, Debug)]
pub(super) struct Word {
    pub(super) text: SmolStr,
    pub(super) range: Range<usize>,
}

/// How two values are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Comparison {
    Equal,
    Different,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    In,
}

impl Comparison {
    /// As it is written.
    pub(super) fn sign(self) -> &'static str {
        match self {
            Self::Equal => "==",
            Self::Different => "!=",
            Self::Less => "<",
            Self::LessOrEqual => "<=",
            Self::Greater => ">",
            Self::GreaterOrEqual => ">=",
            Self::In => "in",
        }
    }

    pub(super) fn of(sign: &str) -> Option<Self> {
        let all = [
            Self::Equal,
            Self::Different,
            Self::Less,
            Self::LessOrEqual,
            Self::Greater,
            Self::GreaterOrEqual,
            Self::In,
        ];
        all.into_iter().find(|comparison| comparison.sign() == sign)
    }
}

/// How two values make a third.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arithmetic {
    Plus,
    Minus,
    Times,
    Divide,
    Remainder,
}

impl Arithmetic {
    /// As it is written.
    pub(super) fn sign(self) -> &'static str {
        match self {
            Self::Plus => "+",
            Self::Minus => "-",
            Self::Times => "*",
            Self::Divide => "/",
            Self::Remainder => "%",
        }
    }
}

impl Syntax {
    /// A piece of syntax, unless too much stands in it: every later walk is bounded by this.
    pub(super) fn new(kind: SyntaxKind, range: Range<usize>) -> Result<Self, Problem> {
        let height = 1 + kind.parts().map(|part| part.height).max().unwrap_or_default();
        if height > DEEPEST { Err(Problem::too_deep(range)) } else { Ok(Self { kind, range, height }) }
    }
}

impl SyntaxKind {
    /// The pieces that stand directly in it.
    fn parts(&self) -> impl Iterator<Item = &Syntax> {
        let (one, many, chained): (Option<&Syntax>, &[Syntax], &[(Arithmetic, Syntax)]) = match self {
            Self::Null | Self::Bool(_) | Self::Number(_) | Self::Text(_) | Self::Name(_) => (None, &[], &[]),
            Self::Field(one, _) | Self::Not(one) | Self::Negative(one) => (Some(one), &[], &[]),
            Self::List(many) | Self::All(many) | Self::Any(many) => (None, many, &[]),
            Self::Index(both) | Self::Compare(_, both) => (None, both.as_slice(), &[]),
            Self::Choose(three) => (None, three.as_slice(), &[]),
            Self::Call(receiver, _, arguments) => (receiver.as_deref(), arguments, &[]),
            Self::Chain(first, rest) => (Some(first), &[], rest),
        };
        one.into_iter().chain(many).chain(chained.iter().map(|(_, part)| part))
    }
}
