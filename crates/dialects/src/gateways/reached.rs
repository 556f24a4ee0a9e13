//! Which places a change can reach: what changed, what it is attached to, and everything on a way with it. Where more than that may
//! depend on a change, nothing is said, and all places are asked.

use std::collections::BTreeSet;

use upheld_engine::{ObjectId, PolicyId, Snapshot};
use upheld_model::Value;
use upheld_report::ChangedDocument;

use super::gateway_api::controller::System;
use super::gateway_api::resources::Route;
use super::gateway_api::{GatewayKind, Network, claim};
use super::questions;
use super::unattached::names;
use crate::dialect::{Listing, Reached};
use crate::question::Words;

/// The places that a change can reach; nothing if it may reach all of them.
pub(super) fn reached(snapshots: [&Snapshot; 2], changed: &[ChangedDocument], most: usize) -> Option<Reached> {
    let [before, after] = snapshots;
    let networks = [Network::of(before)?, Network::of(after)?];
    if !stand_on_one_ground(networks) {
        return None;
    }
    let mut names: BTreeSet<[&str; 3]> = BTreeSet::new();
    for network in networks {
        let mut touched = Touched { network, objects: BTreeSet::new() };
        for document in changed {
            touched.document(document, networks)?;
        }
        let objects = touched.objects.into_iter().filter_map(|object| network.object(object));
        names.extend(objects.map(|one| [one.kind, one.scope, one.name].map(|symbol| network.snapshot.text(symbol))));
    }
    let all = snapshots.map(questions::count).into_iter().max().unwrap_or_default();
    let mut questions: Vec<Vec<Words>> =
        names.into_iter().filter_map(questions::words).map(|words| vec![words]).take(most + 1).collect();
    let listing = if questions.len() > most { Listing::Cut } else { Listing::Whole };
    questions.truncate(most);
    let beyond = all.saturating_sub(questions.len()) as u64;
    Some(Reached { questions, beyond, listing, ..Reached::default() })
}

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

/// Whether nothing is otherwise that all answers depend on.
fn stand_on_one_ground([before, after]: [Network<'_>; 2]) -> bool {
    // Kinds without policies are not told of.
    let kinds = |network: Network<'_>| -> Vec<(String, Option<String>, bool)> {
        let text = |symbol| network.snapshot.text(symbol).to_owned();
        let known =
            |kind: GatewayKind<'_>| (text(kind.kind.name), kind.kind.semantics.map(text), kind.policies.is_empty());
        network.kinds().map(known).collect()
    };
    let meant = |network: Network<'_>| [System::Kgateway, System::EnvoyGateway].map(|system| network.is_meant(system));
    let types = |network: Network<'_>| -> Vec<bool> {
        let symbols = network.snapshot.symbols();
        claim::types().map(|kind| network.snapshot.objects().has_kind(kind, symbols)).collect()
    };
    kinds(before) == kinds(after)
        && meant(before) == meant(after)
        && types(before) == types(after)
        && before.gateways.settings == after.gateways.settings
        && !before.topology().leaves_something_out()
        && !after.topology().leaves_something_out()
}

/// Objects in whose answers something may be otherwise.
struct Touched<'s> {
    network: Network<'s>,
    objects: BTreeSet<ObjectId>,
}

impl Touched<'_> {
    /// What a changed document touches on this side; nothing if that may be everything.
    fn document(&mut self, document: &ChangedDocument, networks: [Network<'_>; 2]) -> Option<()> {
        let ChangedDocument { kind, scope, name, .. } = document;
        let (snapshot, kind) = (self.network.snapshot, kind.as_str());
        // A document that is known on neither side is not what it is called.
        let is_policy = networks.iter().any(|one| one.snapshot.policy_named(kind, scope, name).is_some());
        let governs = |one: &Network<'_>| one.kinds().any(|known| one.snapshot.text(known.kind.governs) == kind);
        if networks.iter().any(governs) {
            if let Some(policy) = snapshot.policy_named(kind, scope, name) {
                self.policy(policy);
            }
            return is_policy.then_some(());
        }
        // A route or a Service may reach more than what is on a way with it.
        // What is of other systems reaches nothing here.
        (kind != "PolicyKind" && claim::types().all(|known| known != kind)).then_some(())
    }

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
