//! What is said of policies for clients. They speak about listeners and nothing below.

use std::collections::BTreeSet;

use super::attachments::{Attachments, Wish};
use super::policies::PolicyKind;
use super::scene::Scene;
use super::status::{Statuses, holds, not_accepted};
use super::targets::Target;
use crate::gateway_api::topology::{Gateway, Listener};

/// Speaks of all policies for clients.
pub(super) fn report(attachments: &Attachments<'_>, statuses: &mut Statuses<'_>) {
    let is_client = |wish: &&Wish| {
        attachments.policies.get(wish.policy).is_some_and(|policy| policy.kind == PolicyKind::ClientTraffic)
    };
    for wish in attachments.wishes.iter().filter(is_client) {
        let ancestor = &wish.target;
        if statuses.refuse(wish, std::slice::from_ref(ancestor)) {
            continue;
        }
        let (mut sections, mut conflicts) = (BTreeSet::new(), BTreeSet::new());
        for (gateway, place, listener) in listeners(&attachments.scene, ancestor) {
            let nearest = attachments.nearest(PolicyKind::ClientTraffic, gateway, place);
            if nearest.is_some_and(|(target, _)| target != *ancestor) {
                sections.insert(listener.name.as_str());
            } else {
                conflicts.extend(port_conflicts(&attachments.scene, ancestor, gateway, place));
            }
        }
        if !sections.is_empty() {
            let names = sections.into_iter().collect::<Vec<_>>().join(" ");
            let message =
                format!("There are existing ClientTrafficPolicies that are overriding these sections [{names}]");
            statuses.set(wish.policy, ancestor, holds("Overridden", message));
        }
        if !conflicts.is_empty() {
            let names = conflicts.into_iter().collect::<Vec<_>>().join(", ");
            let message = format!(
                "ClientTrafficPolicy is being applied to multiple http (non https) listeners ({names}) on the same port, which is not allowed"
            );
            statuses.set(wish.policy, ancestor, not_accepted("Invalid", message));
        }
        statuses.accept(wish.policy, ancestor);
    }
}

/// The listeners that a target contains, with their places.
fn listeners<'t>(scene: &Scene<'t>, target: &Target) -> Vec<(usize, usize, &'t Listener)> {
    let (Some(wanted), Some(place)) = (scene.gateway(target.object), scene.site(target.object)) else {
        return Vec::new();
    };
    let all = wanted.listeners.iter().enumerate().filter(|(_, listener)| contains(wanted, target, listener));
    all.map(|(index, listener)| (place, index, listener)).collect()
}

fn contains(gateway: &Gateway, target: &Target, listener: &Listener) -> bool {
    match &target.section {
        Some(section) => listener.owner == target.object && listener.name == *section,
        None => listener.owner == target.object || gateway.object == target.object,
    }
}

/// The listeners that would get the settings of a policy without being part of its target: plain listeners share their port.
pub(super) fn port_conflicts(scene: &Scene<'_>, target: &Target, gateway: usize, listener: usize) -> Vec<String> {
    let Some((gateway, listener)) = scene.listener(gateway, listener) else { return Vec::new() };
    let shares = |other: &&Listener| {
        listener.is_plain() && other.is_plain() && other.port == listener.port && !contains(gateway, target, other)
    };
    gateway.listeners.iter().filter(shares).map(|other| title(scene, gateway, other)).collect()
}

/// A listener as the proxy names it.
fn title(scene: &Scene<'_>, gateway: &Gateway, listener: &Listener) -> String {
    let path = scene.path(gateway.object);
    if listener.owner == gateway.object {
        return format!("{path}/{}", listener.name);
    }
    format!("{path}/{}/{}", scene.path(listener.owner), listener.name)
}
