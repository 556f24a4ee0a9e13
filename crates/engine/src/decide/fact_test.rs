//! What a fact of a request must be: a claim, a property, a circumstance.

use std::net::IpAddr;
use std::sync::Arc;

use ipnet::IpNet;
use smol_str::{SmolStr, format_smolstr};

use super::glob::ForeignPattern;
use super::number::Number;
use super::pattern::Pattern;
use super::request::{Fact, NormalizedRequest, View};
use super::truth::Truth;

/// What a fact of the request must be.
#[derive(Clone, Debug, PartialEq)]
pub struct FactTest {
    /// Of what.
    pub of: FactOf,
    /// Its name as it was written; a name with dots is looked up whole, then part by part.
    pub name: SmolStr,
    /// What sentences call it, where whose fact it is says too little.
    pub called: Option<SmolStr>,
    /// The parts of the name.
    pub path: Vec<SmolStr>,
    /// What it must be.
    pub operator: Operator,
    /// Whether an absent fact passes.
    pub absent: Truth,
    /// Whether a fact of another type passes.
    pub mismatch: Truth,
}

/// Whose fact.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum FactOf {
    /// A claim of the subject.
    Subject,
    /// A property of the resource.
    Resource,
    /// A property of the action.
    Action,
    /// Anything else.
    Environment,
}

impl FactOf {
    /// The word that users see.
    pub fn word(self) -> &'static str {
        match self {
            Self::Subject => "claim",
            Self::Resource => "resource property",
            Self::Action => "action property",
            Self::Environment => "circumstance",
        }
    }
}

/// What a fact must be.
#[derive(Clone, Debug)]
pub enum Operator {
    /// Equal to one of these.
    In(Vec<Fact>),
    /// Equal to none of these.
    NotIn(Vec<Fact>),
    /// A number in this order to that one.
    Order(Order, Number),
    /// A text with this in it, or a list with this among its items.
    Contains(Fact),
    /// A list with one of these among its items, or a text with one of these in it.
    ContainsAny(Vec<Fact>),
    /// A text that begins so.
    StartsWith(SmolStr),
    /// A text that ends so.
    EndsWith(SmolStr),
    /// A text in which this is found.
    Regex(Pattern),
    /// A text that another system's pattern covers; the pattern as it was written.
    Foreign(SmolStr, Arc<dyn ForeignPattern>),
    /// A text that another system fails on.
    Broken(SmolStr),
    /// An address in one of these networks.
    Within(Vec<IpNet>),
    /// There.
    Exists,
    /// Not there.
    Absent,
    /// What no value is.
    Never,
}

impl PartialEq for Operator {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::In(own), Self::In(other))
            | (Self::NotIn(own), Self::NotIn(other))
            | (Self::ContainsAny(own), Self::ContainsAny(other)) => own == other,
            (Self::Order(own, bound), Self::Order(other, other_bound)) => own == other && bound == other_bound,
            (Self::Contains(own), Self::Contains(other)) => own == other,
            (Self::StartsWith(own), Self::StartsWith(other)) | (Self::EndsWith(own), Self::EndsWith(other)) => {
                own == other
            }
            (Self::Regex(own), Self::Regex(other)) => own.as_str() == other.as_str(),
            (Self::Foreign(_, own), Self::Foreign(_, other)) => Arc::ptr_eq(own, other),
            (Self::Within(own), Self::Within(other)) => own == other,
            (Self::Broken(_), Self::Broken(_))
            | (Self::Exists, Self::Exists)
            | (Self::Absent, Self::Absent)
            | (Self::Never, Self::Never) => true,
            _ => false,
        }
    }
}

/// How two numbers relate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Greater.
    Greater,
    /// Greater or equal.
    AtLeast,
    /// Less.
    Less,
    /// Less or equal.
    AtMost,
}

impl FactTest {
    /// What sentences call the fact: `claim department`.
    pub fn title(&self) -> SmolStr {
        self.called.clone().unwrap_or_else(|| format_smolstr!("{} {}", self.of.word(), self.name))
    }

    /// The fact that it is about.
    pub fn find<'r>(&self, asked: NormalizedRequest<'r>) -> View<'r> {
        let facts = match self.of {
            FactOf::Subject => View::Facts(&asked.request.subject.claims),
            FactOf::Resource => View::Resource(&asked.request.resource, asked.path),
            FactOf::Action => View::Action(&asked.request.action),
            FactOf::Environment => View::Environment(&asked.request.environment),
        };
        let found = match facts.field(&self.name) {
            // A fact of the whole name goes before the parts, so they say nothing where that one is unknown.
            View::Absent if self.path.len() > 1 => self.path.iter().fold(facts, |view, name| view.field(name)),
            found => found,
        };
        match (found, &self.operator) {
            // Some systems ask for null as for any other value.
            (View::Fact(Fact::Null), Operator::In(wanted) | Operator::NotIn(wanted))
                if wanted.contains(&Fact::Null) =>
            {
                found
            }
            (View::Fact(Fact::Null), _) => View::Absent,
            (found, _) => found,
        }
    }

    pub(super) fn holds(&self, asked: NormalizedRequest<'_>) -> Truth {
        match (self.find(asked), &self.operator) {
            (View::Unknown, _) => Truth::Error,
            (View::Absent, Operator::Exists) => Truth::False,
            (_, Operator::Exists) | (View::Absent, Operator::Absent) => Truth::True,
            (_, Operator::Absent) => Truth::False,
            (View::Absent, _) => self.absent,
            (View::Text(text), Operator::Regex(_) | Operator::Foreign(..)) if text.len() > asked.longest => {
                Truth::Error
            }
            (found, operator) => operator.holds(found).unwrap_or(self.mismatch),
        }
    }
}

impl Operator {
    /// Whether a value passes; nothing if it is of another type.
    fn holds(&self, found: View<'_>) -> Option<Truth> {
        let text = match found {
            View::Text(text) => Some(text),
            _ => None,
        };
        Some(Truth::from(match self {
            Self::In(wanted) => wanted.iter().any(|wanted| equal(found, wanted)),
            Self::NotIn(wanted) => !wanted.iter().any(|wanted| equal(found, wanted)),
            Self::Order(order, bound) => match found {
                View::Fact(Fact::Number(number)) => order.holds(*number, *bound),
                _ => return None,
            },
            Self::Contains(wanted) => return contains(found, wanted),
            Self::ContainsAny(wanted) => {
                let each = wanted.iter().map(|wanted| contains(found, wanted));
                return each.reduce(|one, other| match (one, other) {
                    // What could never be there does not undo what is.
                    (Some(Truth::True), _) | (_, Some(Truth::True)) => Some(Truth::True),
                    (one, other) => Some(one?.or(other?)),
                })?;
            }
            Self::StartsWith(wanted) => text?.starts_with(wanted.as_str()),
            Self::EndsWith(wanted) => text?.ends_with(wanted.as_str()),
            Self::Regex(regex) => regex.is_match(text?),
            Self::Foreign(_, pattern) => pattern.covers(text?),
            Self::Broken(_) => return text.map(|_| Truth::Error),
            Self::Within(networks) => {
                let address: IpAddr = text?.parse().ok()?;
                let address = address.to_canonical();
                networks.iter().any(|network| network.contains(&address))
            }
            Self::Exists => true,
            Self::Absent | Self::Never => false,
        }))
    }
}

impl Order {
    fn holds(self, number: Number, bound: Number) -> bool {
        match self {
            Self::Greater => number > bound,
            Self::AtLeast => number >= bound,
            Self::Less => number < bound,
            Self::AtMost => number <= bound,
        }
    }
}

/// Without any coercion: `5` is not `"5"`.
fn equal(found: View<'_>, wanted: &Fact) -> bool {
    match (found, wanted) {
        (View::Text(found), Fact::Text(wanted)) => found == wanted,
        (View::Fact(found), wanted) => found == wanted,
        _ => false,
    }
}

fn contains(found: View<'_>, wanted: &Fact) -> Option<Truth> {
    Some(Truth::from(match (found, wanted) {
        (View::Text(text), Fact::Text(wanted)) => text.contains(wanted.as_str()),
        (View::Names(names), Fact::Text(wanted)) => names.contains(wanted),
        (View::Fact(Fact::List(items)), wanted) => {
            if items.contains(&Fact::Unknown) && !items.contains(wanted) {
                return Some(Truth::Error);
            }
            items.contains(wanted)
        }
        _ => return None,
    }))
}
