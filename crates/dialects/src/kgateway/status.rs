//! Status of policies: whether each is accepted, and how much of it holds, for each ancestor.
//!
//! Every scope is asked by itself: each match of a rule, each rule that delegates, each host, all hosts behind a listener and
//! each port. What is worst anywhere under an ancestor is what is said there. Scopes at which the same policies meet are asked
//! once.

mod backends;

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashSet;
use smol_str::SmolStr;
use upheld_engine::hierarchy::{Effective, Entry};
use upheld_engine::{ObjectId, PolicyId};

use super::fields::is_inside_port;
use super::{PolicyType, problems};
use crate::gateway_api::attachments::Reader;
use crate::gateway_api::gateways::{GatewayKind, Network};
use crate::gateway_api::places::Asked;
use crate::gateway_api::survey::{Cell, Survey};
use crate::gateway_api::topology::{Condition, Gateway, Parent, Way};

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
    /// The policy.
    pub policy: PolicyId,
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

impl Network<'_> {
    /// The status of every policy of kgateway, by kind, namespace and name.
    pub fn kgateway_statuses(self) -> Vec<PolicyStatus> {
        let mut statuses = Vec::new();
        for kind in self.kinds() {
            let reads = self.snapshot.text(kind.policies.kind().reads);
            if let Some(Reader::Kgateway(policy)) = Reader::of(reads) {
                statuses.extend(Tally::new(self, kind, policy).finish());
            }
        }
        statuses
    }
}

/// What is found out about the policies of one kind.
struct Tally<'s> {
    network: Network<'s>,
    kind: GatewayKind<'s>,
    policy: PolicyType,
    /// What scopes come to.
    scopes: Survey,
    /// By cell: under which ancestors it was met, and how often requests reach it there.
    met: Vec<BTreeMap<Ancestor, usize>>,
    worst: BTreeMap<PolicyId, BTreeMap<Ancestor, Attachment>>,
    others: BTreeMap<PolicyId, Vec<AncestorStatus>>,
    survival: BTreeMap<PolicyId, BTreeMap<SmolStr, (usize, usize)>>,
}

impl<'s> Tally<'s> {
    fn new(network: Network<'s>, kind: GatewayKind<'s>, policy: PolicyType) -> Self {
        let (scopes, met) = (Survey::default(), Vec::new());
        let (worst, others, survival) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        Self { network, kind, policy, scopes, met, worst, others, survival }
    }

    fn finish(mut self) -> Vec<PolicyStatus> {
        if !self.kind.policies.is_empty() {
            for gateway in &self.network.topology().gateways {
                self.meet_gateway(gateway);
                self.meet_routes(gateway);
            }
            self.judge();
            match self.policy {
                PolicyType::BackendConfig | PolicyType::BackendTls => self.meet_backends(),
                PolicyType::Traffic => self.survive_on_ways(),
                PolicyType::DirectResponse | PolicyType::HttpListener | PolicyType::Listener => {}
            }
        }
        let snapshot = self.network.snapshot;
        let own = snapshot.policies().iter().filter(|(_, policy)| {
            let group = policy.attachments().and_then(|attachments| attachments.group);
            policy.kind == self.kind.kind.governs && group == Some(self.kind.policies.kind().group)
        });
        own.map(|(id, _)| self.status(id)).collect()
    }

    fn status(&self, policy: PolicyId) -> PolicyStatus {
        let of_scopes = self.worst.get(&policy).into_iter().flatten().map(|(ancestor, attachment)| AncestorStatus {
            ancestor: ancestor.clone(),
            conditions: vec![self.accepted(policy), attachment.condition()],
        });
        let others = self.others.get(&policy).into_iter().flatten().cloned();
        let mut ancestors: Vec<AncestorStatus> = of_scopes.chain(others).collect();
        ancestors
            .sort_by_cached_key(|status| (self.network.title(status.ancestor.object), status.ancestor.section.clone()));
        let survival = self.survival.get(&policy).into_iter().flatten().map(|(field, (targets, survives))| Survival {
            field: field.clone(),
            targets: *targets,
            survives: *survives,
        });
        PolicyStatus { policy, ancestors, survival: survival.collect() }
    }

    /// Meets a scope under an ancestor.
    fn meet(&mut self, asked: &Asked<'_>, ancestor: &Ancestor, reached: Reached) {
        let cell = self.scopes.meet(asked);
        if cell == self.met.len() {
            self.met.push(BTreeMap::new());
        }
        if let Some(ancestors) = self.met.get_mut(cell) {
            *ancestors.entry(ancestor.clone()).or_default() += usize::from(reached == Reached::Requests);
        }
    }

    fn scope(&self) -> Asked<'s> {
        self.network.under(self.kind)
    }

    /// Ports, all hosts behind a listener, and hosts.
    fn meet_gateway(&mut self, gateway: &'s Gateway) {
        let mut ports: Vec<u16> = Vec::new();
        for listener in &gateway.listeners {
            let first = gateway.listeners.iter().find(|other| other.port == listener.port).unwrap_or(listener);
            let of_port = Ancestor { object: first.owner, section: None };
            let is_new = !ports.contains(&listener.port);
            if is_new {
                ports.push(listener.port);
                self.meet(&self.scope().port(gateway), &of_port, Reached::Nobody);
            }
            let ancestor = match (listener.is_plain(), is_new) {
                (false, _) => Ancestor { object: listener.owner, section: None },
                (true, true) => of_port,
                (true, false) => continue,
            };
            self.meet(&self.scope().behind(gateway, listener), &ancestor, Reached::Requests);
        }
        for host in &gateway.hosts {
            if let Some(listener) = gateway.listeners.get(host.listener) {
                let own = Ancestor { object: listener.owner, section: None };
                self.meet(&self.scope().host(gateway, listener), &own, Reached::Requests);
            }
        }
    }

    /// Matches of rules, and rules that delegate to them.
    fn meet_routes(&mut self, gateway: &Gateway) {
        for way in gateway.hosts.iter().flat_map(|host| &host.ways) {
            let Some(root) = way.chain.first() else { continue };
            let Parent { object, section } = root.parent.clone();
            let ancestor = Ancestor { object, section };
            for length in 1..=way.chain.len() {
                let reached = if length == way.chain.len() { Reached::Requests } else { Reached::Nobody };
                let chain = way.chain.get(..length).unwrap_or_default();
                self.meet(&self.scope().route(chain), &ancestor, reached);
            }
            self.meet_backend_references(way, &ancestor);
        }
    }

    /// Policies of references to backends are accepted or not, and nobody says whether they hold.
    fn meet_backend_references(&mut self, way: &Way, ancestor: &Ancestor) {
        let Some(step) = way.chain.last() else { return };
        let rule = self.network.rule(step);
        let count = rule.map_or(0, |(_, rule)| super::references::list(rule, "backendRefs").count());
        for number in 0..count {
            for policy in self.policies(&self.scope().backend_reference(step, number).effective()) {
                let known = self.worst.entry(policy).or_default();
                known.entry(ancestor.clone()).or_insert(Attachment::Pending);
            }
        }
    }

    /// What is worst for each policy under each ancestor, and at how many places each of its fields holds.
    fn judge(&mut self) {
        for (cell, ancestors) in std::mem::take(&mut self.scopes).cells().iter().zip(std::mem::take(&mut self.met)) {
            let answer = &cell.answer;
            for (policy, attachment) in self.attachments(answer) {
                let known = self.worst.entry(policy).or_default();
                for ancestor in ancestors.keys() {
                    let before = known.entry(ancestor.clone()).or_insert(attachment);
                    *before = attachment.max(*before);
                }
            }
            self.count(answer, ancestors.values().sum());
        }
    }

    /// How policies stand in a scope: whether each has a part in all fields, in some, or in none.
    fn attachments(&self, answer: &Effective) -> BTreeMap<PolicyId, Attachment> {
        let policy = |place: &usize| self.entry(answer, *place).map(|entry| entry.policy);
        let broken: BTreeSet<PolicyId> = answer.broken.iter().filter_map(policy).collect();
        let mut parts: BTreeMap<PolicyId, usize> =
            (0..answer.order.len()).filter_map(|place| Some((policy(&place)?, 0))).collect();
        let mut fields = 0;
        let folded = answer.scopes.iter().flat_map(|(_, folded)| &folded.fields);
        for (_, joined) in folded.filter(|(name, _)| self.is_reported(name)) {
            fields += 1;
            let speaking: BTreeSet<PolicyId> = joined.origins.iter().filter_map(policy).collect();
            for policy in speaking {
                *parts.entry(policy).or_default() += 1;
            }
        }
        let stands = |policy: &PolicyId, parts: usize| match parts {
            _ if broken.contains(policy) => Attachment::Pending,
            _ if self.policy == PolicyType::DirectResponse || fields == 0 => Attachment::Attached,
            0 => Attachment::Overridden,
            some if some == fields => Attachment::Attached,
            _ => Attachment::Merged,
        };
        parts.into_iter().map(|(policy, parts)| (policy, stands(&policy, parts))).collect()
    }

    /// Whether upstream keeps origins under a name: there, the parts of a port go under the port.
    fn is_reported(&self, name: &str) -> bool {
        let edition = self.kind.kind.semantics.map(|edition| self.network.snapshot.text(edition));
        edition != Some(super::DEFAULT_SEMANTICS) || !is_inside_port(name)
    }

    /// Counts places for each policy and field.
    fn count(&mut self, answer: &Effective, places: usize) {
        let folded = answer.scopes.iter().flat_map(|(_, folded)| &folded.fields);
        let holding: FxHashSet<(usize, &str)> =
            folded.flat_map(|(name, joined)| joined.origins.iter().map(|place| (*place, name.as_str()))).collect();
        for place in 0..answer.order.len() {
            let Some(entry) = self.entry(answer, place) else { continue };
            let counts = self.survival.entry(entry.policy).or_default();
            for (field, _) in super::fields::said(entry) {
                let survives = holding.contains(&(place, field.as_str()));
                let (targets, surviving) = counts.entry(field.clone()).or_default();
                *targets += places;
                *surviving += if survives { places } else { 0 };
            }
        }
    }

    /// At how many ways of requests each field holds: what a status hides, because it looks at one scope at a time.
    fn survive_on_ways(&mut self) {
        let mut survey = Survey::default();
        self.network.survey_ways(self.kind, &mut survey, |_, _| {});
        let mut reached: BTreeMap<PolicyId, BTreeMap<SmolStr, (usize, usize)>> = BTreeMap::new();
        for Cell { answer, size } in survey.cells() {
            let policy = |place: usize| self.entry(answer, place).map(|entry| entry.policy);
            let speaking =
                answer.fields.iter().flat_map(|field| field.by.iter().map(move |place| (*place, &field.name)));
            let holding: FxHashSet<(PolicyId, &str)> =
                speaking.filter_map(|(place, name)| Some((policy(place)?, name.as_str()))).collect();
            let mut seen = FxHashSet::default();
            for entry in (0..answer.order.len()).filter_map(|place| self.entry(answer, place)) {
                if !seen.insert(entry.policy) {
                    continue;
                }
                for (name, _) in super::fields::said(entry) {
                    let holds = holding.contains(&(entry.policy, name.as_str()));
                    let counts = reached.entry(entry.policy).or_default();
                    let (targets, survives) = counts.entry(name.clone()).or_default();
                    *targets += size;
                    *survives += if holds { *size } else { 0 };
                }
            }
        }
        self.survival.extend(reached);
    }

    fn entry(&self, answer: &Effective, place: usize) -> Option<&'s Entry> {
        self.kind.policies.entry(answer.order.get(place)?.entry)
    }

    /// The policies of an answer, the best first, each once.
    fn policies(&self, answer: &Effective) -> Vec<PolicyId> {
        let mut seen = FxHashSet::default();
        let policies = (0..answer.order.len()).filter_map(|place| self.entry(answer, place)).map(|entry| entry.policy);
        policies.filter(|policy| seen.insert(*policy)).collect()
    }

    fn problems(&self, policy: PolicyId) -> Vec<String> {
        let Some(found) = self.network.snapshot.policy(policy) else { return Vec::new() };
        let entry = self.kind.policies.of_policy(found.scope, found.name).first();
        let entry = entry.and_then(|entry| self.kind.policies.entry(*entry));
        entry.map(|entry| problems(self.network, self.policy, entry)).unwrap_or_default()
    }

    fn accepted(&self, policy: PolicyId) -> Condition {
        let problems = self.problems(policy);
        if problems.is_empty() {
            return holds("Accepted", "Valid", "Policy accepted");
        }
        fails("Accepted", "Invalid", &problems.join("; "))
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
