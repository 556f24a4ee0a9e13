//! What is said of policies: conditions for each ancestor.

use std::collections::BTreeMap;

use upheld_engine::PolicyId;

use super::attachments::{Attachments, Refusal, Wish};
use super::targets::Target;
use crate::gateway_api::topology::Condition;

/// How many ancestors a status may have.
const LIMIT: usize = 16;

/// What is said of one policy.
#[derive(Clone, Debug)]
pub struct PolicyStatus {
    /// The policy.
    pub policy: PolicyId,
    /// For each ancestor. A policy without any is attached to nothing that is there.
    pub ancestors: Vec<AncestorStatus>,
}

/// What is said of a policy at one ancestor.
#[derive(Clone, Debug)]
pub struct AncestorStatus {
    /// A Gateway or listener set, perhaps with a listener.
    pub ancestor: Target,
    /// Conditions, in the order in which they were found.
    pub conditions: Vec<Condition>,
}

/// The status of all policies while it is found.
pub(super) struct Statuses<'a> {
    attachments: &'a Attachments<'a>,
    /// By place in the list of policies.
    found: Vec<BTreeMap<Target, Vec<Condition>>>,
}

impl<'a> Statuses<'a> {
    pub(super) fn new(attachments: &'a Attachments<'a>) -> Self {
        Self { attachments, found: vec![BTreeMap::new(); attachments.policies.len()] }
    }

    /// Says something of a policy, instead of what was said under the same name.
    pub(super) fn set(&mut self, policy: usize, ancestor: &Target, condition: Condition) {
        let Some(found) = self.found.get_mut(policy) else { return };
        let conditions = found.entry(ancestor.clone()).or_default();
        match conditions.iter_mut().find(|known| known.name == condition.name) {
            Some(known) => *known = condition,
            None => conditions.push(condition),
        }
    }

    /// Says that a policy is attached, unless something else was said: one target that it does not get is enough for that.
    pub(super) fn accept(&mut self, policy: usize, ancestor: &Target) {
        let said = self.found.get(policy).and_then(|found| found.get(ancestor));
        if !said.is_some_and(|conditions| conditions.iter().any(|known| known.name == "Accepted")) {
            self.set(policy, ancestor, holds("Accepted", "Policy has been accepted.".to_owned()));
        }
        let given_up = self.attachments.policies.get(policy).map_or(&[][..], |policy| policy.given_up.as_slice());
        let told: Vec<String> =
            given_up.iter().map(|(old, new)| format!("spec.{old} is deprecated, use spec.{new} instead")).collect();
        if !told.is_empty() {
            let (name, reason) = ("Warning".to_owned(), "DeprecatedField".to_owned());
            self.set(policy, ancestor, Condition { name, status: true, reason, message: told.join("; ") });
        }
    }

    /// Says that a policy does not get what it wants. Whether that is so.
    pub(super) fn refuse(&mut self, wish: &Wish, ancestors: &[Target]) -> bool {
        let Some(refusal) = wish.refusal else { return false };
        let scene = &self.attachments.scene;
        let (kind, name) = scene.type_and_name(wish.target.object);
        let section = wish.target.section.as_deref();
        let (reason, message) = match refusal {
            Refusal::Conflicted(holder) => {
                let holder = self.attachments.policies.get(holder);
                let other = holder.map_or("policy", |holder| holder.kind.name());
                let section = section.map(|section| format!("/{section}")).unwrap_or_default();
                let message =
                    format!("Unable to target {kind} {name}{section}, another {other} has already attached to it");
                ("Conflicted", message)
            }
            Refusal::NoSection => {
                let path = scene.path(wish.target.object);
                let section = section.unwrap_or_default();
                ("TargetNotFound", format!("No section name {section} found for {kind} {path}"))
            }
        };
        for ancestor in ancestors {
            self.set(wish.policy, ancestor, not_accepted(reason, message.clone()));
        }
        true
    }

    /// Everything that was said, in the order of policies.
    pub(super) fn finish(self) -> Vec<PolicyStatus> {
        let Self { attachments, found } = self;
        let status = |(policy, found): (&super::Policy, BTreeMap<Target, Vec<Condition>>)| {
            let all = found.into_iter().map(|(ancestor, conditions)| AncestorStatus { ancestor, conditions });
            PolicyStatus { policy: policy.id, ancestors: limited(attachments, all.collect()) }
        };
        attachments.policies.iter().zip(found).map(status).collect()
    }
}

/// As many ancestors as there may be: those with problems first.
fn limited(attachments: &Attachments<'_>, mut ancestors: Vec<AncestorStatus>) -> Vec<AncestorStatus> {
    if ancestors.len() <= LIMIT {
        return ancestors;
    }
    ancestors.sort_by_cached_key(|status| {
        let says = |name: &str, wanted: bool| {
            status.conditions.iter().any(|condition| condition.name == name && condition.status == wanted)
        };
        let rank = if says("Accepted", false) {
            0
        } else if says("Overridden", true) {
            1
        } else {
            2
        };
        let snapshot = attachments.scene.topology.snapshot;
        let object = snapshot.objects().get(status.ancestor.object);
        let texts = object.map(|object| [object.scope, object.name].map(|symbol| snapshot.text(symbol)));
        (rank, texts, status.ancestor.clone())
    });
    ancestors.truncate(LIMIT);
    if let Some(last) = ancestors.last_mut() {
        let message = format!("Ancestors have been aggregated because there are more than {LIMIT} of them");
        last.conditions.push(holds("Aggregated", message));
    }
    ancestors
}

/// A condition that holds, for the reason that is its name.
pub(super) fn holds(name: &str, message: String) -> Condition {
    Condition { name: name.to_owned(), status: true, reason: name.to_owned(), message }
}

/// That a policy is not accepted.
pub(super) fn not_accepted(reason: &str, message: String) -> Condition {
    Condition { name: "Accepted".to_owned(), status: false, reason: reason.to_owned(), message }
}
