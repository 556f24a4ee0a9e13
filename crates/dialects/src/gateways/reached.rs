//! In which answers a policy can have a say: those about what it is attached to, and about everything on a way with it.

use std::collections::BTreeSet;

use upheld_engine::{ObjectId, PolicyId};
use upheld_model::Value;

use super::gateway_api::Network;
use super::gateway_api::resources::Route;
use super::questions;
use super::unattached::names;
use crate::dialect::Listing;
use crate::question::Words;

/// The questions in whose answers a policy can have a say.
pub(super) fn questions_about(network: Network<'_>, policy: PolicyId, most: usize) -> (Vec<Words>, Listing) {
    let mut touched = Touched { network, objects: BTreeSet::new() };
    touched.policy(policy);
    let objects = touched.objects.into_iter().filter_map(|object| network.object(object));
    let names: BTreeSet<[&str; 3]> =
        objects.map(|one| [one.kind, one.scope, one.name].map(|symbol| network.snapshot.text(symbol))).collect();
    let mut questions: Vec<Words> = names.into_iter().filter_map(questions::words).take(most + 1).collect();
    let listing = if questions.len() > most { Listing::Cut } else { Listing::Whole };
    questions.truncate(most);
    (questions, listing)
}

/// Objects in whose answers something may be otherwise.
struct Touched<'s> {
    network: Network<'s>,
    objects: BTreeSet<ObjectId>,
}

impl Touched<'_> {
    /// A policy: what it names and selects, and rules that name it.
    fn policy(&mut self, id: PolicyId) {
        let network = self.network;
        let Some(policy) = network.snapshot.policy(id) else { return };
        let Some(attachments) = policy.attachments() else { return };
        for target in &attachments.targets {
            if let Some(object) = network.snapshot.object(target.kind, target.namespace, target.name) {
                self.around(object);
            }
        }
        let kinds = network.kinds().filter(|kind| kind.kind.governs == policy.kind);
        for kind in kinds.filter(|_| !attachments.selectors.is_empty()) {
            for (_, object, _) in network.selected(kind, policy) {
                self.around(object);
            }
        }
        for (route, _) in network.topology().route_ids() {
            if names(network, route, policy) {
                self.ways_of(route);
            }
        }
    }

    /// An object that policies are attached to, with everything on a way with it.
    fn around(&mut self, object: ObjectId) {
        let network = self.network;
        let Some(found) = network.object(object) else { return };
        let [kind, scope, name] = [found.kind, found.scope, found.name].map(|part| network.snapshot.text(part));
        self.objects.insert(object);
        if Route::KINDS.contains(&kind) {
            self.ways_of(object);
            return;
        }
        self.looking_for(kind, scope, name);
        // Listeners of a gateway share ports, and its sets.
        for (place, gateway) in network.topology().gateways.iter().enumerate() {
            let owns = gateway.listeners.iter().any(|listener| listener.owner == object);
            if gateway.object != object && !owns {
                continue;
            }
            self.objects.insert(gateway.object);
            self.objects.extend(gateway.listeners.iter().map(|listener| listener.owner));
            let attached = network.topology().attached().filter(|at| at.gateway == place).map(|at| at.route);
            for route in attached.collect::<BTreeSet<ObjectId>>() {
                self.ways_of(route);
            }
        }
    }

    /// Routes that looked for an object, whether it is there or not.
    fn looking_for(&mut self, kind: &str, scope: &str, name: &str) {
        let network = self.network;
        for route in network.topology().naming_object(kind, scope, name) {
            self.ways_of(*route);
        }
        // What routes look for is known of those that are attached.
        for (route, _) in network.topology().route_ids().filter(|(_, attached)| !attached) {
            let at = network.object(route).map(|route| route.at);
            if at.and_then(|at| network.snapshot.files().value(at)).is_some_and(|document| says(document, name)) {
                self.ways_of(route);
            }
        }
    }

    /// A route, and all that are on a way with it.
    fn ways_of(&mut self, route: ObjectId) {
        self.objects.insert(route);
        self.objects.extend(self.network.on_ways_with(route));
    }
}

/// Whether a text stands somewhere in a value.
fn says(value: Value<'_>, text: &str) -> bool {
    value.text() == text
        || value.items().any(|item| says(item, text))
        || value.entries().any(|(_, value)| says(value, text))
}
