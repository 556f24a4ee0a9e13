//! Ways through routes whose gateways were not read: repositories rarely hold everything. What is there is answered, and what is
//! taken for granted is said.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;
use upheld_engine::ObjectId;
use upheld_model::tree::Value;

use super::controller::System;
use super::gateways::Network;
use super::report::Reports;
use super::resources::{ParentReference, Route, View, children};
use super::topology::{Parent, Step, Way};
use super::walk::{Steps, Walk};
use super::warnings::Warnings;
use super::world::{World, is_beyond};

/// Something that an answer takes for granted.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Assumption {
    /// A parent that was not read: type, namespace and name.
    Parent(String),
    /// The parent is a service, so that requests come from inside of a mesh.
    Mesh(String),
    /// Nothing names a parent.
    NoParent,
}

/// Routes that are attached to something that was not read.
#[derive(Debug, Default)]
pub(super) struct AssumedRoots {
    /// With the ways that begin there, by type, namespace and name.
    roots: Vec<(ObjectId, Vec<Way>)>,
    /// Their places, by the routes that the ways come through.
    through: FxHashMap<ObjectId, Vec<usize>>,
    /// Routes that are asked about as if they were attached, and nothing says to what: by the routes that their ways come through.
    alone: FxHashMap<ObjectId, Vec<ObjectId>>,
}

/// A backend that takes no requests, and how many would go there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unusable {
    /// What is wrong.
    pub problem: String,
    /// Whether the backend, or what grants its use, was not read: it may be elsewhere.
    pub may_exist: bool,
    /// Its weight.
    pub weight: u64,
    /// The weight of all backends of the rule.
    pub of: u64,
}

impl<'s> Network<'s> {
    fn world(self) -> World<'s> {
        let topology = self.topology();
        let settings = &self.gateways.settings.topology;
        World::new(
            self.snapshot,
            settings,
            &self.gateways.grants,
            topology.namespaces.clone(),
            topology.labelled.clone(),
        )
    }

    /// What is taken for granted about the parents of a route.
    pub fn assumptions(self, route: ObjectId) -> Vec<Assumption> {
        let Some(route) = View::of(self.snapshot, route).map(Route::of) else { return Vec::new() };
        if route.parents.is_empty() {
            return vec![Assumption::NoParent];
        }
        let lacking: BTreeSet<Assumption> =
            route.parents.iter().filter_map(|reference| self.assumption(reference)).collect();
        lacking.into_iter().collect()
    }

    fn assumption(self, reference: &ParentReference<'_>) -> Option<Assumption> {
        let ParentReference { namespace, name, .. } = reference;
        let title = format!("{} {namespace}/{name}", reference.kind());
        let found = self.snapshot.object_named(reference.kind(), namespace, name);
        match (reference.kind(), found) {
            ("Service", _) => Some(Assumption::Mesh(title)),
            (_, None) => Some(Assumption::Parent(title)),
            ("ListenerSet" | "XListenerSet", Some(set)) => self.unread_gateway(set).map(Assumption::Parent),
            (_, Some(_)) => None,
        }
    }

    /// The gateway of a listener set, if it was not read: sets are made so that it can be elsewhere.
    pub(crate) fn unread_gateway(self, set: ObjectId) -> Option<String> {
        let set = View::of(self.snapshot, set)?;
        let parent = ParentReference::of(set.spec_at(&["parentRef"])?, set.namespace);
        let is_there = self.snapshot.object_named(parent.kind(), parent.namespace, parent.name).is_some();
        (!is_there).then(|| format!("{} {}/{}", parent.kind(), parent.namespace, parent.name))
    }

    /// The listener set whose gateway was not read and that a way begins at, with the listener that is named.
    pub(crate) fn assumed_set(self, way: &Way) -> Option<(ObjectId, Option<String>)> {
        let root = View::of(self.snapshot, way.chain.first()?.route).map(Route::of)?;
        let mut sets = root.parents.iter().filter_map(|parent| {
            let set = self.snapshot.object_named(parent.kind(), parent.namespace, parent.name)?;
            self.unread_gateway(set)?;
            Some((set, parent.section.map(str::to_owned)))
        });
        // With several, nobody knows which one is meant.
        let only = sets.next()?;
        sets.next().is_none().then_some(only)
    }

    /// The ways through a route that would be there if its parents were: those of routes that lead to it, or its own.
    pub fn assumed_ways(self, route: ObjectId) -> Vec<Way> {
        let passes = |way: &&Way| way.chain.iter().any(|step| step.route == route);
        let leading = self.assumed_roots_through(route).flat_map(|(_, ways)| ways);
        let leading: Vec<Way> = leading.filter(passes).cloned().collect();
        if leading.is_empty() && !self.assumptions(route).is_empty() {
            return self.walked(route);
        }
        leading
    }

    /// Routes that are attached to nothing that was read, but to something, with their ways: walked once for a snapshot.
    pub fn assumed_roots(self) -> &'s [(ObjectId, Vec<Way>)] {
        &self.all_assumed().roots
    }

    /// Those of them whose ways come through a route.
    fn assumed_roots_through(self, route: ObjectId) -> impl Iterator<Item = &'s (ObjectId, Vec<Way>)> {
        let all = self.all_assumed();
        let places = all.through.get(&route).into_iter().flatten();
        places.filter_map(|place| all.roots.get(*place))
    }

    fn all_assumed(self) -> &'s AssumedRoots {
        self.gateways.assumed.get_or_init(|| {
            let world = self.world();
            let is_root = |assumption: &Assumption| match assumption {
                Assumption::Parent(title) => !title.starts_with("HTTPRoute "),
                Assumption::Mesh(_) => true,
                Assumption::NoParent => false,
            };
            let mut all = AssumedRoots::default();
            for (route, attached) in self.topology().routes(self.snapshot) {
                let assumptions = if attached { Vec::new() } else { self.assumptions(route) };
                if assumptions.is_empty() {
                    continue;
                }
                let ways = self.walked_alone(&world, route);
                let through: BTreeSet<ObjectId> =
                    ways.iter().flat_map(|way| &way.chain).map(|step| step.route).collect();
                if !assumptions.iter().any(is_root) {
                    for passed in through {
                        all.alone.entry(passed).or_default().push(route);
                    }
                    continue;
                }
                for passed in through {
                    all.through.entry(passed).or_default().push(all.roots.len());
                }
                all.roots.push((route, ways));
            }
            all
        })
    }

    /// All routes on ways through a route, also on those that would be there if what was not read were.
    pub(crate) fn on_ways_with(self, route: ObjectId) -> BTreeSet<ObjectId> {
        let leading = self.topology().leading_to(route).into_iter().flat_map(|entry| entry.reports.routes());
        let assumed = self.assumed_roots_through(route).flat_map(|(root, ways)| {
            let chained = ways.iter().flat_map(|way| &way.chain).map(|step| step.route);
            chained.chain([*root])
        });
        let alone = self.all_assumed().alone.get(&route).into_iter().flatten().copied();
        leading.chain(assumed).chain(alone).collect()
    }

    /// Whether another route would lead to a route if its parents were there.
    pub fn is_led_to(self, route: ObjectId) -> bool {
        self.assumed_roots_through(route).any(|(root, _)| *root != route)
    }

    /// The ways of a route as if it were attached.
    pub fn walked(self, route: ObjectId) -> Vec<Way> {
        self.walked_alone(&self.world(), route)
    }

    /// Routes that requests would reach if what was not read were there.
    pub fn assumed_routes(self) -> BTreeSet<ObjectId> {
        let ways = self.all_assumed().through.keys().copied();
        let alone = self.topology().routes(self.snapshot).filter(|(route, attached)| {
            !attached && self.topology().leading_to(*route).is_empty() && !self.assumptions(*route).is_empty()
        });
        ways.chain(alone.map(|(route, _)| route)).collect()
    }

    fn walked_alone(self, world: &World<'s>, route: ObjectId) -> Vec<Way> {
        let Some(read) = world.route(route).filter(|read| read.route.matches_requests()) else { return Vec::new() };
        let (mut reports, mut warnings) = (Reports::default(), Warnings::default());
        let mut steps = Steps::up_to(self.gateways.settings.topology.step_limit);
        let parent = Parent { object: route, section: None };
        let mut ways = Walk::new(world, None, &mut reports, &mut warnings, &mut steps).from(&read, &parent);
        ways.sort_by(|one, other| one.rank.cmp(&other.rank));
        ways
    }

    /// Backends of a rule of types that nobody here knows, and that whoever runs the gateway may.
    pub fn unknown_backends(self, step: &Step, system: Option<System>) -> Vec<String> {
        let Some(route) = View::of(self.snapshot, step.route).map(Route::of) else { return Vec::new() };
        let backends = route.rules.get(step.rule).map_or(&[][..], |rule| &rule.backends);
        let references = backends.iter().map(|backend| &backend.reference);
        let unknown = references.filter(|to| !to.delegates() && is_beyond(system, to.group, to.kind));
        unknown.map(|to| format!("{}/{} {}/{}", to.group, to.kind, to.namespace, to.name)).collect()
    }

    /// Backends of a rule that take no requests.
    pub fn unusable_backends(self, step: &Step, system: Option<System>) -> Vec<Unusable> {
        let Some(route) = View::of(self.snapshot, step.route).map(Route::of) else { return Vec::new() };
        let Some(rule) = route.rules.get(step.rule) else { return Vec::new() };
        let world = self.world();
        let weights: Vec<u64> = children(rule.value, "backendRefs")
            .map(|backend| backend.get("weight").and_then(Value::as_integer).map_or(1, i64::unsigned_abs))
            .collect();
        let of = weights.iter().sum();
        let backends = rule.backends.iter().zip(weights).filter(|(backend, _)| !backend.reference.delegates());
        let refused = backends.filter_map(|(backend, weight)| {
            let (reason, problem) = world.refuse(&route.view, backend, system)?;
            let reference = &backend.reference;
            let is_there = self.snapshot.object_named(reference.kind, reference.namespace, reference.name).is_some();
            let may_exist = reason == "RefNotPermitted" || (reason == "BackendNotFound" && !is_there);
            Some(Unusable { problem, may_exist, weight, of })
        });
        refused.collect()
    }
}
