//! What is said of policies of routes and their rules.

use std::collections::{BTreeMap, BTreeSet};

use upheld_engine::ObjectId;

use super::attachment_requests::{AttachmentRequest, Wishes};
use super::status::{Statuses, holds};
use super::targets::{Level, Target};

/// Routes by what a policy is attached to.
pub(super) type RoutesOf = BTreeMap<Target, BTreeSet<ObjectId>>;

/// Speaks of all policies of routes. The routes that were merged with each policy of a gateway or listener.
pub(super) fn report(requests: &Wishes<'_>, statuses: &mut Statuses<'_>) -> RoutesOf {
    let mut merged = RoutesOf::new();
    for request in requests.all.iter().filter(|request| request.level <= Level::Route) {
        let ancestors = requests.resources.parents(request.target.object);
        if statuses.refuse(request, &ancestors) {
            continue;
        }
        merge_parents(requests, request, &mut merged, statuses);
        let overridden = overriding_rules(requests, request);
        for ancestor in &ancestors {
            statuses.accept(request.policy, ancestor);
            if let Some(message) = &overridden {
                statuses.set(request.policy, ancestor, holds("Overridden", message.clone()));
            }
        }
    }
    merged
}

/// The policies that one of a route is merged with, for each listener that the route is at.
fn merge_parents(
    requests: &Wishes<'_>,
    request: &AttachmentRequest,
    merged: &mut RoutesOf,
    statuses: &mut Statuses<'_>,
) {
    if !requests.merges(request.policy) {
        return;
    }
    for (gateway, listener) in requests.resources.listeners_of(request.target.object) {
        let Some((target, parent)) = requests.nearest(gateway, listener) else { continue };
        let ancestor = Target::section(listener.owner, &listener.name);
        let message = format!("Merged with policy {}", requests.path(parent));
        statuses.set(request.policy, &ancestor, holds("Merged", message));
        merged.entry(target).or_default().insert(request.target.object);
    }
}

/// The rules of a route that have a policy of their own, in words.
fn overriding_rules(requests: &Wishes<'_>, request: &AttachmentRequest) -> Option<String> {
    if request.level != Level::Route {
        return None;
    }
    let route = request.target.object;
    let names = requests.resources.rule_names(route);
    let names: BTreeSet<&str> = names.filter(|name| requests.holder(&Target::section(route, name)).is_some()).collect();
    let names: Vec<&str> = names.into_iter().collect();
    let plural = requests.plural();
    (!names.is_empty()).then(|| {
        format!("This policy is being overridden by other {plural} for these route rules: [{}]", names.join(" "))
    })
}
