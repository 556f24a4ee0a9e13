//! Policies of the family as their dialect read them: who, what, how, under which conditions.

use std::sync::Arc;

use smol_str::SmolStr;
use upheld_model::NodeRef;

use super::condition::Condition;
use super::fact_test::{FactTest, Operator};
use super::glob::{ForeignPattern, Glob, Token, Wildcard};
use super::request::{Fact, Maybe, Names, NormalizedRequest, Path};
use super::truth::Truth;
use super::value::{Algorithm, Effect};

/// A policy: its effect stands for all requests that its target covers and that meet its conditions.
#[derive(Clone, Debug)]
pub struct Rule {
    /// Its id.
    pub name: SmolStr,
    /// What it says about itself; callers get it as the reason.
    pub description: Option<SmolStr>,
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
    /// A policy that is about these requests, without conditions and duties.
    pub fn new(name: SmolStr, effect: Effect, target: Target, at: NodeRef) -> Self {
        let (description, priority, status) = (None, 0.0, Status::On);
        Self { name, description, effect, target, conditions: Vec::new(), duties: Vec::new(), priority, status, at }
    }

    /// What the automata of its patterns weigh; one that is off costs nothing.
    pub fn weight(&self) -> usize {
        let of_condition = |condition: &Condition| match condition {
            Condition::Expression(expression) => expression.weight(),
            _ => 0,
        };
        match self.status {
            Status::On => self.target.weight() + self.conditions.iter().map(of_condition).sum::<usize>(),
            Status::Off => 0,
        }
    }

    /// Whether it applies, from left to right: what cannot be known ends it at once.
    pub(super) fn in_order(&self, asked: NormalizedRequest<'_>) -> Truth {
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

    /// How many combinations of alternatives it has: one of each clause, one value of each list in it.
    pub fn alternatives(&self) -> usize {
        let of_clause = |(_, matchers): (Clause, &[Matcher])| {
            let sum = matchers.iter().map(Matcher::values).fold(0, usize::saturating_add);
            sum.max(1)
        };
        self.clauses().into_iter().map(of_clause).fold(1, usize::saturating_mul)
    }

    /// What the automata of its patterns weigh.
    fn weight(&self) -> usize {
        self.clauses().into_iter().flat_map(|(_, matchers)| matchers).map(Matcher::weight).sum()
    }

    /// Whether it is about all requests.
    pub fn is_everything(&self) -> bool {
        self.subjects.is_empty() && self.resources.is_empty() && self.actions.is_empty()
    }

    /// Whether it is about a request.
    pub fn covers(&self, asked: NormalizedRequest<'_>) -> Truth {
        let Path::Several(_) = asked.path else { return self.all(asked, |_| true) };
        // What does not look at the path is the same in every reading of it.
        let reads_path = |alternatives: &[Matcher]| alternatives.iter().any(Matcher::reads_path);
        let fixed =
            self.all(NormalizedRequest { path: Path::Unknown, ..asked }, |alternatives| !reads_path(alternatives));
        if fixed == Truth::False || !self.reads_path() {
            return fixed;
        }
        asked.in_every_reading(|asked| fixed.and(self.all(asked, reads_path)))
    }

    /// Whether all clauses fit that are wanted.
    fn all(&self, asked: NormalizedRequest<'_>, is_wanted: impl Fn(&[Matcher]) -> bool) -> Truth {
        self.clauses().into_iter().fold(Truth::True, |truth, (_, alternatives)| match truth {
            Truth::False => Truth::False,
            truth if !is_wanted(alternatives) => truth,
            truth => truth.and(any(alternatives, asked)),
        })
    }
}

fn any(alternatives: &[Matcher], asked: NormalizedRequest<'_>) -> Truth {
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
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Matcher {
    /// The tests.
    pub tests: Vec<Test>,
}

impl Matcher {
    /// Whether all tests hold.
    pub fn covers(&self, asked: NormalizedRequest<'_>) -> Truth {
        asked.in_every_reading(|asked| self.covers_but(asked, |_| false))
    }

    /// How many ways there are to take one value of each list.
    fn values(&self) -> usize {
        self.tests.iter().map(|test| test.values().max(1)).fold(1, usize::saturating_mul)
    }

    fn weight(&self) -> usize {
        self.tests.iter().map(Test::weight).sum()
    }

    /// Whether all tests hold but those that are known to.
    pub(super) fn covers_but(&self, asked: NormalizedRequest<'_>, known: impl Fn(&Test) -> bool) -> Truth {
        self.all(|test| if known(test) { Truth::True } else { test.holds(asked) })
    }

    fn all(&self, holds: impl Fn(&Test) -> Truth) -> Truth {
        self.tests.iter().fold(Truth::True, |truth, test| match truth {
            Truth::False => Truth::False,
            truth => truth.and(holds(test)),
        })
    }
}

/// What one field of an alternative asks for. Two that are equal hold for the same requests.
#[derive(Clone, Debug, PartialEq)]
pub enum Test {
    /// The subject is one of these.
    Id(Vec<SmolStr>),
    /// The subject is of one of these sorts.
    SubjectType(Vec<SmolStr>),
    /// A role of the subject looks like one of these.
    Role(Vec<Wildcard>),
    /// The subject is in one of these groups.
    Group(Vec<SmolStr>),
    /// A claim, property or other fact.
    Fact(FactTest),
    /// The application looks like one of these.
    App(Vec<Wildcard>),
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

impl PartialEq for PathPattern {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Glob(own), Self::Glob(other)) => own.text() == other.text(),
            (Self::Foreign(_, own), Self::Foreign(_, other)) => Arc::ptr_eq(own, other),
            (Self::Broken(_), Self::Broken(_)) => true,
            _ => false,
        }
    }
}

impl PathPattern {
    /// As it was written.
    pub fn text(&self) -> &str {
        match self {
            Self::Glob(glob) => glob.text(),
            Self::Foreign(text, _) | Self::Broken(text) => text,
        }
    }

    fn weight(&self) -> usize {
        match self {
            Self::Glob(glob) => glob.weight(),
            Self::Foreign(..) | Self::Broken(_) => 0,
        }
    }

    /// What it is made of; nothing if that is the business of another system.
    pub(super) fn tokens(&self) -> Option<Vec<Token>> {
        match self {
            Self::Glob(glob) => Some(glob.tokens()),
            Self::Foreign(..) | Self::Broken(_) => None,
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
    /// How many values it lists.
    fn values(&self) -> usize {
        match self {
            Self::Id(texts)
            | Self::SubjectType(texts)
            | Self::Group(texts)
            | Self::Type(texts)
            | Self::ResourceId(texts)
            | Self::Method(texts)
            | Self::Operation(texts) => texts.len(),
            Self::Role(wanted) | Self::App(wanted) => wanted.len(),
            Self::Path(wanted) => wanted.len(),
            // What must not fit is looked at as a whole, and so is a fact.
            Self::Fact(_) | Self::OwnedBySubject | Self::Not(_) => 1,
        }
    }

    fn weight(&self) -> usize {
        match self {
            Self::Fact(FactTest { operator: Operator::Regex(pattern), .. }) => pattern.weight(),
            Self::Path(wanted) => wanted.iter().map(PathPattern::weight).sum(),
            Self::Not(matcher) => matcher.weight(),
            _ => 0,
        }
    }

    /// Whether a request passes. What it does not have fits nothing.
    pub fn holds(&self, asked: NormalizedRequest<'_>) -> Truth {
        self.holds_or(asked, Truth::False)
    }

    /// Whether a request passes in whichever way its path is read, given what is true of something that it does not have.
    pub(super) fn holds_or(&self, asked: NormalizedRequest<'_>, absent: Truth) -> Truth {
        asked.in_every_reading(|asked| self.holds_in_one(asked, absent))
    }

    fn holds_in_one(&self, asked: NormalizedRequest<'_>, absent: Truth) -> Truth {
        let NormalizedRequest { request, path, .. } = asked;
        let one_of = |wanted: &[SmolStr], given: &Maybe<SmolStr>| known(given, absent, |given| wanted.contains(given));
        match self {
            // No value fits, known or not.
            _ if self.values() == 0 => Truth::False,
            Self::Role(wanted)
                if wanted.iter().any(Wildcard::is_broken) && !request.subject.roles.known().is_empty() =>
            {
                Truth::Error
            }
            Self::App(wanted) if wanted.iter().any(Wildcard::is_broken) => Truth::Error,
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
                Path::Is(given) => wanted.iter().any(|wanted| wanted.covers(given)).into(),
                Path::Absent => absent,
                Path::Several(_) | Path::Unknown => Truth::Error,
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
        Names::AtLeast(names) if names.iter().any(|name| fits(name)) => Truth::True,
        Names::AtLeast(_) | Names::Unknown => Truth::Error,
    }
}

/// The fields that may name the owner of a resource.
pub(super) const OWNER_FIELDS: [&str; 2] = ["owner", "ownerId"];

fn owned(asked: NormalizedRequest<'_>, absent: Truth) -> Truth {
    let facts = &asked.request.resource.facts;
    let id = match &asked.request.subject.id {
        Maybe::Is(id) if !id.is_empty() => id,
        Maybe::Is(_) | Maybe::Absent => return absent,
        Maybe::Unknown => return Truth::Error,
    };
    let mut owner: Option<&SmolStr> = None;
    for fact in OWNER_FIELDS.iter().filter_map(|field| facts.get(field)) {
        match (fact, owner) {
            (Fact::Null, _) => {}
            (Fact::Text(one), _) if one.is_empty() => {}
            (Fact::Text(one), None) => owner = Some(one),
            (Fact::Text(one), Some(other)) if one == other => {}
            // Nobody knows whose it is of two, or of something that names nobody.
            _ => return Truth::Error,
        }
    }
    owner.map_or(absent, |owner| (owner == id).into())
}
