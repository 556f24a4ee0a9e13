//! Comparisons and arithmetic, and the types that go with them.

use std::ops::Range;

use super::{Checker, constant, type_of, unclear};
use crate::decide::expression::Problem;
use crate::decide::expression::node::{Kind, Node, Type};
use crate::decide::expression::syntax::{Arithmetic, Comparison, Syntax};
use crate::decide::request::Fact;

/// What can be ordered.
const ORDERED: [Type; 5] = [Type::Bool, Type::Number, Type::Text, Type::Moment, Type::Span];

/// What goes with an operator, and what comes out.
const RULES: [(Arithmetic, Type, Type, Type); 12] = [
    (Arithmetic::Plus, Type::Number, Type::Number, Type::Number),
    (Arithmetic::Plus, Type::Text, Type::Text, Type::Text),
    (Arithmetic::Plus, Type::Moment, Type::Span, Type::Moment),
    (Arithmetic::Plus, Type::Span, Type::Moment, Type::Moment),
    (Arithmetic::Plus, Type::Span, Type::Span, Type::Span),
    (Arithmetic::Minus, Type::Number, Type::Number, Type::Number),
    (Arithmetic::Minus, Type::Moment, Type::Moment, Type::Span),
    (Arithmetic::Minus, Type::Moment, Type::Span, Type::Moment),
    (Arithmetic::Minus, Type::Span, Type::Span, Type::Span),
    (Arithmetic::Times, Type::Number, Type::Number, Type::Number),
    (Arithmetic::Divide, Type::Number, Type::Number, Type::Number),
    (Arithmetic::Remainder, Type::Number, Type::Number, Type::Number),
];

impl Checker<'_> {
    pub(super) fn negative(&mut self, operand: &Syntax, range: Range<usize>) -> Node {
        let operand = self.value(operand);
        if let Some(Fact::Number(number)) = operand.constant()
            && let Some(negated) = number.negated()
        {
            return constant(Fact::Number(negated), range);
        }
        self.expect(&operand, &[Type::Number], "`-` negates a number");
        Node { kind: Kind::Negative(Box::new(operand)), range, gives: Type::Number }
    }

    pub(super) fn compare(&mut self, comparison: Comparison, both: &[Syntax; 2], range: Range<usize>) -> Node {
        let [left, right] = both;
        let left = self.value(left);
        let right = if comparison == Comparison::In { self.node(right) } else { self.value(right) };
        match comparison {
            Comparison::Equal | Comparison::Different => self.check_equality(&left, &right, &range),
            Comparison::In => self.check_in(&left, &right, &range),
            _ => self.check_order(comparison, &left, &right, &range),
        }
        Node { kind: Kind::Compare(comparison, Box::new([left, right])), range, gives: Type::Bool }
    }

    fn check_equality(&mut self, left: &Node, right: &Node, range: &Range<usize>) {
        if left.gives.may_equal(right.gives) {
            return;
        }
        let message = format!("{} never equals {}", left.gives.words(), right.gives.words());
        let problem = Problem::new(range.clone(), message);
        self.problems.push(match [left.gives, right.gives] {
            [Type::List, _] | [_, Type::List] => problem.help("to test for an element, write `element in list`"),
            _ => convert([left.gives, right.gives], problem),
        });
    }

    fn check_order(&mut self, comparison: Comparison, left: &Node, right: &Node, range: &Range<usize>) {
        let why = format!("`{}` orders numbers, texts, timestamps or durations", comparison.sign());
        let before = self.problems.len();
        self.expect(left, &ORDERED, &why);
        self.expect(right, &ORDERED, &why);
        let known = left.gives != Type::Any && right.gives != Type::Any;
        if self.problems.len() == before && known && left.gives != right.gives {
            let message = format!("{} cannot be ordered against {}", left.gives.words(), right.gives.words());
            let problem = convert([left.gives, right.gives], Problem::new(range.clone(), message));
            self.problems.push(problem);
        }
    }

    fn check_in(&mut self, left: &Node, right: &Node, range: &Range<usize>) {
        let expected = self.expect(right, &[Type::List, Type::Map, Type::Part], "`in` looks into a list or a map");
        if right.gives == Type::Text {
            expected.or_help("to search in a text, write `text.contains(other)`");
        }
        match right.gives {
            Type::List => self.check_element(left, right, range),
            Type::Map | Type::Part => {
                self.expect(left, &[Type::Text], "fields have names, which are texts");
            }
            _ => {}
        }
    }

    /// Notes a mistake if a list is known to have no element of this type.
    pub(super) fn check_element(&mut self, element: &Node, list: &Node, range: &Range<usize>) {
        let types: Vec<Type> = match &list.kind {
            Kind::Constant(Fact::List(facts)) => facts.iter().map(type_of).collect(),
            Kind::List(nodes) => nodes.iter().map(|node| node.gives).collect(),
            // Lists of the request's own structure are lists of names.
            Kind::Path(..) => vec![Type::Text],
            _ => return,
        };
        if types.is_empty() || types.iter().any(|found| element.gives.may_equal(*found)) {
            return;
        }
        let message = format!("{} is never in this list", element.gives.words());
        let problem = Problem::new(range.clone(), message);
        self.problems.push(match element.gives {
            Type::List => problem.help("to test for a common element, write `sets.intersects(one, other)`"),
            _ => problem.help("elements and what is looked for have one type"),
        });
    }

    pub(super) fn chain(&mut self, first: &Syntax, rest: &[(Arithmetic, Syntax)], range: Range<usize>) -> Node {
        let first = self.value(first);
        let start = range.start;
        let mut gives = first.gives;
        let mut operands = Vec::with_capacity(rest.len());
        for (operator, operand) in rest {
            let operand = self.value(operand);
            let Some(result) = arithmetic(*operator, gives, operand.gives) else {
                let (left, right, sign) = (gives.words(), operand.gives.words(), operator.sign());
                let message = format!("`{sign}` does not go with {left} and {right}");
                let problem = Problem::new(start..operand.range.end, message);
                let problem = match [gives, operand.gives] {
                    [Type::List, _] | [_, Type::List] => problem.help("lists cannot be joined"),
                    types => convert(types, problem),
                };
                self.problems.push(problem);
                return unclear(range);
            };
            gives = result;
            operands.push((*operator, operand));
        }
        Node { kind: Kind::Chain(Box::new(first), operands), range, gives }
    }
}

/// What an operator gives; none if no rule can apply.
fn arithmetic(operator: Arithmetic, left: Type, right: Type) -> Option<Type> {
    let mut results = RULES
        .into_iter()
        .filter(|rule| rule.0 == operator && left.may_be(&[rule.1]) && right.may_be(&[rule.2]))
        .map(|rule| rule.3);
    let first = results.next()?;
    Some(if results.all(|result| result == first) { first } else { Type::Any })
}

/// Says how one type becomes the other.
fn convert(types: [Type; 2], problem: Problem) -> Problem {
    match types {
        [Type::Number, Type::Text] | [Type::Text, Type::Number] => {
            problem.help("`double(text)` converts a text to a number, `string(number)` a number to a text")
        }
        [Type::Moment, _] | [_, Type::Moment] => {
            problem.help("timestamps are written `timestamp(\"2030-01-31T00:00:00Z\")`")
        }
        [Type::Span, _] | [_, Type::Span] => problem.help("durations are written `duration(\"1h30m\")`"),
        _ => problem.help("both sides need the same type"),
    }
}
