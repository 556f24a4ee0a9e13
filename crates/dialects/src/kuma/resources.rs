//! Meshes, proxies, services and gateways: their shapes, and what selectors and references see of them.

use upheld_model::tree::{Kind, Value};
use upheld_model::{Diagnostics, Draft, NodeRef, Object, Part, Role, SourceId, Symbols, TagSet};

use super::SERVICE_TAGS;
use super::control_plane::Stamps;
use super::meta::{Meta, check_mesh, fact};
use crate::document::{Resource, Shapes};
use crate::shape::{Checker, Field, Shape, list, map_of, optional, required};

/// A type of object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResourceType {
    /// A mesh.
    Mesh,
    /// A proxy.
    Dataplane,
    /// A service outside the mesh.
    ExternalService,
    /// A service of the mesh.
    MeshService,
    /// A service outside the mesh, the newer form.
    MeshExternalService,
    /// A service over several zones.
    MeshMultiZoneService,
    /// A built-in gateway.
    MeshGateway,
    /// Routes of built-in gateways.
    MeshGatewayRoute,
    /// How proxies prove who they are.
    MeshIdentity,
}

impl ResourceType {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::Mesh,
        Self::Dataplane,
        Self::ExternalService,
        Self::MeshService,
        Self::MeshExternalService,
        Self::MeshMultiZoneService,
        Self::MeshGateway,
        Self::MeshGatewayRoute,
        Self::MeshIdentity,
    ];

    /// Real resources that can be called.
    pub const SERVICES: [Self; 3] = [Self::MeshService, Self::MeshExternalService, Self::MeshMultiZoneService];

    /// The name in documents.
    pub fn name(self) -> &'static str {
        match self {
            Self::Mesh => "Mesh",
            Self::Dataplane => "Dataplane",
            Self::ExternalService => "ExternalService",
            Self::MeshService => "MeshService",
            Self::MeshExternalService => "MeshExternalService",
            Self::MeshMultiZoneService => "MeshMultiZoneService",
            Self::MeshGateway => "MeshGateway",
            Self::MeshGatewayRoute => "MeshGatewayRoute",
            Self::MeshIdentity => "MeshIdentity",
        }
    }

    /// The type of a name.
    pub fn of(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// What its documents look like.
    pub fn shapes(self) -> Shapes {
        match self {
            Self::MeshService | Self::MeshExternalService | Self::MeshMultiZoneService | Self::MeshIdentity => {
                Shapes::with_spec(&self.body())
            }
            _ => Shapes::new(&self.body()),
        }
    }

    fn body(self) -> Vec<Field> {
        let opaque = |name: &str| optional(name, Shape::Opaque, "");
        match self {
            Self::Mesh => {
                ["constraints", "logging", "meshServices", "metrics", "mtls", "networking", "routing", "tracing"]
                    .map(opaque)
                    .into_iter()
                    .chain([optional(
                        "skipCreatingInitialPolicies",
                        list(Shape::Text),
                        "defaults that are not created",
                    )])
                    .collect()
            }
            Self::Dataplane => {
                vec![
                    required("networking", networking(), "where the proxy listens and whom it calls"),
                    opaque("metrics"),
                    opaque("probes"),
                    opaque("envoy"),
                ]
            }
            Self::ExternalService => vec![
                required("tags", map_of(Shape::Text), "tags that destinations select"),
                required(
                    "networking",
                    Shape::Object(vec![optional("address", Shape::Text, "host and port"), opaque("tls")]),
                    "where the service is",
                ),
            ],
            Self::MeshService | Self::MeshMultiZoneService => vec![
                optional("selector", Shape::Opaque, "whose ports it offers"),
                optional("ports", list(port_shape()), "its ports"),
                opaque("identities"),
                opaque("state"),
            ],
            Self::MeshExternalService => ["match", "endpoints", "tls", "extension"].map(opaque).into(),
            Self::MeshGateway => vec![
                optional("selectors", list(selector()), "the proxies that serve it"),
                opaque("conf"),
                optional("tags", map_of(Shape::Text), "tags of all its listeners"),
                opaque("crossMesh"),
            ],
            Self::MeshGatewayRoute => {
                vec![optional("selectors", list(selector()), "the gateways that it is for"), opaque("conf")]
            }
            Self::MeshIdentity => ["selector", "provider", "spiffeID"].map(opaque).into(),
        }
    }
}

fn port_shape() -> Shape {
    Shape::Object(vec![
        optional("name", Shape::Text, "its name"),
        required("port", Shape::Integer, "its number"),
        optional("targetPort", Shape::Opaque, "the port of the proxies"),
        optional("appProtocol", Shape::Text, "its protocol"),
    ])
}

fn selector() -> Shape {
    Shape::Object(vec![required("match", map_of(Shape::Text), "tags with values; `*` is any value")])
}

/// Reads the objects of one type.
#[derive(Debug)]
pub struct ObjectReader {
    /// The type.
    pub kind: ResourceType,
    shapes: Shapes,
}

impl ObjectReader {
    /// A reader for a type.
    pub fn new(kind: ResourceType) -> Self {
        Self { kind, shapes: kind.shapes() }
    }

    /// Reads one object; every mistake is reported.
    pub fn read(
        &self,
        source: SourceId,
        resource: Resource<'_>,
        stamps: &Stamps,
        draft: &mut Draft,
        found: &mut Diagnostics,
    ) -> Option<Object> {
        if !Checker::new(source, found).check(resource.document, self.shapes.of(resource.form)) {
            return None;
        }
        let created = resource.created(source, found);
        let symbols = &mut draft.symbols;
        let parts = match self.kind {
            ResourceType::Dataplane => dataplane_parts(resource, symbols),
            ResourceType::ExternalService => {
                let tags = tag_set(resource.field("tags"), symbols);
                vec![Part { role: Role::Whole, section: symbols.intern(""), port: None, tags }]
            }
            ResourceType::MeshService | ResourceType::MeshMultiZoneService => {
                let ports = resource.spec().and_then(|spec| spec.get("ports"));
                ports.into_iter().flat_map(Value::items).map(|port| port_part(port, symbols)).collect()
            }
            ResourceType::MeshExternalService => {
                let matching = resource.spec().and_then(|spec| spec.get("match"));
                matching.map(|port| port_part(port, symbols)).into_iter().collect()
            }
            ResourceType::Mesh
            | ResourceType::MeshGateway
            | ResourceType::MeshGatewayRoute
            | ResourceType::MeshIdentity => Vec::new(),
        };
        let meta = Meta::stamped(resource, stamps);
        let mut facts = meta.facts(symbols);
        if self.kind == ResourceType::Dataplane {
            let gateway = Dataplane::of(resource).gateway().is_some();
            let own =
                [(fact::PROXY_TYPE, Some(if gateway { "Gateway" } else { "Sidecar" })), (fact::ZONE, meta.zone_fact())];
            let own = own.into_iter().filter_map(|(key, value)| Some((key, value?)));
            facts.extend(own.map(|(key, value)| (symbols.intern(key), Some(symbols.intern(value)))));
        }
        let name = resource.name();
        let scope = if self.kind == ResourceType::Mesh { &*name } else { meta.mesh };
        check_mesh(source, resource, found);
        Some(Object {
            kind: symbols.intern(self.kind.name()),
            scope: symbols.intern(scope),
            name: symbols.intern(&name),
            facts: TagSet::new(facts),
            parts,
            at: NodeRef { source, node: resource.document.number() },
            created,
        })
    }
}

fn networking() -> Shape {
    let opaque = |name: &str| optional(name, Shape::Opaque, "");
    let port = |name: &str, about| optional(name, Shape::Integer, about);
    let address = |name: &str| optional(name, Shape::Text, "an address");
    let tags = || optional("tags", map_of(Shape::Text), "tags that selectors see");
    let inbound = Shape::Object(vec![
        port("port", "the port of the proxy"),
        port("servicePort", "the port of the workload"),
        address("serviceAddress"),
        address("address"),
        optional("name", Shape::Text, "name of the inbound"),
        optional("protocol", Shape::Text, "protocol of the inbound"),
        optional("interface", Shape::Text, "address, port and workload port in one, as before 0.4"),
        tags(),
        opaque("health"),
        opaque("serviceProbe"),
        opaque("state"),
    ]);
    let outbound = Shape::Object(vec![
        port("port", "the port on which the workload calls"),
        address("address"),
        optional("service", Shape::Text, "the called service, as before 0.7"),
        optional("interface", Shape::Text, "address and port in one, as before 0.4"),
        tags(),
        opaque("backendRef"),
    ]);
    let gateway = Shape::Object(vec![tags(), optional("type", Shape::Text, "DELEGATED or BUILTIN")]);
    Shape::Object(vec![
        address("address"),
        address("advertisedAddress"),
        opaque("advertisedPort"),
        opaque("admin"),
        opaque("ingress"),
        opaque("listeners"),
        opaque("transparentProxying"),
        optional("gateway", gateway, "tags of a gateway"),
        optional("inbound", list(inbound), "where it is called"),
        optional("outbound", list(outbound), "whom it calls"),
    ])
}

fn dataplane_parts(resource: Resource<'_>, symbols: &mut Symbols) -> Vec<Part> {
    let mut parts = Vec::new();
    let dataplane = Dataplane::of(resource);
    for inbound in dataplane.inbounds() {
        let tags = tag_set(inbound.value.get("tags"), symbols);
        let (section, port) = (symbols.intern(&inbound.section()), Some(symbols.intern(inbound.proxy_port())));
        parts.push(Part { role: Role::Inbound, section, port, tags });
    }
    if let Some(gateway) = dataplane.gateway() {
        let tags = tag_set(gateway.get("tags"), symbols);
        let builtin = gateway.get("type").is_some_and(|kind| kind.text() == "BUILTIN");
        let role = if builtin { Role::BuiltinGateway } else { Role::Gateway };
        parts.push(Part { role, section: symbols.intern("gateway"), port: None, tags });
    }
    for listener in dataplane.listeners() {
        let (section, port) = (symbols.intern(&listener.section()), Some(symbols.intern(listener.proxy_port())));
        parts.push(Part { role: Role::Listener, section, port, tags: TagSet::default() });
    }
    for outbound in dataplane.outbounds() {
        let tags = match outbound.value.get("service") {
            Some(service) => TagSet::new([(symbols.intern(SERVICE_TAGS[0]), Some(symbols.intern(service.text())))]),
            None => tag_set(outbound.value.get("tags"), symbols),
        };
        parts.push(Part { role: Role::Outbound, section: symbols.intern(&outbound.section()), port: None, tags });
    }
    parts
}

fn port_part(port: Value<'_>, symbols: &mut Symbols) -> Part {
    let number = symbols.intern(port.get("port").map_or("", Value::text));
    let name =
        port.get("name").filter(|name| name.kind() != Kind::Null).map(Value::text).filter(|name| !name.is_empty());
    let section = name.map_or(number, |name| symbols.intern(name));
    Part { role: Role::Port, section, port: Some(number), tags: TagSet::default() }
}

pub(super) fn tag_set(tags: Option<Value<'_>>, symbols: &mut Symbols) -> TagSet {
    let pairs = tags.into_iter().flat_map(Value::entries);
    TagSet::new(
        pairs.map(|(key, value)| (symbols.intern(key.text()), Some(symbols.intern(value.text())))).collect::<Vec<_>>(),
    )
}

/// The parts of a Dataplane document that views need besides tags.
#[derive(Clone, Copy, Debug)]
pub struct Dataplane<'t> {
    networking: Option<Value<'t>>,
}

impl<'t> Dataplane<'t> {
    /// Of a document.
    pub fn of(resource: Resource<'t>) -> Self {
        Self { networking: resource.field("networking") }
    }

    /// The address of the proxy; empty when the document has none.
    pub fn address(self) -> &'t str {
        self.text("address").unwrap_or("")
    }

    fn text(self, name: &str) -> Option<&'t str> {
        self.networking?.get(name).map(Value::text)
    }

    /// Where it is called.
    pub fn inbounds(self) -> impl Iterator<Item = Inbound<'t>> {
        let items = self.networking.and_then(|networking| networking.get("inbound"));
        items.into_iter().flat_map(Value::items).map(move |value| Inbound { dataplane: self, value })
    }

    /// Where it passes on what others call.
    pub fn listeners(self) -> impl Iterator<Item = Inbound<'t>> {
        let items = self.networking.and_then(|networking| networking.get("listeners"));
        items.into_iter().flat_map(Value::items).map(move |value| Inbound { dataplane: self, value })
    }

    /// Whom it calls.
    pub fn outbounds(self) -> impl Iterator<Item = Outbound<'t>> {
        let items = self.networking.and_then(|networking| networking.get("outbound"));
        items.into_iter().flat_map(Value::items).map(|value| Outbound { value })
    }

    /// How it takes over what the workload calls.
    pub fn transparent_proxying(self) -> Option<Value<'t>> {
        self.networking?.get("transparentProxying")
    }

    /// The gateway section.
    pub fn gateway(self) -> Option<Value<'t>> {
        self.networking?.get("gateway")
    }
}

/// One inbound.
#[derive(Clone, Copy, Debug)]
pub struct Inbound<'t> {
    dataplane: Dataplane<'t>,
    /// The item of the document.
    pub value: Value<'t>,
}

impl<'t> Inbound<'t> {
    fn text(self, name: &str) -> Option<&'t str> {
        let set = self.value.get(name).filter(|value| value.kind() != Kind::Null);
        set.map(Value::text).filter(|text| !text.is_empty())
    }

    /// Address, port and workload port in one text, as before 0.4; counted from the last, since addresses may have colons.
    fn of_interface(self, from_last: usize) -> Option<&'t str> {
        let mut parts = self.text("interface")?.rsplitn(3, ':');
        parts.nth(from_last).filter(|part| !part.is_empty())
    }

    /// How users pick it: its name, else its port.
    pub fn section(self) -> String {
        self.text("name").unwrap_or_else(|| self.proxy_port()).to_owned()
    }

    /// The address of the proxy here.
    pub fn proxy_address(self) -> &'t str {
        self.text("address").or_else(|| self.of_interface(2)).unwrap_or_else(|| self.dataplane.address())
    }

    /// The port of the proxy here.
    pub fn proxy_port(self) -> &'t str {
        self.text("port").or_else(|| self.of_interface(1)).unwrap_or("0")
    }

    /// The address of the workload; the proxy's when the document names none.
    pub fn workload_address(self) -> &'t str {
        self.text("serviceAddress").unwrap_or_else(|| self.proxy_address())
    }

    /// The port of the workload; the proxy's when the document names none.
    pub fn workload_port(self) -> &'t str {
        let written = self.text("servicePort").filter(|port| *port != "0");
        written.or_else(|| self.of_interface(0)).unwrap_or_else(|| self.proxy_port())
    }
}

/// One outbound.
#[derive(Clone, Copy, Debug)]
pub struct Outbound<'t> {
    /// The item of the document.
    pub value: Value<'t>,
}

impl Outbound<'_> {
    /// Address and port on which the workload calls.
    pub fn section(self) -> String {
        if let Some(interface) = self.value.get("interface") {
            return interface.text().to_owned();
        }
        let address = self.value.get("address").map(Value::text).filter(|text| !text.is_empty());
        let port = self.value.get("port").map_or("0", Value::text);
        format!("{}:{port}", address.unwrap_or("127.0.0.1"))
    }

    /// Whether it names a real resource instead of tags.
    pub fn has_backend(self) -> bool {
        self.value.get("backendRef").is_some()
    }
}
