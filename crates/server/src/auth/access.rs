//! What a caller may do with documents, one by one.
//!
//! An endpoint is permitted by its path; whatever it then touches is decided by what it is: kind, scope and name as the store knows
//! them, never as an address writes them.

use std::net::IpAddr;
use std::sync::Arc;

use axum::http::StatusCode;
use smol_str::SmolStr;
use upheld_dialects::Identity;
use upheld_dialects::dialect::dialects;
use upheld_engine::decide::{self, Action, Environment, Maybe, Names, Resource, Subject};
use upheld_store::Key;

use super::endpoint::Operation;
use super::rights::{Rights, Verdict};
use super::word;
use crate::problem::Problem;
use crate::view::View;

/// A document as rights know it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Touched<'d> {
    /// Its type.
    pub(crate) kind: &'d str,
    /// What it is in.
    pub(crate) scope: &'d str,
    /// Its name.
    pub(crate) name: &'d str,
}

impl<'d> From<&'d Key> for Touched<'d> {
    fn from(key: &'d Key) -> Self {
        Self { kind: key.kind(), scope: key.scope(), name: key.name() }
    }
}

impl<'d> From<&'d Identity> for Touched<'d> {
    fn from(identity: &'d Identity) -> Self {
        Self { kind: &identity.kind, scope: &identity.scope, name: &identity.name }
    }
}

/// What sort of thing a document is where answers name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sort {
    /// A policy.
    Policy,
    /// Anything else: what policies are about, and what is known of it.
    Object,
}

impl Sort {
    /// As rights name it.
    fn word(self) -> &'static str {
        match self {
            Self::Policy => "policy",
            Self::Object => "object",
        }
    }
}

/// Whoever asks, with the rights that hold for this request. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Access(Arc<Asker>);

#[derive(Debug)]
struct Asker {
    /// `None` where everybody may do everything.
    rights: Option<Arc<Rights>>,
    extent: Extent,
    subject: Subject,
    method: Maybe<SmolStr>,
    environment: Environment,
}

/// How far rights reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Extent {
    /// As far as their policies say.
    Rights,
    /// Nowhere: somebody may ask for one word, and know nothing else.
    Nothing,
}

impl Access {
    /// Of a request that was let in, as rights were asked about it.
    pub(super) fn new(rights: Option<Arc<Rights>>, request: decide::Request) -> Self {
        Self::reaching(Extent::Rights, rights, request)
    }

    /// Of a request that was let in although rights do not permit it.
    pub(super) fn to_nothing(request: decide::Request) -> Self {
        Self::reaching(Extent::Nothing, None, request)
    }

    fn reaching(extent: Extent, rights: Option<Arc<Rights>>, request: decide::Request) -> Self {
        let decide::Request { subject, action, environment, .. } = request;
        Self(Arc::new(Asker { rights, extent, subject, method: action.method, environment }))
    }

    /// The address that they ask from, unless others stand in between.
    pub(crate) fn address(&self) -> Option<IpAddr> {
        match &self.0.environment.ip {
            Maybe::Is(address) => address.parse().ok(),
            Maybe::Absent | Maybe::Unknown => None,
        }
    }

    /// Whether they may know how the server is, and not only whether it is well.
    pub(crate) fn may_examine_server(&self, path: &str) -> bool {
        let path = Maybe::Is(SmolStr::new(path));
        let resource = Resource { kind: word("server"), path, ..Resource::default() };
        self.ask(Operation::Read, resource) == Verdict::Permitted
    }

    /// Of somebody who may do everything.
    #[cfg(test)]
    pub(crate) fn unlimited() -> Self {
        Self::new(None, decide::Request::default())
    }

    /// Whether rights give the same answers to both, up to the moment.
    pub(crate) fn same_as(&self, other: &Self) -> bool {
        let (one, two) = (&self.0, &other.0);
        let rights = match (&one.rights, &two.rights) {
            (Some(one), Some(two)) => Arc::ptr_eq(one, two),
            (None, None) => true,
            _ => false,
        };
        rights
            && one.extent == two.extent
            && one.method == two.method
            && one.environment.ip == two.environment.ip
            && one.subject == two.subject
    }

    /// The roles that were proved.
    pub(crate) fn roles(&self) -> &[SmolStr] {
        match &self.0.subject.roles {
            Names::Known(roles) => roles,
            _ => &[],
        }
    }

    /// Whether a document may be read or written.
    pub(crate) fn may(&self, operation: Operation, document: Touched<'_>) -> bool {
        self.verdict(operation, document) == Verdict::Permitted
    }

    /// Whether a stored document may be read: it, and whomever it names.
    pub(crate) fn may_read(&self, key: &Key, text: &str) -> bool {
        self.may(Operation::Read, key.into())
            && named(key, text).iter().all(|other| self.may(Operation::Read, other.into()))
    }

    /// Whether a document may be named where questions are answered.
    pub(crate) fn may_see(&self, sort: Sort, document: Touched<'_>) -> bool {
        self.verdict_on_naming(sort, document) == Verdict::Permitted
    }

    /// Whether rights permit whatever there may be; roles may still hold in a part of it only, which a view knows. Asked without saying which document it is, so the answer says nothing about
    /// those that there are.
    pub(crate) fn may_all(&self, operation: Operation) -> bool {
        match operation {
            Operation::See => [Sort::Policy, Sort::Object].into_iter().all(|sort| self.may_see_all(sort)),
            _ => self.ask(operation, whatever("document")) == Verdict::Permitted,
        }
    }

    /// Whether whatever there is of a sort may be named in answers.
    pub(crate) fn may_see_all(&self, sort: Sort) -> bool {
        self.ask(Operation::See, whatever(sort.word())) == Verdict::Permitted
    }

    /// Whether something may be done with a document that the caller names, or why not.
    pub(crate) fn need(&self, operation: Operation, view: &View, key: &Key) -> Result<(), Problem> {
        let Verdict::Refused { policy, .. } = self.verdict_on(operation, view, key) else { return Ok(()) };
        let by =
            policy.map_or_else(|| "no policy permits it".to_owned(), |policy| format!("policy `{policy}` says so"));
        Err(forbidden(format!("the right `{}` on the document `{key}` is missing: {by}", operation.word())))
    }

    /// Whether something may be done with documents that the caller does not name. Those that they may not see are not told, either.
    pub(crate) fn need_besides<'k>(
        &self,
        operation: Operation,
        view: &View,
        keys: impl Iterator<Item = &'k Key>,
    ) -> Result<(), Problem> {
        let missing: Vec<&Key> =
            keys.filter(|key| self.verdict_on(operation, view, key) != Verdict::Permitted).collect();
        let told = missing.iter().filter(|key| self.may(Operation::Read, (**key).into()));
        let mut told: Vec<String> = told.map(|key| format!("`{key}`")).collect();
        if told.len() < missing.len() {
            told.push("documents that you may not see".to_owned());
        }
        let Some((last, others)) = told.split_last() else { return Ok(()) };
        let all = if others.is_empty() { last.clone() } else { format!("{} and {last}", others.join(", ")) };
        let right = operation.word();
        Err(forbidden(format!("this also changes {all}: the right `{right}` on each of them is missing")))
    }

    /// That a document is kept from somebody by the roles that they have in policy systems.
    pub(crate) fn kept(key: &Key) -> Problem {
        forbidden(format!("`{key}` is not yours to change: it names what does not belong to where your roles hold"))
    }

    /// Whether whatever directories know may be named in answers. Asked without names, so a refusal says nothing about those that there are.
    pub(crate) fn need_to_see_objects(&self) -> Result<(), Problem> {
        if self.may_see_all(Sort::Object) {
            return Ok(());
        }
        Err(forbidden("the right `see` on every `object` is missing: this lists what directories know".to_owned()))
    }

    /// What rights say of something that happens to a document of a view.
    fn verdict_on(&self, operation: Operation, view: &View, key: &Key) -> Verdict {
        match operation {
            Operation::See => self.verdict_on_naming(view.sort_of(key.kind()), key.into()),
            _ => self.verdict(operation, key.into()),
        }
    }

    fn verdict_on_naming(&self, sort: Sort, document: Touched<'_>) -> Verdict {
        let path = format!("/{}/{}", segment(document.kind), segment(document.name));
        self.ask(Operation::See, resource(sort.word(), document, path))
    }

    fn verdict(&self, operation: Operation, document: Touched<'_>) -> Verdict {
        let name: Vec<String> = document.name.split('/').map(segment).collect();
        let path = format!("/v1/documents/{}/{}/{}", segment(document.kind), segment(document.scope), name.join("/"));
        self.ask(operation, resource("document", document, path))
    }

    fn ask(&self, operation: Operation, resource: Resource) -> Verdict {
        let Asker { rights, extent, subject, method, environment } = &*self.0;
        if *extent == Extent::Nothing {
            return Verdict::Refused { policy: None, reason: None };
        }
        let Some(rights) = rights else { return Verdict::Permitted };
        rights.decide(&decide::Request {
            subject: subject.clone(),
            action: Action { method: method.clone(), operation: word(operation.word()), ..Action::default() },
            resource,
            environment: environment.clone(),
        })
    }
}

fn forbidden(detail: String) -> Problem {
    Problem::new(StatusCode::FORBIDDEN, "forbidden", detail)
}

/// Whom a stored document names besides itself.
pub(crate) fn named(key: &Key, text: &str) -> Vec<Identity> {
    dialects().flat_map(|dialect| dialect.names(key.kind(), text)).collect()
}

/// A resource of a type of which nothing else is known.
fn whatever(kind: &'static str) -> Resource {
    let (app, path, id) = (Maybe::Unknown, Maybe::Unknown, Maybe::Unknown);
    Resource { kind: word(kind), app, path, id, ..Resource::default() }
}

fn resource(sort: &'static str, document: Touched<'_>, path: String) -> Resource {
    let Touched { kind, scope, name } = document;
    Resource {
        app: Maybe::Is(SmolStr::new(scope)),
        path: Maybe::Is(path.into()),
        kind: word(sort),
        id: Maybe::Is(format!("{kind}/{scope}/{name}").into()),
        ..Resource::default()
    }
}

/// A name as a segment of a path, whatever is in it.
fn segment(name: &str) -> String {
    let escape = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => char::from(byte).to_string(),
        _ => format!("%{byte:02X}"),
    };
    name.bytes().map(escape).collect()
}
