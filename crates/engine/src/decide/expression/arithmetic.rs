//! Two values make a third.

use std::borrow::Cow;

use upheld_model::Timestamp;

use super::Cause;
use super::syntax::Arithmetic;
use super::time::Span;
use super::value::{Budget, Value};
use crate::decide::number::Number;

/// What an operator makes of two values. Lists are not joined.
pub(super) fn combine<'v>(
    operator: Arithmetic,
    left: Value<'v>,
    right: &Value<'v>,
    budget: &mut Budget,
) -> Result<Value<'v>, Cause> {
    match (left, operator, right) {
        (Value::Number(left), _, Value::Number(right)) => calculate(operator, left, *right).map(Value::Number),
        (Value::Text(left), Arithmetic::Plus, Value::Text(right)) => {
            // Before the work is done: a text that would be too long is never made.
            budget.spend_on(left.len() + right.len())?;
            let mut joined = left.into_owned();
            joined.push_str(right);
            Ok(Value::Text(Cow::Owned(joined)))
        }
        (Value::Moment(left), Arithmetic::Minus, Value::Moment(right)) => {
            shift(operator, left.0, right.0).map(Span).map(Value::Span)
        }
        (Value::Moment(moment), _, Value::Span(span)) => {
            shift(operator, moment.0, span.0).map(Timestamp).map(Value::Moment)
        }
        (Value::Span(span), Arithmetic::Plus, Value::Moment(moment)) => {
            shift(operator, span.0, moment.0).map(Timestamp).map(Value::Moment)
        }
        (Value::Span(left), _, Value::Span(right)) => shift(operator, left.0, right.0).map(Span).map(Value::Span),
        _ => Err(Cause::WrongType),
    }
}

/// Calculates exactly with whole numbers, and with floating ones otherwise, none of which is infinite.
fn calculate(operator: Arithmetic, left: Number, right: Number) -> Result<Number, Cause> {
    if let (Some(left), Some(right)) = (left.whole(), right.whole())
        && let Some(exact) = exactly(operator, left, right)?
    {
        return Number::of_whole(exact).ok_or(Cause::OutOfRange);
    }
    let (left, right) = (left.to_f64(), right.to_f64());
    let number = match operator {
        Arithmetic::Plus => left + right,
        Arithmetic::Minus => left - right,
        Arithmetic::Times => left * right,
        Arithmetic::Divide | Arithmetic::Remainder if right == 0.0 => return Err(Cause::DivisionByZero),
        Arithmetic::Divide => left / right,
        Arithmetic::Remainder => left % right,
    };
    if number.is_finite() { Ok(number.into()) } else { Err(Cause::OutOfRange) }
}

/// What two whole numbers give; nothing if that is no whole number.
fn exactly(operator: Arithmetic, left: i128, right: i128) -> Result<Option<i128>, Cause> {
    let number = match operator {
        Arithmetic::Plus => left.checked_add(right),
        Arithmetic::Minus => left.checked_sub(right),
        Arithmetic::Times => left.checked_mul(right),
        Arithmetic::Divide | Arithmetic::Remainder if right == 0 => return Err(Cause::DivisionByZero),
        Arithmetic::Divide if left.checked_rem(right) != Some(0) => return Ok(None),
        Arithmetic::Divide => left.checked_div(right),
        Arithmetic::Remainder => left.checked_rem(right),
    };
    number.map(Some).ok_or(Cause::OutOfRange)
}

/// Calculates with nanoseconds.
fn shift(operator: Arithmetic, left: i64, right: i64) -> Result<i64, Cause> {
    match operator {
        Arithmetic::Plus => left.checked_add(right).ok_or(Cause::OutOfRange),
        Arithmetic::Minus => left.checked_sub(right).ok_or(Cause::OutOfRange),
        _ => Err(Cause::WrongType),
    }
}
