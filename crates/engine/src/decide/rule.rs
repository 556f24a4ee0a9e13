//! Policies of the family as their dialect read them: who, what, how, under which conditions.

use std::net::IpAddr;
use std::sync::Arc;

use ipnet::IpNet;
use regex::Regex;
use smol_str::SmolStr;
use upheld_model::NodeRef;

use super::condition::Condition;
use super::glob::{ForeignPattern, Glob, Wild};
use super::request::{Asked, Fact, Maybe, Names, View};
use super::truth::Truth;
use super::value::{Algorithm, Effect};

/// A policy: its effect stands for all requests that its target covers and that meet its conditions.
#[derive(Clone, Debug)]
pub struct Rule {
    /// Its id.
    pub name: SmolStr,
    /// What it does.
    pub effect: Effect,
    /// Which requests it is about.
    pub target: Target,
    /// What must hold besides; all of them.
    pub conditions: Vec<Condition>,
    /// What comes with its effect.
    pub duties: Vec<Duty>,
    /// The higher, the earlier.
    pub priority: f64,
    /// Whether it counts at all.
    pub status: Status,
    /// Where it was written.
    pub at: NodeRef,
}

impl Rule {
    /// Whether it applies, from left to right: what cannot be told ends it at once.
    pub(super) fn in_order(&self, asked: Asked<'_>) -> Truth {
        for (_, alternatives) in self.target.clauses() {
            let mut fits = Truth::from(alternatives.is_empty());
            for matcher in alternatives {
                let first = matcher.tests.iter().map(|test| test.holds(asked)).find(|truth| *truth != Truth::True);
                fits = first.unwrap_or(Truth::True);
                if fits != Truth::False {
                    break;
                }
            }
            if fits != Truth::True {
                return fits;
            }
        }
        let mut conditions = self.conditions.iter().map(|condition| condition.holds(asked));
        conditions.find(|truth| *truth != Truth::True).unwrap_or(Truth::True)
    }
}

/// Policies and sets that are combined into one answer.
#[derive(Clone, Debug)]
pub struct Set {
    /// Its id.
    pub name: SmolStr,
    /// How its members are combined.
    pub algorithm: Algorithm,
    /// What it says when no member says anything.
    pub default: Option<Effect>,
    /// Which requests it is about.
    pub target: Target,
    /// What comes with its answer.
    pub duties: Vec<Duty>,
    /// The higher, the earlier.
    pub priority: f64,
    /// Policies and sets, in the order of their store.
    pub members: Vec<Member>,
    /// Where it was written, if it was.
    pub at: Option<NodeRef>,
}

/// A member of a set.
#[derive(Clone, Debug)]
pub enum Member {
    /// A policy; the same one may be a member at another time.
    Rule(Arc<Rule>),
    /// A set.
    Set(Box<Set>),
}

impl From<Rule> for Member {
    fn from(rule: Rule) -> Self {
        Self::Rule(Arc::new(rule))
    }
}

impl From<Set> for Member {
    fn from(set: Set) -> Self {
        Self::Set(Box::new(set))
    }
}

/// Whether a policy counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Status {
    /// It does.
    #[default]
    On,
    /// It was switched off.
    Off,
}

/// Something that must or may be done along with a decision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Duty {
    /// Whether it must be done.
    pub binding: Binding,
    /// Which duty.
    pub id: SmolStr,
    /// The effect that it comes with.
    pub on: Effect,
    /// What else its document says, if there is one.
    pub at: Option<NodeRef>,
}

/// Whether a duty must be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Binding {
    /// Whoever cannot do it must not let the request go on.
    Obligation,
    /// It may be ignored.
    Advice,
}

/// Which requests a policy is about: one alternative of each clause must fit. A clause without alternatives fits all.
#[derive(Clone, Debug, Default)]
pub struct Target {
    /// Who asks.
    pub subjects: Vec<Matcher>,
    /// With what.
    pub resources: Vec<Matcher>,
    /// What is to be done.
    pub actions: Vec<Matcher>,
}

impl Target {
    /// The clauses in order.
    pub fn clauses(&self) -> [(Clause, &[Matcher]); 3] {
        [(Clause::Subjects, &self.subjects), (Clause::Resources, &self.resources), (Clause::Actions, &self.actions)]
    }

    /// Whether it is about all requests.
    pub fn is_everything(&self) -> bool {
        self.subjects.is_empty() && self.resources.is_empty() && self.actions.is_empty()
    }

    /// Whether it is about a request.
    pub fn covers(&self, asked: Asked<'_>) -> Truth {
        self.clauses().into_iter().fold(Truth::True, |truth, (_, alternatives)| match truth {
            Truth::False => Truth::False,
            truth => truth.and(any(alternatives, asked)),
        })
    }
}

fn any(alternatives: &[Matcher], asked: Asked<'_>) -> Truth {
    if alternatives.is_empty() {
        return Truth::True;
    }
    alternatives.iter().fold(Truth::False, |truth, matcher| match truth {
        Truth::True => Truth::True,
        truth => truth.or(matcher.covers(asked)),
    })
}

/// A part of a policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Clause {
    /// Who asks.
    Subjects,
    /// With what.
    Resources,
    /// What is to be done.
    Actions,
    /// What must hold besides.
    Conditions,
}

impl Clause {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Subjects, Self::Resources, Self::Actions, Self::Conditions];

    /// The word that users see and write.
    pub fn word(self) -> &'static str {
        match self {
            Self::Subjects => "subjects",
            Self::Resources => "resources",
            Self::Actions => "actions",
            Self::Conditions => "conditions",
        }
    }
}

/// One alternative of a clause: all of its tests must hold.
#[derive(Clone, Debug, Default)]
pub struct Matcher {
    /// The tests.
    pub tests: Vec<Test>,
}

impl Matcher {
    /// Whether all tests hold.
    pub fn covers(&self, asked: Asked<'_>) -> Truth {
        self.covers_but(asked, |_| false)
    }

    /// Whether all tests hold but those that are known to.
    pub(super) fn covers_but(&self, asked: Asked<'_>, known: impl Fn(&Test) -> bool) -> Truth {
        self.all(|test| if known(test) { Truth::True } else { test.holds(asked) })
    }

    fn all(&self, holds: impl Fn(&Test) -> Truth) -> Truth {
        self.tests.iter().fold(Truth::True, |truth, test| match truth {
            Truth::False => Truth::False,
            truth => truth.and(holds(test)),
        })
    }
}

/// What one field of an alternative asks for.
#[derive(Clone, Debug)]
pub enum Test {
    /// The subject is one of these.
    Id(Vec<SmolStr>),
    /// The subject is of one of these sorts.
    SubjectType(Vec<SmolStr>),
    /// A role of the subject looks like one of these.
    Role(Vec<Wild>),
    /// The subject is in one of these groups.
    Group(Vec<SmolStr>),
    /// A claim, property or other fact.
    Fact(FactTest),
    /// The application looks like one of these.
    App(Vec<Wild>),
    /// The path looks like one of these.
    Path(Vec<PathPattern>),
    /// The resource is of one of these sorts.
    Type(Vec<SmolStr>),
    /// The resource is one of these.
    ResourceId(Vec<SmolStr>),
    /// The resource belongs to the subject.
    OwnedBySubject,
    /// The method is one of these, in any case.
    Method(Vec<SmolStr>),
    /// The operation is one of these.
    Operation(Vec<SmolStr>),
    /// An alternative that must not fit.
    Not(Matcher),
}

/// What a path must look like.
#[derive(Clone, Debug)]
pub enum PathPattern {
    /// A pattern of segments.
    Glob(Glob),
    /// What another system makes of it; the text is as it was written.
    Foreign(SmolStr, Arc<dyn ForeignPattern>),
    /// What another system fails on.
    Broken(SmolStr),
}

impl PathPattern {
    /// As it was written.
    pub fn text(&self) -> &str {
        match self {
            Self::Glob(glob) => glob.text(),
            Self::Foreign(text, _) | Self::Broken(text) => text,
        }
    }

    /// Whether it covers a path.
    pub fn covers(&self, path: &str) -> bool {
        match self {
            Self::Glob(glob) => glob.matches(path),
            Self::Foreign(_, pattern) => pattern.covers(path),
            Self::Broken(_) => false,
        }
    }
}

/// Any method.
pub const ANY_METHOD: &str = "*";

impl Test {
    /// Whether a request passes. What it does not have fits nothing.
    pub fn holds(&self, asked: Asked<'_>) -> Truth {
        self.holds_or(asked, Truth::False)
    }

    /// Whether a request passes, given what is true of something that it does not have.
    fn holds_or(&self, asked: Asked<'_>, absent: Truth) -> Truth {
        let Asked { request, path } = asked;
        let one_of = |wanted: &[SmolStr], given: &Maybe<SmolStr>| known(given, absent, |given| wanted.contains(given));
        match self {
            Self::Role(wanted) if wanted.iter().any(Wild::is_broken) && !request.subject.roles.known().is_empty() => {
                Truth::Error
            }
            Self::App(wanted) if wanted.iter().any(Wild::is_broken) => Truth::Error,
            Self::Path(wanted) if wanted.iter().any(|wanted| matches!(wanted, PathPattern::Broken(_))) => Truth::Error,
            Self::Id(wanted) => one_of(wanted, &request.subject.id),
            Self::SubjectType(wanted) => one_of(wanted, &request.subject.kind),
            Self::Role(wanted) => {
                names(&request.subject.roles, |given| wanted.iter().any(|wanted| wanted.covers(given)))
            }
            Self::Group(wanted) => names(&request.subject.groups, |given| wanted.iter().any(|wanted| wanted == given)),
            Self::Fact(test) => test.holds(asked),
            Self::App(wanted) => {
                known(&request.resource.app, absent, |given| wanted.iter().any(|wanted| wanted.covers(given)))
            }
            Self::Path(wanted) => match path {
                Maybe::Is(given) => wanted.iter().any(|wanted| wanted.covers(given)).into(),
                Maybe::Absent => absent,
                Maybe::Unknown => Truth::Error,
            },
            Self::Type(wanted) => one_of(wanted, &request.resource.kind),
            Self::ResourceId(wanted) => one_of(wanted, &request.resource.id),
            Self::OwnedBySubject => owned(asked, absent),
            Self::Method(wanted) if wanted.iter().any(|wanted| wanted == ANY_METHOD) => Truth::True,
            Self::Method(wanted) => known(&request.action.method, absent, |given| {
                wanted.iter().any(|wanted| wanted.eq_ignore_ascii_case(given))
            }),
            Self::Operation(wanted) => one_of(wanted, &request.action.operation),
            // Of what is not there, nobody can say that it is something else.
            Self::Not(matcher) => !matcher.all(|test| test.holds_or(asked, Truth::Error)),
        }
    }
}

fn known<T>(given: &Maybe<T>, absent: Truth, fits: impl FnOnce(&T) -> bool) -> Truth {
    match given {
        Maybe::Is(given) => fits(given).into(),
        Maybe::Absent => absent,
        Maybe::Unknown => Truth::Error,
    }
}

fn names(given: &Names, fits: impl Fn(&str) -> bool) -> Truth {
    match given {
        Names::Known(names) => names.iter().any(|name| fits(name)).into(),
        Names::Unknown => Truth::Error,
    }
}

/// The fields that may name the owner of a resource.
pub(super) const OWNER_FIELDS: [&str; 2] = ["owner", "ownerId"];

fn owned(asked: Asked<'_>, absent: Truth) -> Truth {
    let facts = &asked.request.resource.facts;
    let id = match &asked.request.subject.id {
        Maybe::Is(id) => id,
        Maybe::Absent => return absent,
        Maybe::Unknown => return Truth::Error,
    };
    let owners = OWNER_FIELDS.iter().filter_map(|field| facts.get(field)).map(|fact| match fact {
        Fact::Text(owner) => (owner == id).into(),
        Fact::Unknown => Truth::Error,
        _ => Truth::False,
    });
    owners.reduce(Truth::or).unwrap_or(absent)
}

/// What a fact of the request must be.
#[derive(Clone, Debug)]
pub struct FactTest {
    /// Of what.
    pub of: FactOf,
    /// Its name as it was written; a name with dots is looked up whole, then part by part.
    pub name: SmolStr,
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
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
    Order(Order, f64),
    /// A text with this in it, or a list with this among its items.
    Contains(Fact),
    /// A list with one of these among its items, or a text with one of these in it.
    ContainsAny(Vec<Fact>),
    /// A text that begins so.
    StartsWith(SmolStr),
    /// A text that ends so.
    EndsWith(SmolStr),
    /// A text in which this is found.
    Regex(Regex),
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
    /// The fact that it is about.
    pub fn find<'r>(&self, asked: Asked<'r>) -> View<'r> {
        let facts = match self.of {
            FactOf::Subject => View::Facts(&asked.request.subject.claims),
            FactOf::Resource => View::Resource(&asked.request.resource, asked.path),
            FactOf::Action => View::Action(&asked.request.action),
            FactOf::Environment => View::Environment(&asked.request.environment),
        };
        match facts.field(&self.name) {
            View::Absent => self.path.iter().fold(facts, |view, name| view.field(name)),
            found => found,
        }
    }

    fn holds(&self, asked: Asked<'_>) -> Truth {
        match (self.find(asked), &self.operator) {
            (View::Unknown, _) => Truth::Error,
            (View::Absent, Operator::Exists) => Truth::False,
            (_, Operator::Exists) | (View::Absent, Operator::Absent) => Truth::True,
            (_, Operator::Absent) => Truth::False,
            (View::Absent, _) => self.absent,
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
    fn holds(self, number: f64, bound: f64) -> bool {
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
