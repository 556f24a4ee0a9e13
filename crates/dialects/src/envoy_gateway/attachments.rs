//! One policy for each kind, target and section. The first in order holds it, the others are refused.

use rustc_hash::FxHashMap;
use upheld_engine::PolicyId;

use super::clients::port_conflicts;
use super::effective::{Effective, Spot, merge};
use super::policies::{Policy, PolicyKind, read};
use super::scene::Scene;
use super::status::{PolicyStatus, Statuses};
use super::targets::{Level, Target};
use super::{clients, gateways, routes};
use crate::gateway_api::{MergeType, Topology};

/// Who holds what.
#[derive(Debug)]
pub struct Attachments<'t> {
    pub(super) scene: Scene<'t>,
    /// In the order in which they chose.
    pub policies: Vec<Policy>,
    holders: FxHashMap<(PolicyKind, Target), usize>,
    /// Every wish of every policy, the most specific first, then in the order of policies.
    pub(super) wishes: Vec<Wish>,
}

/// A policy that wants to be attached to something, and whether it is.
#[derive(Clone, Debug)]
pub(super) struct Wish {
    pub(super) level: Level,
    /// A place in the list of policies.
    pub(super) policy: usize,
    pub(super) target: Target,
    pub(super) refusal: Option<Refusal>,
}

/// Why a policy is not attached to what it names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// Another policy of the kind holds it: its place in the list of policies.
    Conflicted(usize),
    /// There is no such section.
    NoSection,
}

impl<'t> Attachments<'t> {
    /// Attaches policies, which choose in this order; [`by_age`](super::by_age) is that of Envoy Gateway.
    pub fn new(topology: &'t Topology<'t>, order: &[PolicyId]) -> Self {
        let scene = Scene::new(topology);
        let policies: Vec<Policy> = order.iter().filter_map(|id| read(&scene, *id)).collect();
        let mut holders = FxHashMap::default();
        let mut wishes = Vec::new();
        for (place, policy) in policies.iter().enumerate() {
            for target in &policy.targets {
                let refusal = if scene.has_section(target) {
                    let holder = *holders.entry((policy.kind, target.clone())).or_insert(place);
                    (holder != place).then_some(Refusal::Conflicted(holder))
                } else {
                    Some(Refusal::NoSection)
                };
                wishes.push(Wish { level: scene.level(target), policy: place, target: target.clone(), refusal });
            }
        }
        wishes.sort_by_key(|wish| (wish.level, wish.policy));
        Self { scene, policies, holders, wishes }
    }

    /// The policy that holds a target: its place in the list of policies.
    pub fn holder(&self, kind: PolicyKind, target: &Target) -> Option<usize> {
        self.holders.get(&(kind, target.clone())).copied()
    }

    /// The nearest policy of a listener: of the listener, of the set that has it, of the gateway. The policies of a gateway's
    /// own listeners say nothing about those of its sets.
    pub fn nearest(&self, kind: PolicyKind, gateway: usize, listener: usize) -> Option<(Target, usize)> {
        let (gateway, listener) = self.scene.listener(gateway, listener)?;
        let targets = [
            Target::section(listener.owner, &listener.name),
            Target::whole(listener.owner),
            Target::whole(gateway.object),
        ];
        targets.into_iter().find_map(|target| self.holder(kind, &target).map(|holder| (target, holder)))
    }

    /// The most specific policy of a rule or its route.
    fn own(&self, kind: PolicyKind, spot: &Spot) -> Option<usize> {
        let name = self.scene.rule_name(spot.route, spot.rule);
        let rule = name.and_then(|name| self.holder(kind, &Target::section(spot.route, name)));
        rule.or_else(|| self.holder(kind, &Target::whole(spot.route)))
    }

    /// What holds at a listener, for routes that have nothing of their own.
    pub fn at_listener(&self, kind: PolicyKind, gateway: usize, listener: usize) -> Option<Effective> {
        let (target, place) = self.nearest(kind, gateway, listener)?;
        if kind == PolicyKind::ClientTraffic && !port_conflicts(&self.scene, &target, gateway, listener).is_empty() {
            return None;
        }
        merge(&self.policies, place, None)
    }

    /// What holds for a rule of a route at a listener.
    pub fn at_rule(&self, kind: PolicyKind, spot: &Spot) -> Option<Effective> {
        let Some(own) = self.own(kind, spot) else { return self.at_listener(kind, spot.gateway, spot.listener) };
        let merges = self.policies.get(own).is_some_and(|policy| policy.merge_type != MergeType::Replace);
        let parent = merges.then(|| self.nearest(kind, spot.gateway, spot.listener)).flatten();
        merge(&self.policies, own, parent.map(|(_, place)| place))
    }

    /// What is said of each policy, in the order of policies.
    pub fn status(&self) -> Vec<PolicyStatus> {
        let mut statuses = Statuses::new(self);
        let merged = routes::report(self, &mut statuses);
        gateways::report(self, &merged, &mut statuses);
        clients::report(self, &mut statuses);
        statuses.finish()
    }
}
