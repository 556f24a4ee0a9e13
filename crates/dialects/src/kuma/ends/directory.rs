//! Who there is, by name. It is made where somebody asks, once for all questions; a change of policies alone leaves it as it is.

use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

use rustc_hash::{FxHashMap, FxHashSet};
use upheld_engine::{Granularity, ObjectId, Snapshot};
use upheld_model::{Object, PolicyContent, Role, Sym};

use super::names::Thing;
use super::written::Kind;
use super::{Service, of_type, offered, proxies};
use crate::dialect::Ends;
use crate::kuma::SERVICE_TAGS;
use crate::kuma::resources::ResourceType;
use crate::kuma::services::Leading;

/// What is known of a snapshot, once somebody asked.
#[derive(Debug, Default)]
pub(in crate::kuma) struct Directory {
    objects: Arc<OfObjects>,
    meshes: OnceLock<Vec<Sym>>,
}

/// Who calls and who is called in each mesh, each made where somebody asks.
type EndsOfMeshes = FxHashMap<(Sym, Granularity), OnceLock<Arc<Ends>>>;

/// What objects alone say.
#[derive(Debug, Default)]
struct OfObjects {
    named: OnceLock<Named>,
    leading: OnceLock<Leading>,
    ends: OnceLock<EndsOfMeshes>,
}

impl Directory {
    /// That of the next snapshot.
    pub(in crate::kuma) fn after(before: &Snapshot, next: &Snapshot) -> Self {
        let known = before.companion::<Self>().filter(|_| next.objects().has_same_items(before.objects()));
        Self { objects: known.map(|known| Arc::clone(&known.objects)).unwrap_or_default(), meshes: OnceLock::new() }
    }

    /// Which services lead to which proxies.
    pub(in crate::kuma) fn leading(&self, make: impl FnOnce() -> Leading) -> &Leading {
        self.objects.leading.get_or_init(make)
    }

    /// Who calls and who is called in a mesh.
    pub(in crate::kuma) fn ends(
        &self,
        snapshot: &Snapshot,
        mesh: Sym,
        each: Granularity,
        make: impl FnOnce() -> Arc<Ends>,
    ) -> Arc<Ends> {
        let all = self.objects.ends.get_or_init(|| {
            let meshes = meshes(snapshot).into_iter();
            let each = [Granularity::Service, Granularity::Inbound];
            meshes.flat_map(|mesh| each.map(|each| ((mesh, each), OnceLock::new()))).collect()
        });
        match all.get(&(mesh, each)) {
            Some(known) => Arc::clone(known.get_or_init(make)),
            // A mesh that only policies are in, which came since.
            None => make(),
        }
    }
}

/// All meshes that something is in, by name.
pub(in crate::kuma) fn meshes(snapshot: &Snapshot) -> Vec<Sym> {
    let directory = snapshot.companion::<Directory>();
    let known = directory.map(|directory| directory.meshes.get_or_init(|| all_meshes(snapshot)).clone());
    known.unwrap_or_else(|| all_meshes(snapshot))
}

fn all_meshes(snapshot: &Snapshot) -> Vec<Sym> {
    let of_kuma = |kind: Sym| ResourceType::of(snapshot.text(kind)).is_some();
    // There are many objects, of few kinds in few meshes.
    let seen: FxHashSet<(Sym, Sym)> =
        snapshot.objects().iter().map(|(_, object)| (object.kind, object.scope)).collect();
    let objects = seen.into_iter().filter(|(kind, _)| of_kuma(*kind)).map(|(_, scope)| scope);
    let policies = snapshot.policies().iter().filter(|(_, policy)| !matches!(policy.says, PolicyContent::Document));
    let mut meshes: Vec<Sym> = objects.chain(policies.map(|(_, policy)| policy.scope)).collect();
    meshes.sort_unstable();
    meshes.dedup();
    meshes.sort_by(|a, b| snapshot.text(*a).cmp(snapshot.text(*b)));
    meshes
}

/// Whatever has a name.
#[derive(Clone, Debug, Default)]
pub(super) struct Named {
    /// Everything, each with its mesh: proxies, external services, real resources, services.
    pub(super) things: Vec<(Thing, Sym)>,
    /// Places in that list, by name.
    by_name: FxHashMap<Sym, Vec<usize>>,
    pub(super) services: Vec<Service>,
    /// The proxies that offer a service.
    offering: FxHashMap<Service, Vec<ObjectId>>,
}

impl Named {
    pub(super) fn of(snapshot: &Snapshot) -> Cow<'_, Self> {
        match snapshot.companion::<Directory>() {
            Some(directory) => Cow::Borrowed(directory.objects.named.get_or_init(|| Self::new(snapshot))),
            None => Cow::Owned(Self::new(snapshot)),
        }
    }

    fn new(snapshot: &Snapshot) -> Self {
        let services = all_services(snapshot);
        let mut named = Self { offering: offering(snapshot, &services), ..Self::default() };
        let is_real =
            |object: &Object| Kind::REAL.iter().any(|kind| kind.type_name() == Some(snapshot.text(object.kind)));
        for (id, object) in proxies(snapshot) {
            named.add(Thing::Proxy(id), object.scope, object.name);
        }
        for (id, object) in of_type(snapshot, ResourceType::ExternalService) {
            named.add(Thing::External(id), object.scope, object.name);
        }
        for (id, object) in snapshot.objects().iter().filter(|(_, object)| is_real(object)) {
            named.add(Thing::Resource(id), object.scope, object.name);
        }
        for service in &services {
            named.add(Thing::Service(*service), service.mesh, service.name);
        }
        Self { services, ..named }
    }

    fn add(&mut self, thing: Thing, mesh: Sym, name: Sym) {
        self.by_name.entry(name).or_default().push(self.things.len());
        self.things.push((thing, mesh));
    }

    /// Everything that has one of these names, in the order of all.
    pub(super) fn called(&self, names: impl IntoIterator<Item = Sym>) -> impl Iterator<Item = (Thing, Sym)> {
        let mut places: Vec<usize> =
            names.into_iter().filter_map(|name| self.by_name.get(&name)).flatten().copied().collect();
        places.sort_unstable();
        places.dedup();
        places.into_iter().filter_map(|place| self.things.get(place).copied())
    }

    /// Whether something offers or calls a service.
    pub(super) fn has_service(&self, service: Service) -> bool {
        self.offering.contains_key(&service)
    }

    /// The proxies that offer a service, by name.
    pub(super) fn proxies_of(&self, service: Service) -> &[ObjectId] {
        self.offering.get(&service).map_or(&[], |ids| ids)
    }
}

/// All services that something offers or calls, by mesh and name. Where the old and the new name of the tag are both in
/// use, the one that somebody offers counts.
fn all_services(snapshot: &Snapshot) -> Vec<Service> {
    let keys = tags(snapshot);
    // Many offer and call the same ones: the best of each is kept.
    let mut best: FxHashMap<(Sym, Sym), (bool, usize, Sym)> = FxHashMap::default();
    for (_, object) in snapshot.objects().iter() {
        for part in &object.parts {
            let tag = keys.iter().enumerate().find_map(|(age, key)| Some((age, part.tags.get(*key)?)));
            if let Some((age, (tag, name))) = tag.and_then(|(age, tag)| Some((age, (tag.key, tag.value?)))) {
                let own = (part.role == Role::Outbound, age, tag);
                let known = best.entry((object.scope, name)).or_insert(own);
                *known = own.min(*known);
            }
        }
    }
    let mut services: Vec<Service> =
        best.into_iter().map(|((mesh, name), (_, _, tag))| Service { mesh, tag, name }).collect();
    services.sort_by_key(|service| (snapshot.text(service.mesh), snapshot.text(service.name)));
    services
}

/// Who offers each of some services.
fn offering(snapshot: &Snapshot, services: &[Service]) -> FxHashMap<Service, Vec<ObjectId>> {
    let mut all: FxHashMap<Service, Vec<ObjectId>> = services.iter().map(|service| (*service, Vec::new())).collect();
    let keys = tags(snapshot);
    for (id, proxy) in proxies(snapshot) {
        for (tag, name) in offered(proxy, &keys) {
            if let Some(ids) = all.get_mut(&Service { mesh: proxy.scope, tag, name })
                && ids.last() != Some(&id)
            {
                ids.push(id);
            }
        }
    }
    all
}

fn tags(snapshot: &Snapshot) -> Vec<Sym> {
    SERVICE_TAGS.iter().filter_map(|tag| snapshot.symbols().get(tag)).collect()
}
