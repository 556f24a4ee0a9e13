//! What is said of policies of gateways, listener sets and their listeners, other than those for clients.

use std::collections::BTreeSet;

use upheld_engine::ObjectId;

use super::attachments::{Attachments, Wish};
use super::policies::PolicyKind;
use super::routes::RoutesOf;
use super::status::{Statuses, holds};
use super::targets::{Level, Target};

/// Speaks of all policies of gateways, given the routes that were merged with each.
pub(super) fn report(attachments: &Attachments<'_>, merged: &RoutesOf, statuses: &mut Statuses<'_>) {
    let governed = governed(attachments);
    for wish in attachments.wishes.iter().filter(|wish| wish.level > Level::Route) {
        let Some(policy) = attachments.policies.get(wish.policy) else { continue };
        let ancestor = &wish.target;
        if policy.kind == PolicyKind::ClientTraffic || statuses.refuse(wish, std::slice::from_ref(ancestor)) {
            continue;
        }
        statuses.accept(wish.policy, ancestor);
        let (kind, plural) = (policy.kind, policy.kind.plural());
        let none = BTreeSet::new();
        let merged = merged.get(&(kind, wish.target.clone())).unwrap_or(&none);
        let paths = |routes: &mut dyn Iterator<Item = ObjectId>| -> BTreeSet<String> {
            routes.map(|route| attachments.scene.path(route)).collect()
        };
        if !merged.is_empty() {
            let names = listed(&paths(&mut merged.iter().copied()));
            let message = format!("This policy is being merged by other {plural} for these routes: {names}");
            statuses.set(wish.policy, ancestor, holds("Merged", message));
        }
        let mut groups = inner_scopes(attachments, kind, wish);
        let routes = routes_below(&governed, kind, wish);
        groups.push(("routes", paths(&mut routes.difference(merged).copied())));
        let groups: Vec<String> = (groups.iter())
            .filter(|(_, names)| !names.is_empty())
            .map(|(what, names)| format!("these {what}: {}", listed(names)))
            .collect();
        if !groups.is_empty() {
            let groups = groups.join(" and ");
            let message = format!("This policy is being overridden by other {plural} for {groups}");
            statuses.set(wish.policy, ancestor, holds("Overridden", message));
        }
    }
}

fn listed(names: &BTreeSet<String>) -> String {
    format!("[{}]", names.iter().map(String::as_str).collect::<Vec<_>>().join(" "))
}

/// The routes with policies of their own, below each parent that they name. A gateway has those of its sets, too.
fn governed(attachments: &Attachments<'_>) -> Governed {
    let mut governed = Governed::default();
    for wish in attachments.wishes.iter().filter(|wish| wish.level <= Level::Route && wish.refusal.is_none()) {
        let Some(policy) = attachments.policies.get(wish.policy) else { continue };
        let route = wish.target.object;
        for parent in attachments.scene.parents(route) {
            let mut add =
                |object| governed.whole.entry((policy.kind, Target::whole(object))).or_default().insert(route);
            add(parent.object);
            if let Some(gateway) = attachments.scene.gateway(parent.object) {
                add(gateway.object);
            }
            governed.named.entry((policy.kind, parent)).or_default().insert(route);
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
fn routes_below(governed: &Governed, kind: PolicyKind, wish: &Wish) -> BTreeSet<ObjectId> {
    let whole = Target::whole(wish.target.object);
    if wish.target.section.is_none() {
        return governed.whole.get(&(kind, whole)).cloned().unwrap_or_default();
    }
    // Who names no section is at all listeners.
    let parents = [wish.target.clone(), whole].into_iter();
    parents.filter_map(|parent| governed.named.get(&(kind, parent))).flatten().copied().collect()
}

/// The more specific targets around routes that have a policy of their own, by what they are.
fn inner_scopes(attachments: &Attachments<'_>, kind: PolicyKind, wish: &Wish) -> Vec<(&'static str, BTreeSet<String>)> {
    let scene = &attachments.scene;
    let (mut listeners, mut sets, mut set_listeners) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    let gateway = scene.gateway(wish.target.object).filter(|_| wish.target.section.is_none());
    for listener in gateway.into_iter().flat_map(|gateway| &gateway.listeners) {
        let is_own = gateway.is_some_and(|gateway| gateway.object == listener.owner);
        if wish.level == Level::Set && listener.owner != wish.target.object {
            continue;
        }
        let path = scene.path(listener.owner);
        if attachments.holder(kind, &Target::section(listener.owner, &listener.name)).is_some() {
            let names = if is_own { &mut listeners } else { &mut set_listeners };
            names.insert(format!("{path}/{}", listener.name));
        }
        let above = wish.level == Level::Gateway && !is_own;
        if above && attachments.holder(kind, &Target::whole(listener.owner)).is_some() {
            sets.insert(path);
        }
    }
    vec![("gateway listeners", listeners), ("listenersets", sets), ("listenerset listeners", set_listeners)]
}
