//! From a snapshot to its topology, and from one topology to the next.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock};

use rustc_hash::FxHashSet;
use smol_str::SmolStr;
use upheld_engine::{ObjectId, Snapshot};
use upheld_model::{Pages, Runs, SourceId};

use super::attach::Sites;
use super::dependents::{RouteIndex, Sought};
use super::entry::{RouteEntry, Served};
use super::grants::Grants;
use super::resources::{Route, View};
use super::settings::Settings;
use super::topology::{Gateway, Host, Topology};
use super::walk::Steps;
use super::warnings::Warnings;
use super::world::{Inventory, World, delegation_label};

/// Types of objects that more than the routes that refer to them depends on.
const WIDE: [&str; 6] = ["Gateway", "GatewayClass", "ListenerSet", "XListenerSet", "Namespace", "ReferenceGrant"];

/// What a change touches.
struct Touched {
    /// Routes that are to be walked again, or that are gone.
    routes: BTreeSet<ObjectId>,
    /// By label, after the change.
    labelled: RouteIndex<SmolStr>,
}

/// On which side of a change something is; what only says something else is on both.
#[derive(Clone, Copy)]
enum Presence {
    Gone,
    Came,
}

impl Topology {
    /// Of everything in a snapshot; also what references may lead where.
    pub fn build(snapshot: &Snapshot, settings: &Settings) -> (Self, Grants) {
        let Inventory { gateways, classes, listener_sets, routes, grants, namespaces, labelled } =
            Inventory::of(snapshot);
        let namespaces = Arc::new(namespaces);
        let world = World::new(snapshot, settings, &grants, Arc::clone(&namespaces), labelled.clone());
        let mut warnings = Warnings::default();
        let sites = Sites::of(&world, &gateways, &classes, &listener_sets, &mut warnings);
        let mut topology = Self {
            gateways: sites.gateways(&gateways),
            sites: Arc::new(sites),
            about_sites: warnings.finish().into(),
            namespaces,
            entries: Pages::default(),
            labelled,
            sought: RouteIndex::default(),
            leading: RouteIndex::default(),
            steps: Steps::up_to(settings.step_limit),
            hosts: OnceLock::new(),
            replaced: BTreeMap::new(),
        };
        topology.walk(&world, routes);
        (topology, grants)
    }

    /// The one of the next snapshot, in which some files are not as they were; the same one if they have nothing to do with it.
    /// Nothing if all of it is to be made anew.
    pub(super) fn after(
        self: &Arc<Self>,
        [before, next]: [&Snapshot; 2],
        changed: &BTreeSet<SourceId>,
        settings: &Settings,
        grants: &Grants,
    ) -> Option<Arc<Self>> {
        let Touched { routes, labelled } = self.touched([before, next], changed)?;
        if routes.is_empty() {
            return Some(Arc::clone(self));
        }
        let world = World::new(next, settings, grants, Arc::clone(&self.namespaces), labelled.clone());
        let mut topology = Self { labelled, hosts: OnceLock::new(), ..Self::clone(self) };
        for route in &routes {
            topology.withdraw(*route);
        }
        topology.walk(&world, routes);
        // Which ways are left out depends on all of them.
        (!topology.steps.is_exhausted()).then(|| Arc::new(topology))
    }

    /// What a change of some files touches; nothing if that is everything.
    fn touched(&self, [before, next]: [&Snapshot; 2], changed: &BTreeSet<SourceId>) -> Option<Touched> {
        let mut touched = Touched { routes: BTreeSet::new(), labelled: self.labelled.clone() };
        let both = [(before, Presence::Gone), (next, Presence::Came)];
        for (snapshot, presence, source) in both.into_iter().flat_map(|(s, p)| changed.iter().map(move |c| (s, p, *c)))
        {
            for view in snapshot.objects().of_source(source).filter_map(|(id, _)| View::of(snapshot, id)) {
                if WIDE.contains(&view.kind) {
                    return None;
                }
                let sought = Sought::object(view.kind, view.namespace, view.name);
                touched.routes.extend(self.sought.get(&sought));
                if Route::KINDS.contains(&view.kind) {
                    self.touch_route(&view, presence, &mut touched);
                }
            }
            for (_, policy) in snapshot.policies().of_source(source) {
                let [kind, namespace, name] = [policy.kind, policy.scope, policy.name].map(|part| snapshot.text(part));
                touched.routes.extend(self.sought.get(&Sought::policy(kind, namespace, name)));
            }
        }
        (touched.routes.is_empty() || !self.steps.is_exhausted()).then_some(touched)
    }

    /// A route touches itself, and those that looked for routes like it.
    fn touch_route(&self, view: &View<'_>, presence: Presence, touched: &mut Touched) {
        let Touched { routes, labelled } = touched;
        routes.insert(view.object);
        routes.extend(self.sought_like(view));
        if let Some(label) = delegation_label(view) {
            match presence {
                Presence::Gone => labelled.remove(&label, view.object),
                Presence::Came => labelled.add(&label, view.object),
            }
        }
    }

    /// Routes that looked for a route: by its name, its namespace or its label.
    pub(super) fn sought_like(&self, view: &View<'_>) -> BTreeSet<ObjectId> {
        let mut routes: BTreeSet<ObjectId> = self.looking_for(view).iter().copied().collect();
        if view.kind == "HTTPRoute" {
            routes.extend(self.sought.get(&Sought::RoutesIn(view.namespace.into())));
        }
        if let Some(label) = delegation_label(view) {
            routes.extend(self.sought.get(&Sought::RoutesLabelled(label)));
        }
        routes
    }

    /// Walks from routes that are not there yet, as far as the snapshot has them.
    fn walk(&mut self, world: &World<'_>, routes: impl IntoIterator<Item = ObjectId>) {
        for id in routes {
            let Some(read) = world.route(id) else { continue };
            let entry = Arc::new(RouteEntry::of(world, &self.sites, &read, &mut self.steps));
            for served in &entry.served {
                self.serve(served, Host::serve);
            }
            for sought in &entry.sought {
                self.sought.add(sought, id);
            }
            for route in entry.reports.routes() {
                self.leading.add(&route, id);
            }
            self.entries.put(id.index(), Some(entry), || None);
        }
    }

    /// Takes a route away, with everything that follows from it.
    fn withdraw(&mut self, id: ObjectId) {
        let Some(entry) = self.entry(id).cloned() else { return };
        for served in &entry.served {
            self.serve(served, Host::withdraw);
        }
        for sought in &entry.sought {
            self.sought.remove(sought, id);
        }
        for route in entry.reports.routes() {
            self.leading.remove(&route, id);
        }
        self.entries.put(id.index(), None, || None);
        self.steps.give_back(entry.steps);
    }

    /// Changes the ways of hosts. A host with none is not there.
    fn serve(&mut self, served: &Served, change: fn(&mut Host, &Served)) {
        let Some(gateway) = self.gateways.get_mut(served.gateway) else { return };
        for name in &served.hosts {
            let place = gateway.host(served, name);
            let Some(host) = gateway.hosts.get_mut(place) else { continue };
            change(host, served);
            if host.ways.is_empty() {
                gateway.hosts.remove(place);
            }
        }
    }

    /// How many routes were walked again since an earlier topology.
    pub fn walked(&self, earlier: &Self) -> usize {
        let changed = self.entries.differing(&earlier.entries).filter(|place| {
            let entry = |topology: &Self| topology.entries.get(*place).cloned().flatten();
            entry(self).is_some_and(|own| entry(earlier).is_none_or(|other| !Arc::ptr_eq(&own, &other)))
        });
        changed.count()
    }

    /// How many pages, shards and runs two topologies do not share: what a change has copied.
    pub fn unshared(&self, other: &Self) -> usize {
        let gateways = self.gateways.iter().zip(&other.gateways);
        let hosts: usize = gateways.map(|(own, other)| own.unshared(other)).sum();
        self.gateways.unshared(&other.gateways)
            + hosts
            + self.entries.unshared(&other.entries)
            + self.labelled.unshared(&other.labelled)
            + self.sought.unshared(&other.sought)
            + self.leading.unshared(&other.leading)
    }
}

impl Gateway {
    /// The place of a host, which is made if it is a new one.
    fn host(&mut self, served: &Served, name: &str) -> usize {
        let place = self.place_of(served.port, name, served.listener);
        let is_known = self
            .hosts
            .get(place)
            .is_some_and(|host| (host.port, host.name.as_str(), host.listener) == (served.port, name, served.listener));
        if !is_known {
            let Served { port, listener, .. } = *served;
            let host = Host { port, name: name.to_owned(), listener, ways: Runs::default() };
            self.hosts.insert(place, Arc::new(host));
        }
        place
    }

    fn unshared(&self, other: &Self) -> usize {
        let known: FxHashSet<_> = other.hosts.iter().map(std::ptr::from_ref).collect();
        let changed = self.hosts.iter().filter(|host| !known.contains(&std::ptr::from_ref(*host)));
        let ways = changed.map(|host| {
            let earlier = other.hosts.get(other.place_of(host.port, &host.name, host.listener));
            earlier.map_or(1, |earlier| host.ways.unshared(&earlier.ways))
        });
        self.hosts.unshared(&other.hosts) + ways.sum::<usize>()
    }
}

impl Host {
    /// Puts ways behind those that requests try before them.
    fn serve(&mut self, served: &Served) {
        for way in served.ways.iter() {
            let place = self.ways.partition_point(|known| known.rank <= way.rank);
            self.ways.insert(place, Arc::clone(way));
        }
    }

    /// Takes the same ways away: no others have their ranks.
    fn withdraw(&mut self, served: &Served) {
        for (way, count) in served.ranks() {
            let first = self.ways.partition_point(|known| known.rank < way.rank);
            (0..count).for_each(|_| drop(self.ways.remove(first)));
        }
    }
}
