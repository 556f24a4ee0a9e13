//! Real services and the proxies behind them.

use std::collections::HashMap;

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
use crate::recognise::resource_at;

/// Whether services are real resources only in a mesh, so that tags name nothing that is called.
pub fn are_exclusive(snapshot: &Snapshot, mesh: Sym) -> bool {
    let document = mesh_object(snapshot, mesh).and_then(|id| snapshot.objects().get(id));
    let document = document.and_then(|mesh| Resource::of(snapshot.files().value(mesh.at)?));
    let mode = document.and_then(|mesh| mesh.field("meshServices")?.get("mode"));
    mode.map(Value::text) == Some("Exclusive")
}

/// The services of a mesh, by what their selectors cannot do without.
#[derive(Debug)]
pub struct Leading<'s> {
    snapshot: &'s Snapshot,
    services: Vec<Selecting<'s>>,
    by_need: HashMap<Need<'s>, Vec<usize>>,
    /// Those that select every proxy.
    open: Vec<usize>,
}

/// A service that selects proxies.
#[derive(Clone, Copy, Debug)]
struct Selecting<'s> {
    id: ObjectId,
    service: &'s Object,
    spec: Value<'s>,
    selector: Value<'s>,
}

/// Something that a proxy must have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Need<'s> {
    Name(&'s str),
    Tag(&'s str, &'s str),
    Label(&'s str, &'s str),
}

impl<'s> Leading<'s> {
    /// Those of a mesh.
    pub fn of(snapshot: &'s Snapshot, mesh: Sym) -> Self {
        let (mut services, mut by_need, mut open) = (Vec::new(), HashMap::<_, Vec<usize>>::new(), Vec::new());
        for (id, service) in snapshot.objects_in(ResourceType::MeshService.name(), snapshot.text(mesh)) {
            let spec = snapshot.files().value(service.at).and_then(Resource::of).and_then(Resource::spec);
            let Some((spec, selector)) = spec.and_then(|spec| Some((spec, spec.get("selector")?))) else { continue };
            match need(snapshot, selector) {
                Some(need) => by_need.entry(need).or_default().push(services.len()),
                None => open.push(services.len()),
            }
            services.push(Selecting { id, service, spec, selector });
        }
        Self { snapshot, services, by_need, open }
    }

    /// The services that lead to an inbound of a proxy, each with the port that does.
    pub fn to(&self, proxy: &Object, inbound: &Part) -> Vec<Target> {
        if self.services.is_empty() {
            return Vec::new();
        }
        let snapshot = self.snapshot;
        let resource = resource_at(snapshot, proxy.at);
        let labels = resource.map_or_else(Vec::new, |resource| Meta::known(snapshot, resource).labels);
        let parts = caller_parts(proxy);
        let tags = parts.iter().flat_map(TagSet::as_slice);
        let tags = tags.filter_map(|tag| Some(Need::Tag(snapshot.text(tag.key), snapshot.text(tag.value?))));
        let labels = labels.into_iter().map(|(key, value)| Need::Label(key, value));
        let has = [Need::Name(snapshot.text(proxy.name))].into_iter().chain(tags).chain(labels);
        let met = has.filter_map(|need| self.by_need.get(&need)).flatten();
        let mut met: Vec<usize> = met.chain(&self.open).copied().collect();
        met.sort_unstable();
        met.dedup();
        let services = met.into_iter().filter_map(|place| self.services.get(place));
        services.filter_map(|service| service.port_to(snapshot, proxy, inbound)).collect()
    }
}

/// One thing that a selector cannot do without; see [`selects`].
fn need<'s>(snapshot: &Snapshot, selector: Value<'s>) -> Option<Need<'s>> {
    if let Some(reference) = selector.get("dataplaneRef") {
        return reference.get("name").map(|name| Need::Name(name.text()));
    }
    if let Some(tags) = selector.get("dataplaneTags").filter(|_| edition(snapshot) != Edition::V3) {
        let exact = tags.entries().find(|(_, value)| value.text() != "*");
        return exact.map(|(key, value)| Need::Tag(key.text(), value.text()));
    }
    let labels = selector.get("dataplaneLabels").or_else(|| selector.get("dataplane"))?;
    let first = labels.get("matchLabels").into_iter().flat_map(Value::entries).next();
    first.map(|(key, value)| Need::Label(key.text(), value.text()))
}

impl Selecting<'_> {
    fn port_to(&self, snapshot: &Snapshot, proxy: &Object, inbound: &Part) -> Option<Target> {
        if !selects(snapshot, self.selector, proxy) {
            return None;
        }
        let text = |symbol: Option<Sym>| symbol.map(|symbol| snapshot.text(symbol));
        let leads = |port: &Value<'_>| {
            let target = port.get("targetPort").or_else(|| port.get("port")).map(Value::text);
            target.is_some() && (target == text(inbound.port) || target == text(Some(inbound.section)))
        };
        let place = self.spec.get("ports")?.items().position(|port| leads(&port))?;
        let section = self.service.parts.iter().filter(|part| part.role == Role::Port).nth(place)?.section;
        Some(Target { object: self.id, section: Some(section) })
    }
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
    let meta = resource_at(snapshot, proxy.at);
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
