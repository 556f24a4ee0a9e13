//! Network policies as the documentation of Kubernetes tells them, document by document and label by label. Nothing is shared
//! with the dialect; what is not known is `None`.

use std::net::IpAddr;

use serde_json::{Map, Value as Json};

/// True, false, or nobody knows.
type Maybe = Option<bool>;

/// One end of a connection.
#[derive(Clone, Debug)]
pub(crate) enum Party {
    /// A document of type `Pod`; of a label with the value `?`, nobody knows whether it is there and with which value.
    Pod(Json),
    /// An address outside of the cluster.
    Address(IpAddr),
}

/// Who calls whom.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    pub(crate) from: Party,
    pub(crate) to: Party,
    pub(crate) port: Option<u16>,
    pub(crate) protocol: &'static str,
}

fn and(one: Maybe, other: Maybe) -> Maybe {
    match (one, other) {
        (Some(false), _) | (_, Some(false)) => Some(false),
        (Some(true), Some(true)) => Some(true),
        _ => None,
    }
}

fn not(one: Maybe) -> Maybe {
    one.map(|truth| !truth)
}

fn or(one: Maybe, other: Maybe) -> Maybe {
    not(and(not(one), not(other)))
}

fn any(all: impl Iterator<Item = Maybe>) -> Maybe {
    all.fold(Some(false), or)
}

fn all(all: impl Iterator<Item = Maybe>) -> Maybe {
    all.fold(Some(true), and)
}

fn list<'j>(value: &'j Json, name: &str) -> &'j [Json] {
    value[name].as_array().map_or(&[], Vec::as_slice)
}

/// What may leave the caller, and what may come to the called one.
pub(crate) fn decide(documents: &[Json], call: &Call) -> (Maybe, Maybe) {
    let egress = match &call.from {
        Party::Pod(pod) => direction(documents, call, pod, &call.to, "Egress", "egress", "to"),
        Party::Address(_) => Some(true),
    };
    let ingress = match &call.to {
        Party::Pod(pod) => direction(documents, call, pod, &call.from, "Ingress", "ingress", "from"),
        Party::Address(_) => Some(true),
    };
    (egress, ingress)
}

/// A pod is isolated if a policy selects it that has this direction; then some rule of these policies must allow it.
fn direction(documents: &[Json], call: &Call, pod: &Json, peer: &Party, kind: &str, rules: &str, peers: &str) -> Maybe {
    let (mut isolated, mut allowed) = (Some(false), Some(false));
    for policy in documents.iter().filter(|document| document["kind"] == "NetworkPolicy") {
        let spec = &policy["spec"];
        let types: Vec<&str> = list(spec, "policyTypes").iter().filter_map(Json::as_str).collect();
        let concerned = if types.is_empty() {
            kind == "Ingress" || !list(spec, "egress").is_empty()
        } else {
            types.contains(&kind)
        };
        if !concerned || policy["metadata"]["namespace"] != pod["metadata"]["namespace"] {
            continue;
        }
        let selected = selector(&spec["podSelector"], &pod["metadata"]["labels"], Some(false));
        isolated = or(isolated, selected);
        for rule in list(spec, rules) {
            let whom = match list(rule, peers) {
                [] => Some(true),
                several => any(several.iter().map(|one| is_peer(documents, policy, one, peer))),
            };
            let ports = match list(rule, "ports") {
                [] => Some(true),
                several => any(several.iter().map(|port| is_port(call, port))),
            };
            allowed = or(allowed, and(selected, and(whom, ports)));
        }
    }
    or(not(isolated), allowed)
}

fn is_peer(documents: &[Json], policy: &Json, wanted: &Json, peer: &Party) -> Maybe {
    if !wanted["ipBlock"].is_null() {
        let within = |network: &Json, address: IpAddr| Some(contains(network.as_str().unwrap(), address));
        return match peer {
            Party::Pod(_) => None,
            Party::Address(address) => {
                let block = &wanted["ipBlock"];
                let except = list(block, "except").iter().map(|network| within(network, *address));
                and(within(&block["cidr"], *address), not(any(except)))
            }
        };
    }
    let Party::Pod(pod) = peer else { return Some(false) };
    let namespace = match &wanted["namespaceSelector"] {
        Json::Null => Some(pod["metadata"]["namespace"] == policy["metadata"]["namespace"]),
        wanted => in_namespace(documents, wanted, pod["metadata"]["namespace"].as_str().unwrap()),
    };
    let labels = match &wanted["podSelector"] {
        Json::Null => Some(true),
        wanted => selector(wanted, &pod["metadata"]["labels"], Some(false)),
    };
    and(namespace, labels)
}

fn in_namespace(documents: &[Json], wanted: &Json, name: &str) -> Maybe {
    let described =
        documents.iter().find(|document| document["kind"] == "Namespace" && document["metadata"]["name"] == name);
    let mut labels = described.map_or(Json::Null, |namespace| namespace["metadata"]["labels"].clone());
    if !labels.is_object() {
        labels = Json::Object(Map::new());
    }
    labels["kubernetes.io/metadata.name"] = name.into();
    selector(wanted, &labels, if described.is_some() { Some(false) } else { None })
}

/// `missing` is whether a label exists that is not listed.
fn selector(wanted: &Json, labels: &Json, missing: Maybe) -> Maybe {
    let exists = |key: &str| match &labels[key] {
        Json::Null => missing,
        value if value == "?" => None,
        _ => Some(true),
    };
    let is_one_of = |key: &str, values: &[Json]| match &labels[key] {
        Json::Null => and(missing, None),
        value if value == "?" => None,
        value => Some(values.contains(value)),
    };
    let by_label = wanted["matchLabels"].as_object().into_iter().flatten();
    let by_label = by_label.map(|(key, value)| is_one_of(key, std::slice::from_ref(value)));
    let by_expression = list(wanted, "matchExpressions").iter().map(|expression| {
        let (key, values) = (expression["key"].as_str().unwrap(), list(expression, "values"));
        match expression["operator"].as_str().unwrap() {
            "In" => is_one_of(key, values),
            "NotIn" => not(is_one_of(key, values)),
            "Exists" => exists(key),
            _ => not(exists(key)),
        }
    });
    all(by_label.chain(by_expression))
}

fn is_port(call: &Call, wanted: &Json) -> Maybe {
    let protocol = wanted["protocol"].as_str().unwrap_or("TCP") == call.protocol;
    let number = match (&wanted["port"], wanted["endPort"].as_u64()) {
        (Json::Null, _) => Some(true),
        (Json::String(name), _) => match &call.to {
            Party::Address(_) => Some(false),
            Party::Pod(pod) if pod["spec"].is_null() => None,
            Party::Pod(pod) => {
                let ports = list(&pod["spec"], "containers").iter().flat_map(|container| list(container, "ports"));
                let same = ports.filter(|port| {
                    port["name"] == name.as_str() && port["protocol"].as_str().unwrap_or("TCP") == call.protocol
                });
                any(same.map(|port| call.port.map(|number| port["containerPort"] == number)))
            }
        },
        (first, last) => call.port.map(|number| {
            let (first, number) = (first.as_u64().unwrap(), u64::from(number));
            number >= first && number <= last.unwrap_or(first)
        }),
    };
    and(Some(protocol), number)
}

/// Whether an address is in a network, bit by bit.
fn contains(network: &str, address: IpAddr) -> bool {
    let (first, length) = network.split_once('/').unwrap();
    let bits = |address: IpAddr| match address {
        IpAddr::V4(address) => (u128::from(address.to_bits()) << 96, 4),
        IpAddr::V6(address) => (address.to_bits(), 6),
    };
    let ((first, family), (address, own)) = (bits(first.parse().unwrap()), bits(address));
    let length: u32 = length.parse().unwrap();
    let mask = if length == 0 { 0 } else { u128::MAX << (128 - length) };
    family == own && first & mask == address & mask
}
