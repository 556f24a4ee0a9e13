//! From syntax to nodes: what names mean, and mistakes that show before there is a request.

mod calls;
mod names;
mod operators;
mod pattern;
mod signatures;

use std::ops::Range;

use smol_str::SmolStr;

use super::Problem;
use super::node::{Kind, Node, Type};
use super::syntax::{Syntax, SyntaxKind};
use crate::decide::request::Fact;

/// A checked expression and the facts that it reads; or all mistakes, in the order of the text.
pub(super) fn check(syntax: &Syntax, text: &str) -> Result<(Node, Vec<SmolStr>), Vec<Problem>> {
    let mut checker = Checker { text, problems: Vec::new() };
    let node = checker.value(syntax);
    checker.expect(&node, &[Type::Bool], "a condition is true or false").or_help("compare it with something");
    checker.problems.sort_by_key(|problem| problem.range.start);
    if !checker.problems.is_empty() {
        return Err(checker.problems);
    }
    let mut reads = Vec::new();
    collect_reads(&node, &mut reads);
    reads.sort_unstable();
    reads.dedup();
    Ok((node, reads))
}

fn collect_reads(node: &Node, reads: &mut Vec<SmolStr>) {
    if matches!(node.kind, Kind::Path(..)) {
        reads.extend(node.path(usize::MAX));
    }
    for part in node.parts() {
        collect_reads(part, reads);
    }
}

/// Collects mistakes. What is broken gives anything, so that one mistake is reported once.
struct Checker<'t> {
    text: &'t str,
    problems: Vec<Problem>,
}

impl<'t> Checker<'t> {
    /// What a piece of syntax does.
    fn node(&mut self, syntax: &Syntax) -> Node {
        let range = syntax.range.clone();
        match &syntax.kind {
            SyntaxKind::Null => constant(Fact::Null, range),
            SyntaxKind::Bool(truth) => constant(Fact::Bool(*truth), range),
            SyntaxKind::Number(number) => constant(Fact::Number(*number), range),
            SyntaxKind::Text(text) => constant(Fact::Text(text.clone()), range),
            SyntaxKind::List(elements) => self.list(elements, range),
            SyntaxKind::Name(name) => self.root(name, range),
            SyntaxKind::Field(base, word) => {
                let base = self.node(base);
                self.field(base, word, range)
            }
            SyntaxKind::Index(both) => {
                let [base, index] = &**both;
                let (base, index) = (self.node(base), self.value(index));
                self.index(base, index, range)
            }
            SyntaxKind::Call(receiver, word, arguments) => self.call(receiver.as_deref(), word, arguments, range),
            SyntaxKind::Not(operand) => {
                let operand = self.boolean(operand, "`!` negates a boolean");
                Node { kind: Kind::Not(Box::new(operand)), range, gives: Type::Bool }
            }
            SyntaxKind::Negative(operand) => self.negative(operand, range),
            SyntaxKind::All(operands) => {
                let operands = operands.iter().map(|operand| self.boolean(operand, "`&&` joins booleans")).collect();
                Node { kind: Kind::All(operands), range, gives: Type::Bool }
            }
            SyntaxKind::Any(operands) => {
                let operands = operands.iter().map(|operand| self.boolean(operand, "`||` joins booleans")).collect();
                Node { kind: Kind::Any(operands), range, gives: Type::Bool }
            }
            SyntaxKind::Compare(comparison, both) => self.compare(*comparison, both, range),
            SyntaxKind::Chain(first, rest) => self.chain(first, rest, range),
            SyntaxKind::Choose(three) => {
                let [condition, yes, no] = &**three;
                let condition = self.boolean(condition, "`?` needs a boolean");
                let (yes, no) = (self.value(yes), self.value(no));
                let gives = if yes.gives == no.gives { yes.gives } else { Type::Any };
                Node { kind: Kind::Choose(Box::new([condition, yes, no])), range, gives }
            }
        }
    }

    /// What a piece of syntax does, where a part of the request would be no value.
    fn value(&mut self, syntax: &Syntax) -> Node {
        let node = self.node(syntax);
        if node.gives != Type::Part {
            return node;
        }
        let problem = Problem::new(node.range.clone(), format!("`{}` is not a value", self.written(&node.range)));
        self.problems.push(problem.help("name a field of it"));
        unclear(node.range)
    }

    fn boolean(&mut self, syntax: &Syntax, why: &str) -> Node {
        let node = self.value(syntax);
        self.expect(&node, &[Type::Bool], why);
        node
    }

    /// Notes a mistake if a node is known to give none of these types.
    fn expect(&mut self, node: &Node, types: &[Type], why: &str) -> Expected<'_> {
        if node.gives.may_be(types) {
            return Expected { problem: None };
        }
        let message = format!("{why}, this is {}", node.gives.words());
        self.problems.push(Problem::new(node.range.clone(), message));
        Expected { problem: self.problems.last_mut() }
    }

    fn list(&mut self, elements: &[Syntax], range: Range<usize>) -> Node {
        let elements: Vec<Node> = elements.iter().map(|element| self.value(element)).collect();
        let facts: Option<Vec<Fact>> = elements.iter().map(|element| element.constant().cloned()).collect();
        match facts {
            Some(facts) => constant(Fact::List(facts), range),
            None => Node { kind: Kind::List(elements), range, gives: Type::List },
        }
    }

    /// The text of a range.
    fn written(&self, range: &Range<usize>) -> &'t str {
        self.text.get(range.clone()).unwrap_or_default()
    }
}

/// A mistake that may get a hint.
struct Expected<'p> {
    problem: Option<&'p mut Problem>,
}

impl Expected<'_> {
    fn or_help(self, text: &str) {
        if let Some(problem) = self.problem {
            problem.help = Some(text.to_owned());
        }
    }
}

fn constant(fact: Fact, range: Range<usize>) -> Node {
    let gives = type_of(&fact);
    Node { kind: Kind::Constant(fact), range, gives }
}

/// Stands where something is broken; it is never evaluated.
fn unclear(range: Range<usize>) -> Node {
    Node { kind: Kind::Constant(Fact::Null), range, gives: Type::Any }
}

fn type_of(fact: &Fact) -> Type {
    match fact {
        Fact::Null => Type::Null,
        Fact::Bool(_) => Type::Bool,
        Fact::Number(_) => Type::Number,
        Fact::Text(_) => Type::Text,
        Fact::List(_) => Type::List,
        Fact::Map(_) => Type::Map,
        Fact::Unknown => Type::Any,
    }
}
