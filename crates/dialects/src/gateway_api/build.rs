//! From a snapshot to its topology.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rustc_hash::FxHashMap;
use smol_str::SmolStr;
use upheld_engine::{ObjectId, Snapshot};

use super::attach::{Sites, attach};
use super::facts::RouteFacts;
use super::grants::Grants;
use super::report::Reports;
use super::resources::Rule;
use super::settings::Settings;
use super::topology::{Attached, Gateway, Host, Place, Topology};
use super::walk::{Ranked, Walk, take};
use super::warnings::Warnings;
use super::world::World;

/// The ways of each host of a gateway: by port, host and listener.
type Hosts = BTreeMap<(u16, String, usize), Vec<Ranked>>;

impl Topology {
    /// Of everything in a snapshot; also what references may lead where.
    pub fn build(snapshot: &Snapshot, settings: &Settings) -> (Self, Grants) {
        let world = World::new(snapshot, settings);
        let (mut reports, mut warnings, mut attached) = (Reports::default(), Warnings::default(), Vec::new());
        let mut sites = Sites::of(&world, &mut warnings);
        let mut hosts: Vec<Hosts> = sites.gateways.iter().map(|_| Hosts::new()).collect();
        let mut left = settings.step_limit;
        for (index, route) in world.routes.iter().enumerate() {
            warnings.annotations(route);
            // Two references of a route may lead to one listener.
            let mut served = BTreeSet::new();
            for reference in &route.parents {
                let found = attach(&world, &sites, route, reference, &mut reports, &mut warnings);
                let Some(Attached { parent, .. }) = found.first() else { continue };
                if route.matches_requests() {
                    let ways = Walk::new(&world, &mut reports, &mut warnings, &mut left).from(index, parent);
                    for place in found.iter().filter(|place| served.insert((place.gateway, place.listener))) {
                        if !spread(&sites, place, &ways, &mut hosts, &mut left) {
                            warnings.too_many(&route.view, settings);
                        }
                    }
                }
                attached.extend(found);
            }
        }
        for (gateway, hosts) in sites.gateways.iter_mut().zip(hosts) {
            gateway.hosts = hosts.into_iter().map(|((_, name, listener), ways)| host(name, listener, ways)).collect();
        }
        let Sites { gateways, .. } = sites;
        let (routes, warnings, by_route) = (reports.finish(), warnings.finish(), FxHashMap::default());
        let facts: FxHashMap<ObjectId, Arc<RouteFacts>> =
            world.routes.iter().map(|route| (route.view.object, Arc::new(RouteFacts::of(route)))).collect();
        let rules = || world.routes.iter().flat_map(|route| &route.rules);
        let extensions = rules().flat_map(Rule::extensions).map(|(_, kind, name, _)| (kind, name));
        let backends = rules().flat_map(|rule| &rule.backends);
        let backends = backends.map(|backend| (backend.reference.kind, backend.reference.name));
        let referred =
            extensions.chain(backends).map(|(kind, name)| (SmolStr::new(kind), SmolStr::new(name))).collect();
        let mut topology = Self { gateways, routes, attached, warnings, facts, referred, by_route };
        topology.index_routes();
        (topology, world.grants)
    }

    fn index_routes(&mut self) {
        let mut by_route: FxHashMap<ObjectId, Vec<Place>> = FxHashMap::default();
        for (place, way) in self.ways() {
            if let Some(step) = way.chain.last() {
                by_route.entry(step.route).or_default().push(place);
            }
        }
        self.by_route = by_route;
    }
}

/// Puts ways under the hosts of a listener that are its own. Whether all of them found a place.
fn spread(sites: &Sites, place: &Attached, ways: &[Ranked], hosts: &mut [Hosts], left: &mut usize) -> bool {
    let listener = |gateway: &Gateway| gateway.listeners.get(place.listener).map(|listener| listener.port);
    let (Some(port), Some(hosts)) =
        (sites.gateways.get(place.gateway).and_then(listener), hosts.get_mut(place.gateway))
    else {
        return true;
    };
    let steps: usize = ways.iter().map(|(_, way)| way.chain.len()).sum();
    for name in place.hosts.iter().filter(|name| sites.owns(place.gateway, place.listener, name)) {
        if !take(left, steps) {
            return false;
        }
        if !ways.is_empty() {
            hosts.entry((port, name.clone(), place.listener)).or_default().extend_from_slice(ways);
        }
    }
    true
}

fn host(name: String, listener: usize, mut ways: Vec<Ranked>) -> Host {
    // Stable: ways of equal rank stay as they were found.
    ways.sort_by_key(|(rank, _)| *rank);
    Host { name, listener, ways: ways.into_iter().map(|(_, way)| way).collect() }
}
