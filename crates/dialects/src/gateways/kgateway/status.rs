//! Status of policies: whether each is accepted, and how much of it holds, for each ancestor.
//!
//! Every scope is looked at by itself: each match of a rule, each rule that delegates, each host, all hosts behind a listener
//! and each port. What is worst anywhere under an ancestor is what is said there. Scopes at which the same policies meet are
//! asked once; an answer about a way of requests has that of its route in it.

mod backends;
mod survival;

use std::cmp::Reverse;
use std::ops::Range;

use indexmap::IndexSet;
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};
use upheld_engine::hierarchy::{Effective, Entry, InScope};
use upheld_engine::{ObjectId, PolicyId};
use upheld_model::Uniques;

use super::fields::is_inside_port;
use super::{PolicyType, problems};
use crate::gateways::gateway_api::attachments::Reader;
use crate::gateways::gateway_api::gateways::{GatewayKind, Network, Problems};
use crate::gateways::gateway_api::places::Asked;
use crate::gateways::gateway_api::scopes::ROUTE;
use crate::gateways::gateway_api::survey::Survey;
use crate::gateways::gateway_api::topology::{Condition, Gateway, Host, Parent, Way};

pub use self::survival::Survival;
use self::survival::Survivals;

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

/// Under which ancestors cells were met, and at how many places that requests reach; an ancestor may come again.
#[derive(Debug, Default)]
struct Meetings {
    cells: Vec<Vec<(usize, usize)>>,
}

impl Meetings {
    fn add(&mut self, cell: usize, ancestor: usize, reached: usize) {
        if cell >= self.cells.len() {
            self.cells.resize_with(cell + 1, Vec::new);
        }
        let Some(ancestors) = self.cells.get_mut(cell) else { return };
        match ancestors.last_mut() {
            Some((known, places)) if *known == ancestor => *places += reached,
            _ => ancestors.push((ancestor, reached)),
        }
    }
}

/// All scopes of an answer, or one of them.
#[derive(Clone, Debug)]
struct Part<'a> {
    answer: &'a Effective,
    scopes: &'a [InScope],
    /// Those that were folded there: places in the order of folding.
    places: Range<usize>,
}

impl<'a> Part<'a> {
    fn whole(answer: &'a Effective) -> Self {
        Self { answer, scopes: &answer.scopes, places: 0..answer.order.len() }
    }

    fn of_scope(answer: &'a Effective, scope: u8) -> Self {
        let own = answer.scopes.iter().find(|own| own.scope == scope);
        let places = own.map_or(0..0, |own| own.members.clone());
        let scopes = own.map_or(&[][..], std::slice::from_ref);
        Self { answer, scopes, places }
    }
}

/// What is found out about the policies of one kind.
struct Tally<'s> {
    network: Network<'s>,
    kind: GatewayKind<'s>,
    policy: PolicyType,
    /// What scopes come to.
    scopes: Survey,
    /// What ways of requests come to, with all of their scopes.
    ways: Survey,
    /// Every ancestor once, so that others name it by its number.
    ancestors: IndexSet<Ancestor, FxBuildHasher>,
    /// By cell of scopes.
    met: Meetings,
    /// By cell of ways.
    met_on_ways: Meetings,
    /// How policies stand at ancestors; the worst counts.
    worst: FxHashMap<PolicyId, Vec<(usize, Attachment)>>,
    others: FxHashMap<PolicyId, Vec<AncestorStatus>>,
    survival: Survivals,
}

impl<'s> Tally<'s> {
    fn new(network: Network<'s>, kind: GatewayKind<'s>, policy: PolicyType) -> Self {
        Self {
            network,
            kind,
            policy,
            scopes: Survey::default(),
            ways: match policy {
                PolicyType::Traffic => Survey::expecting(network.topology().way_count()),
                _ => Survey::default(),
            },
            ancestors: IndexSet::default(),
            met: Meetings::default(),
            met_on_ways: Meetings::default(),
            worst: FxHashMap::default(),
            others: FxHashMap::default(),
            survival: Survivals::default(),
        }
    }

    fn finish(mut self) -> Vec<PolicyStatus> {
        if !self.kind.policies.is_empty() {
            let (network, kind) = (self.network, self.kind);
            let gateways = network.topology().gateways.iter();
            for gateway in gateways.filter(|gateway| network.foreign(kind, gateway).is_none()) {
                self.meet_gateway(gateway);
                self.meet_routes(gateway);
            }
            self.judge();
            match self.policy {
                PolicyType::BackendConfig | PolicyType::BackendTls => self.meet_backends(),
                PolicyType::Traffic | PolicyType::DirectResponse | PolicyType::HttpListener | PolicyType::Listener => {}
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
        let of_scopes = self.worst(policy).into_iter().filter_map(|(ancestor, attachment)| {
            let conditions = vec![self.accepted(policy), attachment.condition()];
            Some(AncestorStatus { ancestor: self.ancestors.get_index(ancestor)?.clone(), conditions })
        });
        let others = self.others.get(&policy).into_iter().flatten().cloned();
        let mut ancestors: Vec<AncestorStatus> = of_scopes.chain(others).collect();
        ancestors
            .sort_by_cached_key(|status| (self.network.title(status.ancestor.object), status.ancestor.section.clone()));
        PolicyStatus { policy, ancestors, survival: self.survival.of(policy) }
    }

    /// The number of an ancestor.
    fn ancestor(&mut self, object: ObjectId, section: Option<&str>) -> usize {
        self.ancestors.insert_full(Ancestor { object, section: section.map(str::to_owned) }).0
    }

    /// Meets a scope under an ancestor, at so many places that requests reach.
    fn meet(&mut self, asked: &Asked<'_>, ancestor: usize, reached: usize) {
        let cell = self.scopes.meet(asked);
        self.met.add(cell, ancestor, reached);
    }

    /// A policy stands at an ancestor at least this badly.
    fn stands(&mut self, policy: PolicyId, ancestor: usize, attachment: Attachment) {
        let known = self.worst.entry(policy).or_default();
        match known.last_mut() {
            Some((known, worst)) if *known == ancestor => *worst = attachment.max(*worst),
            _ => known.push((ancestor, attachment)),
        }
    }

    /// How a policy stands at each of its ancestors.
    fn worst(&self, policy: PolicyId) -> Vec<(usize, Attachment)> {
        let mut worst = self.worst.get(&policy).cloned().unwrap_or_default();
        worst.sort_unstable_by_key(|(ancestor, attachment)| (*ancestor, Reverse(*attachment)));
        worst.dedup_by_key(|(ancestor, _)| *ancestor);
        worst
    }

    fn scope(&self) -> Asked<'s> {
        self.network.under(self.kind)
    }

    /// Ports, all hosts behind a listener, and hosts.
    fn meet_gateway(&mut self, gateway: &'s Gateway) {
        let mut ports: Vec<u16> = Vec::new();
        for listener in gateway.listeners.iter() {
            let first = gateway.listeners.iter().find(|other| other.port == listener.port).unwrap_or(listener);
            let of_port = self.ancestor(first.owner, None);
            let is_new = !ports.contains(&listener.port);
            if is_new {
                ports.push(listener.port);
                self.meet(&self.scope().port(gateway), of_port, 0);
            }
            let ancestor = match (listener.is_plain(), is_new) {
                (false, _) => self.ancestor(listener.owner, None),
                (true, true) => of_port,
                (true, false) => continue,
            };
            self.meet(&self.scope().behind(gateway, listener), ancestor, 1);
        }
        let mut hosts = vec![0; gateway.listeners.len()];
        for host in &gateway.hosts {
            hosts.get_mut(host.listener).into_iter().for_each(|hosts| *hosts += 1);
        }
        for (listener, hosts) in gateway.listeners.iter().zip(hosts).filter(|(_, hosts)| *hosts > 0) {
            let own = self.ancestor(listener.owner, None);
            self.meet(&self.scope().host(gateway, listener), own, hosts);
        }
    }

    /// Matches of rules, and rules that delegate to them.
    fn meet_routes(&mut self, gateway: &'s Gateway) {
        for (host, way) in gateway.hosts.iter().flat_map(|host| host.ways.iter().map(move |way| (host, way))) {
            let Some(root) = way.chain.first() else { continue };
            let Parent { object, section } = &root.parent;
            let ancestor = self.ancestor(*object, section.as_deref());
            for length in 1..way.chain.len() {
                let chain = way.chain.get(..length).unwrap_or_default();
                self.meet(&self.scope().route(chain), ancestor, 0);
            }
            match self.meet_way(gateway, host, way) {
                Some(cell) => self.met_on_ways.add(cell, ancestor, 1),
                None => self.meet(&self.scope().route(&way.chain), ancestor, 1),
            }
            self.meet_backend_references(way, ancestor);
        }
    }

    /// The cell of a way, if the answer about it tells what its route comes to: nothing is reported where something is broken.
    fn meet_way(&mut self, gateway: &'s Gateway, host: &Host, way: &Way) -> Option<usize> {
        if self.policy != PolicyType::Traffic {
            return None;
        }
        let number = self.ways.meet(&self.network.way(self.kind, gateway, host, way));
        self.ways.cell(number).filter(|cell| cell.answer.broken.is_empty()).map(|_| number)
    }

    /// Policies of references to backends are accepted or not, and nobody says whether they hold.
    fn meet_backend_references(&mut self, way: &Way, ancestor: usize) {
        let Some(step) = way.chain.last() else { return };
        let facts = self.network.topology().facts(step.route);
        let references = facts.and_then(|facts| facts.rules.get(step.rule)).map_or(&[][..], |rule| &rule.backends);
        for (number, _) in references.iter().enumerate().filter(|(_, references)| !references.is_empty()) {
            let answer = self.scope().backend_reference(step, number).effective();
            for (policy, _) in self.policies(&Part::whole(&answer)) {
                // The least bad of all, so that it changes nothing where more is known.
                self.stands(policy, ancestor, Attachment::Pending);
            }
        }
    }

    /// What is worst for each policy under each ancestor, and at how many places each of its fields holds.
    fn judge(&mut self) {
        let (scopes, ways) = (std::mem::take(&mut self.scopes), std::mem::take(&mut self.ways));
        for (cell, met) in scopes.cells().iter().zip(std::mem::take(&mut self.met).cells) {
            self.judge_part(&Part::whole(&cell.answer), met);
        }
        for (cell, met) in ways.cells().iter().zip(std::mem::take(&mut self.met_on_ways).cells) {
            self.judge_part(&Part::of_scope(&cell.answer, ROUTE), met);
        }
        if self.policy == PolicyType::Traffic {
            self.survive_on_ways(ways.cells());
        }
    }

    fn judge_part(&mut self, part: &Part<'_>, mut ancestors: Vec<(usize, usize)>) {
        let places = ancestors.iter().map(|(_, places)| places).sum();
        ancestors.sort_unstable();
        ancestors.dedup_by_key(|(ancestor, _)| *ancestor);
        for (policy, attachment) in self.attachments(part) {
            for (ancestor, _) in &ancestors {
                self.stands(policy, *ancestor, attachment);
            }
        }
        self.count(part, places);
    }

    /// How policies stand in scopes: whether each has a part in all fields, in some, or in none.
    fn attachments(&self, part: &Part<'_>) -> Vec<(PolicyId, Attachment)> {
        let answer = part.answer;
        let policy = |place: &usize| self.entry(answer, *place).map(|entry| entry.policy);
        let folded = part.scopes.iter().flat_map(|own| own.folded.iter());
        let reported: Vec<_> = folded.filter(|(name, _)| self.is_reported(name)).map(|(_, joined)| joined).collect();
        let mut parts: FxHashMap<PolicyId, usize> = FxHashMap::default();
        let mut speaking: Vec<PolicyId> = Vec::new();
        for joined in &reported {
            speaking.clear();
            speaking.extend(joined.origins.iter().filter_map(policy));
            speaking.sort_unstable();
            speaking.dedup();
            for policy in &speaking {
                *parts.entry(*policy).or_default() += 1;
            }
        }
        let broken: FxHashSet<PolicyId> = answer.broken.iter().filter_map(policy).collect();
        let stands = |policy: PolicyId| match parts.get(&policy).copied().unwrap_or_default() {
            _ if broken.contains(&policy) => Attachment::Pending,
            _ if self.policy == PolicyType::DirectResponse || reported.is_empty() => Attachment::Attached,
            0 => Attachment::Overridden,
            some if some == reported.len() => Attachment::Attached,
            _ => Attachment::Merged,
        };
        self.policies(part).into_iter().map(|(policy, _)| (policy, stands(policy))).collect()
    }

    /// Whether upstream keeps origins under a name: there, the parts of a port go under the port.
    fn is_reported(&self, name: &str) -> bool {
        let edition = self.kind.kind.semantics.map(|edition| self.network.snapshot.text(edition));
        edition != Some(super::DEFAULT_SEMANTICS) || !is_inside_port(name)
    }

    fn entry(&self, answer: &Effective, place: usize) -> Option<&'s Entry> {
        self.kind.policies.entry(answer.order.get(place)?.entry)
    }

    /// The policies of an answer with their best entries, the best first, each once.
    fn policies(&self, part: &Part<'_>) -> Vec<(PolicyId, &'s Entry)> {
        let mut seen = Uniques::default();
        let entries = part.places.clone().filter_map(|place| self.entry(part.answer, place));
        entries.filter(|entry| seen.is_new(entry.policy)).map(|entry| (entry.policy, entry)).collect()
    }

    fn problems(&self, policy: PolicyId) -> Problems {
        let Some(found) = self.network.snapshot.policy(policy) else { return Problems::default() };
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
