//! Values while an expression is evaluated: borrowed from the request or the expression wherever that is possible.

use std::borrow::Cow;
use std::cmp::Ordering;

use smol_str::SmolStr;
use upheld_model::Timestamp;

use super::lookup::Small;
use super::time::Span;
use super::{Cause, DEEPEST, MOST_STEPS};
use crate::decide::number::Number;
use crate::decide::request::{Fact, View};

/// A value.
#[derive(Clone, Debug)]
pub(super) enum Value<'v> {
    Null,
    Bool(bool),
    Number(Number),
    Text(Cow<'v, str>),
    Moment(Timestamp),
    Span(Span),
    List(List<'v>),
    /// Facts by name, or a part of the request.
    Map(View<'v>),
}

/// A list, wherever its elements are kept.
#[derive(Clone, Debug)]
pub(super) enum List<'v> {
    Names(&'v [SmolStr]),
    Facts(&'v [Fact]),
    Values(&'v [Value<'v>]),
    Made(Vec<Value<'v>>),
}

impl<'v> Value<'v> {
    /// What a part of a request is worth.
    pub(super) fn of(view: View<'v>) -> Result<Self, Cause> {
        Ok(match view {
            View::Names(names) => Self::List(List::Names(names)),
            View::Text(text) => Self::Text(Cow::Borrowed(text)),
            View::Time(moment) => Self::Moment(moment),
            View::Fact(fact) => return Self::of_fact(fact),
            View::Absent => return Err(Cause::Absent),
            View::Unknown => return Err(Cause::Unknown),
            View::Request(_)
            | View::Subject(_)
            | View::Action(_)
            | View::Resource(..)
            | View::Environment(_)
            | View::Facts(_) => Self::Map(view),
        })
    }

    /// What a fact is worth.
    pub(super) fn of_fact(fact: &'v Fact) -> Result<Self, Cause> {
        Ok(match fact {
            Fact::Null => Self::Null,
            Fact::Bool(truth) => Self::Bool(*truth),
            Fact::Number(number) => Self::Number(*number),
            Fact::Text(text) => Self::Text(Cow::Borrowed(text)),
            Fact::List(facts) => Self::List(List::Facts(facts)),
            Fact::Map(facts) => Self::Map(View::Facts(facts)),
            Fact::Unknown => return Err(Cause::Unknown),
        })
    }

    /// The same value without owning anything.
    fn borrowed(&self) -> Value<'_> {
        match self {
            Self::Text(text) => Value::Text(Cow::Borrowed(text)),
            Self::List(List::Made(values)) => Value::List(List::Values(values)),
            other => other.clone(),
        }
    }
}

impl<'v> List<'v> {
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Names(names) => names.len(),
            Self::Facts(facts) => facts.len(),
            Self::Values(values) => values.len(),
            Self::Made(values) => values.len(),
        }
    }

    /// An element, which may be unknown.
    fn get(&self, index: usize) -> Result<Value<'_>, Cause> {
        match self {
            Self::Names(_) | Self::Facts(_) => self.clone().take(index),
            Self::Values(values) => values.get(index).map(Value::borrowed).ok_or(Cause::Absent),
            Self::Made(values) => values.get(index).map(Value::borrowed).ok_or(Cause::Absent),
        }
    }

    /// An element that is small, wherever it is kept.
    pub(super) fn small(&self, index: usize) -> Option<Small<'_>> {
        match self {
            Self::Names(names) => names.get(index).map(|name| Small::Text(name)),
            Self::Facts(facts) => match facts.get(index)? {
                Fact::Null => Some(Small::Null),
                Fact::Bool(truth) => Some(Small::Bool(*truth)),
                Fact::Number(number) => Small::of_number(*number),
                Fact::Text(text) => Some(Small::Text(text)),
                Fact::List(_) | Fact::Map(_) | Fact::Unknown => None,
            },
            Self::Values(values) => values.get(index).and_then(Small::of),
            Self::Made(values) => values.get(index).and_then(Small::of),
        }
    }

    /// All elements.
    pub(super) fn elements(&self) -> impl Iterator<Item = Result<Value<'_>, Cause>> {
        (0..self.len()).map(|index| self.get(index))
    }

    /// One element, for as long as the list's own elements live.
    pub(super) fn take(self, index: usize) -> Result<Value<'v>, Cause> {
        match self {
            Self::Names(names) => names.get(index).map(|name| Value::Text(Cow::Borrowed(name))).ok_or(Cause::Absent),
            Self::Facts(facts) => Value::of_fact(facts.get(index).ok_or(Cause::Absent)?),
            Self::Values(values) => values.get(index).cloned().ok_or(Cause::Absent),
            Self::Made(values) => values.into_iter().nth(index).ok_or(Cause::Absent),
        }
    }
}

/// The steps that are left.
#[derive(Debug)]
pub(super) struct Budget {
    left: usize,
}

impl Budget {
    pub(super) fn new() -> Self {
        Self { left: MOST_STEPS }
    }

    /// How many steps were taken.
    pub(super) fn spent(&self) -> usize {
        MOST_STEPS - self.left
    }

    /// Takes steps. Once there were too few, there are none left for anything.
    pub(super) fn spend(&mut self, steps: usize) -> Result<(), Cause> {
        match self.left.checked_sub(steps) {
            Some(left) => {
                self.left = left;
                Ok(())
            }
            None => {
                self.left = 0;
                Err(Cause::TooManySteps)
            }
        }
    }

    /// Takes the steps that work on so many bytes, names or elements is worth.
    pub(super) fn spend_on(&mut self, amount: usize) -> Result<(), Cause> {
        self.spend(1 + amount / 64)
    }

    /// Whether two values are equal. Values of different types are not.
    pub(super) fn equal(&mut self, left: &Value<'_>, right: &Value<'_>) -> Result<bool, Cause> {
        self.equal_inside(left, right, DEEPEST)
    }

    /// Facts come from outside and may be deep; the walk through them is bounded too.
    fn equal_inside(&mut self, left: &Value<'_>, right: &Value<'_>, deeper: usize) -> Result<bool, Cause> {
        self.spend(1)?;
        match (left, right) {
            (Value::Null, Value::Null) => Ok(true),
            (Value::Bool(left), Value::Bool(right)) => Ok(left == right),
            (Value::Number(left), Value::Number(right)) => Ok(left == right),
            (Value::Text(left), Value::Text(right)) => {
                self.spend(left.len().min(right.len()) / 64)?;
                Ok(left == right)
            }
            (Value::Moment(left), Value::Moment(right)) => Ok(left == right),
            (Value::Span(left), Value::Span(right)) => Ok(left == right),
            (Value::List(left), Value::List(right)) => {
                let deeper = deeper.checked_sub(1).ok_or(Cause::TooDeep)?;
                if left.len() != right.len() {
                    return Ok(false);
                }
                self.spend(left.len() / 64)?;
                let pairs = left.elements().zip(right.elements());
                all(pairs, |(left, right)| self.equal_inside(&left?, &right?, deeper))
            }
            (Value::Map(View::Facts(left)), Value::Map(View::Facts(right))) => {
                let deeper = deeper.checked_sub(1).ok_or(Cause::TooDeep)?;
                if left.len() != right.len() {
                    return Ok(false);
                }
                all(left.iter(), |(name, left)| {
                    self.spend_on(right.len())?;
                    let Some(right) = right.get(name) else { return Ok(false) };
                    self.equal_inside(&Value::of_fact(left)?, &Value::of_fact(right)?, deeper)
                })
            }
            (Value::Map(_), Value::Map(_)) => Err(Cause::WrongType),
            _ => Ok(false),
        }
    }

    /// Which of two values comes first. Values of different types have no order.
    pub(super) fn order(&mut self, left: &Value<'_>, right: &Value<'_>) -> Result<Ordering, Cause> {
        self.spend(1)?;
        match (left, right) {
            (Value::Bool(left), Value::Bool(right)) => Ok(left.cmp(right)),
            (Value::Number(left), Value::Number(right)) => left.partial_cmp(right).ok_or(Cause::OutOfRange),
            (Value::Text(left), Value::Text(right)) => {
                self.spend(left.len().min(right.len()) / 64)?;
                Ok(left.cmp(right))
            }
            (Value::Moment(left), Value::Moment(right)) => Ok(left.cmp(right)),
            (Value::Span(left), Value::Span(right)) => Ok(left.cmp(right)),
            _ => Err(Cause::WrongType),
        }
    }

    /// Whether a value is an element of a list.
    pub(super) fn is_in(&mut self, value: &Value<'_>, list: &List<'_>) -> Result<bool, Cause> {
        // Elements that are unknown are not compared, but looked at.
        self.spend_on(list.len())?;
        any(list.elements(), |element| self.equal(value, &element?))
    }
}

/// Whether something holds for all items. One for which it does not decides, even beside errors.
pub(super) fn all<T>(
    items: impl Iterator<Item = T>,
    mut holds: impl FnMut(T) -> Result<bool, Cause>,
) -> Result<bool, Cause> {
    any(items, |item| holds(item).map(|holds| !holds)).map(|found| !found)
}

/// Whether something holds for any item. One for which it does decides, even beside errors.
pub(super) fn any<T>(
    items: impl Iterator<Item = T>,
    mut holds: impl FnMut(T) -> Result<bool, Cause>,
) -> Result<bool, Cause> {
    let mut answer = Ok(false);
    for item in items {
        match holds(item) {
            Ok(true) => return Ok(true),
            Err(Cause::TooManySteps) => return Err(Cause::TooManySteps),
            Err(cause) => answer = answer.and(Err(cause)),
            Ok(false) => {}
        }
    }
    answer
}
