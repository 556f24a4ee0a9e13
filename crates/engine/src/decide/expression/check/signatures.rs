//! The functions that there are.

use crate::decide::expression::node::{Function, TimePart, Type};

/// How a function is called and what it takes; the first parameter of a method stands before the dot.
pub(super) struct Signature {
    pub(super) name: &'static str,
    pub(super) function: Function,
    pub(super) style: Style,
    /// The types of each parameter; none means any.
    pub(super) takes: &'static [&'static [Type]],
    pub(super) gives: Type,
}

/// Where the first parameter stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    /// `text.contains(other)`.
    Method,
    /// `int(text)`.
    Plain,
    /// Both.
    Either,
}

impl Signature {
    /// An example of a call.
    pub(super) fn example(&self) -> String {
        let Self { name, takes, style, .. } = self;
        let (first, rest) = match (style, takes.len()) {
            (Style::Plain, 1) => return format!("{name}(value)"),
            (Style::Plain, _) => return format!("{name}(one, other)"),
            (_, 1) => ("value", ""),
            (_, _) => ("value", "other"),
        };
        format!("{first}.{name}({rest})")
    }
}

const TEXT: &[Type] = &[Type::Text];
const LIST: &[Type] = &[Type::List];

/// All of them, by name.
pub(super) const SIGNATURES: &[Signature] = &[
    signature("size", Function::Size, Style::Either, &[&[Type::Text, Type::List, Type::Map]], Type::Number),
    signature("contains", Function::Contains, Style::Method, &[&[Type::Text, Type::List], &[]], Type::Bool),
    signature("startsWith", Function::StartsWith, Style::Method, &[TEXT, TEXT], Type::Bool),
    signature("endsWith", Function::EndsWith, Style::Method, &[TEXT, TEXT], Type::Bool),
    signature("matches", Function::Matches, Style::Either, &[TEXT, TEXT], Type::Bool),
    signature("lowerAscii", Function::LowerAscii, Style::Method, &[TEXT], Type::Text),
    signature("upperAscii", Function::UpperAscii, Style::Method, &[TEXT], Type::Text),
    signature("sets.contains", Function::SetsContain, Style::Plain, &[LIST, LIST], Type::Bool),
    signature("sets.intersects", Function::SetsIntersect, Style::Plain, &[LIST, LIST], Type::Bool),
    signature("sets.equivalent", Function::SetsEquivalent, Style::Plain, &[LIST, LIST], Type::Bool),
    signature("int", Function::Int, Style::Plain, &[&[Type::Number, Type::Text, Type::Moment]], Type::Number),
    signature("double", Function::Double, Style::Plain, &[&[Type::Number, Type::Text]], Type::Number),
    signature(
        "string",
        Function::String,
        Style::Plain,
        &[&[Type::Text, Type::Number, Type::Bool, Type::Moment, Type::Span]],
        Type::Text,
    ),
    signature(
        "timestamp",
        Function::Timestamp,
        Style::Plain,
        &[&[Type::Text, Type::Number, Type::Moment]],
        Type::Moment,
    ),
    signature("duration", Function::Duration, Style::Plain, &[&[Type::Text, Type::Span]], Type::Span),
    date("getFullYear", TimePart::FullYear),
    date("getMonth", TimePart::Month),
    date("getDate", TimePart::Date),
    date("getDayOfMonth", TimePart::DayOfMonth),
    date("getDayOfWeek", TimePart::DayOfWeek),
    date("getDayOfYear", TimePart::DayOfYear),
    clock("getHours", TimePart::Hours),
    clock("getMinutes", TimePart::Minutes),
    clock("getSeconds", TimePart::Seconds),
];

const fn signature(
    name: &'static str,
    function: Function,
    style: Style,
    takes: &'static [&'static [Type]],
    gives: Type,
) -> Signature {
    Signature { name, function, style, takes, gives }
}

/// A part of a date, which only moments have.
const fn date(name: &'static str, part: TimePart) -> Signature {
    signature(name, Function::Part(part), Style::Method, &[&[Type::Moment]], Type::Number)
}

/// A part of a time, which lengths of time have as well.
const fn clock(name: &'static str, part: TimePart) -> Signature {
    signature(name, Function::Part(part), Style::Method, &[&[Type::Moment, Type::Span]], Type::Number)
}
