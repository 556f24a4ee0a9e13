//! What policies can be attached to: gateways, listener sets, routes and their sections.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;
use upheld_engine::ObjectId;

use super::targets::{Level, Target};
use crate::gateways::gateway_api::controller::System;
use crate::gateways::gateway_api::gateways::Network;
use crate::gateways::gateway_api::resources::{Route, View};
use crate::gateways::gateway_api::topology::{Gateway, Listener};

/// Everything that policies can be attached to.
#[derive(Debug)]
pub(super) struct Resources<'s> {
    pub(super) network: Network<'s>,
    routes: FxHashMap<ObjectId, Route<'s>>,
    /// The gateway that each Gateway and each of its listener sets belongs to.
    sites: FxHashMap<ObjectId, &'s Gateway>,
    /// The listeners that each route is at.
    attached: FxHashMap<ObjectId, Vec<(&'s Gateway, &'s Listener)>>,
    /// Gateways, listener sets and routes, by their numbers.
    objects: Vec<ObjectId>,
}

impl<'s> Resources<'s> {
    pub(super) fn of(network: Network<'s>) -> Self {
        let topology = network.topology();
        let mut sites = FxHashMap::default();
        let is_own =
            |gateway: &&Gateway| gateway.controller.is_none_or(|controller| controller.system == System::EnvoyGateway);
        for gateway in topology.gateways.iter().filter(is_own) {
            sites.insert(gateway.object, gateway);
            sites.extend(gateway.listeners.iter().map(|listener| (listener.owner, gateway)));
        }
        let (mut routes, mut objects) = (FxHashMap::default(), Vec::new());
        for (id, object) in network.snapshot.objects().iter() {
            let is_route = Route::KINDS.contains(&network.snapshot.text(object.kind));
            if let Some(view) = View::of(network.snapshot, id).filter(|_| is_route) {
                routes.insert(id, Route::of(view));
            } else if !sites.contains_key(&id) {
                continue;
            }
            objects.push(id);
        }
        let mut attached: FxHashMap<ObjectId, Vec<_>> = FxHashMap::default();
        for found in topology.attached() {
            let Some(gateway) = topology.gateways.get(found.gateway).filter(is_own) else { continue };
            let listener = gateway.listeners.get(found.listener).map(|listener| (gateway, listener));
            attached.entry(found.route).or_default().extend(listener);
        }
        Self { network, routes, sites, attached, objects }
    }

    /// Everything that a policy can be attached to.
    pub(super) fn targets(&self) -> Vec<Target> {
        let mut targets = Vec::new();
        for object in &self.objects {
            targets.push(Target::whole(*object));
            let sections = self.rule_names(*object).chain(self.own_listeners(*object).map(|own| own.name.as_str()));
            let sections: BTreeSet<&str> = sections.collect();
            targets.extend(sections.into_iter().map(|section| Target::section(*object, section)));
        }
        targets
    }

    /// Whether policies can be attached to an object.
    pub(super) fn is_target(&self, object: ObjectId) -> bool {
        self.routes.contains_key(&object) || self.sites.contains_key(&object)
    }

    /// The gateway that a Gateway or listener set belongs to.
    pub(super) fn gateway(&self, object: ObjectId) -> Option<&'s Gateway> {
        self.sites.get(&object).copied()
    }

    /// How specific a target is.
    pub(super) fn level(&self, target: &Target) -> Level {
        let is_gateway = self.gateway(target.object).is_some_and(|gateway| gateway.object == target.object);
        match (self.routes.contains_key(&target.object), is_gateway, target.section.is_some()) {
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
        let mut rules = self.rule_names(target.object);
        rules.any(|rule| rule == section) || self.own_listeners(target.object).any(|listener| listener.name == section)
    }

    /// The listeners that a Gateway or listener set has itself.
    fn own_listeners(&self, object: ObjectId) -> impl Iterator<Item = &'s Listener> + use<'s> {
        let all = self.gateway(object).map_or(&[][..], |gateway| &gateway.listeners);
        all.iter().filter(move |listener| listener.owner == object)
    }

    /// The names of the rules of a route.
    pub(super) fn rule_names(&self, route: ObjectId) -> impl Iterator<Item = &'s str> {
        let rules = self.routes.get(&route).map_or(&[][..], |route| route.rules.as_slice());
        rules.iter().filter_map(|rule| rule.name)
    }

    /// What a route names as its parents and what is there, each once.
    pub(super) fn parents(&self, route: ObjectId) -> Vec<Target> {
        let references = self.routes.get(&route).map_or(&[][..], |route| route.parents.as_slice());
        let mut seen = BTreeSet::new();
        let found = references.iter().filter_map(|reference| {
            let object = self.network.snapshot.object_named(reference.kind(), reference.namespace, reference.name)?;
            self.sites.contains_key(&object).then_some(())?;
            Some(Target { object, section: reference.section.map(str::to_owned) })
        });
        found.filter(|parent| seen.insert(parent.clone())).collect()
    }

    /// The listeners that a route is at.
    pub(super) fn listeners_of(&self, route: ObjectId) -> &[(&'s Gateway, &'s Listener)] {
        self.attached.get(&route).map_or(&[], Vec::as_slice)
    }

    /// Namespace and name of an object.
    pub(super) fn path(&self, object: ObjectId) -> String {
        let snapshot = self.network.snapshot;
        self.network.object(object).map_or_else(String::new, |object| {
            format!("{}/{}", snapshot.text(object.scope), snapshot.text(object.name))
        })
    }

    /// The type of an object, and its name.
    pub(super) fn type_and_name(&self, object: ObjectId) -> (&'s str, &'s str) {
        let snapshot = self.network.snapshot;
        let found = self.network.object(object);
        found.map_or(("", ""), |object| (snapshot.text(object.kind), snapshot.text(object.name)))
    }
}
