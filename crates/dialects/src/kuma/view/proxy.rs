//! Meshes and proxies that requests name, and the places where proxies are called.

use serde_json::{Map, Value as Json, json};
use upheld_engine::Snapshot;
use upheld_model::tree::Value;
use upheld_model::{Object, Role, Sym};

use super::InspectError;
use super::meta::resource;
use crate::kuma::ends::{meshes, proxies};
use crate::kuma::resources::{Dataplane, Inbound, ResourceType};

/// The mesh of a name.
pub(super) fn find_mesh(snapshot: &Snapshot, name: &str, title: &str) -> Result<Sym, InspectError> {
    meshes(snapshot).into_iter().find(|mesh| snapshot.text(*mesh) == name).ok_or_else(|| InspectError::NotFound {
        kind: ResourceType::Mesh.name().to_owned(),
        name: name.to_owned(),
        mesh: None,
        title: title.to_owned(),
    })
}

/// What Kuma was doing when it looked for the mesh of most requests.
pub(super) const MESH_TITLE: &str = "Failed to retrieve Mesh";

/// The proxy of a name.
pub(super) fn find_proxy<'s>(snapshot: &'s Snapshot, mesh: Sym, name: &str) -> Result<&'s Object, InspectError> {
    let kind = ResourceType::Dataplane.name();
    let mut own = proxies(snapshot).map(|(_, object)| object);
    own.find(|object| object.scope == mesh && snapshot.text(object.name) == name)
        .ok_or_else(|| not_found(snapshot, kind, name, mesh, &format!("Could not retrieve {kind}")))
}

pub(super) fn not_found(snapshot: &Snapshot, kind: &str, name: &str, mesh: Sym, title: &str) -> InspectError {
    InspectError::NotFound {
        kind: kind.to_owned(),
        name: name.to_owned(),
        mesh: Some(snapshot.text(mesh).to_owned()),
        title: title.to_owned(),
    }
}

/// The document of a proxy.
pub(super) fn dataplane<'s>(snapshot: &'s Snapshot, object: &Object) -> Option<Dataplane<'s>> {
    resource(snapshot, object.at).map(Dataplane::of)
}

/// An address and port on which a proxy is called.
#[derive(Debug)]
pub(super) struct Listener<'s> {
    pub(super) address: &'s str,
    pub(super) port: &'s str,
    /// How identifiers call it.
    pub(super) sections: Vec<String>,
    /// The parts of the object that are behind it.
    pub(super) parts: Vec<u32>,
    /// The inbound, unless it only passes on what others call.
    inbound: Option<Inbound<'s>>,
    gateway: Option<Value<'s>>,
}

/// Where a proxy is called: inbounds first, then what it passes on, in the order of the document.
pub(super) fn listeners<'s>(snapshot: &'s Snapshot, object: &Object) -> Vec<Listener<'s>> {
    let Some(dataplane) = dataplane(snapshot, object) else { return Vec::new() };
    let parts = |role: Role| {
        let numbered = object.parts.iter().enumerate().filter(move |(_, part)| part.role == role);
        numbered.filter_map(|(number, _)| u32::try_from(number).ok())
    };
    let inbounds = dataplane.inbounds().zip(parts(Role::Inbound)).map(|(inbound, part)| (inbound, part, Some(inbound)));
    let passing = dataplane.listeners().zip(parts(Role::Listener)).map(|(inbound, part)| (inbound, part, None));
    let mut all: Vec<Listener<'s>> = Vec::new();
    for (place, part, inbound) in inbounds.chain(passing) {
        let (address, port) = (place.proxy_address(), place.proxy_port());
        match all.iter_mut().find(|known| (known.address, known.port) == (address, port)) {
            Some(known) => {
                known.parts.push(part);
                known.sections.push(place.section());
            }
            None => all.push(Listener {
                address,
                port,
                sections: vec![place.section()],
                parts: vec![part],
                inbound,
                gateway: dataplane.gateway(),
            }),
        }
    }
    all
}

impl<'s> Listener<'s> {
    /// Its port as a number.
    pub(super) fn port_number(&self) -> u64 {
        self.port.parse().unwrap_or_default()
    }

    /// Its name, port and tags.
    pub(super) fn json(&self, tags: ShownTags) -> Json {
        let mut shown = Map::new();
        let name = self.inbound.and_then(|inbound| inbound.value.get("name")).map(Value::text);
        if let Some(name) = name.filter(|name| !name.is_empty()) {
            shown.insert("name".to_owned(), json!(name));
        }
        shown.insert("port".to_owned(), json!(self.port_number()));
        shown.insert("tags".to_owned(), self.tags(tags).map_or(Json::Null, |tags| json!(tags)));
        Json::Object(shown)
    }

    /// The tags of a gateway, or else those of the inbound where they mean something.
    pub(super) fn tags(&self, tags: ShownTags) -> Option<Value<'s>> {
        match (self.gateway, tags) {
            (Some(gateway), _) => gateway.get("tags"),
            (None, ShownTags::OfInbounds) => self.inbound.and_then(|inbound| inbound.value.get("tags")),
            (None, ShownTags::OfGateways) => None,
        }
    }
}

/// Whose tags responses show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ShownTags {
    /// Those of gateways and inbounds.
    OfInbounds,
    /// Those of gateways only.
    OfGateways,
}
