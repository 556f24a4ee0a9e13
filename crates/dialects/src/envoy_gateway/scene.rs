//! Gateways, listener sets and routes of a topology, found by name and label.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;
use upheld_engine::ObjectId;

use super::targets::{Level, Target};
use crate::gateway_api::Topology;
use crate::gateway_api::resources::{Route, View};
use crate::gateway_api::topology::{Gateway, Listener};

/// What policies speak about.
#[derive(Debug)]
pub(super) struct Scene<'t> {
    pub(super) topology: &'t Topology<'t>,
    routes: FxHashMap<ObjectId, Route<'t>>,
    /// The gateway that each Gateway and each of its listener sets belongs to.
    sites: FxHashMap<ObjectId, usize>,
    by_name: FxHashMap<(&'t str, &'t str, &'t str), ObjectId>,
    by_namespace: FxHashMap<(&'t str, &'t str), Vec<View<'t>>>,
    /// Where each route is: places in the list of what is attached.
    attached: FxHashMap<ObjectId, Vec<usize>>,
}

impl<'t> Scene<'t> {
    pub(super) fn new(topology: &'t Topology<'t>) -> Self {
        let mut sites = FxHashMap::default();
        for (place, gateway) in topology.gateways.iter().enumerate() {
            sites.insert(gateway.object, place);
            sites.extend(gateway.listeners.iter().map(|listener| (listener.owner, place)));
        }
        let (mut routes, mut by_name) = (FxHashMap::default(), FxHashMap::default());
        let mut by_namespace = FxHashMap::<_, Vec<View<'t>>>::default();
        for (id, _) in topology.snapshot.objects().iter() {
            let Some(view) = View::of(topology.snapshot, id) else { continue };
            if Route::KINDS.contains(&view.kind) {
                routes.insert(id, Route::of(view));
            } else if !sites.contains_key(&id) {
                continue;
            }
            by_name.insert((view.kind, view.namespace, view.name), id);
            by_namespace.entry((view.kind, view.namespace)).or_default().push(view);
        }
        let mut attached: FxHashMap<ObjectId, Vec<usize>> = FxHashMap::default();
        for (place, found) in topology.attached.iter().enumerate() {
            attached.entry(found.route).or_default().push(place);
        }
        Self { topology, routes, sites, by_name, by_namespace, attached }
    }

    /// A target by type, namespace and name.
    pub(super) fn object(&self, kind: &str, namespace: &str, name: &str) -> Option<ObjectId> {
        self.by_name.get(&(kind, namespace, name)).copied()
    }

    /// All targets of a type in a namespace.
    pub(super) fn all<'a>(&'a self, kind: &'a str, namespace: &'a str) -> &'a [View<'a>] {
        self.by_namespace.get(&(kind, namespace)).map_or(&[], Vec::as_slice)
    }

    pub(super) fn is_route(&self, object: ObjectId) -> bool {
        self.routes.contains_key(&object)
    }

    /// The gateway that a Gateway or listener set belongs to, by its place.
    pub(super) fn site(&self, object: ObjectId) -> Option<usize> {
        self.sites.get(&object).copied()
    }

    /// The gateway that a Gateway or listener set belongs to.
    pub(super) fn gateway(&self, object: ObjectId) -> Option<&'t Gateway> {
        self.topology.gateways.get(self.site(object)?)
    }

    /// How specific a target is.
    pub(super) fn level(&self, target: &Target) -> Level {
        let is_gateway = self.gateway(target.object).is_some_and(|gateway| gateway.object == target.object);
        match (self.is_route(target.object), is_gateway, target.section.is_some()) {
            (true, _, true) => Level::Rule,
            (true, _, false) => Level::Route,
            (_, false, true) => Level::SetListener,
            (_, false, false) => Level::Set,
            (_, true, true) => Level::Listener,
            (_, true, false) => Level::Gateway,
        }
    }

    /// Whether the section that a target names is there.
    pub(super) fn has_section(&self, target: &Target) -> bool {
        let Some(section) = target.section.as_deref() else { return true };
        if let Some(route) = self.routes.get(&target.object) {
            return route.rules.iter().any(|rule| rule.name == Some(section));
        }
        self.own_listeners(target.object).any(|listener| listener.name == section)
    }

    /// The listeners that a Gateway or listener set has itself.
    pub(super) fn own_listeners(&self, object: ObjectId) -> impl Iterator<Item = &'t Listener> {
        let all = self.gateway(object).map_or(&[][..], |gateway| gateway.listeners.as_slice());
        all.iter().filter(move |listener| listener.owner == object)
    }

    /// The name of a rule, by its place.
    pub(super) fn rule_name(&self, route: ObjectId, rule: usize) -> Option<&'t str> {
        self.routes.get(&route)?.rules.get(rule)?.name
    }

    /// The names of the rules of a route.
    pub(super) fn rule_names(&self, route: ObjectId) -> impl Iterator<Item = &'t str> {
        let rules = self.routes.get(&route).map_or(&[][..], |route| route.rules.as_slice());
        rules.iter().filter_map(|rule| rule.name)
    }

    /// What a route names as its parents and what is there, each once.
    pub(super) fn parents(&self, route: ObjectId) -> Vec<Target> {
        let references = self.routes.get(&route).map_or(&[][..], |route| route.parents.as_slice());
        let mut seen = BTreeSet::new();
        let found = references.iter().filter_map(|reference| {
            let object = self.object(reference.kind(), reference.namespace, reference.name)?;
            self.sites.contains_key(&object).then_some(())?;
            Some(Target { object, section: reference.section.map(str::to_owned) })
        });
        found.filter(|parent| seen.insert(parent.clone())).collect()
    }

    /// The listeners that a route is at: gateway and listener by their places.
    pub(super) fn listeners_of(&self, route: ObjectId) -> impl Iterator<Item = (usize, usize)> {
        let places = self.attached.get(&route).map_or(&[][..], Vec::as_slice);
        places.iter().filter_map(|place| self.topology.attached.get(*place)).map(|at| (at.gateway, at.listener))
    }

    /// A listener by its place.
    pub(super) fn listener(&self, gateway: usize, listener: usize) -> Option<(&'t Gateway, &'t Listener)> {
        let gateway = self.topology.gateways.get(gateway)?;
        Some((gateway, gateway.listeners.get(listener)?))
    }

    /// Namespace and name of an object.
    pub(super) fn path(&self, object: ObjectId) -> String {
        let snapshot = self.topology.snapshot;
        snapshot.objects().get(object).map_or_else(String::new, |object| {
            format!("{}/{}", snapshot.text(object.scope), snapshot.text(object.name))
        })
    }

    /// The type of an object, and its name.
    pub(super) fn type_and_name(&self, object: ObjectId) -> (&'t str, &'t str) {
        let snapshot = self.topology.snapshot;
        let found = snapshot.objects().get(object);
        found.map_or(("", ""), |object| (snapshot.text(object.kind), snapshot.text(object.name)))
    }
}
