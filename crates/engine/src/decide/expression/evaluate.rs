//! From nodes and a request to a truth.

use std::cmp::Ordering;

use smol_str::SmolStr;

use super::node::{Kind, Node, Root};
use super::syntax::Comparison;
use super::value::{Budget, List, Value};
use super::{Cause, Failure, arithmetic, functions};
use crate::decide::request::{Fact, NormalizedRequest, View};

/// Whether a condition holds, and how many steps that took.
pub(super) fn run<'v>(root: &'v Node, asked: NormalizedRequest<'v>) -> (Result<bool, Stop<'v>>, usize) {
    let mut evaluation = Evaluation { asked, budget: Budget::new() };
    let held = evaluation.truth(root);
    (held, evaluation.budget.spent())
}

/// Where and why an evaluation ended; costs nothing, because errors are often absorbed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stop<'v> {
    cause: Cause,
    node: &'v Node,
    /// How many fields of a path it is about; a path is never longer than an expression is deep.
    fields: u8,
}

impl Stop<'_> {
    /// For people.
    pub(super) fn failure(self) -> Failure {
        Failure { cause: self.cause, path: self.node.about(self.fields.into()), range: self.node.range.clone() }
    }
}

/// An end that concerns a whole node.
fn at<'v>(node: &'v Node) -> impl Fn(Cause) -> Stop<'v> {
    move |cause| Stop { cause, node, fields: u8::MAX }
}

struct Evaluation<'v> {
    asked: NormalizedRequest<'v>,
    budget: Budget,
}

impl<'v> Evaluation<'v> {
    /// The truth of a node. Most conditions are made of truths alone, and never take the way over values.
    fn truth(&mut self, node: &'v Node) -> Result<bool, Stop<'v>> {
        match &node.kind {
            Kind::Has(_) | Kind::Not(_) | Kind::All(_) | Kind::Any(_) | Kind::Compare(..) | Kind::Matches(..) => {
                self.logic(node)
            }
            _ => match self.value(node)? {
                Value::Bool(truth) => Ok(truth),
                _ => Err(at(node)(Cause::WrongType)),
            },
        }
    }

    fn logic(&mut self, node: &'v Node) -> Result<bool, Stop<'v>> {
        self.budget.spend(1).map_err(at(node))?;
        match &node.kind {
            Kind::Has(field) => self.has(field),
            Kind::Not(operand) => self.truth(operand).map(|truth| !truth),
            Kind::All(operands) => self.joined(operands, false),
            Kind::Any(operands) => self.joined(operands, true),
            Kind::Compare(comparison, both) => {
                let [left, right] = &**both;
                let (one, other) = (self.value(left)?, self.value(right)?);
                let is_null = |operand: &Node| matches!(operand.kind, Kind::Constant(Fact::Null));
                // What is null is as good as left out, unless somebody asks just for that.
                if !is_null(left) && !is_null(right) {
                    for (operand, value) in [(left, &one), (right, &other)] {
                        if matches!(value, Value::Null) {
                            return Err(at(operand)(Cause::Absent));
                        }
                    }
                }
                self.compare(*comparison, &one, &other).map_err(at(node))
            }
            Kind::Matches(text, pattern) => match self.value(text)? {
                Value::Text(found) => {
                    self.budget.spend_on(found.len()).map_err(at(node))?;
                    if found.len() > self.asked.longest {
                        return Err(at(node)(Cause::TooManySteps));
                    }
                    Ok(pattern.is_match(&found))
                }
                _ => Err(at(text)(Cause::WrongType)),
            },
            _ => Err(at(node)(Cause::WrongType)),
        }
    }

    fn value(&mut self, node: &'v Node) -> Result<Value<'v>, Stop<'v>> {
        self.budget.spend(1).map_err(at(node))?;
        match &node.kind {
            Kind::Constant(fact) => Value::of_fact(fact).map_err(at(node)),
            Kind::Moment(moment) => Ok(Value::Moment(*moment)),
            Kind::Span(span) => Ok(Value::Span(*span)),
            Kind::List(elements) => {
                let values: Result<Vec<_>, _> = elements.iter().map(|element| self.value(element)).collect();
                Ok(Value::List(List::Made(values?)))
            }
            Kind::Path(root, fields) => {
                let view = self.walk(*root, fields, node)?;
                Value::of(view).map_err(at(node))
            }
            Kind::Field(base, name) => {
                let view = self.map(base)?;
                self.field(view, name).and_then(Value::of).map_err(at(node))
            }
            Kind::Index(both) => {
                let [base, index] = &**both;
                let (base, index) = (self.value(base)?, self.value(index)?);
                self.index(base, &index).map_err(at(node))
            }
            Kind::Negative(operand) => match self.value(operand)? {
                Value::Number(number) => {
                    number.negated().map(Value::Number).ok_or_else(|| at(operand)(Cause::OutOfRange))
                }
                _ => Err(at(operand)(Cause::WrongType)),
            },
            Kind::Chain(first, rest) => {
                let mut total = self.value(first)?;
                for (operator, operand) in rest {
                    let operand = self.value(operand)?;
                    total = arithmetic::combine(*operator, total, &operand, &mut self.budget).map_err(at(node))?;
                }
                Ok(total)
            }
            Kind::Choose(three) => {
                let [condition, yes, no] = &**three;
                let chosen = if self.truth(condition)? { yes } else { no };
                self.value(chosen)
            }
            Kind::Call(function, operands) => match operands.as_slice() {
                [operand] => {
                    let operand = self.value(operand)?;
                    functions::of_one(*function, operand, &mut self.budget).map_err(at(node))
                }
                [left, right] => {
                    let (left, right) = (self.value(left)?, self.value(right)?);
                    functions::of_two(*function, &left, &right, &mut self.budget).map(Value::Bool).map_err(at(node))
                }
                _ => Err(at(node)(Cause::WrongType)),
            },
            Kind::Has(_) | Kind::Not(_) | Kind::All(_) | Kind::Any(_) | Kind::Compare(..) | Kind::Matches(..) => {
                self.logic(node).map(Value::Bool)
            }
        }
    }

    /// Operands of which one that is `decisive` decides, even beside errors.
    fn joined(&mut self, operands: &'v [Node], decisive: bool) -> Result<bool, Stop<'v>> {
        let mut stopped = None;
        for operand in operands {
            match self.truth(operand) {
                Ok(truth) if truth == decisive => return Ok(decisive),
                Ok(_) => {}
                Err(stop) => stopped = stopped.or(Some(stop)),
            }
        }
        stopped.map_or(Ok(!decisive), Err)
    }

    /// Follows names into the request.
    fn walk(&mut self, root: Root, fields: &'v [SmolStr], node: &'v Node) -> Result<View<'v>, Stop<'v>> {
        let request = self.asked.request;
        let mut view = match root {
            Root::Request => View::Request(self.asked),
            Root::Subject => View::Subject(&request.subject),
            Root::Action => View::Action(&request.action),
            Root::Resource => View::Resource(&request.resource, self.asked.path),
            Root::Environment => View::Environment(&request.environment),
        };
        for (name, place) in fields.iter().zip(0_u8..) {
            view = self.field(view, name).map_err(|cause| Stop { cause, node, fields: place })?;
            let cause = match view {
                View::Absent => Cause::Absent,
                View::Unknown => Cause::Unknown,
                _ => continue,
            };
            return Err(Stop { cause, node, fields: place + 1 });
        }
        Ok(view)
    }

    /// A value that has fields.
    fn map(&mut self, node: &'v Node) -> Result<View<'v>, Stop<'v>> {
        match self.value(node)? {
            Value::Map(view) => Ok(view),
            _ => Err(at(node)(Cause::WrongType)),
        }
    }

    /// A field of something that must have fields; it may be absent.
    fn field(&mut self, view: View<'v>, name: &str) -> Result<View<'v>, Cause> {
        let facts = match view {
            View::Facts(facts) | View::Fact(Fact::Map(facts)) => facts.len(),
            View::Action(action) => action.facts.len(),
            View::Resource(resource, _) => resource.facts.len(),
            View::Environment(environment) => environment.facts.len(),
            View::Request(_) | View::Subject(_) => 0,
            _ => return Err(Cause::WrongType),
        };
        self.budget.spend_on(facts)?;
        Ok(view.field(name))
    }

    fn has(&mut self, node: &'v Node) -> Result<bool, Stop<'v>> {
        let (view, name) = match &node.kind {
            Kind::Path(root, fields) => match fields.split_last() {
                Some((last, before)) => (self.walk(*root, before, node)?, last),
                None => return Ok(true),
            },
            Kind::Field(base, name) => (self.map(base)?, name),
            _ => return Err(at(node)(Cause::WrongType)),
        };
        self.has_field(view, name).map_err(at(node))
    }

    fn has_field(&mut self, view: View<'v>, name: &str) -> Result<bool, Cause> {
        match self.field(view, name)? {
            View::Absent | View::Fact(Fact::Null) => Ok(false),
            View::Unknown => Err(Cause::Unknown),
            _ => Ok(true),
        }
    }

    fn index(&mut self, base: Value<'v>, index: &Value<'v>) -> Result<Value<'v>, Cause> {
        match (base, index) {
            (Value::List(list), Value::Number(number)) => {
                list.take(number.whole().and_then(|place| usize::try_from(place).ok()).unwrap_or(usize::MAX))
            }
            (Value::Map(view), Value::Text(name)) => self.field(view, name).and_then(Value::of),
            _ => Err(Cause::WrongType),
        }
    }

    fn compare(&mut self, comparison: Comparison, left: &Value<'v>, right: &Value<'v>) -> Result<bool, Cause> {
        let budget = &mut self.budget;
        match comparison {
            Comparison::Equal => budget.equal(left, right),
            Comparison::Different => budget.equal(left, right).map(|equal| !equal),
            Comparison::Less => budget.order(left, right).map(Ordering::is_lt),
            Comparison::LessOrEqual => budget.order(left, right).map(Ordering::is_le),
            Comparison::Greater => budget.order(left, right).map(Ordering::is_gt),
            Comparison::GreaterOrEqual => budget.order(left, right).map(Ordering::is_ge),
            Comparison::In => match (left, right) {
                (element, Value::List(list)) => budget.is_in(element, list),
                (Value::Text(name), Value::Map(view)) => self.has_field(*view, name),
                _ => Err(Cause::WrongType),
            },
        }
    }
}
