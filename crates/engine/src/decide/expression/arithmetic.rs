//! Two values make a third.

use std::borrow::Cow;

use upheld_model::Timestamp;

use super::Cause;
use super::syntax::Arithmetic;
use super::time::Span;
use super::value::{Budget, Value};

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

/// Calculates with numbers of JSON, none of which is infinite.
fn calculate(operator: Arithmetic, left: f64, right: f64) -> Result<f64, Cause> {
    let number = match operator {
        Arithmetic::Plus => left + right,
        Arithmetic::Minus => left - right,
        Arithmetic::Times => left * right,
        Arithmetic::Divide | Arithmetic::Remainder if right == 0.0 => return Err(Cause::DivisionByZero),
        Arithmetic::Divide => left / right,
        Arithmetic::Remainder => left % right,
    };
    if number.is_finite() { Ok(number) } else { Err(Cause::OutOfRange) }
}

/// Calculates with nanoseconds.
fn shift(operator: Arithmetic, left: i64, right: i64) -> Result<i64, Cause> {
    match operator {
        Arithmetic::Plus => left.checked_add(right).ok_or(Cause::OutOfRange),
        Arithmetic::Minus => left.checked_sub(right).ok_or(Cause::OutOfRange),
        _ => Err(Cause::WrongType),
    }
}
