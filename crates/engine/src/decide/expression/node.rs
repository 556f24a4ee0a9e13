//! A checked expression: every name is known to mean something.

use std::ops::Range;

use smol_str::SmolStr;
use upheld_model::Timestamp;

use super::syntax::{Arithmetic, Comparison};
use super::time::Span;
use crate::decide::pattern::Pattern;
use crate::decide::request::Fact;

/// One step of an evaluation.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) kind: Kind,
    /// The bytes of the text that say so.
    pub(super) range: Range<usize>,
    /// What it is known to give.
    pub(super) gives: Type,
}

/// What a step does.
#[derive(Clone, Debug)]
pub(super) enum Kind {
    Constant(Fact),
    Moment(Timestamp),
    Span(Span),
    List(Vec<Node>),
    Path(Root, Vec<SmolStr>),
    Field(Box<Node>, SmolStr),
    Index(Box<[Node; 2]>),
    /// Whether there is such a path or field.
    Has(Box<Node>),
    Not(Box<Node>),
    Negative(Box<Node>),
    All(Vec<Node>),
    Any(Vec<Node>),
    Compare(Comparison, Box<[Node; 2]>),
    Chain(Box<Node>, Vec<(Arithmetic, Node)>),
    Choose(Box<[Node; 3]>),
    Matches(Box<Node>, Pattern),
    Call(Function, Vec<Node>),
}

impl Node {
    /// Its value, if that is written down.
    pub(super) fn constant(&self) -> Option<&Fact> {
        match &self.kind {
            Kind::Constant(fact) => Some(fact),
            _ => None,
        }
    }

    /// How many nodes there are.
    pub(super) fn size(&self) -> usize {
        1 + self.parts().map(Self::size).sum::<usize>()
    }

    /// The nodes that stand directly in it.
    pub(super) fn parts(&self) -> impl Iterator<Item = &Self> {
        let (one, many, chained): (Option<&Self>, &[Self], &[(Arithmetic, Self)]) = match &self.kind {
            Kind::Constant(_) | Kind::Moment(_) | Kind::Span(_) | Kind::Path(..) => (None, &[], &[]),
            Kind::Field(one, _) | Kind::Has(one) | Kind::Not(one) | Kind::Negative(one) | Kind::Matches(one, _) => {
                (Some(one), &[], &[])
            }
            Kind::List(many) | Kind::All(many) | Kind::Any(many) | Kind::Call(_, many) => (None, many, &[]),
            Kind::Index(both) | Kind::Compare(_, both) => (None, both.as_slice(), &[]),
            Kind::Choose(three) => (None, three.as_slice(), &[]),
            Kind::Chain(first, rest) => (Some(first), &[], rest),
        };
        one.into_iter().chain(many).chain(chained.iter().map(|(_, part)| part))
    }

    /// The fact that it is about: the one that it reads, or the only one that stands directly in it.
    pub(super) fn about(&self, fields: usize) -> Option<SmolStr> {
        self.path(fields).or_else(|| {
            let mut paths = self.parts().filter_map(|part| part.path(usize::MAX));
            let only = paths.next();
            if paths.next().is_some() { None } else { only }
        })
    }

    /// The fact that it reads, as one would write it; `fields` cuts a path short.
    pub(super) fn path(&self, fields: usize) -> Option<SmolStr> {
        match &self.kind {
            Kind::Path(root, names) => {
                let mut path = root.name().to_owned();
                names.iter().take(fields).for_each(|name| push_field(&mut path, name));
                Some(path.into())
            }
            Kind::Field(base, name) => {
                let mut path = base.path(usize::MAX)?.to_string();
                push_field(&mut path, name);
                Some(path.into())
            }
            Kind::Index(both) => {
                let [base, index] = &**both;
                let Kind::Constant(Fact::Number(index)) = index.kind else { return None };
                Some(smol_str::format_smolstr!("{}[{index}]", base.path(usize::MAX)?))
            }
            Kind::Has(inner) => inner.path(fields),
            _ => None,
        }
    }
}

fn push_field(path: &mut String, name: &str) {
    let plain = name.chars().all(|character| character.is_ascii_alphanumeric() || character == '_');
    if plain && !name.starts_with(|character: char| character.is_ascii_digit()) && !name.is_empty() {
        path.push('.');
        path.push_str(name);
    } else {
        path.push_str(&format!("[{name:?}]"));
    }
}

/// Where a path begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Root {
    Request,
    Subject,
    Action,
    Resource,
    Environment,
}

impl Root {
    /// The parts of a request, as they are written; `context` is another word for the environment.
    pub(super) const PARTS: [(&'static str, Self); 5] = [
        ("subject", Self::Subject),
        ("action", Self::Action),
        ("resource", Self::Resource),
        ("environment", Self::Environment),
        ("context", Self::Environment),
    ];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Request => "request",
            Self::Subject => "subject",
            Self::Action => "action",
            Self::Resource => "resource",
            Self::Environment => "environment",
        }
    }

    /// The fields that it always has a place for. The whole request has parts instead.
    pub(super) fn fields(self) -> &'static [(&'static str, Type)] {
        match self {
            Self::Request => &[],
            Self::Subject => &[
                ("type", Type::Text),
                ("id", Type::Text),
                ("roles", Type::List),
                ("groups", Type::List),
                ("claims", Type::Map),
            ],
            Self::Action => &[("method", Type::Text), ("operation", Type::Text)],
            Self::Resource => &[("app", Type::Text), ("path", Type::Text), ("type", Type::Text), ("id", Type::Text)],
            Self::Environment => &[("ip", Type::Text), ("time", Type::Moment)],
        }
    }

    /// Whether it may have other fields as well.
    pub(super) fn is_open(self) -> bool {
        matches!(self, Self::Action | Self::Resource | Self::Environment)
    }
}

/// What is known about a value before there is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Type {
    /// Anything.
    Any,
    Null,
    Bool,
    Number,
    Text,
    Moment,
    Span,
    List,
    Map,
    /// A part of the request, which has fields and is not a value itself.
    Part,
}

impl Type {
    /// How messages speak of it.
    pub(super) fn words(self) -> &'static str {
        match self {
            Self::Any => "anything",
            Self::Null => "null",
            Self::Bool => "a boolean",
            Self::Number => "a number",
            Self::Text => "a text",
            Self::Moment => "a moment",
            Self::Span => "a duration",
            Self::List => "a list",
            Self::Map => "a map",
            Self::Part => "a part of the request",
        }
    }

    /// Whether it may turn out to be one of these.
    pub(super) fn may_be(self, types: &[Self]) -> bool {
        self == Self::Any || types.contains(&self)
    }

    /// Whether values of these types may be equal.
    pub(super) fn may_equal(self, other: Self) -> bool {
        self == other || [self, other].iter().any(|side| matches!(side, Self::Any | Self::Null))
    }
}

/// What can be called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Function {
    Size,
    Contains,
    StartsWith,
    EndsWith,
    Matches,
    LowerAscii,
    UpperAscii,
    SetsContain,
    SetsIntersect,
    SetsEquivalent,
    Int,
    Double,
    String,
    Timestamp,
    Duration,
    Part(TimePart),
}

/// A part of a moment in UTC, counted as in CEL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TimePart {
    FullYear,
    /// From zero.
    Month,
    /// From one.
    Date,
    /// From zero.
    DayOfMonth,
    /// From zero, which is Sunday.
    DayOfWeek,
    /// From zero.
    DayOfYear,
    Hours,
    Minutes,
    Seconds,
}
