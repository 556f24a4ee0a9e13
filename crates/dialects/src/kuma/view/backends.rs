//! The ports of services that a proxy can call.

use upheld_engine::Snapshot;
use upheld_model::tree::Value;
use upheld_model::{Object, Sym};

use super::meta::resource;
use crate::document::Resource;
use crate::kuma::edition::Edition;
use crate::kuma::kri::Kri;
use crate::kuma::meta::{Meta, label};
use crate::kuma::resources::{Dataplane, ResourceType};
use crate::kuma::rules::edition;

/// A port of a service.
#[derive(Clone, Debug)]
pub(super) struct Port {
    /// The service with the section of the port.
    pub(super) kri: Kri,
    pub(super) number: String,
    pub(super) protocol: String,
}

/// All ports of all services of a mesh.
pub(super) fn all_ports(snapshot: &Snapshot, mesh: Sym) -> Vec<Port> {
    services(snapshot, mesh).iter().flat_map(Service::ports).collect()
}

/// What a proxy itself says about whom it calls: its own outbounds, or else the backends that it is restricted to. `None`
/// if it says nothing, or if its outbounds lead nowhere.
pub(super) fn reachable_ports(
    snapshot: &Snapshot,
    mesh: Sym,
    proxy: &Meta<'_>,
    dataplane: Dataplane<'_>,
) -> Option<Vec<Port>> {
    let services = services(snapshot, mesh);
    let finder = Finder { services: &services, edition: edition(snapshot), proxy };
    let outbounds = dataplane.outbounds().filter_map(|outbound| outbound.value.get("backendRef"));
    let ports: Vec<Port> = outbounds.flat_map(|reference| finder.ports(reference)).collect();
    if !ports.is_empty() {
        return Some(ports);
    }
    let reachable = dataplane.transparent_proxying().and_then(|proxying| proxying.get("reachableBackends"))?;
    let references = reachable.get("refs").into_iter().flat_map(Value::items);
    Some(references.flat_map(|reference| finder.ports(reference)).collect())
}

/// A service as references see it.
struct Service<'s> {
    meta: Meta<'s>,
    resource: Resource<'s>,
}

fn services(snapshot: &Snapshot, mesh: Sym) -> Vec<Service<'_>> {
    let is_service =
        |object: &Object| ResourceType::SERVICES.iter().any(|kind| kind.name() == snapshot.text(object.kind));
    let own = snapshot.objects().iter().map(|(_, object)| object);
    own.filter(|object| object.scope == mesh && is_service(object))
        .filter_map(|object| resource(snapshot, object.at))
        .map(|resource| Service { meta: Meta::known(snapshot, resource), resource })
        .collect()
}

impl<'s> Service<'s> {
    fn written_ports(&self) -> Vec<Value<'s>> {
        let Some(spec) = self.resource.spec() else { return Vec::new() };
        // A service outside the mesh has one port.
        match spec.get("match") {
            Some(port) => vec![port],
            None => spec.get("ports").into_iter().flat_map(Value::items).collect(),
        }
    }

    fn ports(&self) -> Vec<Port> {
        self.written_ports().into_iter().map(|port| self.port(port)).collect()
    }

    fn port(&self, port: Value<'_>) -> Port {
        let protocol = port.get("appProtocol").or_else(|| port.get("protocol")).map_or("tcp", Value::text);
        let kri = Kri { section: section(port).to_owned(), ..self.meta.kri() };
        Port { kri, number: number(port).to_owned(), protocol: protocol.to_owned() }
    }

    /// The port of a number or name; all of them where there is no such port.
    fn ports_of(&self, wanted: Option<&str>) -> Vec<Port> {
        let fits = |port: &Value<'_>| wanted.is_some_and(|wanted| [section(*port), number(*port)].contains(&wanted));
        match self.written_ports().into_iter().find(fits) {
            Some(port) => vec![self.port(port)],
            None => self.ports(),
        }
    }

    /// A label. Kuma 3 finds services without the label of a display name by their name.
    fn has(&self, key: &str, value: &str, edition: Edition) -> bool {
        let by_name = edition == Edition::V3 && key == label::DISPLAY_NAME;
        if by_name { self.meta.display_name() == value } else { self.meta.label(key) == Some(value) }
    }
}

fn number(port: Value<'_>) -> &str {
    port.get("port").map_or("", Value::text)
}

/// How references call a port: by its name, else by its number.
fn section(port: Value<'_>) -> &str {
    let name = port.get("name").map(Value::text).filter(|name| !name.is_empty());
    name.unwrap_or_else(|| number(port))
}

/// Finds the services that references of a proxy mean.
struct Finder<'a, 's> {
    services: &'a [Service<'s>],
    edition: Edition,
    proxy: &'a Meta<'a>,
}

impl Finder<'_, '_> {
    fn ports(&self, reference: Value<'_>) -> Vec<Port> {
        let text = |name: &str| reference.get(name).map(Value::text).filter(|text| !text.is_empty());
        let port = text("port").filter(|port| *port != "0");
        let kind = text("kind").unwrap_or_default();
        let labels: Vec<(&str, &str)> = (reference.get("labels").into_iter().flat_map(Value::entries))
            .map(|(key, value)| (key.text(), value.text()))
            .collect();
        let same_kind = || self.services.iter().filter(move |service| service.meta.kind == kind);
        let labelled: Vec<_> = same_kind()
            .filter(|service| labels.iter().all(|(key, value)| service.has(key, value, self.edition)))
            .filter(|_| !labels.is_empty())
            .collect();
        // Kuma 3 looks at the name only where there are no labels.
        let by_name = labelled.is_empty() && (labels.is_empty() || self.edition != Edition::V3);
        let found = match text("name").filter(|_| by_name) {
            Some(name) => same_kind().filter(|service| self.is_named(service, name, text("namespace"))).collect(),
            None => labelled,
        };
        found.into_iter().flat_map(|service| service.ports_of(port)).collect()
    }

    /// Whether a service is the one of a name: in the namespace of the proxy unless another is named, and, for Kuma 2, in
    /// its zone.
    fn is_named(&self, service: &Service<'_>, name: &str, namespace: Option<&str>) -> bool {
        let meta = &service.meta;
        if meta.display_name() != name {
            return false;
        }
        let wanted = namespace.or(self.proxy.namespace());
        if self.edition == Edition::V3 {
            return wanted.is_none_or(|wanted| meta.namespace() == Some(wanted));
        }
        // Those are not made where a proxy is, so without a namespace the name alone counts.
        let anywhere = meta.kind != ResourceType::MeshService.name() && namespace.is_none();
        anywhere || (meta.zone() == self.proxy.zone() && meta.namespace() == wanted)
    }
}
