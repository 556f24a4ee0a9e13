//! Objects by name, and whether somebody may refer to them across namespaces.

use rustc_hash::FxHashMap;
use upheld_engine::{ObjectId, Snapshot};
use upheld_model::tree::Value;
use upheld_model::{NodeRef, Object, Sym};

use super::settings::ReferenceGrants;
use crate::document::Resource;
use crate::gateway_api::claim::DEFAULT_NAMESPACE;

/// Who refers to something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct From<'a> {
    /// Its API group.
    pub group: &'a str,
    /// Its kind.
    pub kind: &'a str,
    /// Its namespace, in which names without one are looked up.
    pub namespace: &'a str,
}

/// Why a reference leads nowhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unresolved {
    /// It leads to another namespace, which does not allow that.
    NotGranted,
    /// There is no such object.
    Missing,
}

impl Unresolved {
    /// In words.
    pub const fn words(self) -> &'static str {
        match self {
            Self::NotGranted => "missing reference grant",
            Self::Missing => "backend not found",
        }
    }
}

/// What a grant allows: group, kind and perhaps a name.
type Granted<'s> = (&'s str, &'s str, Option<&'s str>);

/// Objects and grants of a snapshot.
#[derive(Debug)]
pub struct References<'s> {
    snapshot: &'s Snapshot,
    objects: FxHashMap<(Sym, Sym, Sym), ObjectId>,
    grants: FxHashMap<(From<'s>, &'s str), Vec<Granted<'s>>>,
    mode: ReferenceGrants,
}

impl<'s> References<'s> {
    /// Of a snapshot.
    pub fn new(snapshot: &'s Snapshot, mode: ReferenceGrants) -> Self {
        let identity = |(id, object): (ObjectId, &Object)| ((object.kind, object.scope, object.name), id);
        let objects = snapshot.objects().iter().map(identity).collect();
        let mut references = Self { snapshot, objects, grants: FxHashMap::default(), mode };
        references.read_grants();
        references
    }

    fn read_grants(&mut self) {
        for (_, grant) in self.snapshot.objects().iter() {
            if self.snapshot.text(grant.kind) != "ReferenceGrant" {
                continue;
            }
            let Some(spec) = self.document(grant.at).and_then(Resource::spec) else { continue };
            let to_namespace = self.snapshot.text(grant.scope);
            for from in list(spec, "from") {
                let from = From {
                    group: text(from, "group").unwrap_or_default(),
                    kind: text(from, "kind").unwrap_or_default(),
                    namespace: text(from, "namespace").unwrap_or_default(),
                };
                let granted = self.grants.entry((from, to_namespace)).or_default();
                let allowed = |to| {
                    (text(to, "group").unwrap_or_default(), text(to, "kind").unwrap_or_default(), text(to, "name"))
                };
                granted.extend(list(spec, "to").map(allowed));
            }
        }
    }

    /// The snapshot.
    pub fn snapshot(&self) -> &'s Snapshot {
        self.snapshot
    }

    /// The resource that was written somewhere.
    pub fn document(&self, at: NodeRef) -> Option<Resource<'s>> {
        Resource::of(self.snapshot.files().value(at)?)
    }

    /// The resource of an object.
    pub fn resource(&self, object: ObjectId) -> Option<Resource<'s>> {
        self.document(self.snapshot.objects().get(object)?.at)
    }

    /// The object of a kind with a name.
    pub fn object(&self, kind: &str, namespace: &str, name: &str) -> Option<ObjectId> {
        let symbol = |text: &str| self.snapshot.symbols().get(text);
        self.objects.get(&(symbol(kind)?, symbol(namespace)?, symbol(name)?)).copied()
    }

    /// Which extensions may be used is only asked in strict mode.
    pub(super) fn may_use_extension(&self, from: From<'_>, namespace: &str, name: &str) -> bool {
        self.mode != ReferenceGrants::Strict
            || self.is_granted(from, ("gateway.kgateway.dev", "GatewayExtension"), namespace, name)
    }

    fn is_granted(&self, from: From<'_>, (group, kind): (&str, &str), namespace: &str, name: &str) -> bool {
        if from.namespace == namespace || self.mode == ReferenceGrants::Off {
            return true;
        }
        let granted = self.grants.get(&(from, namespace)).map_or(&[][..], Vec::as_slice);
        granted.iter().any(|(known_group, known_kind, known_name)| {
            (*known_group, *known_kind) == (group, kind) && known_name.is_none_or(|known| known == name)
        })
    }

    /// What a reference to a backend leads to: a Service if it does not say.
    pub fn backend(&self, from: From<'_>, reference: Value<'_>) -> Result<ObjectId, Unresolved> {
        let (group, kind) = (text(reference, "group").unwrap_or(""), text(reference, "kind").unwrap_or("Service"));
        let found = self.named(from, (group, kind), reference)?;
        let port = reference.get("port").and_then(Value::as_integer);
        let has_port = |port| {
            let ports = self.resource(found).and_then(|service| service.field("ports"));
            ports.is_some_and(|ports| {
                ports.items().any(|known| known.get("port").and_then(Value::as_integer) == Some(port))
            })
        };
        match port {
            Some(port) if kind == "Service" && !has_port(port) => Err(Unresolved::Missing),
            _ => Ok(found),
        }
    }

    /// What a reference to an object of a known kind leads to.
    pub fn named(
        &self,
        from: From<'_>,
        (group, kind): (&str, &str),
        reference: Value<'_>,
    ) -> Result<ObjectId, Unresolved> {
        let namespace = text(reference, "namespace").unwrap_or(from.namespace);
        let name = text(reference, "name").unwrap_or_default();
        if !self.is_granted(from, (group, kind), namespace, name) {
            return Err(Unresolved::NotGranted);
        }
        self.object(kind, namespace, name).ok_or(Unresolved::Missing)
    }

    /// Objects of a kind that a selector of labels means: those of the own namespace, and of others that allow it.
    pub(super) fn selected(&self, from: From<'_>, (group, kind): (&str, &str), selector: Value<'_>) -> Vec<ObjectId> {
        if selector.get("matchLabels").is_none() && selector.get("matchExpressions").is_none() {
            return Vec::new();
        }
        let symbol = self.snapshot.symbols().get(kind);
        let objects = self.snapshot.objects().iter().filter(|(_, object)| Some(object.kind) == symbol);
        let matches = |object: &Object| {
            let label = |key: &str| object.facts.get(self.snapshot.symbols().get(key)?)?.value;
            let label = |key: &str| label(key).map(|value| self.snapshot.text(value));
            let (namespace, name) = (self.snapshot.text(object.scope), self.snapshot.text(object.name));
            is_selected(selector, label) && self.is_granted(from, (group, kind), namespace, name)
        };
        objects.filter(|(_, object)| matches(object)).map(|(id, _)| id).collect()
    }

    /// `Kind namespace/name`.
    pub fn title(&self, object: ObjectId) -> String {
        let Some(object) = self.snapshot.objects().get(object) else { return String::new() };
        let text = |symbol| self.snapshot.text(symbol);
        format!("{} {}/{}", text(object.kind), text(object.scope), text(object.name))
    }

    /// The namespace of an object.
    pub(super) fn namespace(&self, object: ObjectId) -> &'s str {
        let object = self.snapshot.objects().get(object);
        object.map_or(DEFAULT_NAMESPACE, |object| self.snapshot.text(object.scope))
    }
}

/// Whether labels are what a selector asks for.
fn is_selected<'l>(selector: Value<'_>, label: impl Fn(&str) -> Option<&'l str>) -> bool {
    let mut wanted = selector.get("matchLabels").into_iter().flat_map(Value::entries);
    let holds = |expression: Value<'_>| {
        let value = label(text(expression, "key").unwrap_or_default());
        let listed = value.is_some_and(|value| list(expression, "values").any(|known| known.text() == value));
        match text(expression, "operator") {
            Some("In") => listed,
            Some("NotIn") => !listed,
            Some("Exists") => value.is_some(),
            Some("DoesNotExist") => value.is_none(),
            _ => false,
        }
    };
    wanted.all(|(key, value)| label(key.text()) == Some(value.text())) && list(selector, "matchExpressions").all(holds)
}

/// The text of a field that is not empty.
pub(super) fn text<'t>(value: Value<'t>, name: &str) -> Option<&'t str> {
    value.get(name).map(Value::text).filter(|text| !text.is_empty())
}

/// The items of a field.
pub(super) fn list<'t>(value: Value<'t>, name: &str) -> impl Iterator<Item = Value<'t>> + use<'t> {
    value.get(name).into_iter().flat_map(Value::items)
}
