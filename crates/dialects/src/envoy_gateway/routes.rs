//! What is said of policies of routes and their rules.

use std::collections::{BTreeMap, BTreeSet};

use upheld_engine::ObjectId;

use super::status::{Statuses, holds};
use super::targets::{Level, Target};
use super::wishes::{Wish, Wishes};

/// Routes by what a policy is attached to.
pub(super) type RoutesOf = BTreeMap<Target, BTreeSet<ObjectId>>;

/// Speaks of all policies of routes. The routes that were merged with each policy of a gateway or listener.
pub(super) fn report(wishes: &Wishes<'_>, statuses: &mut Statuses<'_>) -> RoutesOf {
    let mut merged = RoutesOf::new();
    for wish in wishes.all.iter().filter(|wish| wish.level <= Level::Route) {
        let ancestors = wishes.scene.parents(wish.target.object);
        if statuses.refuse(wish, &ancestors) {
            continue;
        }
        merge_parents(wishes, wish, &mut merged, statuses);
        let overridden = overriding_rules(wishes, wish);
        for ancestor in &ancestors {
            statuses.accept(wish.policy, ancestor);
            if let Some(message) = &overridden {
                statuses.set(wish.policy, ancestor, holds("Overridden", message.clone()));
            }
        }
    }
    merged
}

/// The policies that one of a route is merged with, for each listener that the route is at.
fn merge_parents(wishes: &Wishes<'_>, wish: &Wish, merged: &mut RoutesOf, statuses: &mut Statuses<'_>) {
    if !wishes.merges(wish.policy) {
        return;
    }
    for (gateway, listener) in wishes.scene.listeners_of(wish.target.object) {
        let Some((target, parent)) = wishes.nearest(gateway, listener) else { continue };
        let ancestor = Target::section(listener.owner, &listener.name);
        let message = format!("Merged with policy {}", wishes.path(parent));
        statuses.set(wish.policy, &ancestor, holds("Merged", message));
        merged.entry(target).or_default().insert(wish.target.object);
    }
}

/// The rules of a route that have a policy of their own, in words.
fn overriding_rules(wishes: &Wishes<'_>, wish: &Wish) -> Option<String> {
    if wish.level != Level::Route {
        return None;
    }
    let route = wish.target.object;
    let names = wishes.scene.rule_names(route);
    let names: BTreeSet<&str> = names.filter(|name| wishes.holder(&Target::section(route, name)).is_some()).collect();
    let names: Vec<&str> = names.into_iter().collect();
    let plural = wishes.plural();
    (!names.is_empty()).then(|| {
        format!("This policy is being overridden by other {plural} for these route rules: [{}]", names.join(" "))
    })
}
