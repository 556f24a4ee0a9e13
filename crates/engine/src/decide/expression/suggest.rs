//! Values that an expression compares parts of a request with: whoever looks for a request that it holds for tries these. Whether
//! it holds then is found out by evaluating it.

use crate::decide::number::Step;
use smol_str::SmolStr;

use super::node::{Function, Kind, Node, Root};
use super::syntax::Comparison;
use super::{Clause, Expression};
use crate::decide::cells::{Field, Given};
use crate::decide::fact_test::FactOf;
use crate::decide::request::{Fact, NormalizedRequest, View};

impl Expression {
    /// Parts of a request with values that could make a difference.
    pub(in crate::decide) fn suggestions(&self, asked: NormalizedRequest<'_>) -> Vec<(Field, Given)> {
        self.whole().suggestions(asked)
    }
}

impl Clause<'_> {
    /// Parts of a request with values that could make a difference.
    pub(in crate::decide) fn suggestions(&self, asked: NormalizedRequest<'_>) -> Vec<(Field, Given)> {
        let mut found = Vec::new();
        collect(self.node(), asked, &mut found);
        found
    }
}

fn collect(node: &Node, asked: NormalizedRequest<'_>, found: &mut Vec<(Field, Given)>) {
    match &node.kind {
        Kind::Compare(comparison, sides) => {
            let [left, right] = &**sides;
            compared(*comparison, left, right, asked, found);
            compared(comparison.turned(), right, left, asked, found);
            found.extend(spelled(left, right, asked).or_else(|| spelled(right, left, asked)));
        }
        Kind::Call(Function::Contains | Function::StartsWith | Function::EndsWith, arguments) => {
            if let [base, wanted] = arguments.as_slice() {
                compared(Comparison::Equal, base, wanted, asked, found);
                found.extend(spelled(base, wanted, asked));
            }
        }
        // Whatever is a truth by itself.
        Kind::Path(root, names) => {
            if let Some(field) = field(*root, names).filter(|field| matches!(field, Field::Fact(..))) {
                found.extend([true, false].map(|truth| (field.clone(), Given::Fact(Fact::Bool(truth)))));
            }
            return;
        }
        _ => {}
    }
    let compares = matches!(node.kind, Kind::Compare(..) | Kind::Call(..));
    // The sides of a comparison are values.
    for part in node.parts().filter(|part| !compares || !matches!(part.kind, Kind::Path(..))) {
        collect(part, asked, found);
    }
}

/// What one side of a comparison could be, given the other.
fn compared(
    comparison: Comparison,
    one: &Node,
    other: &Node,
    asked: NormalizedRequest<'_>,
    found: &mut Vec<(Field, Given)>,
) {
    let Kind::Path(root, names) = &one.kind else { return };
    let Some(field) = field(*root, names) else { return };
    let values: Vec<Fact> = match (&other.kind, comparison) {
        (Kind::List(items), Comparison::In) => items.iter().filter_map(Node::constant).cloned().collect(),
        (Kind::Moment(moment), _) => {
            found.push((field, Given::Moment(*moment)));
            return;
        }
        // Two parts that must be equal, of which the request has none: one of them first.
        (Kind::Path(..), _) => vec![read(other, asked).unwrap_or(Fact::Text(SmolStr::new_static("7")))],
        _ => other.constant().cloned().into_iter().collect(),
    };
    for value in values {
        let more: Vec<Fact> = match (&value, comparison) {
            (Fact::Number(number), Comparison::Less | Comparison::Greater | Comparison::Different) => {
                [Step::Down, Step::Up].map(|step| Fact::Number(number.moved(step))).to_vec()
            }
            (_, Comparison::Different) => vec![Fact::Text(SmolStr::new_static("other"))],
            _ => Vec::new(),
        };
        found.extend([value].into_iter().chain(more).filter_map(|value| Some((field.clone(), given(&field, value)?))));
    }
}

/// What one part must be, of which a text is put together, to spell what another part has: a tenant in a path.
fn spelled(given: &Node, text: &Node, asked: NormalizedRequest<'_>) -> Option<(Field, Given)> {
    let Some(Fact::Text(given)) = read(given, asked) else { return None };
    let Kind::Chain(first, rest) = &text.kind else { return None };
    let (mut before, mut after, mut between) = (String::new(), String::new(), None);
    for part in std::iter::once(&**first).chain(rest.iter().map(|(_, part)| part)) {
        match (&part.kind, part.constant()) {
            (Kind::Path(root, names), _) if between.is_none() => between = Some(field(*root, names)?),
            (_, Some(Fact::Text(text))) if between.is_none() => before.push_str(text),
            (_, Some(Fact::Text(text))) => after.push_str(text),
            _ => return None,
        }
    }
    let value = given.strip_prefix(before.as_str())?;
    let value = if after.is_empty() { value } else { value.split_once(after.as_str())?.0 };
    let field = between?;
    let value = self::given(&field, Fact::Text(value.into()))?;
    Some((field, value))
}

/// What the request has where another path leads.
fn read(node: &Node, asked: NormalizedRequest<'_>) -> Option<Fact> {
    let Kind::Path(root, names) = &node.kind else { return None };
    let request = View::Request(asked);
    let root = if *root == Root::Request { request } else { request.field(root.name()) };
    match names.iter().fold(root, |view, name| view.field(name)) {
        View::Text(text) => Some(Fact::Text(text.into())),
        View::Fact(fact) => Some(fact.clone()),
        _ => None,
    }
}

/// A value in the form that a part has; nothing if it cannot have it.
fn given(field: &Field, value: Fact) -> Option<Given> {
    match (field, value) {
        (Field::Fact(..), value) => Some(Given::Fact(value)),
        (Field::Time, _) => None,
        (_, Fact::Text(text)) => Some(Given::Text(text)),
        _ => None,
    }
}

/// The part of a request that a path leads to, or into.
pub(super) fn field(root: Root, names: &[SmolStr]) -> Option<Field> {
    let (first, rest) = names.split_first()?;
    let facts = |of: FactOf| Some(Field::Fact(of, names.to_vec()));
    match (root, first.as_str()) {
        (Root::Request, name) => {
            let (_, root) = Root::PARTS.into_iter().find(|(known, _)| *known == name)?;
            field(root, rest)
        }
        (Root::Subject, "id") => Some(Field::SubjectId),
        (Root::Subject, "type") => Some(Field::SubjectType),
        (Root::Subject, "roles") => Some(Field::Roles),
        (Root::Subject, "groups") => Some(Field::Groups),
        (Root::Subject, "claims") if !rest.is_empty() => Some(Field::Fact(FactOf::Subject, rest.to_vec())),
        (Root::Subject, _) => None,
        (Root::Action, "method") => Some(Field::Method),
        (Root::Action, "operation") => Some(Field::Operation),
        (Root::Action, _) => facts(FactOf::Action),
        (Root::Resource, "app") => Some(Field::App),
        (Root::Resource, "path") => Some(Field::Path),
        (Root::Resource, "type") => Some(Field::Type),
        (Root::Resource, "id") => Some(Field::ResourceId),
        (Root::Resource, _) => facts(FactOf::Resource),
        (Root::Environment, "ip") => Some(Field::Address),
        (Root::Environment, "time") => Some(Field::Time),
        (Root::Environment, _) => facts(FactOf::Environment),
    }
}

impl Comparison {
    /// The same with its sides exchanged; whether something is in a list has another side for a reason, and is asked of both.
    fn turned(self) -> Self {
        match self {
            Self::Less => Self::Greater,
            Self::LessOrEqual => Self::GreaterOrEqual,
            Self::Greater => Self::Less,
            Self::GreaterOrEqual => Self::LessOrEqual,
            Self::Equal | Self::Different | Self::In => self,
        }
    }
}
