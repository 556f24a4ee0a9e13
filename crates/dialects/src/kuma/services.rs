//! Real services and the proxies behind them.

use std::borrow::Cow;

use rustc_hash::FxHashMap;
use upheld_engine::merge::Target;
use upheld_engine::{ObjectId, Snapshot, work};
use upheld_model::layers::{Audience, Condition};
use upheld_model::tree::Value;
use upheld_model::{Object, Part, Role, Sym, TagSet, Want};

use super::edition::Edition;
use super::ends::{Directory, caller_parts, meshes, proxies};
use super::meta::Meta;
use super::meta::fact;
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

/// Services and proxies, each filed under what leads to the other: a service under one thing that its selector cannot do without, a proxy
/// under all that it has.
#[derive(Clone, Debug, Default)]
pub(in crate::kuma) struct Leading {
    /// All services that select proxies, by mesh and name.
    services: Vec<ObjectId>,
    /// Places in that list.
    by_need: FxHashMap<(Sym, Property), Vec<usize>>,
    /// Places of those that select every proxy, by mesh.
    open: FxHashMap<Sym, Vec<usize>>,
    /// Proxies by mesh.
    proxies: FxHashMap<Sym, Vec<ObjectId>>,
    by_property: FxHashMap<(Sym, Property), Vec<ObjectId>>,
}

/// Something that a proxy has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Property {
    Name(Sym),
    /// A tag of some part.
    Tag(Sym, Sym),
    /// Labels are among the facts.
    Fact(Sym, Sym),
    BuiltinGateway,
}

/// What a selector cannot do without.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Need {
    /// Nothing in particular.
    Nothing,
    Property(Property),
    /// Something that no proxy has.
    Impossible,
}

impl Leading {
    /// Those of a snapshot, kept with it.
    pub(in crate::kuma) fn of(snapshot: &Snapshot) -> Cow<'_, Self> {
        match snapshot.companion::<Directory>() {
            Some(directory) => Cow::Borrowed(directory.leading(|| Self::new(snapshot))),
            None => Cow::Owned(Self::new(snapshot)),
        }
    }

    fn new(snapshot: &Snapshot) -> Self {
        let mut all = Self::default();
        for mesh in meshes(snapshot) {
            for (id, service) in snapshot.objects_in(ResourceType::MeshService.name(), snapshot.text(mesh)) {
                work::step();
                let Some(selector) = selector(snapshot, service) else { continue };
                match need(snapshot, selector) {
                    Need::Nothing => all.open.entry(mesh).or_default().push(all.services.len()),
                    Need::Property(needed) => all.by_need.entry((mesh, needed)).or_default().push(all.services.len()),
                    Need::Impossible => continue,
                }
                all.services.push(id);
            }
        }
        for (id, proxy) in proxies(snapshot) {
            work::step();
            all.proxies.entry(proxy.scope).or_default().push(id);
            let mut own: Vec<Property> = properties(proxy).collect();
            own.sort_unstable();
            own.dedup();
            for one in own {
                all.by_property.entry((proxy.scope, one)).or_default().push(id);
            }
        }
        all
    }

    /// The services that lead to an inbound of a proxy, each with the port that does.
    pub(in crate::kuma) fn to(&self, snapshot: &Snapshot, proxy: &Object, inbound: &Part) -> Vec<Target> {
        let met = properties(proxy).filter_map(|own| self.by_need.get(&(proxy.scope, own))).flatten();
        let mut met: Vec<usize> = met.chain(self.open.get(&proxy.scope).into_iter().flatten()).copied().collect();
        met.sort_unstable();
        met.dedup();
        let services = met.into_iter().filter_map(|place| self.services.get(place));
        services.filter_map(|service| port_to(snapshot, *service, proxy, inbound)).collect()
    }

    /// The proxies of a mesh that some selector may have: all others it has not.
    pub(in crate::kuma) fn selectable(&self, snapshot: &Snapshot, mesh: Sym, selector: Value<'_>) -> &[ObjectId] {
        self.having(mesh, need(snapshot, selector))
    }

    /// The same for tags that some part of a proxy must have.
    pub(in crate::kuma) fn tagged(&self, snapshot: &Snapshot, mesh: Sym, tags: Value<'_>) -> &[ObjectId] {
        self.having(mesh, need_of_tags(snapshot, tags))
    }

    /// The same for whom a policy is attached to, whatever gateway a proxy serves.
    pub(in crate::kuma) fn addressable(&self, snapshot: &Snapshot, mesh: Sym, audience: &Audience) -> &[ObjectId] {
        let served = [fact::GATEWAY, fact::ZONE].map(|name| snapshot.symbols().get(name));
        let facts = audience.conditions.iter().filter_map(|condition| match *condition {
            Condition::Is(key, value) => (!served.contains(&Some(key))).then_some(Property::Fact(key, value)),
            Condition::AbsentOr(..) | Condition::Absent(_) => None,
        });
        let tags = audience.tags.iter().filter_map(|(key, want)| match want {
            Want::Exactly(value) => Some(Property::Tag(*key, *value)),
            Want::Any => None,
        });
        let all = facts.chain(tags).map(|one| self.having(mesh, Need::Property(one)));
        all.min_by_key(|proxies| proxies.len()).unwrap_or_else(|| self.having(mesh, Need::Nothing))
    }

    /// All proxies of a mesh.
    pub(in crate::kuma) fn all(&self, mesh: Sym) -> &[ObjectId] {
        self.having(mesh, Need::Nothing)
    }

    /// Those with a tag on some part.
    pub(in crate::kuma) fn with_tag(&self, mesh: Sym, (key, value): (Sym, Sym)) -> &[ObjectId] {
        self.having(mesh, Need::Property(Property::Tag(key, value)))
    }

    /// Those that are built-in gateways.
    pub(in crate::kuma) fn builtin_gateways(&self, mesh: Sym) -> &[ObjectId] {
        self.having(mesh, Need::Property(Property::BuiltinGateway))
    }

    fn having(&self, mesh: Sym, need: Need) -> &[ObjectId] {
        let found = match need {
            Need::Nothing => self.proxies.get(&mesh),
            Need::Property(needed) => self.by_property.get(&(mesh, needed)),
            Need::Impossible => None,
        };
        found.map_or(&[], |ids| ids)
    }
}

/// All that a proxy has.
fn properties(proxy: &Object) -> impl Iterator<Item = Property> {
    let tags = proxy.parts.iter().flat_map(|part| part.tags.as_slice());
    let tags = tags.filter_map(|tag| Some(Property::Tag(tag.key, tag.value?)));
    let facts = proxy.facts.as_slice().iter().filter_map(|fact| Some(Property::Fact(fact.key, fact.value?)));
    let is_gateway = proxy.parts.iter().any(|part| part.role == Role::BuiltinGateway);
    let gateway = is_gateway.then_some(Property::BuiltinGateway);
    [Property::Name(proxy.name)].into_iter().chain(tags).chain(facts).chain(gateway)
}

/// One thing that a selector cannot do without; see [`selects`].
fn need(snapshot: &Snapshot, selector: Value<'_>) -> Need {
    let symbol = |value: Value<'_>| snapshot.symbols().get(value.text());
    if let Some(reference) = selector.get("dataplaneRef") {
        return reference
            .get("name")
            .and_then(symbol)
            .map_or(Need::Impossible, |name| Need::Property(Property::Name(name)));
    }
    if let Some(tags) = selector.get("dataplaneTags").filter(|_| edition(snapshot) != Edition::V3) {
        return need_of_tags(snapshot, tags);
    }
    let labels = selector.get("dataplaneLabels").or_else(|| selector.get("dataplane"));
    let Some(labels) = labels else { return Need::Impossible };
    let first = labels.get("matchLabels").into_iter().flat_map(Value::entries).next();
    match first {
        // What begins like a fact of ours is not among the facts.
        Some((key, _)) if key.text().starts_with('@') => Need::Nothing,
        first => wanted(snapshot, first, Property::Fact),
    }
}

fn need_of_tags(snapshot: &Snapshot, tags: Value<'_>) -> Need {
    wanted(snapshot, tags.entries().find(|(_, value)| value.text() != "*"), Property::Tag)
}

fn wanted(snapshot: &Snapshot, pair: Option<(Value<'_>, Value<'_>)>, of: fn(Sym, Sym) -> Property) -> Need {
    let Some((key, value)) = pair else { return Need::Nothing };
    let symbols = snapshot.symbols();
    let pair = symbols.get(key.text()).zip(symbols.get(value.text()));
    pair.map_or(Need::Impossible, |(key, value)| Need::Property(of(key, value)))
}

fn spec<'s>(snapshot: &'s Snapshot, service: &Object) -> Option<Value<'s>> {
    snapshot.files().value(service.at).and_then(Resource::of).and_then(Resource::spec)
}

/// The selector of a service.
pub fn selector<'s>(snapshot: &'s Snapshot, service: &Object) -> Option<Value<'s>> {
    spec(snapshot, service)?.get("selector")
}

/// The port of a service that leads to an inbound.
fn port_to(snapshot: &Snapshot, id: ObjectId, proxy: &Object, inbound: &Part) -> Option<Target> {
    let service = snapshot.objects().get(id)?;
    if !selects(snapshot, selector(snapshot, service)?, proxy) {
        return None;
    }
    let text = |symbol: Option<Sym>| symbol.map(|symbol| snapshot.text(symbol));
    let leads = |port: &Value<'_>| {
        let target = port.get("targetPort").or_else(|| port.get("port")).map(Value::text);
        target.is_some() && (target == text(inbound.port) || target == text(Some(inbound.section)))
    };
    let place = spec(snapshot, service)?.get("ports")?.items().position(|port| leads(&port))?;
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
