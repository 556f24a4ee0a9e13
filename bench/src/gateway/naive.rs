//! The naive rival: every policy is checked against every route.

use std::collections::BTreeMap;

use upheld_dialects::gateways::gateway_api::Network;

use super::documents::Documents;

/// What a policy is attached to.
#[derive(Clone, Debug)]
pub(super) enum Target {
    /// The route with this name.
    Name(String),
    /// Routes with these labels.
    Labels(BTreeMap<&'static str, String>),
}

/// A policy as the rival knows it.
#[derive(Clone, Debug)]
pub(super) struct Policy {
    pub(super) name: String,
    pub(super) target: Target,
}

impl Policy {
    /// Whether it is attached to a route.
    pub(super) fn reaches(&self, route: &str, labels: &BTreeMap<&'static str, String>) -> bool {
        match &self.target {
            Target::Name(name) => name == route,
            Target::Labels(wanted) => wanted.iter().all(|(key, value)| labels.get(key) == Some(value)),
        }
    }
}

/// The policies of a route by name. Their fields are not even looked at.
pub(super) fn attached<'d>(documents: &'d Documents, route: &str) -> Vec<&'d str> {
    let Some(labels) = documents.routes.get(route) else { return Vec::new() };
    let policies = documents.policies.iter().filter(|policy| policy.reaches(route, labels));
    let mut names: Vec<&str> = policies.map(|policy| policy.name.as_str()).collect();
    names.sort_unstable();
    names
}

/// The names of routes at the ends of some ways, spread over all of them, with the policies that are found there.
pub(super) fn found(network: Network<'_>, sample: usize) -> Vec<(String, Vec<String>)> {
    let Some(kind) = network.kind("TrafficPolicy") else { return Vec::new() };
    let snapshot = network.snapshot;
    let ways: Vec<_> = network.topology().ways().map(|(_, way)| way).collect();
    let some = ways.iter().step_by((ways.len() / sample).max(1)).take(sample);
    let found = some.filter_map(|way| {
        let route = network.object(way.chain.last()?.route)?;
        let answer = network.under(kind).route(&way.chain).effective();
        let entries = answer.order.iter().filter_map(|member| kind.policies.entry(member.entry));
        let mut names: Vec<String> = entries.map(|entry| snapshot.text(entry.name).to_owned()).collect();
        names.sort_unstable();
        Some((snapshot.text(route.name).to_owned(), names))
    });
    found.collect()
}
