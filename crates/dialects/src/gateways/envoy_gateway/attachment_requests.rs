//! Which policies want which target, and who has it: every target is asked for its policies, and the first in order has it.

use rustc_hash::FxHashMap;
use upheld_engine::hierarchy::Entry;
use upheld_engine::{ObjectId, PolicyId};

use super::resources::Resources;
use super::targets::{Level, Target};
use crate::gateways::gateway_api::gateways::{GatewayKind, Network};
use crate::gateways::gateway_api::topology::{Gateway, Listener};

/// What the policies of one kind want.
#[derive(Debug)]
pub(super) struct Wishes<'s> {
    pub(super) network: Network<'s>,
    pub(super) kind: GatewayKind<'s>,
    pub(super) resources: &'s Resources<'s>,
    /// All policies, in the order in which they choose.
    pub(super) policies: Vec<PolicyId>,
    /// Every request of every policy, the most specific first, then in the order of policies.
    pub(super) all: Vec<AttachmentRequest>,
    holders: FxHashMap<Target, PolicyId>,
}

/// A policy that wants to be attached to something, and whether it is.
#[derive(Clone, Debug)]
pub(super) struct AttachmentRequest {
    pub(super) level: Level,
    pub(super) policy: PolicyId,
    pub(super) target: Target,
    pub(super) refusal: Option<Refusal>,
}

/// Why a policy is not attached to what it names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// Another policy of the kind has it.
    Conflicted,
    /// There is no such section.
    NoSection,
}

impl<'s> Wishes<'s> {
    pub(super) fn of(kind: GatewayKind<'s>, resources: &'s Resources<'s>) -> Self {
        let network = resources.network;
        let policies = network.ranked(kind).into_iter().map(|entry| entry.policy).collect();
        let mut requests = Self { network, kind, resources, policies, all: Vec::new(), holders: FxHashMap::default() };
        for target in resources.targets() {
            requests.ask(&target);
        }
        requests.find_missing_sections();
        let places: FxHashMap<PolicyId, usize> =
            requests.policies.iter().enumerate().map(|(place, policy)| (*policy, place)).collect();
        requests.all.sort_by_cached_key(|request| (request.level, places.get(&request.policy).copied()));
        requests
    }

    /// Asks who is attached to a target.
    fn ask(&mut self, target: &Target) {
        let level = self.resources.level(target);
        let found = self.network.target(self.kind, target.object, target.section.as_deref());
        for (place, entry) in found.into_iter().enumerate() {
            let refusal = (place > 0).then_some(Refusal::Conflicted);
            if refusal.is_none() {
                self.holders.insert(target.clone(), entry.policy);
            }
            self.all.push(AttachmentRequest { level, policy: entry.policy, target: target.clone(), refusal });
        }
    }

    /// Policies that name sections of something, which has none of that name.
    fn find_missing_sections(&mut self) {
        let snapshot = self.network.snapshot;
        for policy in &self.policies {
            let attachments = snapshot.policy(*policy).and_then(|policy| policy.attachments());
            for named in attachments.into_iter().flat_map(|attachments| &attachments.targets) {
                let object = snapshot.object(named.kind, named.namespace, named.name);
                let Some(object) = object.filter(|object| self.resources.is_target(*object)) else { continue };
                let target = Target { object, section: named.section.map(|section| snapshot.text(section).to_owned()) };
                if !self.resources.has_section(&target) {
                    let level = self.resources.level(&target);
                    self.all.push(AttachmentRequest {
                        level,
                        policy: *policy,
                        target,
                        refusal: Some(Refusal::NoSection),
                    });
                }
            }
        }
    }

    /// The policy that has a target.
    pub(super) fn holder(&self, target: &Target) -> Option<PolicyId> {
        self.holders.get(target).copied()
    }

    /// The policy that is in force at a listener before any route speaks, with what it is attached to there.
    pub(super) fn nearest(&self, gateway: &'s Gateway, listener: &'s Listener) -> Option<(Target, PolicyId)> {
        let asked = self.network.listener(self.kind, gateway, listener);
        let answer = asked.effective();
        let first = answer.order.first()?;
        let (object, section) = asked.target_at(first.place)?;
        let target = Target { object, section: section.map(str::to_owned) };
        Some((target, self.kind.policies.entry(first.entry)?.policy))
    }

    /// How messages call the type of these policies.
    pub(super) fn type_name(&self) -> &'s str {
        self.network.snapshot.text(self.kind.kind.governs)
    }

    /// How messages call several of them: `BackendTrafficPolicy` becomes `backendTrafficPolicies`.
    pub(super) fn plural(&self) -> String {
        let stem = self.type_name().strip_suffix('y').unwrap_or(self.type_name());
        let mut letters = stem.chars();
        let first = letters.next().map(|letter| letter.to_ascii_lowercase());
        first.into_iter().chain(letters).chain("ies".chars()).collect()
    }

    /// `namespace/name` of a policy.
    pub(super) fn path(&self, policy: PolicyId) -> String {
        let snapshot = self.network.snapshot;
        let found = snapshot.policy(policy);
        found.map_or_else(String::new, |policy| {
            format!("{}/{}", snapshot.text(policy.scope), snapshot.text(policy.name))
        })
    }

    /// Whether a policy merges what it says with that of the listener, by its own words.
    pub(super) fn merges(&self, policy: PolicyId) -> bool {
        let policy = self.network.snapshot.policy(policy);
        let entries = policy.map_or(&[][..], |policy| self.kind.policies.of_policy(policy.scope, policy.name));
        let layer = entries.first().and_then(|entry| self.kind.policies.entry(*entry)).and_then(Entry::says);
        layer.and_then(|layer| layer.meets).is_some_and(|meets| meets.act != upheld_model::MergeAction::Keep)
    }

    /// Every listener that an object owns or has, as a Gateway or a listener set.
    pub(super) fn listeners(&self, object: ObjectId) -> impl Iterator<Item = (&'s Gateway, &'s Listener)> + use<'s> {
        let gateway = self.resources.gateway(object);
        gateway.into_iter().flat_map(|gateway| gateway.listeners.iter().map(move |listener| (gateway, listener)))
    }
}
