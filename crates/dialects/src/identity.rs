//! Who a document is, whatever system it belongs to: what a store knows it by, and what lists, answers and addresses call it.
//!
//! Two documents that their reader takes for one thing have one identity, however they are written; two that it takes for two
//! things have two. Each dialect says it of its own documents; what nobody knows is told apart by what it says of itself.

mod nameless;

use std::fmt;

use upheld_engine::{PolicyKind, Snapshot};
use upheld_model::tree::{Kind, Value};
use upheld_model::{Files, NodeRef, Symbols};

pub use self::nameless::Nameless;
use crate::dialect::dialects;
use crate::document::{Form, Header, Resource};
use crate::policy_kind::{POLICY_KIND, is_policy_kind};
use crate::recognise::{TESTS, is_builtin, is_tests};

/// The identity of a document. Two documents with the same one are two versions of one thing.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Identity {
    /// Its type: `TrafficLog`, `AccessPolicy`, `project`.
    pub kind: String,
    /// The mesh or namespace it is in, or what stands in its place.
    pub scope: String,
    /// Its name there.
    pub name: String,
}

impl Identity {
    /// Of its parts.
    pub fn new(kind: impl Into<String>, scope: impl Into<String>, name: impl Into<String>) -> Self {
        Self { kind: kind.into(), scope: scope.into(), name: name.into() }
    }
}

/// `KIND/SCOPE/NAME`, as lists, answers and stores have it.
impl fmt::Display for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}/{}", self.kind, self.scope, self.name)
    }
}

/// Who a document is, or what it lacks for that.
pub type Named = Result<Identity, Nameless>;

/// Whose document one is, and who it is then.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Whose {
    /// Somebody else's.
    Others,
    /// Ours, unless somebody owns it: documents of other systems that say something here, too.
    Shared(Named),
    /// Ours.
    Own(Named),
}

/// Says who the documents of a dialect are.
pub trait Identify {
    /// Whose a document is, and who.
    fn identity(&self, document: Value<'_>) -> Whose;
}

/// What documents mean depends on the kinds in force: which types there are, and by how many names.
#[derive(Clone, Copy, Debug)]
pub struct KindsInForce<'k> {
    /// The kinds.
    pub kinds: &'k [PolicyKind],
    /// Their texts.
    pub symbols: &'k Symbols,
    /// Their documents.
    pub files: &'k Files,
}

impl KindsInForce<'_> {
    /// Whether a kind is part of the program.
    pub(crate) fn is_builtin(&self, at: NodeRef) -> bool {
        is_builtin(self.files, at)
    }
}

/// Says who documents are.
pub struct Identities<'k> {
    each: Vec<Box<dyn Identify + 'k>>,
}

impl fmt::Debug for Identities<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Identities").finish_non_exhaustive()
    }
}

/// What documents are in that belong to no system.
const NOWHERE: &str = "upheld";
/// What tests are in.
const TESTED: &str = "access";
/// The namespace of documents of Kubernetes that name none.
const DEFAULT_NAMESPACE: &str = "default";

impl<'k> Identities<'k> {
    /// By the kinds that are in force in a snapshot.
    pub fn of(snapshot: &'k Snapshot) -> Self {
        let (kinds, symbols, files) = (snapshot.kinds().as_slice(), snapshot.symbols(), snapshot.files());
        let kinds = KindsInForce { kinds, symbols, files };
        Self { each: dialects().map(|dialect| dialect.identities(kinds)).collect() }
    }

    /// Who a document is. Lists are nobody: their items are.
    pub fn identity(&self, document: Value<'_>) -> Named {
        let header = Header::of(document);
        if is_tests(document) {
            return named(TESTS, TESTED, own_name(document).unwrap_or("tests"));
        }
        if is_policy_kind(&header) {
            let name = own_name(document).ok_or_else(|| Nameless::lacks(POLICY_KIND, ["name"]))?;
            return named(POLICY_KIND, NOWHERE, name);
        }
        let mut shared = None;
        for dialect in &self.each {
            match dialect.identity(document) {
                Whose::Own(named) => return named,
                Whose::Shared(named) => shared = shared.or(Some(named)),
                Whose::Others => {}
            }
        }
        shared.unwrap_or_else(|| unknown(header))
    }
}

/// What nobody knows is told apart by what it says of itself. Types of two API groups are two types, whatever their names.
fn unknown(header: Header<'_>) -> Named {
    let document = header.document;
    match document.kind() {
        Kind::Map => {}
        Kind::List => return Err(Nameless::Several),
        other => return Err(Nameless::NoMap(other)),
    }
    if let Some(resource) = Resource::with_header(header) {
        return match resource.form {
            Form::Universal => in_mesh(resource, resource.mesh()),
            Form::Kubernetes => {
                let kind = resource.kind.text();
                match resource.group().filter(|group| !group.is_empty()) {
                    Some(group) => in_namespace_as(resource, &format!("{kind}.{group}")),
                    None => in_namespace_as(resource, kind),
                }
            }
        };
    }
    let kind = header.kind.map(Value::text).filter(|kind| !kind.is_empty()).ok_or(Nameless::NoType)?;
    if let Some(name) = own_name(document) {
        return named(kind, NOWHERE, name);
    }
    let meta = |field: &str| document.at_path(&["metadata", field]).map(Value::text).filter(|text| !text.is_empty());
    let name = meta("name").ok_or_else(|| Nameless::lacks(kind, ["name", "metadata.name"]))?;
    named(kind, meta("namespace").unwrap_or(DEFAULT_NAMESPACE), name)
}

/// A resource that its mesh and its name tell apart; on Kubernetes, the name has the namespace in it.
pub(crate) fn in_mesh(resource: Resource<'_>, mesh: &str) -> Named {
    let kind = resource.kind.text();
    match resource.name() {
        name if resource.has_name() => named(kind, mesh, &name),
        _ if resource.form == Form::Universal => Err(Nameless::lacks(kind, ["name"])),
        _ => Err(Nameless::lacks(kind, ["metadata.name"])),
    }
}

/// A resource of Kubernetes that its namespace and its name tell apart.
pub(crate) fn in_namespace(resource: Resource<'_>) -> Named {
    in_namespace_as(resource, resource.kind.text())
}

fn in_namespace_as(resource: Resource<'_>, kind: &str) -> Named {
    let (name, namespace) = resource.kubernetes_name();
    let name = if name.is_empty() { own_name(resource.document).unwrap_or_default() } else { name };
    if name.is_empty() {
        return Err(Nameless::lacks(kind, ["metadata.name"]));
    }
    named(kind, namespace.unwrap_or(DEFAULT_NAMESPACE), name)
}

pub(crate) fn named(kind: &str, scope: &str, name: &str) -> Named {
    if kind.is_empty() { Err(Nameless::NoType) } else { Ok(Identity::new(kind, scope, name)) }
}

/// What documents without metadata call themselves by.
pub(crate) fn own_name(document: Value<'_>) -> Option<&str> {
    ["id", "name", "key"].into_iter().find_map(|field| text(document, field))
}

/// A text that is written, and not empty.
pub(crate) fn text<'t>(document: Value<'t>, field: &str) -> Option<&'t str> {
    let value = document.get(field).filter(|value| value.kind() != Kind::Null)?;
    Some(value.text()).filter(|text| !text.is_empty())
}
