//! What one route contributes to a topology: where it is attached, and what it leads to.

use std::collections::BTreeSet;
use std::sync::Arc;

use upheld_model::Diagnostic;

use super::attach::{Sites, attach};
use super::dependents::Sought;
use super::facts::RouteFacts;
use super::precedence::Age;
use super::report::Reports;
use super::topology::{Attached, Way};
use super::walk::{Steps, Walk};
use super::warnings::Warnings;
use super::world::{ReadRoute, World};

/// A route with everything that follows from it, as long as nothing changes that it looked for.
#[derive(Debug)]
pub(super) struct RouteEntry {
    /// Who it is, and since when.
    pub(super) age: Arc<Age>,
    pub(super) facts: RouteFacts,
    pub(super) attached: Vec<Attached>,
    pub(super) served: Vec<Served>,
    /// What is said of it, and of routes that it leads to.
    pub(super) reports: Reports,
    pub(super) warnings: Vec<Diagnostic>,
    /// In order, each once.
    pub(super) sought: Vec<Sought>,
    /// How many steps its ways have.
    pub(super) steps: usize,
}

/// Ways of a route under hosts of a listener.
#[derive(Debug)]
pub(super) struct Served {
    pub(super) gateway: usize,
    pub(super) listener: usize,
    pub(super) port: u16,
    /// Host names, each once.
    pub(super) hosts: Vec<String>,
    /// By rank; those of equal rank as they were found.
    pub(super) ways: Arc<[Arc<Way>]>,
}

impl Served {
    /// Ways of equal rank: one of them is there, and all of them end at one route.
    pub(super) fn ranks(&self) -> impl Iterator<Item = (&Way, usize)> {
        let equal = self.ways.chunk_by(|one, other| one.rank == other.rank);
        equal.filter_map(|ways| Some((ways.first()?.as_ref(), ways.len())))
    }
}

impl RouteEntry {
    /// Attaches a route, and walks from there.
    pub(super) fn of<'s>(world: &World<'s>, sites: &Sites, read: &ReadRoute<'s>, steps: &mut Steps) -> Self {
        let (mut reports, mut warnings) = (Reports::default(), Warnings::default());
        let (mut attached, mut served, mut seen) = (Vec::new(), Vec::new(), BTreeSet::new());
        let route = &read.route;
        let before = *steps;
        warnings.annotations(route);
        for reference in &route.parents {
            let found = attach(world, sites, route, reference, &mut reports, &mut warnings);
            let Some(Attached { parent, gateway, .. }) = found.first() else { continue };
            if route.matches_requests() {
                let mut ways =
                    Walk::new(world, sites.system(*gateway), &mut reports, &mut warnings, steps).from(read, parent);
                ways.sort_by(|one, other| one.rank.cmp(&other.rank));
                let ways: Arc<[Arc<Way>]> = ways.into_iter().map(Arc::new).collect();
                // Two references of a route may lead to one listener.
                for place in found.iter().filter(|place| seen.insert((place.gateway, place.listener))) {
                    let hosts = hosts(world, sites, read, place, &ways, &mut warnings, steps);
                    if let Some(listener) = sites.listener(place.gateway, place.listener).filter(|_| !ways.is_empty()) {
                        let (port, ways) = (listener.port, Arc::clone(&ways));
                        let Attached { gateway, listener, .. } = *place;
                        served.push(Served { gateway, listener, port, hosts, ways });
                    }
                }
            }
            attached.extend(found);
        }
        Self {
            age: Arc::clone(&read.age),
            facts: RouteFacts::of(route),
            attached,
            served,
            reports,
            warnings: warnings.finish(),
            sought: world.take_sought(),
            steps: steps.since(before),
        }
    }
}

/// The hosts of a listener that are its own, as long as ways under them are within the limit.
fn hosts(
    world: &World<'_>,
    sites: &Sites,
    read: &ReadRoute<'_>,
    place: &Attached,
    ways: &[Arc<Way>],
    warnings: &mut Warnings,
    steps: &mut Steps,
) -> Vec<String> {
    let each: usize = ways.iter().map(|way| way.chain.len()).sum();
    let own = place.hosts.iter().filter(|name| sites.owns(place.gateway, place.listener, name));
    own.take_while(|_| steps.take(each, &read.route.view, world.settings, warnings)).cloned().collect()
}
