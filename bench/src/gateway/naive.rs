//! The naive rival: every policy is checked against every route.

use std::collections::BTreeMap;

use upheld_dialects::gateway_api::Topology;
use upheld_dialects::kgateway::{Resolver, Subject};

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

/// The names of routes at the ends of some ways, spread over all of them, with the policies that the resolver finds there.
pub(super) fn found(topology: &Topology<'_>, resolver: &Resolver<'_>, sample: usize) -> Vec<(String, Vec<String>)> {
    let ways: Vec<_> = topology.ways().map(|(_, way)| way).collect();
    let some = ways.iter().step_by((ways.len() / sample).max(1)).take(sample);
    let found = some.filter_map(|way| {
        let route = topology.snapshot.objects().get(way.chain.last()?.route)?;
        let scope = resolver.route(way);
        let numbers = scope.of(Subject::Traffic).map(|resolved| resolved.policies.as_slice()).unwrap_or_default();
        let entries = numbers.iter().filter_map(|number| resolver.policies().get(*number));
        let mut names: Vec<String> = entries.map(|entry| entry.name.clone()).collect();
        names.sort_unstable();
        Some((topology.snapshot.text(route.name).to_owned(), names))
    });
    found.collect()
}
