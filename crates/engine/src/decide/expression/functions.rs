//! What functions do.

use std::borrow::Cow;

use super::Cause;
use super::lookup::Lookup;
use super::node::Function;
use super::time::{self, Span};
use super::value::{Budget, List, Value, all, any};
use crate::decide::number::Number;
use crate::decide::request::View;

/// Functions of one value.
pub(super) fn of_one<'v>(function: Function, value: Value<'v>, budget: &mut Budget) -> Result<Value<'v>, Cause> {
    if let Value::Text(text) = &value {
        budget.spend_on(text.len())?;
    }
    Ok(match (function, value) {
        (Function::Size, Value::Text(text)) => Value::Number(count(text.chars().count())),
        (Function::Size, Value::List(list)) => Value::Number(count(list.len())),
        (Function::Size, Value::Map(View::Facts(facts))) if facts.are_all_listed() => Value::Number(count(facts.len())),
        (Function::Size, Value::Map(View::Facts(_))) => return Err(Cause::Unknown),
        (Function::LowerAscii, Value::Text(text)) => {
            Value::Text(recased(text, u8::is_ascii_uppercase, str::make_ascii_lowercase))
        }
        (Function::UpperAscii, Value::Text(text)) => {
            Value::Text(recased(text, u8::is_ascii_lowercase, str::make_ascii_uppercase))
        }
        (Function::Int, Value::Number(number)) => Value::Number(match number {
            Number::Other(number) => Number::from(number.trunc()),
            whole => whole,
        }),
        (Function::Int, Value::Text(text)) => Value::Number(whole(&text)?),
        (Function::Int, Value::Moment(moment)) => Value::Number(time::to_seconds(moment)),
        (Function::Double, Value::Text(text)) => Value::Number(number(&text)?),
        (Function::Double, value @ Value::Number(_))
        | (Function::String, value @ Value::Text(_))
        | (Function::Timestamp, value @ Value::Moment(_))
        | (Function::Duration, value @ Value::Span(_)) => value,
        (Function::String, Value::Number(number)) => made(number.to_string()),
        (Function::String, Value::Bool(truth)) => made(truth.to_string()),
        (Function::String, Value::Moment(moment)) => made(moment.to_string()),
        (Function::String, Value::Span(span)) => made(span.write()),
        (Function::Timestamp, Value::Text(text)) => Value::Moment(text.parse().map_err(|_| Cause::Unreadable)?),
        (Function::Timestamp, Value::Number(seconds)) => {
            Value::Moment(time::from_seconds(seconds.to_f64()).ok_or(Cause::OutOfRange)?)
        }
        (Function::Duration, Value::Text(text)) => Value::Span(Span::read(&text).ok_or(Cause::Unreadable)?),
        (Function::Part(part), Value::Moment(moment)) => parts(time::part(moment, part))?,
        (Function::Part(part), Value::Span(span)) => parts(span.part(part))?,
        _ => return Err(Cause::WrongType),
    })
}

/// Functions of two values.
pub(super) fn of_two(
    function: Function,
    left: &Value<'_>,
    right: &Value<'_>,
    budget: &mut Budget,
) -> Result<bool, Cause> {
    match (function, left, right) {
        (Function::Contains, Value::List(list), element) => budget.is_in(element, list),
        (_, Value::Text(text), Value::Text(other)) => {
            budget.spend_on(text.len())?;
            match function {
                Function::Contains => Ok(text.contains(other.as_ref())),
                Function::StartsWith => Ok(text.starts_with(other.as_ref())),
                Function::EndsWith => Ok(text.ends_with(other.as_ref())),
                _ => Err(Cause::WrongType),
            }
        }
        (_, Value::List(left), Value::List(right)) => match function {
            Function::SetsContain => has_all(left, right, budget),
            Function::SetsIntersect => {
                let lookup = Lookup::of(left, right.len());
                any(right.elements(), |element| lookup.has(&element?, budget))
            }
            Function::SetsEquivalent => {
                all([(left, right), (right, left)].into_iter(), |(whole, part)| has_all(whole, part, budget))
            }
            _ => Err(Cause::WrongType),
        },
        _ => Err(Cause::WrongType),
    }
}

/// Whether a list has all elements of another one.
fn has_all(whole: &List<'_>, part: &List<'_>, budget: &mut Budget) -> Result<bool, Cause> {
    budget.spend_on(part.len())?;
    let lookup = Lookup::of(whole, part.len());
    all(part.elements(), |element| lookup.has(&element?, budget))
}

/// A text in another case; one that is so already stays where it is.
fn recased(text: Cow<'_, str>, differs: fn(&u8) -> bool, change: fn(&mut str)) -> Cow<'_, str> {
    if !text.as_bytes().iter().any(differs) {
        return text;
    }
    let mut changed = text.into_owned();
    change(&mut changed);
    Cow::Owned(changed)
}

fn whole(text: &str) -> Result<Number, Cause> {
    let number: i128 = text.parse().map_err(|_| Cause::Unreadable)?;
    Number::of_whole(number).ok_or(Cause::OutOfRange)
}

fn number(text: &str) -> Result<Number, Cause> {
    let number: f64 = text.parse().map_err(|_| Cause::Unreadable)?;
    if number.is_finite() { Ok(number.into()) } else { Err(Cause::OutOfRange) }
}

fn count(elements: usize) -> Number {
    Number::from(elements as u64)
}

fn parts(part: Option<i64>) -> Result<Value<'static>, Cause> {
    part.map(|part| Value::Number(part.into())).ok_or(Cause::WrongType)
}

fn made(text: String) -> Value<'static> {
    Value::Text(Cow::Owned(text))
}
