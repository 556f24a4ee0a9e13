//! Parts of a request, and which of them a test reads.

use smol_str::SmolStr;
use upheld_model::Timestamp;

use super::Atom;
use crate::decide::condition::Condition;
use crate::decide::fact_test::{FactOf, FactTest};
use crate::decide::request::{Fact, Facts, Maybe, Names, Request};
use crate::decide::rule::{OWNER_FIELDS, Test};

/// A part of a request that can have any value whatever the others have.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Field {
    /// Which subject.
    SubjectId,
    /// What sort of subject.
    SubjectType,
    /// Its roles.
    Roles,
    /// Its groups.
    Groups,
    /// The application.
    App,
    /// The path.
    Path,
    /// What sort of resource.
    Type,
    /// Which resource.
    ResourceId,
    /// The method.
    Method,
    /// The operation.
    Operation,
    /// The address of the caller.
    Address,
    /// The moment.
    Time,
    /// A fact by its name, or by the names that lead to it.
    Fact(FactOf, Vec<SmolStr>),
}

/// A part of a request that a test reads, without a copy of its names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::decide) enum FieldRef<'t> {
    /// A part that is no fact.
    Own(Field),
    /// A fact by the names that lead to it.
    Fact(FactOf, &'t [SmolStr]),
}

impl<'t> FieldRef<'t> {
    /// What a test of a fact reads. Some facts have a place of their own.
    pub(in crate::decide) fn of_fact(test: &'t FactTest) -> Self {
        let own = match test.path.as_slice() {
            [name] => Field::own_place(test.of, name),
            _ => None,
        };
        own.map_or(Self::Fact(test.of, &test.path), Self::Own)
    }

    /// The part that a test reads in this request: a fact that is there by its whole name counts before the way that the parts
    /// of the name lead.
    pub(in crate::decide) fn read_in(test: &'t FactTest, request: &Request) -> Self {
        let field = Self::of_fact(test);
        match field {
            Self::Fact(of, path)
                if path.len() > 1 && (is_hidden(of, path) || of.facts(request).get(&test.name).is_some()) =>
            {
                Self::Fact(test.of, std::slice::from_ref(&test.name))
            }
            _ => field,
        }
    }

    /// Whether it is this part.
    pub(in crate::decide) fn is(&self, field: &Field) -> bool {
        match (self, field) {
            (Self::Fact(of, path), Field::Fact(own, names)) => of == own && *path == names.as_slice(),
            (Self::Fact(..), _) => false,
            (Self::Own(own), field) => own == field,
        }
    }

    /// The same, to keep.
    pub(in crate::decide) fn to_field(&self) -> Field {
        match self {
            Self::Own(field) => field.clone(),
            Self::Fact(of, path) => Field::Fact(*of, path.to_vec()),
        }
    }
}

/// Whether names of a fact lead into something that is a text.
fn is_hidden(of: FactOf, path: &[SmolStr]) -> bool {
    path.first().is_some_and(|name| Field::own_place(of, name).is_some())
}

/// What a part of a request may be.
#[derive(Clone, Debug, PartialEq)]
pub enum Given {
    /// Nothing.
    Absent,
    /// A text.
    Text(SmolStr),
    /// Names.
    Names(Vec<SmolStr>),
    /// A moment.
    Moment(Timestamp),
    /// Any other fact.
    Fact(Fact),
    /// The id of the subject, whatever it is.
    OwnId,
}

impl Given {
    /// The text, if it is one.
    pub(super) fn text(&self) -> Option<SmolStr> {
        match self {
            Self::Text(text) => Some(text.clone()),
            _ => None,
        }
    }

    /// The names, if there are any. A text is one name.
    pub(in crate::decide) fn names(&self) -> Vec<SmolStr> {
        match self {
            Self::Names(names) => names.clone(),
            Self::Text(name) => vec![name.clone()],
            _ => Vec::new(),
        }
    }
}

impl Field {
    /// The facts that may name the owner of a resource.
    pub(in crate::decide) fn owners() -> impl Iterator<Item = Self> {
        OWNER_FIELDS.iter().map(|name| Self::Fact(FactOf::Resource, vec![SmolStr::new_static(name)]))
    }

    /// What a test of a fact reads. Some facts have a place of their own.
    pub(in crate::decide) fn of_fact(test: &FactTest) -> Self {
        FieldRef::of_fact(test).to_field()
    }

    /// Whether its names lead into something that is a text: only a fact that has all of them for its name is found.
    pub(super) fn is_hidden(&self) -> bool {
        match self {
            Self::Fact(of, path) => is_hidden(*of, path),
            _ => false,
        }
    }

    fn own_place(of: FactOf, name: &str) -> Option<Self> {
        match (of, name) {
            (FactOf::Resource, "app") => Some(Self::App),
            (FactOf::Resource, "path") => Some(Self::Path),
            (FactOf::Resource, "type") => Some(Self::Type),
            (FactOf::Resource, "id") => Some(Self::ResourceId),
            (FactOf::Action, "method") => Some(Self::Method),
            (FactOf::Action, "operation") => Some(Self::Operation),
            (FactOf::Environment, "ip") => Some(Self::Address),
            (FactOf::Environment, "time") => Some(Self::Time),
            _ => None,
        }
    }

    /// The part that a test reads in this request.
    pub(in crate::decide) fn read_in(test: &FactTest, request: &Request) -> Self {
        FieldRef::read_in(test, request).to_field()
    }

    /// Gives this part of a request a value. The id of the subject comes before what may be equal to it.
    pub(in crate::decide) fn put(&self, given: &Given, request: &mut Request) {
        let Request { subject, action, resource, environment } = request;
        let text = match given {
            Given::Text(text) => Maybe::Is(text.clone()),
            Given::OwnId => subject.id.clone(),
            Given::Absent | Given::Names(_) | Given::Moment(_) | Given::Fact(_) => Maybe::Absent,
        };
        let names = || Names::Known(given.names());
        match self {
            Self::SubjectId => subject.id = text,
            Self::SubjectType => subject.kind = text,
            Self::Roles => subject.roles = names(),
            Self::Groups => subject.groups = names(),
            Self::App => resource.app = text,
            Self::Path => resource.path = text,
            Self::Type => resource.kind = text,
            Self::ResourceId => resource.id = text,
            Self::Method => action.method = text,
            Self::Operation => action.operation = text,
            Self::Address => environment.ip = text,
            Self::Time => {
                environment.time = match given {
                    Given::Moment(moment) => Maybe::Is(*moment),
                    _ => Maybe::Absent,
                }
            }
            Self::Fact(of, path) => {
                let facts = match of {
                    FactOf::Subject => &mut subject.claims,
                    FactOf::Resource => &mut resource.facts,
                    FactOf::Action => &mut action.facts,
                    FactOf::Environment => &mut environment.facts,
                };
                match (given, text) {
                    (Given::Fact(fact), _) => put_fact(facts, path, fact.clone()),
                    (_, Maybe::Is(text)) => put_fact(facts, path, Fact::Text(text)),
                    (Given::Absent, _) => remove_fact(facts, path),
                    (_, Maybe::Absent | Maybe::Unknown) => {}
                }
            }
        }
    }
}

/// Puts a fact where names lead to.
fn put_fact(facts: &mut Facts, path: &[SmolStr], fact: Fact) {
    match path {
        [] => {}
        [name] => facts.set(name, fact),
        [name, rest @ ..] => {
            let mut inner = match facts.get(name) {
                Some(Fact::Map(inner)) => inner.clone(),
                _ => Facts::default(),
            };
            put_fact(&mut inner, rest, fact);
            facts.set(name, Fact::Map(inner));
        }
    }
}

/// Takes a fact away where names lead to.
fn remove_fact(facts: &mut Facts, path: &[SmolStr]) {
    match path {
        [] => {}
        [name] => facts.remove(name),
        [name, rest @ ..] => {
            if let Some(Fact::Map(inner)) = facts.get(name) {
                let mut inner = inner.clone();
                remove_fact(&mut inner, rest);
                facts.set(name, Fact::Map(inner));
            }
        }
    }
}

impl FactOf {
    /// The facts of a request.
    pub(in crate::decide) fn facts(self, request: &Request) -> &Facts {
        match self {
            Self::Subject => &request.subject.claims,
            Self::Resource => &request.resource.facts,
            Self::Action => &request.action.facts,
            Self::Environment => &request.environment.facts,
        }
    }
}

impl Atom<'_> {
    /// The part of a request that it reads; nothing if there is none, or if there are several.
    pub(in crate::decide) fn reads(&self) -> Option<Field> {
        match self {
            Self::Test(test, _) => match test {
                Test::Id(_) => Some(Field::SubjectId),
                Test::SubjectType(_) => Some(Field::SubjectType),
                Test::Role(_) => Some(Field::Roles),
                Test::Group(_) => Some(Field::Groups),
                Test::Fact(test) => Some(Field::of_fact(test)),
                Test::App(_) => Some(Field::App),
                Test::Path(_) => Some(Field::Path),
                Test::Type(_) => Some(Field::Type),
                Test::ResourceId(_) => Some(Field::ResourceId),
                Test::Method(_) => Some(Field::Method),
                Test::Operation(_) => Some(Field::Operation),
                Test::OwnedBySubject | Test::Not(_) => None,
            },
            Self::Condition(condition) => match condition {
                Condition::Time(_) | Condition::Validity(_) => Some(Field::Time),
                Condition::Address(_) => Some(Field::Address),
                Condition::Expression(_) | Condition::Always | Condition::Never => None,
            },
            Self::Clause(clause) => clause.compared().map(|(field, _)| field),
        }
    }
}
