//! What is said of policies of routes and their rules.

use std::collections::{BTreeMap, BTreeSet};

use upheld_engine::ObjectId;

use super::attachments::{Attachments, Wish};
use super::policies::PolicyKind;
use super::status::{Statuses, holds};
use super::targets::{Level, Target};
use crate::gateway_api::MergeType;

/// Routes by what a policy of some kind is attached to.
pub(super) type RoutesOf = BTreeMap<(PolicyKind, Target), BTreeSet<ObjectId>>;

/// Speaks of all policies of routes. The routes that were merged with each policy of a gateway or listener.
pub(super) fn report(attachments: &Attachments<'_>, statuses: &mut Statuses<'_>) -> RoutesOf {
    let mut merged = RoutesOf::new();
    for wish in attachments.wishes.iter().filter(|wish| wish.level <= Level::Route) {
        let ancestors = attachments.scene.parents(wish.target.object);
        if statuses.refuse(wish, &ancestors) {
            continue;
        }
        merge_parents(attachments, wish, &mut merged, statuses);
        let overridden = overriding_rules(attachments, wish);
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
fn merge_parents(attachments: &Attachments<'_>, wish: &Wish, merged: &mut RoutesOf, statuses: &mut Statuses<'_>) {
    let Some(policy) = attachments.policies.get(wish.policy) else { return };
    if policy.merge_type == MergeType::Replace {
        return;
    }
    for (gateway, listener) in attachments.scene.listeners_of(wish.target.object) {
        let Some((target, parent)) = attachments.nearest(policy.kind, gateway, listener) else { continue };
        let Some((_, listener)) = attachments.scene.listener(gateway, listener) else { continue };
        let path = attachments.policies.get(parent).map(super::Policy::path).unwrap_or_default();
        let ancestor = Target::section(listener.owner, &listener.name);
        statuses.set(wish.policy, &ancestor, holds("Merged", format!("Merged with policy {path}")));
        merged.entry((policy.kind, target)).or_default().insert(wish.target.object);
    }
}

/// The rules of a route that have a policy of their own, in words.
fn overriding_rules(attachments: &Attachments<'_>, wish: &Wish) -> Option<String> {
    let kind = attachments.policies.get(wish.policy)?.kind;
    if wish.level != Level::Route {
        return None;
    }
    let route = wish.target.object;
    let names = attachments.scene.rule_names(route);
    let names: BTreeSet<&str> =
        names.filter(|name| attachments.holder(kind, &Target::section(route, name)).is_some()).collect();
    let names: Vec<&str> = names.into_iter().collect();
    let plural = kind.plural();
    (!names.is_empty()).then(|| {
        format!("This policy is being overridden by other {plural} for these route rules: [{}]", names.join(" "))
    })
}
