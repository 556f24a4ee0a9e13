//! Gateways, listeners and routes as one graph, and the ways that requests take through it.
//!
//! A [`Way`] is one match of one rule of one route, reached from a listener under a host name, perhaps through other routes
//! that delegate to it. Ways of a host come in the order in which requests try them.

#[cfg(test)]
mod tests;

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use smol_str::SmolStr;
use upheld_engine::{ObjectId, Snapshot};
use upheld_model::{Config, Diagnostic, NodeRef};

use super::facts::RouteFacts;
use super::matches::Match;
use super::resources::Route;

/// All gateways of a snapshot with what is attached to them.
#[derive(Clone, Debug)]
pub struct Topology {
    /// By namespace and name.
    pub gateways: Vec<Gateway>,
    /// What became of each route at each of its parents, by id.
    pub routes: Vec<RouteReport>,
    /// Which routes are at which listeners.
    pub attached: Vec<Attached>,
    /// What is probably not meant.
    pub warnings: Vec<Diagnostic>,
    /// What is known of each route.
    pub(super) facts: FxHashMap<ObjectId, Arc<RouteFacts>>,
    /// Types and names of policies and backends that routes refer to.
    pub(super) referred: FxHashSet<(SmolStr, SmolStr)>,
    /// The ways that end at a route.
    pub(super) by_route: FxHashMap<ObjectId, Vec<Place>>,
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
        let places = self.by_route.get(&route).map_or(&[][..], Vec::as_slice);
        places.iter().filter_map(|place| Some((*place, self.way(*place)?)))
    }

    /// What is known of a route.
    pub(crate) fn facts(&self, route: ObjectId) -> Option<&RouteFacts> {
        self.facts.get(&route).map(Arc::as_ref)
    }

    /// Whether something of this type and name has to do with what leads where: by what it is, or because a route refers to it.
    pub(super) fn may_change(&self, kind: &str, name: &str) -> bool {
        const LEADING: [&str; 5] = ["Gateway", "ListenerSet", "XListenerSet", "Namespace", "ReferenceGrant"];
        LEADING.contains(&kind)
            || Route::KINDS.contains(&kind)
            || self.referred.contains(&(SmolStr::new(kind), SmolStr::new(name)))
    }

    /// What became of every route, by type, namespace and name.
    pub fn routes_by_name(&self, snapshot: &Snapshot) -> Vec<&RouteReport> {
        let mut routes: Vec<&RouteReport> = self.routes.iter().collect();
        routes.sort_by_cached_key(|report| {
            let object = snapshot.objects().get(report.route);
            object.map(|object| [object.kind, object.scope, object.name].map(|symbol| snapshot.text(symbol).to_owned()))
        });
        routes
    }

    /// What became of a route.
    pub fn report(&self, route: ObjectId) -> Option<&RouteReport> {
        let place = self.routes.binary_search_by_key(&route, |report| report.route).ok()?;
        self.routes.get(place)
    }
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
    /// Its own listeners, then those of its listener sets.
    pub listeners: Vec<Listener>,
    /// Hosts with their ways: by port, then by host.
    pub hosts: Vec<Host>,
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
    /// The name, `*` for all.
    pub name: String,
    /// The listener that owns it: a place in [`Gateway::listeners`].
    pub listener: usize,
    /// In the order in which requests try them.
    pub ways: Vec<Way>,
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
