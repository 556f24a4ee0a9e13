//! Policies for clients: where they cannot be used, and what is said of them. They speak about listeners and nothing below.

use std::collections::BTreeSet;

use upheld_engine::ObjectId;
use upheld_engine::hierarchy::Usable;
use upheld_model::{Code, Reason};

use super::attachment_requests::Wishes;
use super::reading::CLIENT_TRAFFIC;
use super::status::{Statuses, holds, not_accepted};
use super::targets::Target;
use crate::gateways::gateway_api::gateways::{GatewayKind, Network};
use crate::gateways::gateway_api::topology::{Gateway, Listener};

/// Whether policies for clients are meant.
pub(super) fn are_meant(network: Network<'_>, kind: GatewayKind<'_>) -> bool {
    network.snapshot.text(kind.kind.governs) == CLIENT_TRAFFIC
}

/// Whether a policy that is attached to an object, or to a section of it, can be used at a listener.
pub(crate) fn usable(
    network: Network<'_>,
    kind: GatewayKind<'_>,
    (object, section): (ObjectId, Option<&str>),
    (gateway, listener): (&Gateway, &Listener),
) -> Usable {
    if !are_meant(network, kind) {
        return Usable::Yes;
    }
    let target = Target { object, section: section.map(str::to_owned) };
    match port_sharers(&target, gateway, listener).next() {
        Some(_) => Usable::Broken(Reason::new(Code::OffSharedPort, &[])),
        None => Usable::Yes,
    }
}

/// Speaks of all policies for clients.
pub(super) fn report(requests: &Wishes<'_>, statuses: &mut Statuses<'_>) {
    for request in &requests.all {
        let ancestor = &request.target;
        if statuses.refuse(request, std::slice::from_ref(ancestor)) {
            continue;
        }
        let (mut sections, mut conflicts) = (BTreeSet::new(), BTreeSet::new());
        let inside = |gateway: &Gateway, listener: &Listener| contains(gateway, ancestor, listener);
        for (gateway, listener) in requests.listeners(ancestor.object).filter(|(gateway, own)| inside(gateway, own)) {
            let nearest = requests.nearest(gateway, listener);
            if nearest.is_some_and(|(target, _)| target != *ancestor) {
                sections.insert(listener.name.as_str());
            } else {
                let sharers = port_sharers(ancestor, gateway, listener);
                conflicts.extend(sharers.map(|other| title(requests, gateway, other)));
            }
        }
        if !sections.is_empty() {
            let names = sections.into_iter().collect::<Vec<_>>().join(" ");
            let message =
                format!("There are existing ClientTrafficPolicies that are overriding these sections [{names}]");
            statuses.set(request.policy, ancestor, holds("Overridden", message));
        }
        if !conflicts.is_empty() {
            let names = conflicts.into_iter().collect::<Vec<_>>().join(", ");
            let message = format!(
                "ClientTrafficPolicy is being applied to multiple http (non https) listeners ({names}) on the same port, which is not allowed"
            );
            statuses.set(request.policy, ancestor, not_accepted("Invalid", message));
        }
        statuses.accept(request.policy, ancestor);
    }
}

fn contains(gateway: &Gateway, target: &Target, listener: &Listener) -> bool {
    match &target.section {
        Some(section) => listener.owner == target.object && listener.name == *section,
        None => listener.owner == target.object || gateway.object == target.object,
    }
}

/// The listeners that would get the settings of a policy without being part of its target: plain listeners share their port.
fn port_sharers<'s>(target: &Target, gateway: &'s Gateway, listener: &Listener) -> impl Iterator<Item = &'s Listener> {
    gateway.listeners.iter().filter(move |other| {
        listener.is_plain() && other.is_plain() && other.port == listener.port && !contains(gateway, target, other)
    })
}

/// A listener as the proxy names it.
fn title(requests: &Wishes<'_>, gateway: &Gateway, listener: &Listener) -> String {
    let path = requests.resources.path(gateway.object);
    if listener.owner == gateway.object {
        return format!("{path}/{}", listener.name);
    }
    format!("{path}/{}/{}", requests.resources.path(listener.owner), listener.name)
}
