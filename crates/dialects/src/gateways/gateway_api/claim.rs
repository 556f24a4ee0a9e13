//! Which Kubernetes documents are read for gateways, as objects or as policies.

use std::sync::{Arc, LazyLock};

use upheld_engine::HierarchyKind;
use upheld_model::tree::{Kind, Value};
use upheld_model::{Diagnostics, Draft, NodeRef, Object, Policy, PolicyContent, SourceId, Sym, TagSet, Timestamp};

use super::attachments::{self, Written};
use super::controller::controller_name;
use super::settings::ControllerSettings;
use crate::document::{Header, Resource, metadata};
use crate::shape::{Checker, Shape, optional, required};

/// The API group of the Gateway API.
pub const GATEWAY: &str = "gateway.networking.k8s.io";
/// Its group for what is not settled yet.
pub const EXPERIMENTAL: &str = "gateway.networking.x-k8s.io";
/// The API group of kgateway.
pub const KGATEWAY: &str = "gateway.kgateway.dev";
/// The API group of Envoy Gateway.
pub const ENVOY_GATEWAY: &str = "gateway.envoyproxy.io";
/// The namespace of documents that name none.
pub const DEFAULT_NAMESPACE: &str = "default";

/// What a document is taken as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Claim {
    /// Something that policies speak about or refer to.
    Object,
    /// A policy.
    Policy,
}

/// Groups and types.
const TYPES: [(&str, &str, Claim); 28] = [
    ("", "ConfigMap", Claim::Object),
    ("", "Namespace", Claim::Object),
    ("", "Secret", Claim::Object),
    ("", "Service", Claim::Object),
    (ENVOY_GATEWAY, "Backend", Claim::Object),
    (ENVOY_GATEWAY, "BackendTrafficPolicy", Claim::Policy),
    (ENVOY_GATEWAY, "ClientTrafficPolicy", Claim::Policy),
    (ENVOY_GATEWAY, "EnvoyExtensionPolicy", Claim::Policy),
    (ENVOY_GATEWAY, "HTTPRouteFilter", Claim::Object),
    (ENVOY_GATEWAY, "SecurityPolicy", Claim::Policy),
    (GATEWAY, "BackendTLSPolicy", Claim::Policy),
    (GATEWAY, "GRPCRoute", Claim::Object),
    (GATEWAY, "Gateway", Claim::Object),
    (GATEWAY, "GatewayClass", Claim::Object),
    (GATEWAY, "HTTPRoute", Claim::Object),
    (GATEWAY, "ListenerSet", Claim::Object),
    (GATEWAY, "ReferenceGrant", Claim::Object),
    (GATEWAY, "TCPRoute", Claim::Object),
    (GATEWAY, "TLSRoute", Claim::Object),
    (GATEWAY, "UDPRoute", Claim::Object),
    (EXPERIMENTAL, "XListenerSet", Claim::Object),
    (KGATEWAY, "Backend", Claim::Object),
    (KGATEWAY, "BackendConfigPolicy", Claim::Policy),
    (KGATEWAY, "DirectResponse", Claim::Policy),
    (KGATEWAY, "GatewayExtension", Claim::Object),
    (KGATEWAY, "HTTPListenerPolicy", Claim::Policy),
    (KGATEWAY, "ListenerPolicy", Claim::Policy),
    (KGATEWAY, "TrafficPolicy", Claim::Policy),
];

/// Types that are in no namespace.
pub(crate) const CLUSTER_WIDE: [(&str, &str); 2] = [("", "Namespace"), (GATEWAY, "GatewayClass")];

/// Whether a document is read here, and as what.
pub fn claim(resource: Resource<'_>) -> Option<Claim> {
    let (group, kind) = (resource.group()?, resource.kind.text());
    TYPES.iter().find(|(known_group, known, _)| (*known_group, *known) == (group, kind)).map(|(.., claim)| *claim)
}

/// All types that are read.
pub(crate) fn types() -> impl Iterator<Item = &'static str> {
    TYPES.iter().map(|(_, kind, _)| *kind)
}

/// Whether documents of a type are read as objects that policies can be attached to.
pub(crate) fn is_object(group: &str, kind: &str) -> bool {
    TYPES.iter().any(|(known_group, known, claim)| (*known_group, *known, *claim) == (group, kind, Claim::Object))
}

/// Whether a document is about gateways, and not just something that they may refer to.
pub(crate) fn is_about_gateways(header: &Header<'_>) -> bool {
    let group = header.api_version.and_then(|version| version.text().split_once('/')).map(|(group, _)| group);
    group.is_some_and(|group| [GATEWAY, EXPERIMENTAL, KGATEWAY, ENVOY_GATEWAY].contains(&group))
}

/// What the documents of gateways look like from outside.
pub(crate) fn shape() -> Shape {
    Shape::Object(vec![
        required("apiVersion", Shape::Text, "group and version"),
        required("kind", Shape::Text, "the type of the resource"),
        required("metadata", metadata(), "name, namespace and the rest"),
        optional("spec", Shape::Opaque, "what it says"),
        optional("status", Shape::Opaque, "kept by controllers"),
    ])
}

/// Whether a document can be read; those of other groups are only referred to.
fn is_readable(source: SourceId, resource: Resource<'_>, found: &mut Diagnostics) -> bool {
    static SHAPE: LazyLock<Shape> = LazyLock::new(shape);
    if resource.group() == Some("") {
        return !resource.kubernetes_name().0.is_empty();
    }
    Checker::new(source, found).check(resource.document, &SHAPE)
}

/// Who a document is.
struct Identity {
    kind: Sym,
    namespace: Sym,
    name: Sym,
    created: Option<Timestamp>,
    at: NodeRef,
}

fn identity(source: SourceId, resource: Resource<'_>, draft: &mut Draft, found: &mut Diagnostics) -> Option<Identity> {
    if !is_readable(source, resource, found) {
        return None;
    }
    let created = resource.created(source, found);
    let (name, namespace) = (resource.kubernetes_name().0, resource.kubernetes_namespace());
    let symbols = &mut draft.symbols;
    Some(Identity {
        kind: symbols.intern(resource.kind.text()),
        namespace: symbols.intern(namespace.unwrap_or(DEFAULT_NAMESPACE)),
        name: symbols.intern(name),
        created,
        at: NodeRef { source, node: resource.document.number() },
    })
}

/// Reads an object: who it is; what it says stays in its document.
pub(crate) fn object(
    source: SourceId,
    resource: Resource<'_>,
    draft: &mut Draft,
    found: &mut Diagnostics,
) -> Option<Object> {
    let Identity { kind, namespace, name, created, at } = identity(source, resource, draft, found)?;
    let symbols = &mut draft.symbols;
    if ["Gateway", "GatewayClass"].contains(&resource.kind.text())
        && let Some(controller) = resource.spec().and_then(controller_name)
    {
        symbols.intern(controller);
    }
    let labels = resource.labels().filter(|labels| labels.kind() == Kind::Map);
    let labels = labels.into_iter().flat_map(Value::entries);
    let facts: Vec<_> =
        labels.map(|(key, value)| (symbols.intern(key.text()), Some(symbols.intern(value.text())))).collect();
    Some(Object { kind, scope: namespace, name, facts: TagSet::new(facts), parts: Vec::new(), at, created })
}

/// Reads a policy of a kind: who it is, what it is attached to and what it says.
pub(crate) fn policy(
    source: SourceId,
    resource: Resource<'_>,
    kind: &HierarchyKind,
    settings: &ControllerSettings,
    draft: &mut Draft,
    found: &mut Diagnostics,
) -> Option<Policy> {
    let Identity { kind: typed, namespace, name, created, at } = identity(source, resource, draft, found)?;
    let payload = resource.spec().map(|spec| NodeRef { source, node: spec.number() });
    let own = resource.kubernetes_namespace().unwrap_or(DEFAULT_NAMESPACE);
    let written = Written { source, resource, namespace: own };
    let says = PolicyContent::Attached(Arc::new(attachments::read(written, kind, settings, &mut draft.symbols)));
    Some(Policy { kind: typed, scope: namespace, name, title: name, created, at, payload, says })
}
