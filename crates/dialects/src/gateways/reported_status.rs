//! What controllers would report of each gateway policy, and at how many places each of its fields survives.

pub(super) mod objects;

use std::collections::BTreeSet;

use upheld_engine::{ObjectId, PolicyId};
use upheld_report::{AncestorStatus, Condition, FieldStatus, PolicyStatus, Reference};

use super::gateway_api::Network;
use super::gateway_api::attachments::Reader;
use super::gateway_api::topology::Condition as Reported;
use super::kgateway::fields::written_name;
use super::unattached;
use crate::document::Resource;

/// The status of all policies.
pub(super) fn statuses(network: Network<'_>) -> Vec<PolicyStatus> {
    let (mut told, assumed) = (Vec::new(), network.assumed_routes());
    for status in network.kgateway_statuses() {
        let ancestors = status.ancestors.into_iter();
        let ancestors = ancestors.map(|at| (at.ancestor.object, at.ancestor.section, at.conditions));
        let fields = status.survival.iter().map(|field| FieldStatus {
            field: field_name(network, status.policy, &field.field),
            survives: field.survives,
            of: field.targets,
        });
        told.push(PolicyStatus { fields: fields.collect(), ..status_of(network, &assumed, status.policy, ancestors) });
    }
    for status in network.envoy_statuses() {
        let ancestors = status.ancestors.into_iter();
        let ancestors = ancestors.map(|at| (at.ancestor.object, at.ancestor.section, at.conditions));
        told.push(status_of(network, &assumed, status.policy, ancestors));
    }
    // Nobody knows what controllers of other kinds report; what is known is whether they meet anything.
    for kind in network.kinds() {
        if matches!(
            Reader::of(network.snapshot.text(kind.policies.kind().reads)),
            Some(Reader::Stanzas | Reader::Whole)
        ) {
            let own = network.ranked(kind).into_iter().map(|entry| entry.policy);
            for policy in upheld_report::each_once(own) {
                told.push(status_of(network, &assumed, policy, std::iter::empty()));
            }
        }
    }
    told
}

/// The name of a field as the documents of its policy have it.
fn field_name(network: Network<'_>, policy: PolicyId, field: &str) -> String {
    let kinds = network.kinds().filter(|kind| {
        network.snapshot.policy(policy).is_some_and(|policy| {
            let group = policy.attachments().and_then(|attachments| attachments.group);
            policy.kind == kind.kind.governs && group == Some(kind.policies.kind().group)
        })
    });
    let mut readers = kinds.filter_map(|kind| Reader::of(network.snapshot.text(kind.policies.kind().reads)));
    match readers.next() {
        Some(Reader::Kgateway(policy)) => written_name(policy, field),
        _ => field.to_owned(),
    }
}

fn status_of(
    network: Network<'_>,
    assumed: &BTreeSet<ObjectId>,
    policy: PolicyId,
    ancestors: impl Iterator<Item = (ObjectId, Option<String>, Vec<Reported>)>,
) -> PolicyStatus {
    let snapshot = network.snapshot;
    let found = snapshot.policy(policy);
    let resource = found.and_then(|policy| Resource::of(snapshot.files().value(policy.at)?));
    let ancestors = ancestors.map(|(ancestor, section, known)| AncestorStatus {
        ancestor: reference(network, ancestor, section),
        conditions: conditions(&known),
    });
    let ancestors: Vec<AncestorStatus> = ancestors.collect();
    let why = found.filter(|_| ancestors.is_empty()).and_then(|policy| unattached::why(network, assumed, policy));
    PolicyStatus {
        api_version: resource.map_or_else(String::new, api_version),
        policy: found.map_or_else(Reference::default, |policy| {
            let [kind, namespace, name] =
                [policy.kind, policy.scope, policy.name].map(|part| snapshot.text(part).into());
            let group = resource.and_then(Resource::group).unwrap_or_default().to_owned();
            Reference { group, kind, namespace, name, section_name: None }
        }),
        notes: why.into_iter().map(|why| why.message).collect(),
        ancestors,
        fields: Vec::new(),
    }
}

/// Group and version of a document.
fn api_version(resource: Resource<'_>) -> String {
    resource.document.get("apiVersion").map_or_else(String::new, |version| version.text().to_owned())
}

fn reference(network: Network<'_>, object: ObjectId, section_name: Option<String>) -> Reference {
    let snapshot = network.snapshot;
    let group = network.resource(object).and_then(Resource::group).unwrap_or_default().to_owned();
    network.object(object).map_or_else(Reference::default, |object| {
        let [kind, namespace, name] =
            [object.kind, object.scope, object.name].map(|part| snapshot.text(part).to_owned());
        Reference { group, kind, namespace, name, section_name }
    })
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
