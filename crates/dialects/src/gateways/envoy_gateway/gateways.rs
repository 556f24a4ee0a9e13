//! What is said of policies of gateways, listener sets and their listeners, other than those for clients.

use std::collections::BTreeSet;

use upheld_engine::ObjectId;

use super::attachment_requests::{AttachmentRequest, Wishes};
use super::routes::RoutesOf;
use super::status::{Statuses, holds};
use super::targets::{Level, Target};

/// Speaks of all policies of gateways, given the routes that were merged with each.
pub(super) fn report(requests: &Wishes<'_>, merged: &RoutesOf, statuses: &mut Statuses<'_>) {
    let governed = governed(requests);
    let plural = requests.plural();
    for request in requests.all.iter().filter(|request| request.level > Level::Route) {
        let ancestor = &request.target;
        if statuses.refuse(request, std::slice::from_ref(ancestor)) {
            continue;
        }
        statuses.accept(request.policy, ancestor);
        let none = BTreeSet::new();
        let merged = merged.get(&request.target).unwrap_or(&none);
        let paths = |routes: &mut dyn Iterator<Item = ObjectId>| -> BTreeSet<String> {
            routes.map(|route| requests.resources.path(route)).collect()
        };
        if !merged.is_empty() {
            let names = listed(&paths(&mut merged.iter().copied()));
            let message = format!("This policy is being merged by other {plural} for these routes: {names}");
            statuses.set(request.policy, ancestor, holds("Merged", message));
        }
        let mut groups = inner_scopes(requests, request);
        let routes = routes_below(&governed, request);
        groups.push(("routes", paths(&mut routes.difference(merged).copied())));
        let groups: Vec<String> = (groups.iter())
            .filter(|(_, names)| !names.is_empty())
            .map(|(what, names)| format!("these {what}: {}", listed(names)))
            .collect();
        if !groups.is_empty() {
            let groups = groups.join(" and ");
            let message = format!("This policy is being overridden by other {plural} for {groups}");
            statuses.set(request.policy, ancestor, holds("Overridden", message));
        }
    }
}

fn listed(names: &BTreeSet<String>) -> String {
    format!("[{}]", names.iter().map(String::as_str).collect::<Vec<_>>().join(" "))
}

/// The routes with policies of their own, below each parent that they name. A gateway has those of its sets, too.
fn governed(requests: &Wishes<'_>) -> Governed {
    let mut governed = Governed::default();
    for request in requests.all.iter().filter(|request| request.level <= Level::Route && request.refusal.is_none()) {
        let route = request.target.object;
        for parent in requests.resources.parents(route) {
            let mut add = |object| governed.whole.entry(Target::whole(object)).or_default().insert(route);
            add(parent.object);
            if let Some(gateway) = requests.resources.gateway(parent.object) {
                add(gateway.object);
            }
            governed.named.entry(parent).or_default().insert(route);
        }
    }
    governed
}

/// Routes with policies of their own.
#[derive(Debug, Default)]
struct Governed {
    /// Below a Gateway or listener set, whatever section they name.
    whole: RoutesOf,
    /// By the parent as they name it.
    named: RoutesOf,
}

/// The routes with policies of their own where a policy would hold.
fn routes_below(governed: &Governed, request: &AttachmentRequest) -> BTreeSet<ObjectId> {
    let whole = Target::whole(request.target.object);
    if request.target.section.is_none() {
        return governed.whole.get(&whole).cloned().unwrap_or_default();
    }
    // Who names no section is at all listeners.
    let parents = [request.target.clone(), whole].into_iter();
    parents.filter_map(|parent| governed.named.get(&parent)).flatten().copied().collect()
}

/// The more specific targets around routes that have a policy of their own, by what they are.
fn inner_scopes(requests: &Wishes<'_>, request: &AttachmentRequest) -> Vec<(&'static str, BTreeSet<String>)> {
    let (mut listeners, mut sets, mut set_listeners) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    let below = requests.listeners(request.target.object).filter(|_| request.target.section.is_none());
    for (gateway, listener) in below {
        let is_own = gateway.object == listener.owner;
        if request.level == Level::Set && listener.owner != request.target.object {
            continue;
        }
        let path = requests.resources.path(listener.owner);
        if requests.holder(&Target::section(listener.owner, &listener.name)).is_some() {
            let names = if is_own { &mut listeners } else { &mut set_listeners };
            names.insert(format!("{path}/{}", listener.name));
        }
        let above = request.level == Level::Gateway && !is_own;
        if above && requests.holder(&Target::whole(listener.owner)).is_some() {
            sets.insert(path);
        }
    }
    vec![("gateway listeners", listeners), ("listenersets", sets), ("listenerset listeners", set_listeners)]
}
