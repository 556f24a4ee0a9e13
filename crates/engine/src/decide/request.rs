//! What is asked: may this subject do this action on this resource, here and now?

use rustc_hash::FxHashSet;
use smol_str::SmolStr;
use upheld_model::Timestamp;

use super::number::Number;
use super::truth::Truth;

/// A request: who wants to do what with what, and under which circumstances. What is left out is absent; what is not known
/// is said to be unknown, which is something else.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Request {
    /// Who asks.
    pub subject: Subject,
    /// What is to be done.
    pub action: Action,
    /// With what.
    pub resource: Resource,
    /// Under which circumstances.
    pub environment: Environment,
}

/// Who asks.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Subject {
    /// What sort of subject: `user`, `service`.
    pub kind: Maybe<SmolStr>,
    /// Which one.
    pub id: Maybe<SmolStr>,
    /// Its roles.
    pub roles: Names,
    /// Its groups.
    pub groups: Names,
    /// What else is claimed of it.
    pub claims: Facts,
}

/// What is to be done.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Action {
    /// The method of HTTP.
    pub method: Maybe<SmolStr>,
    /// The operation, in the words of the application.
    pub operation: Maybe<SmolStr>,
    /// What else is known of it.
    pub facts: Facts,
}

/// With what it is to be done.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Resource {
    /// The application.
    pub app: Maybe<SmolStr>,
    /// The path of a URL.
    pub path: Maybe<SmolStr>,
    /// What sort of resource.
    pub kind: Maybe<SmolStr>,
    /// Which one.
    pub id: Maybe<SmolStr>,
    /// What else is known of it: its owner, host, headers.
    pub facts: Facts,
}

/// Under which circumstances.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Environment {
    /// The address of the caller.
    pub ip: Maybe<SmolStr>,
    /// The moment.
    pub time: Maybe<Timestamp>,
    /// What else is known.
    pub facts: Facts,
}

/// A value that may be absent, or not known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Maybe<T> {
    /// It is this.
    Is(T),
    /// There is none.
    #[default]
    Absent,
    /// Nobody knows.
    Unknown,
}

impl<T> Maybe<T> {
    /// By reference.
    pub fn as_ref(&self) -> Maybe<&T> {
        match self {
            Self::Is(value) => Maybe::Is(value),
            Self::Absent => Maybe::Absent,
            Self::Unknown => Maybe::Unknown,
        }
    }

    /// The value, if there is one and it is known.
    pub fn known(&self) -> Option<&T> {
        match self {
            Self::Is(value) => Some(value),
            Self::Absent | Self::Unknown => None,
        }
    }

    /// Another value in its place.
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Maybe<U> {
        match self {
            Self::Is(value) => Maybe::Is(change(value)),
            Self::Absent => Maybe::Absent,
            Self::Unknown => Maybe::Unknown,
        }
    }
}

impl<T> From<Option<T>> for Maybe<T> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Absent, Self::Is)
    }
}

/// A list of names, or nobody knows which.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Names {
    /// These and no others.
    Known(Vec<SmolStr>),
    /// These, and perhaps others.
    AtLeast(Vec<SmolStr>),
    /// Nobody knows.
    Unknown,
}

impl Default for Names {
    fn default() -> Self {
        Self::Known(Vec::new())
    }
}

impl Names {
    /// These names.
    pub fn of<T: AsRef<str>>(names: &[T]) -> Self {
        Self::Known(names.iter().map(|name| SmolStr::new(name.as_ref())).collect())
    }

    /// These names, and perhaps others.
    pub fn at_least(names: Vec<SmolStr>) -> Self {
        if names.is_empty() { Self::Unknown } else { Self::AtLeast(names) }
    }

    /// Those that are known.
    pub fn known(&self) -> &[SmolStr] {
        match self {
            Self::Known(names) | Self::AtLeast(names) => names,
            Self::Unknown => &[],
        }
    }

    /// Whether it is known which there are, and that there are no others.
    pub fn are_all_known(&self) -> bool {
        matches!(self, Self::Known(_))
    }
}

/// Facts by name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Facts {
    listed: Vec<(SmolStr, Fact)>,
    others: Others,
}

/// What is to be said of facts that are not listed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Others {
    /// There are none.
    #[default]
    Absent,
    /// Nobody knows.
    Unknown,
}

impl Facts {
    /// Nobody knows any of them.
    pub fn unknown() -> Self {
        Self::default().and_others_unknown()
    }

    /// The same facts; whether there are others, nobody knows.
    #[must_use]
    pub fn and_others_unknown(self) -> Self {
        Self { others: Others::Unknown, ..self }
    }

    /// The fact of a name.
    pub fn get(&self, name: &str) -> Option<&Fact> {
        let listed = self.listed.iter().find(|(known, _)| known == name).map(|(_, fact)| fact);
        match self.others {
            Others::Absent => listed,
            Others::Unknown => listed.or(Some(&Fact::Unknown)),
        }
    }

    /// Sets a fact, in place of an older one.
    pub fn set(&mut self, name: &str, fact: Fact) {
        match self.listed.iter_mut().find(|(known, _)| known == name) {
            Some((_, old)) => *old = fact,
            None => self.listed.push((SmolStr::new(name), fact)),
        }
    }

    /// Adds facts with names that are not listed yet.
    pub fn add_missing(&mut self, more: impl IntoIterator<Item = (SmolStr, Fact)>) {
        /// So many names are compared one by one.
        const FEW: usize = 32;
        let own = self.listed.len();
        if own <= FEW {
            for (name, fact) in more {
                if self.listed.iter().take(own).all(|(known, _)| *known != name) {
                    self.listed.push((name, fact));
                }
            }
            return;
        }
        let known: FxHashSet<SmolStr> = self.listed.iter().map(|(name, _)| name.clone()).collect();
        self.listed.extend(more.into_iter().filter(|(name, _)| !known.contains(name)));
    }

    /// Keeps some of those that are listed.
    pub fn retain(&mut self, mut keep: impl FnMut(&str) -> bool) {
        self.listed.retain(|(name, _)| keep(name));
    }

    /// Keeps those that are listed with such a value.
    pub fn retain_facts(&mut self, mut keep: impl FnMut(&Fact) -> bool) {
        self.listed.retain(|(_, fact)| keep(fact));
    }

    /// Those that are listed.
    pub fn iter(&self) -> std::slice::Iter<'_, (SmolStr, Fact)> {
        self.listed.iter()
    }

    /// How many are listed.
    pub fn len(&self) -> usize {
        self.listed.len()
    }

    /// Whether none is listed.
    pub fn is_empty(&self) -> bool {
        self.listed.is_empty()
    }

    /// Whether it is known what is there, and what is not.
    pub fn are_all_listed(&self) -> bool {
        self.others == Others::Absent
    }

    /// Takes a fact away.
    pub fn remove(&mut self, name: &str) {
        self.listed.retain(|(known, _)| known != name);
    }
}

impl FromIterator<(SmolStr, Fact)> for Facts {
    fn from_iter<I: IntoIterator<Item = (SmolStr, Fact)>>(facts: I) -> Self {
        Self { listed: facts.into_iter().collect(), others: Others::Absent }
    }
}

impl IntoIterator for Facts {
    type Item = (SmolStr, Fact);
    type IntoIter = std::vec::IntoIter<(SmolStr, Fact)>;

    fn into_iter(self) -> Self::IntoIter {
        self.listed.into_iter()
    }
}

impl<'f> IntoIterator for &'f Facts {
    type Item = &'f (SmolStr, Fact);
    type IntoIter = std::slice::Iter<'f, (SmolStr, Fact)>;

    fn into_iter(self) -> Self::IntoIter {
        self.listed.iter()
    }
}

/// What is known of something.
#[derive(Clone, Debug, PartialEq)]
pub enum Fact {
    /// Nothing: as good as left out, where nobody compares with it.
    Null,
    /// A truth.
    Bool(bool),
    /// A number.
    Number(Number),
    /// A text.
    Text(SmolStr),
    /// Several facts.
    List(Vec<Fact>),
    /// Facts by name.
    Map(Facts),
    /// It has a value that nobody knows.
    Unknown,
}

/// A value of a request, borrowed: what expressions and claim paths walk through.
#[derive(Clone, Copy, Debug)]
pub enum View<'r> {
    /// The whole request.
    Request(NormalizedRequest<'r>),
    /// Who asks.
    Subject(&'r Subject),
    /// What is to be done.
    Action(&'r Action),
    /// With what; its path as it is read.
    Resource(&'r Resource, Path<'r>),
    /// Under which circumstances.
    Environment(&'r Environment),
    /// A list of names.
    Names(&'r [SmolStr]),
    /// A text.
    Text(&'r str),
    /// A moment.
    Time(Timestamp),
    /// Any other fact.
    Fact(&'r Fact),
    /// Facts by name.
    Facts(&'r Facts),
    /// There is no such thing.
    Absent,
    /// There may be, but nobody knows.
    Unknown,
}

/// A request with its path as it is read.
#[derive(Clone, Copy, Debug)]
pub struct NormalizedRequest<'r> {
    /// The request.
    pub request: &'r Request,
    /// Its path.
    pub path: Path<'r>,
    /// The longest text, in bytes, that is held against patterns: see `pattern`.
    pub longest: usize,
}

/// The path of a request, as far as it can be read.
#[derive(Clone, Copy, Debug)]
pub enum Path<'r> {
    /// Everybody reads it like this.
    Is(&'r str),
    /// Some read it in one way, some in another.
    Several(&'r [SmolStr]),
    /// There is none.
    Absent,
    /// Nobody knows, or nobody can read it.
    Unknown,
}

impl NormalizedRequest<'_> {
    /// What is true in whichever way the path is read; what is true in some of them only cannot be known.
    pub(super) fn in_every_reading(self, holds: impl Fn(Self) -> Truth) -> Truth {
        let Path::Several(readings) = self.path else { return holds(self) };
        let mut truths = readings.iter().map(|reading| holds(NormalizedRequest { path: Path::Is(reading), ..self }));
        let first = truths.next().unwrap_or(Truth::Error);
        if truths.all(|truth| truth == first) { first } else { Truth::Error }
    }
}

impl<'r> View<'r> {
    /// A part by name: `subject`, then `claims`, then `department`.
    #[must_use]
    pub fn field(self, name: &str) -> Self {
        let text = |value: &'r Maybe<SmolStr>| Self::text(value.as_ref().map(SmolStr::as_str));
        let names = |value: &'r Names| match value {
            Names::Known(names) => Self::Names(names),
            Names::AtLeast(_) | Names::Unknown => Self::Unknown,
        };
        match (self, name) {
            (Self::Request(asked), "subject") => Self::Subject(&asked.request.subject),
            (Self::Request(asked), "action") => Self::Action(&asked.request.action),
            (Self::Request(asked), "resource") => Self::Resource(&asked.request.resource, asked.path),
            (Self::Request(asked), "environment") => Self::Environment(&asked.request.environment),
            (Self::Subject(subject), "type") => text(&subject.kind),
            (Self::Subject(subject), "id") => text(&subject.id),
            (Self::Subject(subject), "roles") => names(&subject.roles),
            (Self::Subject(subject), "groups") => names(&subject.groups),
            (Self::Subject(subject), "claims") => Self::Facts(&subject.claims),
            (Self::Action(action), "method") => text(&action.method),
            (Self::Action(action), "operation") => text(&action.operation),
            (Self::Resource(resource, _), "app") => text(&resource.app),
            (Self::Resource(_, path), "path") => match path {
                Path::Is(path) => Self::Text(path),
                Path::Absent => Self::Absent,
                Path::Several(_) | Path::Unknown => Self::Unknown,
            },
            (Self::Resource(resource, _), "type") => text(&resource.kind),
            (Self::Resource(resource, _), "id") => text(&resource.id),
            (Self::Environment(environment), "ip") => text(&environment.ip),
            (Self::Environment(environment), "time") => match environment.time {
                Maybe::Is(moment) => Self::Time(moment),
                Maybe::Absent => Self::Absent,
                Maybe::Unknown => Self::Unknown,
            },
            (
                Self::Action(Action { facts, .. })
                | Self::Resource(Resource { facts, .. }, _)
                | Self::Environment(Environment { facts, .. })
                | Self::Facts(facts)
                | Self::Fact(Fact::Map(facts)),
                name,
            ) => Self::fact(facts.get(name)),
            (Self::Unknown | Self::Fact(Fact::Unknown), _) => Self::Unknown,
            _ => Self::Absent,
        }
    }

    fn text(value: Maybe<&'r str>) -> Self {
        match value {
            Maybe::Is(text) => Self::Text(text),
            Maybe::Absent => Self::Absent,
            Maybe::Unknown => Self::Unknown,
        }
    }

    /// A fact, if there is one.
    pub fn fact(fact: Option<&'r Fact>) -> Self {
        match fact {
            Some(Fact::Unknown) => Self::Unknown,
            Some(Fact::Text(text)) => Self::Text(text),
            Some(fact) => Self::Fact(fact),
            None => Self::Absent,
        }
    }
}
