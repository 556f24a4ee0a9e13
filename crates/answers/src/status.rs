//! What controllers would report of each gateway policy, and at how many places each of its fields survives.

use serde::Serialize;
use upheld_dialects::gateway_api::Network;
use upheld_dialects::gateway_api::topology::Condition as Reported;
use upheld_engine::{ObjectId, PolicyId};

/// The status of all policies.
pub(crate) fn statuses(network: Network<'_>) -> Vec<PolicyStatus> {
    let mut told = Vec::new();
    for status in network.kgateway_statuses() {
        let ancestors = status.ancestors.into_iter();
        let ancestors = ancestors.map(|at| (at.ancestor.object, at.ancestor.section, at.conditions));
        let fields = status.survival.iter().map(|field| FieldStatus {
            field: field.field.to_string(),
            survives: field.survives,
            of: field.targets,
        });
        told.push(PolicyStatus { fields: fields.collect(), ..PolicyStatus::of(network, status.policy, ancestors) });
    }
    for status in network.envoy_statuses() {
        let ancestors = status.ancestors.into_iter();
        let ancestors = ancestors.map(|at| (at.ancestor.object, at.ancestor.section, at.conditions));
        told.push(PolicyStatus::of(network, status.policy, ancestors));
    }
    told
}

/// The status of a policy, as it is told.
#[derive(Debug, Serialize)]
pub struct PolicyStatus {
    /// Its kind, namespace and name.
    pub policy: String,
    /// What is said at each gateway, listener or route that it came to.
    pub ancestors: Vec<AncestorStatus>,
    /// At how many places each field survives.
    pub fields: Vec<FieldStatus>,
}

/// The status of a policy at one ancestor.
#[derive(Debug, Serialize)]
pub struct AncestorStatus {
    /// The ancestor's kind, namespace and name.
    pub ancestor: String,
    /// A part of it.
    #[serde(rename = "sectionName")]
    pub section: Option<String>,
    /// What is said there.
    pub conditions: Vec<Condition>,
}

/// One condition.
#[derive(Debug, Serialize)]
pub struct Condition {
    /// What it is about.
    #[serde(rename = "type")]
    pub name: String,
    /// `True` or `False`.
    pub status: &'static str,
    /// In one word.
    pub reason: String,
    /// In a sentence.
    pub message: String,
}

/// How a field of a policy fares.
#[derive(Debug, Serialize)]
pub struct FieldStatus {
    /// Its name.
    pub field: String,
    /// At how many places its value holds.
    pub survives: usize,
    /// At how many places it was set.
    pub of: usize,
}

impl PolicyStatus {
    fn of(
        network: Network<'_>,
        policy: PolicyId,
        ancestors: impl Iterator<Item = (ObjectId, Option<String>, Vec<Reported>)>,
    ) -> Self {
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
        Self { policy, ancestors: ancestors.collect(), fields: Vec::new() }
    }
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
