//! Objects by name, and whether somebody may refer to them across namespaces.

use upheld_engine::ObjectId;
use upheld_model::Object;
use upheld_model::tree::Value;

use crate::document::Resource;
use crate::gateways::gateway_api::gateways::Network;
use crate::gateways::gateway_api::grants::End;
use crate::gateways::gateway_api::selector::selects;
use crate::gateways::gateway_api::settings::ReferenceGrants;

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

/// Objects of a snapshot, as far as somebody may refer to them.
#[derive(Clone, Copy, Debug)]
pub struct References<'s> {
    /// Where they are.
    pub(crate) network: Network<'s>,
}

impl<'s> References<'s> {
    /// The resource of an object.
    pub fn resource(&self, object: ObjectId) -> Option<Resource<'s>> {
        self.network.resource(object)
    }

    fn mode(&self) -> ReferenceGrants {
        self.network.gateways.settings.topology.reference_grants
    }

    /// Which extensions may be used is only asked in strict mode.
    pub(super) fn may_use_extension(&self, from: End<'_>, namespace: &str, name: &str) -> bool {
        self.mode() != ReferenceGrants::Strict
            || self.is_granted(from, ("gateway.kgateway.dev", "GatewayExtension"), namespace, name)
    }

    fn is_granted(&self, from: End<'_>, (group, kind): (&str, &str), namespace: &str, name: &str) -> bool {
        let to = End { group, kind, namespace };
        self.mode() == ReferenceGrants::Off || self.network.gateways.grants.permit(from, to, name)
    }

    /// What a reference to a backend leads to: a Service if it does not say.
    pub fn backend(&self, from: End<'_>, reference: Value<'_>) -> Result<ObjectId, Unresolved> {
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
        from: End<'_>,
        (group, kind): (&str, &str),
        reference: Value<'_>,
    ) -> Result<ObjectId, Unresolved> {
        let namespace = text(reference, "namespace").unwrap_or(from.namespace);
        let name = text(reference, "name").unwrap_or_default();
        if !self.is_granted(from, (group, kind), namespace, name) {
            return Err(Unresolved::NotGranted);
        }
        self.network.snapshot.object_named(kind, namespace, name).ok_or(Unresolved::Missing)
    }

    /// Objects of a kind that a selector of labels means: those of the own namespace, and of others that allow it.
    pub(super) fn selected(&self, from: End<'_>, (group, kind): (&str, &str), selector: Value<'_>) -> Vec<ObjectId> {
        if selector.get("matchLabels").is_none() && selector.get("matchExpressions").is_none() {
            return Vec::new();
        }
        let snapshot = self.network.snapshot;
        let symbol = snapshot.symbols().get(kind);
        let objects = snapshot.objects().iter().filter(|(_, object)| Some(object.kind) == symbol);
        let matches = |object: &Object| {
            let labels = object.facts.as_slice().iter();
            let labels: Vec<(&str, &str)> =
                labels.filter_map(|tag| Some((snapshot.text(tag.key), snapshot.text(tag.value?)))).collect();
            let (namespace, name) = (snapshot.text(object.scope), snapshot.text(object.name));
            selects(selector, &labels) && self.is_granted(from, (group, kind), namespace, name)
        };
        objects.filter(|(_, object)| matches(object)).map(|(id, _)| id).collect()
    }
}

/// The text of a field that is not empty.
pub(super) fn text<'t>(value: Value<'t>, name: &str) -> Option<&'t str> {
    value.get(name).map(Value::text).filter(|text| !text.is_empty())
}

/// The items of a field.
pub(super) fn list<'t>(value: Value<'t>, name: &str) -> impl Iterator<Item = Value<'t>> + use<'t> {
    value.get(name).into_iter().flat_map(Value::items)
}
