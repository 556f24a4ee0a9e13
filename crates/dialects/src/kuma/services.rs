//! Real services and the proxies behind them.

use upheld_engine::merge::Target;
use upheld_engine::{ObjectId, Snapshot};
use upheld_model::tree::Value;
use upheld_model::{Object, Part, Role, Sym, TagSet};

use super::edition::Edition;
use super::ends::caller_parts;
use super::meta::Meta;
use super::resources::ResourceType;
use super::rules::{edition, mesh_object};
use crate::document::Resource;

/// Whether services are real resources only in a mesh, so that tags name nothing that is called.
pub fn are_exclusive(snapshot: &Snapshot, mesh: Sym) -> bool {
    let document = mesh_object(snapshot, mesh).and_then(|id| snapshot.objects().get(id));
    let document = document.and_then(|mesh| Resource::of(snapshot.files().value(mesh.at)?));
    let mode = document.and_then(|mesh| mesh.field("meshServices")?.get("mode"));
    mode.map(Value::text) == Some("Exclusive")
}

/// The services that lead to an inbound of a proxy, each with the port that does.
pub fn leading_to(snapshot: &Snapshot, proxy: &Object, inbound: &Part) -> Vec<Target> {
    let own =
        |object: &Object| object.scope == proxy.scope && snapshot.text(object.kind) == ResourceType::MeshService.name();
    let services = snapshot.objects().iter().filter(|(_, object)| own(object));
    services.filter_map(|(id, service)| port_to(snapshot, id, service, proxy, inbound)).collect()
}

fn port_to(snapshot: &Snapshot, id: ObjectId, service: &Object, proxy: &Object, inbound: &Part) -> Option<Target> {
    let spec = Resource::of(snapshot.files().value(service.at)?)?.spec()?;
    if !selects(snapshot, spec.get("selector")?, proxy) {
        return None;
    }
    let text = |symbol: Option<Sym>| symbol.map(|symbol| snapshot.text(symbol));
    let leads = |port: &Value<'_>| {
        let target = port.get("targetPort").or_else(|| port.get("port")).map(Value::text);
        target.is_some() && (target == text(inbound.port) || target == text(Some(inbound.section)))
    };
    let place = spec.get("ports")?.items().position(|port| leads(&port))?;
    let section = service.parts.iter().filter(|part| part.role == Role::Port).nth(place)?.section;
    Some(Target { object: id, section: Some(section) })
}

/// Whether the selector of a service has a proxy. Of several ways to select, the first counts.
pub fn selects(snapshot: &Snapshot, selector: Value<'_>, proxy: &Object) -> bool {
    if let Some(reference) = selector.get("dataplaneRef") {
        return reference.get("name").is_some_and(|name| name.text() == snapshot.text(proxy.name));
    }
    if let Some(tags) = selector.get("dataplaneTags").filter(|_| edition(snapshot) != Edition::V3) {
        return has_tags(snapshot, tags, proxy);
    }
    let labels = selector.get("dataplaneLabels").or_else(|| selector.get("dataplane"));
    let meta = snapshot.files().value(proxy.at).and_then(Resource::of);
    let meta = meta.map(|resource| Meta::known(snapshot, resource));
    let Some((labels, meta)) = labels.zip(meta) else { return false };
    let mut wanted = labels.get("matchLabels").into_iter().flat_map(Value::entries);
    wanted.all(|(key, value)| meta.label(key.text()) == Some(value.text()))
}

/// Whether a part of a proxy has some tags; `*` is any value.
pub(super) fn has_tags(snapshot: &Snapshot, wanted: Value<'_>, proxy: &Object) -> bool {
    let fits = |tags: &TagSet| {
        wanted.entries().all(|(key, value)| {
            let key = snapshot.symbols().get(key.text());
            let tag = key.and_then(|key| tags.get(key));
            tag.is_some_and(|tag| {
                value.text() == "*" || tag.value.is_some_and(|own| snapshot.text(own) == value.text())
            })
        })
    };
    caller_parts(proxy).iter().any(fits)
}
