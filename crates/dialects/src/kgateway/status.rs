//! Status of policies: whether each is accepted, and how much of it holds, for each ancestor.
//!
//! Every scope is looked at: each match of a rule, each rule that delegates, each host, each route configuration and each
//! port. What is worst anywhere under an ancestor is what is said there.

mod backends;

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use smol_str::SmolStr;
use upheld_engine::ObjectId;
use upheld_engine::merge::levels::Standing;

use super::resolver::Resolver;
use super::scopes::{Resolved, Scope};
use crate::gateway_api::topology::{Condition, Gateway, Parent};

/// What a status entry is for.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Ancestor {
    /// A Gateway, a listener set or a backend.
    pub object: ObjectId,
    /// The section that the route names.
    pub section: Option<String>,
}

/// The status of one policy at one ancestor.
#[derive(Clone, Debug)]
pub struct AncestorStatus {
    /// The ancestor.
    pub ancestor: Ancestor,
    /// What is said.
    pub conditions: Vec<Condition>,
}

/// The status of one policy.
#[derive(Clone, Debug)]
pub struct PolicyStatus {
    /// The policy, by its number.
    pub policy: usize,
    /// By kind and name of the ancestor; empty if it is attached to nothing.
    pub ancestors: Vec<AncestorStatus>,
    /// What became of each of its fields, by name.
    pub survival: Vec<Survival>,
}

/// At how many places a field of a policy holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Survival {
    /// The field.
    pub field: SmolStr,
    /// At how many places the policy is attached: matches, hosts, route configurations, backends.
    pub targets: usize,
    /// At how many of them the field is a part of the result.
    pub survives: usize,
}

/// How a policy stands at an ancestor, the worst last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Attachment {
    Pending,
    Attached,
    Merged,
    Overridden,
}

impl Attachment {
    fn condition(self) -> Condition {
        const NAME: &str = "Attached";
        match self {
            Self::Pending => fails(NAME, "Pending", "Policy is not attached"),
            Self::Attached => holds(NAME, "Attached", "Attached to all targets"),
            Self::Merged => holds(NAME, "Merged", "Merged with other policies in target(s) and attached"),
            Self::Overridden => {
                fails(NAME, "Overridden", "Overridden due to conflict with higher priority policy in target(s)")
            }
        }
    }
}

/// Whether a scope reaches requests, or only leads on to others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reached {
    Requests,
    Nobody,
}

/// Results by number, each with how often it was met under which ancestor, and how often it reaches requests.
#[derive(Default)]
struct Met {
    results: FxHashMap<usize, (std::sync::Arc<Resolved>, BTreeMap<Ancestor, usize>)>,
    pending: BTreeMap<usize, Vec<Ancestor>>,
}

impl Met {
    fn add(&mut self, scope: &Scope, ancestor: &Ancestor, reached: Reached) {
        for resolved in &scope.resolved {
            let (_, ancestors) =
                self.results.entry(resolved.number).or_insert_with(|| (resolved.clone(), BTreeMap::new()));
            *ancestors.entry(ancestor.clone()).or_default() += usize::from(reached == Reached::Requests);
        }
    }

    /// By number, so that nothing depends on the order of a hash map.
    fn in_order(&self) -> Vec<&(std::sync::Arc<Resolved>, BTreeMap<Ancestor, usize>)> {
        let mut numbers: Vec<usize> = self.results.keys().copied().collect();
        numbers.sort_unstable();
        numbers.iter().filter_map(|number| self.results.get(number)).collect()
    }
}

impl Resolver<'_> {
    /// The status of every policy, by kind, namespace and name.
    pub fn statuses(&self) -> Vec<PolicyStatus> {
        let mut met = Met::default();
        for gateway in &self.topology.gateways {
            self.meet_gateway(gateway, &mut met);
            self.meet_routes(gateway, &mut met);
        }
        let mut by_policy = self.attached(&met);
        let backends = self.backend_scopes();
        self.add_backends(&backends, &mut by_policy);
        let mut survival = self.survival(&met, &backends);
        let statuses = (0..self.policies.entries().len()).map(|policy| {
            let mut ancestors = by_policy.remove(&policy).unwrap_or_default();
            let title = |status: &AncestorStatus| {
                (self.references.title(status.ancestor.object), status.ancestor.section.clone())
            };
            ancestors.sort_by_cached_key(title);
            PolicyStatus { policy, ancestors, survival: survival.remove(&policy).unwrap_or_default() }
        });
        statuses.collect()
    }

    /// Ports, route configurations and hosts.
    fn meet_gateway(&self, gateway: &Gateway, met: &mut Met) {
        let mut ports: Vec<u16> = Vec::new();
        for listener in &gateway.listeners {
            let first = gateway.listeners.iter().find(|other| other.port == listener.port).unwrap_or(listener);
            let of_port = Ancestor { object: first.owner, section: None };
            let is_new = !ports.contains(&listener.port);
            if is_new {
                ports.push(listener.port);
                met.add(&self.gateway(gateway), &of_port, Reached::Nobody);
            }
            if !listener.is_plain() {
                let own = Ancestor { object: listener.owner, section: None };
                met.add(&self.route_configuration(gateway, listener), &own, Reached::Requests);
            } else if is_new {
                met.add(&self.route_configuration(gateway, listener), &of_port, Reached::Requests);
            }
        }
        for host in &gateway.hosts {
            if let Some(listener) = gateway.listeners.get(host.listener) {
                let own = Ancestor { object: listener.owner, section: None };
                met.add(&self.host(gateway, host), &own, Reached::Requests);
            }
        }
    }

    /// Matches of rules, and rules that delegate to them.
    fn meet_routes(&self, gateway: &Gateway, met: &mut Met) {
        for way in gateway.hosts.iter().flat_map(|host| &host.ways) {
            let Some(root) = way.chain.first() else { continue };
            let Parent { object, section } = root.parent.clone();
            let ancestor = Ancestor { object, section };
            for length in 1..=way.chain.len() {
                let reached = if length == way.chain.len() { Reached::Requests } else { Reached::Nobody };
                let chain = way.chain.get(..length).unwrap_or_default();
                met.add(&self.route_at(chain), &ancestor, reached);
            }
            self.meet_backend_references(way, &ancestor, met);
        }
    }

    /// Policies of references to backends are accepted or not, and nobody says whether they hold.
    fn meet_backend_references(&self, way: &crate::gateway_api::topology::Way, ancestor: &Ancestor, met: &mut Met) {
        for number in 0..self.backend_references(way) {
            for resolved in &self.backend_reference(way, number).resolved {
                for policy in &resolved.policies {
                    met.pending.entry(*policy).or_default().push(ancestor.clone());
                }
            }
        }
    }

    fn attached(&self, met: &Met) -> FxHashMap<usize, Vec<AncestorStatus>> {
        let mut worst: FxHashMap<usize, BTreeMap<Ancestor, Attachment>> = FxHashMap::default();
        for (policy, ancestors) in &met.pending {
            let known = worst.entry(*policy).or_default();
            known.extend(ancestors.iter().map(|ancestor| (ancestor.clone(), Attachment::Pending)));
        }
        for (resolved, ancestors) in met.in_order() {
            for policy in &resolved.policies {
                let has_errors = self.policies.get(*policy).is_some_and(|entry| !entry.errors.is_empty());
                let attachment = match resolved.standing(*policy, self.semantics) {
                    _ if has_errors => Attachment::Pending,
                    None | Some(Standing::Everywhere) => Attachment::Attached,
                    Some(Standing::Partly) => Attachment::Merged,
                    Some(Standing::Nowhere) => Attachment::Overridden,
                };
                let known = worst.entry(*policy).or_default();
                for ancestor in ancestors.keys() {
                    let before = known.entry(ancestor.clone()).or_insert(attachment);
                    *before = attachment.max(*before);
                }
            }
        }
        let mut statuses: FxHashMap<usize, Vec<AncestorStatus>> = FxHashMap::default();
        for policy in 0..self.policies.entries().len() {
            let ancestors = worst.remove(&policy).into_iter().flatten();
            let status = |(ancestor, attachment): (Ancestor, Attachment)| {
                let conditions = vec![self.accepted(policy), attachment.condition()];
                AncestorStatus { ancestor, conditions }
            };
            statuses.insert(policy, ancestors.map(status).collect());
        }
        statuses
    }

    fn accepted(&self, policy: usize) -> Condition {
        let errors = self.policies.get(policy).map(|entry| entry.errors.as_slice()).unwrap_or_default();
        if errors.is_empty() {
            return holds("Accepted", "Valid", "Policy accepted");
        }
        fails("Accepted", "Invalid", &errors.join("; "))
    }

    /// Counts places for each policy and field.
    fn survival(&self, met: &Met, backends: &[(ObjectId, Scope)]) -> FxHashMap<usize, Vec<Survival>> {
        let mut counts: FxHashMap<usize, BTreeMap<SmolStr, (usize, usize)>> = FxHashMap::default();
        let mut count = |resolved: &Resolved, places: usize| {
            for policy in &resolved.policies {
                let Some(entry) = self.policies.get(*policy) else { continue };
                let fields = counts.entry(*policy).or_default();
                for (field, _) in &entry.fields {
                    let survives = resolved
                        .folded
                        .fields
                        .get(field)
                        .is_some_and(|joined| joined.origins.binary_search(policy).is_ok());
                    let (targets, surviving) = fields.entry(field.clone()).or_default();
                    *targets += places;
                    *surviving += if survives { places } else { 0 };
                }
            }
        };
        for (resolved, ancestors) in met.in_order() {
            count(resolved, ancestors.values().sum());
        }
        for (_, scope) in backends {
            for resolved in &scope.resolved {
                count(resolved, 1);
            }
        }
        let mut survival = FxHashMap::default();
        for policy in 0..self.policies.entries().len() {
            let fields = counts.remove(&policy).into_iter().flatten();
            let row = |(field, (targets, survives))| Survival { field, targets, survives };
            survival.insert(policy, fields.map(row).collect());
        }
        survival
    }
}

/// A condition that holds.
fn holds(name: &str, reason: &str, message: &str) -> Condition {
    Condition { name: name.to_owned(), status: true, reason: reason.to_owned(), message: message.to_owned() }
}

/// A condition that does not hold.
fn fails(name: &str, reason: &str, message: &str) -> Condition {
    Condition { status: false, ..holds(name, reason, message) }
}
