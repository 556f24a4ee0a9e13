//! Gateways, listeners and routes as one graph, and the ways that requests take through it.
//!
//! A [`Way`] is one match of one rule of one route, reached from a listener under a host name, perhaps through other routes
//! that delegate to it. Ways of a host come in the order in which requests try them.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock};

use smol_str::SmolStr;
use upheld_engine::{ObjectId, Snapshot};
use upheld_model::{Config, Diagnostic, Fault, NodeRef, Pages, Runs};

use super::attach::Sites;
use super::controller::Controller;
use super::dependents::{RouteIndex, Sought};
use super::entry::{RouteEntry, Served};
use super::facts::RouteFacts;
use super::find::HostIndex;
use super::matches::Match;
use super::precedence::Rank;
use super::resources::View;
use super::walk::Steps;
use super::warnings::Warnings;
use super::world::Namespaces;

/// All gateways of a snapshot with what is attached to them.
///
/// When routes come, go or change, or backends and policies that routes refer to, the next topology comes out of this one: only
/// the routes that changed and those that looked for something that changed (routes that delegate to them, directly or over
/// others) are walked again, and everything else is shared. A Gateway, a class, a listener set, a Namespace or a `ReferenceGrant`
/// that changes makes all of it anew, and so does every change while the ways have more steps than are followed.
#[derive(Clone, Debug)]
pub struct Topology {
    /// By namespace and name.
    pub gateways: Runs<Gateway>,
    pub(super) sites: Arc<Sites>,
    /// What is probably not meant by gateways and listener sets.
    pub(super) about_sites: Arc<[Diagnostic]>,
    pub(super) namespaces: Arc<Namespaces>,
    /// What each route leads to, by its id.
    pub(super) entries: Pages<Option<Arc<RouteEntry>>>,
    /// Routes for HTTP by the label by which they are delegated to.
    pub(super) labelled: RouteIndex<SmolStr>,
    /// Routes by what they looked for.
    pub(super) sought: RouteIndex<Sought>,
    /// By each route, those that lead to it: itself, if it is attached, and those that delegate to it.
    pub(super) leading: RouteIndex<ObjectId>,
    pub(super) steps: Steps,
    /// Hosts by their names, once somebody asked.
    pub(super) hosts: OnceLock<HostIndex>,
    /// What others said of routes at parents: rules that answer with an error.
    pub(super) replaced: BTreeMap<(ObjectId, Parent), Vec<String>>,
}

impl Topology {
    /// A way by its place.
    pub fn way(&self, place: Place) -> Option<&Way> {
        self.gateways.get(place.gateway)?.hosts.get(place.host)?.ways.get(place.way)
    }

    /// A way by its place, to change it.
    pub fn way_mut(&mut self, place: Place) -> Option<&mut Way> {
        self.gateways.get_mut(place.gateway)?.hosts.get_mut(place.host)?.ways.get_mut(place.way)
    }

    /// How many ways there are.
    pub fn way_count(&self) -> usize {
        self.gateways.iter().flat_map(|gateway| gateway.hosts.iter()).map(|host| host.ways.len()).sum()
    }

    /// All ways, in the order of gateways and hosts.
    pub fn ways(&self) -> impl Iterator<Item = (Place, &Way)> {
        self.gateways.iter().enumerate().flat_map(|(gateway, found)| {
            found.hosts.iter().enumerate().flat_map(move |(host, found)| {
                found.ways.iter().enumerate().map(move |(way, found)| (Place { gateway, host, way }, found))
            })
        })
    }

    /// The ways that end at a route, in the order of gateways and hosts.
    pub fn ways_to(&self, route: ObjectId) -> impl Iterator<Item = (Place, &Way)> {
        let served = self.leading_to(route).into_iter().flat_map(|entry| &entry.served);
        let ends_there = move |way: &Way| way.chain.last().is_some_and(|step| step.route == route);
        let mut places: Vec<Place> = served.flat_map(|served| self.places(served, ends_there)).collect();
        places.sort_unstable();
        places.into_iter().filter_map(|place| Some((place, self.way(place)?)))
    }

    /// The ways that end at a route or go on from it to others, in the order of gateways and hosts.
    pub fn ways_through(&self, route: ObjectId) -> impl Iterator<Item = (Place, &Way)> {
        let served = self.leading_to(route).into_iter().flat_map(|entry| &entry.served);
        let passes = move |way: &Way| way.chain.iter().any(|step| step.route == route);
        let mut places: Vec<Place> = served.flat_map(|served| self.places(served, passes)).collect();
        places.sort_unstable();
        // Ways of equal rank end at one route, but not all of them need come this way.
        places.into_iter().filter_map(|place| Some((place, self.way(place)?))).filter(move |(_, way)| passes(way))
    }

    /// Where the ways of a route are, as far as they are wanted.
    fn places(&self, served: &Served, is_wanted: impl Fn(&Way) -> bool) -> Vec<Place> {
        let mut places = Vec::new();
        let Some(found) = self.gateways.get(served.gateway) else { return places };
        for name in &served.hosts {
            let host = found.place_of(served.port, name, served.listener);
            let Some(ways) = found.hosts.get(host).map(|host| &host.ways) else { continue };
            let equal = served.ways.chunk_by(|one, other| one.rank == other.rank);
            for (first, count) in equal
                .filter(|ways| ways.iter().any(|way| is_wanted(way)))
                .filter_map(|equal| Some((equal.first()?, equal.len())))
            {
                let first = ways.partition_point(|known| known.rank < first.rank);
                places.extend((first..first + count).map(|way| Place { gateway: served.gateway, host, way }));
            }
        }
        places
    }

    /// Which routes are at which listeners, by the name of the route.
    pub fn attached(&self) -> impl Iterator<Item = &Attached> {
        self.entries_by_name().into_iter().flat_map(|entry| &entry.attached)
    }

    /// At which listeners a route is.
    pub(crate) fn attached_of(&self, route: ObjectId) -> &[Attached] {
        self.entry(route).map_or(&[][..], |entry| &entry.attached)
    }

    /// What is probably not meant, by its place.
    pub fn warnings(&self) -> Vec<Diagnostic> {
        let mut warnings = Warnings::default();
        warnings.extend(&self.about_sites);
        for entry in self.entries.iter().flatten() {
            warnings.extend(&entry.warnings);
        }
        warnings.finish()
    }

    /// The same, as far as it is about some objects. What leaves something out is about all of them.
    pub(super) fn warnings_about(
        &self,
        objects: &BTreeSet<ObjectId>,
        is_about: impl Fn(&Diagnostic) -> bool,
    ) -> Vec<Diagnostic> {
        let mut warnings = Warnings::default();
        let leading = objects.iter().flat_map(|object| self.leading_to(*object));
        let own = objects.iter().filter_map(|object| self.entry(*object)).map(|entry| &**entry);
        let about = |found: &[Diagnostic]| found.iter().filter(|one| is_about(one)).cloned().collect::<Vec<_>>();
        warnings.extend(&about(&self.about_sites));
        for entry in leading.chain(own) {
            warnings.extend(&about(&entry.warnings));
        }
        if self.steps.is_exhausted() {
            let all = self.entries.iter().flatten().flat_map(|entry| entry.warnings.iter());
            all.filter(|one| one.fault == Fault::Limit).for_each(|one| warnings.push(one.clone()));
        }
        warnings.finish()
    }

    /// All routes by type, namespace and name, with whether they are attached to something.
    pub fn routes<'t>(&'t self, snapshot: &'t Snapshot) -> impl Iterator<Item = (ObjectId, bool)> + 't {
        self.entries_by_name().into_iter().filter_map(move |entry| {
            let [kind, namespace, name] = &entry.age.identity;
            Some((snapshot.object_named(kind, namespace, name)?, !entry.attached.is_empty()))
        })
    }

    /// What is known of a route.
    pub(crate) fn facts(&self, route: ObjectId) -> Option<&RouteFacts> {
        self.entry(route).map(|entry| &entry.facts)
    }

    pub(super) fn entry(&self, route: ObjectId) -> Option<&Arc<RouteEntry>> {
        self.entries.get(route.index())?.as_ref()
    }

    /// All routes by type, namespace and name: ids say nothing about the order.
    pub(super) fn entries_by_name(&self) -> Vec<&RouteEntry> {
        by_name(self.entries.iter().flatten())
    }

    /// The routes whose walks looked for an object.
    pub(super) fn looking_for(&self, object: &View<'_>) -> &[ObjectId] {
        self.sought.get(&Sought::object(object.kind, object.namespace, object.name))
    }

    /// All routes, in no order that means something, with whether they are attached to something.
    pub(crate) fn route_ids(&self) -> impl Iterator<Item = (ObjectId, bool)> {
        let entries = self.entries.iter().enumerate();
        entries.filter_map(|(place, entry)| Some((ObjectId::new(place), !entry.as_ref()?.attached.is_empty())))
    }

    /// Routes that looked for an object by its type, namespace and name.
    pub(crate) fn naming_object(&self, kind: &str, namespace: &str, name: &str) -> &[ObjectId] {
        self.sought.get(&Sought::object(kind, namespace, name))
    }

    /// The routes that lead to a route, by type, namespace and name.
    pub(super) fn leading_to(&self, route: ObjectId) -> Vec<&RouteEntry> {
        by_name(self.leading.get(&route).iter().filter_map(|route| self.entry(*route)))
    }
}

fn by_name<'t>(entries: impl Iterator<Item = &'t Arc<RouteEntry>>) -> Vec<&'t RouteEntry> {
    let mut entries: Vec<&RouteEntry> = entries.map(Arc::as_ref).collect();
    entries.sort_by(|one, other| one.age.identity.cmp(&other.age.identity));
    entries
}

/// Where a way is in a [`Topology`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// A place in [`Topology::gateways`].
    pub gateway: usize,
    /// A place in [`Gateway::hosts`].
    pub host: usize,
    /// A place in [`Host::ways`].
    pub way: usize,
}

/// A route at a listener.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attached {
    /// A place in [`Topology::gateways`].
    pub gateway: usize,
    /// A place in [`Gateway::listeners`].
    pub listener: usize,
    /// The route.
    pub route: ObjectId,
    /// The reference of the route that led there.
    pub parent: Parent,
    /// The host names that both are for, `*` for all.
    pub hosts: Vec<String>,
}

/// A gateway.
#[derive(Clone, Debug)]
pub struct Gateway {
    /// The resource.
    pub object: ObjectId,
    /// Who runs it; `None` if its class was not read.
    pub controller: Option<Controller>,
    /// Its own listeners, then those of its listener sets.
    pub listeners: Arc<[Listener]>,
    /// Hosts with their ways: by port, then by host.
    pub hosts: Runs<Host>,
}

impl Gateway {
    /// The place of a host among all: where it is, or where it belongs.
    pub(super) fn place_of(&self, port: u16, name: &str, listener: usize) -> usize {
        let key = (port, name, listener);
        self.hosts.partition_point(|host| (host.port, host.name.as_str(), host.listener) < key)
    }
}

/// Where a gateway listens.
#[derive(Clone, Debug)]
pub struct Listener {
    /// The Gateway or the `ListenerSet` that has it.
    pub owner: ObjectId,
    /// Its name, by which policies and routes pick it.
    pub name: String,
    /// Its port.
    pub port: u16,
    /// What is spoken there: `HTTP`, `HTTPS`, `TLS`, `TCP`, `UDP`.
    pub protocol: String,
    /// The host that it is for; `None` for all.
    pub hostname: Option<String>,
    /// Where it was written.
    pub at: NodeRef,
}

/// A host name on a port, and the ways under it.
#[derive(Clone, Debug)]
pub struct Host {
    /// The port.
    pub port: u16,
    /// The name, `*` for all.
    pub name: String,
    /// The listener that owns it: a place in [`Gateway::listeners`].
    pub listener: usize,
    /// In the order in which requests try them.
    pub ways: Runs<Way>,
}

/// One match of one rule, and how requests come there.
#[derive(Clone, Debug)]
pub struct Way {
    /// What a request must look like, after parents were taken into account: path, method, headers and query parameters as
    /// the rule writes them.
    pub matching: Arc<Config>,
    /// The same, to compare requests with.
    pub wanted: Arc<Match>,
    /// From the route at the listener to the one that answers.
    pub chain: Vec<Step>,
    /// What happens to requests.
    pub outcome: Outcome,
    /// Its order among the ways of a host.
    pub(super) rank: Rank,
}

/// A rule of a route on the way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The route.
    pub route: ObjectId,
    /// The rule, by its place in the document.
    pub rule: usize,
    /// The match of the rule, by its place in the document.
    pub matched: usize,
    /// The parent of the route that led here, for status: a Gateway, `ListenerSet` or route, with a section if it names one.
    pub parent: Parent,
}

/// What a route is attached to.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Parent {
    /// The resource.
    pub object: ObjectId,
    /// The section that the reference names.
    pub section: Option<String>,
}

/// What happens to requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// They go on to backends.
    Forward,
    /// They go on, but nothing that was read takes them: an error, after all policies. Why, in words.
    Unserved(String),
    /// A redirect filter answers.
    Redirect,
    /// A `DirectResponse` answers.
    Answered,
    /// Something is wrong with the rule, so that it answers with an error: why, in words.
    Replaced(String),
}

/// What became of a route at its parents.
#[derive(Clone, Debug)]
pub struct RouteReport {
    /// The route.
    pub route: ObjectId,
    /// For each parent.
    pub parents: Vec<ParentReport>,
}

/// What became of a route at one parent.
#[derive(Clone, Debug)]
pub struct ParentReport {
    /// The parent.
    pub parent: Parent,
    /// Conditions by type, as the Gateway API reports them.
    pub conditions: Vec<Condition>,
}

/// One condition of a status.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    /// For example `Accepted`.
    pub name: String,
    /// Whether it holds.
    pub status: bool,
    /// For example `BackendNotFound`.
    pub reason: String,
    /// For people; names the things that are wrong.
    pub message: String,
}
