//! What controllers would report of each gateway policy, and at how many places each of its fields survives.

use serde::Serialize;
use upheld_dialects::envoy_gateway::{Attachments, PolicyStatus as EnvoyStatus, by_age};
use upheld_dialects::gateway_api::topology::Condition as Reported;
use upheld_dialects::kgateway::{PolicyEntry, PolicyStatus as Known, Resolver, Semantics};

use crate::gateways::Gateways;

/// The status of all policies.
pub(crate) fn statuses(gateways: &Gateways<'_>, semantics: Semantics) -> Vec<PolicyStatus> {
    let Gateways { topology, controller } = gateways;
    let resolver = Resolver::new(topology, controller, semantics);
    let mut statuses = resolver.statuses();
    let mut survival = resolver.survival_on_ways();
    for status in &mut statuses {
        // What a nearer scope hides does not survive, although the status of the policy does not say so.
        if let Some(fields) = survival.remove(&status.policy) {
            status.survival = fields;
        }
    }
    let mut told: Vec<PolicyStatus> = statuses.iter().map(|status| PolicyStatus::of(&resolver, status)).collect();
    let envoy = Attachments::new(topology, &by_age(topology.snapshot));
    told.extend(envoy.status().iter().filter_map(|status| {
        let policy = envoy.policies.iter().find(|policy| policy.id == status.policy)?;
        Some(PolicyStatus::of_envoy(&resolver, policy.title(), status))
    }));
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
    fn of(resolver: &Resolver<'_>, status: &Known) -> Self {
        let ancestors = status.ancestors.iter().map(|entry| AncestorStatus {
            ancestor: resolver.references().title(entry.ancestor.object),
            section: entry.ancestor.section.clone(),
            conditions: conditions(&entry.conditions),
        });
        let fields = status.survival.iter().map(|field| FieldStatus {
            field: field.field.to_string(),
            survives: field.survives,
            of: field.targets,
        });
        Self {
            policy: resolver.policies().get(status.policy).map(PolicyEntry::title).unwrap_or_default(),
            ancestors: ancestors.collect(),
            fields: fields.collect(),
        }
    }

    fn of_envoy(resolver: &Resolver<'_>, policy: String, status: &EnvoyStatus) -> Self {
        let ancestors = status.ancestors.iter().map(|entry| AncestorStatus {
            ancestor: resolver.references().title(entry.ancestor.object),
            section: entry.ancestor.section.clone(),
            conditions: conditions(&entry.conditions),
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
