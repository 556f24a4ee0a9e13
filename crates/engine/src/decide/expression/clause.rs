//! Parts of an expression that are true or false by themselves: what `&&`, `||` and `!` join.

use crate::decide::cells::Field;
use crate::decide::request::{Fact, NormalizedRequest};
use crate::decide::truth::Truth;
use smol_str::SmolStr;

use super::node::{Kind, Node, Root};
use super::syntax::Comparison;
use super::{Expression, evaluate, suggest};

/// Expressions of more parts are looked at as a whole.
const MOST: usize = 16;

/// A part of an expression, or all of it. Two with the same text are the same.
#[derive(Clone, Copy, Debug)]
pub(in crate::decide) struct Clause<'e> {
    text: &'e str,
    node: &'e Node,
}

/// What a clause is made of.
pub(in crate::decide) enum Joined<'e> {
    /// Nothing that is true or false by itself.
    Alone,
    /// What is written down.
    Always(bool),
    /// What it denies.
    Not(Clause<'e>),
    /// All of these must hold.
    All(Vec<Clause<'e>>),
    /// One of these must hold.
    Any(Vec<Clause<'e>>),
}

impl Expression {
    /// All of it.
    pub(in crate::decide) fn whole(&self) -> Clause<'_> {
        Clause { text: &self.text, node: &self.root }
    }

    /// Whether its parts are few enough to be looked at one by one.
    pub(in crate::decide) fn has_few_clauses(&self) -> bool {
        fn count(node: &Node) -> usize {
            match &node.kind {
                Kind::Not(_) | Kind::All(_) | Kind::Any(_) => node.parts().map(count).sum(),
                _ => 1,
            }
        }
        count(&self.root) <= MOST
    }
}

impl PartialEq for Clause<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.text() == other.text()
    }
}

impl<'e> Clause<'e> {
    /// As it was written.
    pub(in crate::decide) fn text(&self) -> &'e str {
        self.text.get(self.node.range.clone()).unwrap_or(self.text)
    }

    /// Whether it holds for a request. What cannot be evaluated is an error.
    pub(in crate::decide) fn holds(&self, asked: NormalizedRequest<'_>) -> Truth {
        asked.in_every_reading(|asked| evaluate::run(self.node, asked).0.map_or(Truth::Error, Truth::from))
    }

    pub(super) fn node(&self) -> &'e Node {
        self.node
    }

    /// What it is made of. An error beside what decides is none, as for truths.
    pub(in crate::decide) fn joined(self) -> Joined<'e> {
        let part = |node: &'e Node| Self { node, ..self };
        match &self.node.kind {
            Kind::Not(inner) => Joined::Not(part(inner)),
            Kind::All(all) => Joined::All(all.iter().map(part).collect()),
            Kind::Any(any) => Joined::Any(any.iter().map(part).collect()),
            Kind::Constant(Fact::Bool(truth)) => Joined::Always(*truth),
            _ => Joined::Alone,
        }
    }

    /// The part of a request that it compares with some values, if that is all that it does.
    pub(in crate::decide) fn compared(&self) -> Option<(Field, Vec<Fact>)> {
        match &self.node.kind {
            // A truth of its own.
            Kind::Path(root, names) => {
                let field = field(*root, names).filter(|field| matches!(field, Field::Fact(..)))?;
                Some((field, [true, false].map(Fact::Bool).to_vec()))
            }
            Kind::Compare(Comparison::In, both) => {
                let [element, list] = &**both;
                match (&element.kind, &list.kind) {
                    (Kind::Path(root, names), _) => {
                        let field = field(*root, names).filter(|field| !is_of_names(field))?;
                        Some((field, constants(list)?))
                    }
                    (Kind::Constant(name @ Fact::Text(_)), Kind::Path(root, names)) => {
                        Some((field(*root, names).filter(is_of_names)?, vec![name.clone()]))
                    }
                    _ => None,
                }
            }
            Kind::Compare(comparison, both) => {
                let [one, other] = &**both;
                let (path, value) = match (&one.kind, &other.kind) {
                    (Kind::Path(root, names), Kind::Constant(value))
                    | (Kind::Constant(value), Kind::Path(root, names)) => ((root, names), value),
                    _ => return None,
                };
                let is_equality = matches!(comparison, Comparison::Equal | Comparison::Different);
                let is_plain = matches!(value, Fact::Number(_)) || (is_equality && is_scalar(value));
                let field = field(*path.0, path.1).filter(|field| is_plain && !is_of_names(field))?;
                Some((field, vec![value.clone()]))
            }
            _ => None,
        }
    }
}

/// Whether values equal it or do not, and that is all.
fn is_scalar(fact: &Fact) -> bool {
    matches!(fact, Fact::Bool(_) | Fact::Number(_) | Fact::Text(_))
}

fn is_of_names(field: &Field) -> bool {
    matches!(field, Field::Roles | Field::Groups)
}

/// The values of a list that is written down.
fn constants(list: &Node) -> Option<Vec<Fact>> {
    match list.constant() {
        Some(Fact::List(values)) => values.iter().all(is_scalar).then(|| values.clone()),
        _ => None,
    }
}

/// The part of a request that a path leads to, if its tests can be told by its value alone: paths, methods, addresses and moments are compared
/// in ways of their own, and texts have nothing inside.
fn field(root: Root, names: &[SmolStr]) -> Option<Field> {
    let is_told = |field: &Field| match field {
        Field::Fact(..) => true,
        Field::Path | Field::App | Field::Method | Field::Address | Field::Time => false,
        _ => names.len() == 1,
    };
    suggest::field(root, names).filter(is_told)
}
