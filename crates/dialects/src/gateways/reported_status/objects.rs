//! What controllers would report of gateways, their listeners, and routes. What was not read is unknown, not missing.

use std::collections::BTreeSet;

use upheld_engine::ObjectId;
use upheld_model::Value;
use upheld_report::{AncestorStatus, Condition, ListenerStatus, ObjectStatus};

use super::{api_version, conditions, reference};
use crate::gateways::gateway_api::Network;
use crate::gateways::gateway_api::assumed::Assumption;
use crate::gateways::gateway_api::attachments::Reader;
use crate::gateways::gateway_api::controller::System;
use crate::gateways::gateway_api::grants::End;
use crate::gateways::gateway_api::report::PROGRAMMED;
use crate::gateways::gateway_api::topology::{Gateway, Listener};
use crate::gateways::kgateway::references::Unresolved;

/// The status of all gateways, listener sets and routes, by type, namespace and name.
pub(in crate::gateways) fn statuses(network: Network<'_>) -> Vec<ObjectStatus> {
    let mut told: Vec<ObjectStatus> = Vec::new();
    for gateway in &network.topology().gateways {
        let owners: BTreeSet<ObjectId> = gateway.listeners.iter().map(|listener| listener.owner).collect();
        let owners = std::iter::once(gateway.object).chain(owners.into_iter().filter(|owner| *owner != gateway.object));
        told.extend(owners.map(|owner| site(network, gateway, owner)));
    }
    // A listener set is made so that its gateway can be elsewhere.
    for (set, object) in network.snapshot.objects().iter() {
        let is_set = ["ListenerSet", "XListenerSet"].contains(&network.snapshot.text(object.kind));
        if let Some(gateway) = network.unread_gateway(set).filter(|_| is_set) {
            let notes = vec![format!("its parent {gateway} was not read")];
            told.push(ObjectStatus { notes, ..status(network, set, Vec::new(), Vec::new()) });
        }
    }
    let mut reports = network.programmed().reports(network.snapshot);
    for parent in reports.iter_mut().flat_map(|report| &mut report.parents) {
        let gateways = network.gateways_of(parent.parent.object);
        if !gateways.into_iter().any(|gateway| is_of_kgateway(network, gateway)) {
            parent.conditions.retain(|condition| condition.name != PROGRAMMED);
        }
    }
    for (route, _) in network.topology().routes(network.snapshot) {
        let report = reports.iter().find(|report| report.route == route);
        let parents = report.into_iter().flat_map(|report| &report.parents).map(|at| AncestorStatus {
            ancestor: reference(network, at.parent.object, at.parent.section.clone()),
            conditions: conditions(&at.conditions),
        });
        let (parents, conditions, listeners) = (parents.collect(), Vec::new(), Vec::new());
        let notes = notes(network, route);
        told.push(ObjectStatus { parents, notes, ..status(network, route, conditions, listeners) });
    }
    told.sort_by_cached_key(|one| (one.object.kind.clone(), one.object.namespace.clone(), one.object.name.clone()));
    told
}

/// Whether the class of a gateway is one of kgateway: others do not report its condition.
fn is_of_kgateway(network: Network<'_>, gateway: &Gateway) -> bool {
    if let Some(controller) = gateway.controller {
        return controller.system == System::Kgateway;
    }
    let class = network.resource(gateway.object).and_then(|gateway| gateway.field("gatewayClassName"));
    class.is_some_and(|class| class.text().contains("kgateway"))
}

fn status(
    network: Network<'_>,
    object: ObjectId,
    conditions: Vec<Condition>,
    listeners: Vec<ListenerStatus>,
) -> ObjectStatus {
    let api_version = network.resource(object).map_or_else(String::new, api_version);
    let (object, parents) = (reference(network, object, None), Vec::new());
    ObjectStatus { api_version, object, conditions, parents, listeners, notes: Vec::new() }
}

/// What is taken for granted about a route.
fn notes(network: Network<'_>, route: ObjectId) -> Vec<String> {
    let told = network.assumptions(route).into_iter().filter_map(|assumption| match assumption {
        Assumption::Parent(parent) => Some(format!("its parent {parent} was not read")),
        Assumption::Mesh(parent) => Some(format!("its parent is {parent}: requests come from inside a mesh")),
        Assumption::NoParent => None,
    });
    told.collect()
}

/// A Gateway or a listener set with its own listeners.
fn site(network: Network<'_>, gateway: &Gateway, owner: ObjectId) -> ObjectStatus {
    let own = gateway.listeners.iter().enumerate().filter(|(_, listener)| listener.owner == owner);
    let listeners: Vec<ListenerStatus> =
        own.map(|(number, listener)| listener_status(network, gateway, number, listener)).collect();
    let broken: Vec<String> =
        gateway.listeners.iter().flat_map(|listener| broken_behind(network, gateway, listener)).collect();
    let usable = |listener: &ListenerStatus| {
        listener.conditions.iter().any(|one| one.name == "Programmed" && one.status == "True")
    };
    let conditions = match broken.first() {
        Some(why) => vec![
            condition("Accepted", "False", "GatewayReplaced", why),
            condition("Programmed", "False", "Invalid", why),
        ],
        None if !listeners.is_empty() && !listeners.iter().any(usable) => vec![
            condition("Accepted", "False", "ListenersNotValid", "no listener can be used"),
            condition("Programmed", "False", "Invalid", "no listener can be used"),
        ],
        None => vec![condition("Accepted", "True", "Accepted", ""), condition("Programmed", "True", "Programmed", "")],
    };
    status(network, owner, conditions, listeners)
}

/// What is wrong with policies of a whole gateway.
fn broken_behind(network: Network<'_>, gateway: &Gateway, listener: &Listener) -> Vec<String> {
    let of_kgateway = |reads: &str| matches!(Reader::of(reads), Some(Reader::Kgateway(_)));
    let kinds = network.kinds().filter(|kind| of_kgateway(network.snapshot.text(kind.policies.kind().reads)));
    let broken = kinds.flat_map(|kind| {
        let asked = network.under(kind).behind(gateway, listener);
        asked.broken(&asked.effective())
    });
    broken.collect()
}

fn listener_status(network: Network<'_>, gateway: &Gateway, number: usize, listener: &Listener) -> ListenerStatus {
    let place = network.topology().gateways.iter().position(|known| known.object == gateway.object);
    let attached = network.topology().attached();
    let attached = attached.filter(|at| Some(at.gateway) == place && at.listener == number);
    let routes: BTreeSet<ObjectId> = attached.map(|at| at.route).collect();
    let conflict = conflict(gateway, number, listener);
    let resolved = certificates(network, listener);
    let is_usable = conflict.is_none() && resolved.status != "False";
    let programmed = if is_usable {
        condition("Programmed", "True", "Programmed", "")
    } else {
        condition("Programmed", "False", "Invalid", "the listener cannot be used")
    };
    let accepted = conflict.as_ref().map_or_else(
        || condition("Accepted", "True", "Accepted", ""),
        |(reason, message)| condition("Accepted", "False", reason, message),
    );
    let conflicted = conflict.as_ref().map_or_else(
        || condition("Conflicted", "False", "NoConflicts", ""),
        |(reason, message)| condition("Conflicted", "True", reason, message),
    );
    let conditions = vec![accepted, conflicted, programmed, resolved];
    ListenerStatus { name: listener.name.clone(), attached_routes: routes.len(), conditions }
}

/// Another listener that is there before and wants the same.
fn conflict(gateway: &Gateway, number: usize, listener: &Listener) -> Option<(&'static str, String)> {
    let before = gateway.listeners.iter().take(number).filter(|other| other.port == listener.port);
    let over = |protocol: &str| match protocol {
        "HTTPS" | "TLS" => "TLS",
        "HTTP" => "HTTP",
        "UDP" => "UDP",
        _ => "TCP",
    };
    before.into_iter().find_map(|other| match (over(&other.protocol), over(&listener.protocol)) {
        (one, another) if one != another && (one == "UDP") == (another == "UDP") => {
            Some(("ProtocolConflict", format!("the listener {} has {} on this port", other.name, other.protocol)))
        }
        (one, another) if one == another && other.hostname == listener.hostname => {
            Some(("HostnameConflict", format!("the listener {} has this port and host name", other.name)))
        }
        _ => None,
    })
}

/// Whether the certificates of a listener are there. Secrets are rarely read, so that nothing is said against their absence.
fn certificates(network: Network<'_>, listener: &Listener) -> Condition {
    let value = network.snapshot.files().value(listener.at);
    let references = value.and_then(|value| value.at_path(&["tls", "certificateRefs"]));
    let owner = reference(network, listener.owner, None);
    let from = End { group: &owner.group, kind: &owner.kind, namespace: &owner.namespace };
    let mut unknown = None;
    for certificate in references.into_iter().flat_map(Value::items) {
        let name = certificate.get("name").map_or("", Value::text);
        match network.references().named(from, ("", "Secret"), certificate) {
            Err(Unresolved::NotGranted) => {
                let message = format!("Secret {name}: missing reference grant");
                return condition("ResolvedRefs", "False", "RefNotPermitted", &message);
            }
            Err(Unresolved::Missing) => unknown = Some(format!("Secret {name} was not read")),
            Ok(_) => {}
        }
    }
    match unknown {
        Some(message) => condition("ResolvedRefs", "Unknown", "NotRead", &message),
        None => condition("ResolvedRefs", "True", "ResolvedRefs", ""),
    }
}

fn condition(name: &str, status: &'static str, reason: &str, message: &str) -> Condition {
    Condition { name: name.to_owned(), status, reason: reason.to_owned(), message: message.to_owned() }
}
