//! What controllers would report of each gateway policy, and at how many places each of its fields survives.

use upheld_engine::{ObjectId, PolicyId};
use upheld_report::{AncestorStatus, Condition, FieldStatus, PolicyStatus};

use super::gateway_api::Network;
use super::gateway_api::topology::Condition as Reported;

/// The status of all policies.
pub(super) fn statuses(network: Network<'_>) -> Vec<PolicyStatus> {
    let mut told = Vec::new();
    for status in network.kgateway_statuses() {
        let ancestors = status.ancestors.into_iter();
        let ancestors = ancestors.map(|at| (at.ancestor.object, at.ancestor.section, at.conditions));
        let fields = status.survival.iter().map(|field| FieldStatus {
            field: field.field.to_string(),
            survives: field.survives,
            of: field.targets,
        });
        told.push(PolicyStatus { fields: fields.collect(), ..status_of(network, status.policy, ancestors) });
    }
    for status in network.envoy_statuses() {
        let ancestors = status.ancestors.into_iter();
        let ancestors = ancestors.map(|at| (at.ancestor.object, at.ancestor.section, at.conditions));
        told.push(status_of(network, status.policy, ancestors));
    }
    told
}

fn status_of(
    network: Network<'_>,
    policy: PolicyId,
    ancestors: impl Iterator<Item = (ObjectId, Option<String>, Vec<Reported>)>,
) -> PolicyStatus {
    let snapshot = network.snapshot;
    let policy = snapshot.policy(policy).map_or_else(String::new, |policy| {
        let [kind, scope, name] = [policy.kind, policy.scope, policy.name].map(|symbol| snapshot.text(symbol));
        format!("{kind} {scope}/{name}")
    });
    let ancestors = ancestors.map(|(ancestor, section, known)| AncestorStatus {
        ancestor: network.title(ancestor),
        section,
        conditions: conditions(&known),
    });
    PolicyStatus { policy, ancestors: ancestors.collect(), fields: Vec::new() }
}

fn conditions(known: &[Reported]) -> Vec<Condition> {
    let told = known.iter().map(|condition| Condition {
        name: condition.name.clone(),
        status: if condition.status { "True" } else { "False" },
        reason: condition.reason.clone(),
        message: condition.message.clone(),
    });
    told.collect()
}
