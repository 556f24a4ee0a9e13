//! What a zone egress does for an external service that is known by tags.
//!
//! The egress is one place for all clients, so what policies say to clients about the service becomes rules by client.

use upheld_engine::EntryId;
use upheld_engine::merge::TargetRules;
use upheld_model::tree::{Kind, Value};
use upheld_model::{Diagnostics, Facet, Policy, SourceId, TagSet};

use super::SERVICE_TAGS;
use super::edition::Edition;
use super::meta::{Meta, label};
use super::rules::{InboundRule, Rules, SubsetRule};
use super::subsets::{Negations, Subset, Tag, TooManyCells};
use super::target_ref::{Position, TargetKind, TargetRef};
use crate::document::Resource;

/// The rules of a zone egress for one service.
#[derive(Clone, Debug)]
pub struct Egress {
    /// By client.
    pub clients: Vec<SubsetRule>,
    /// Of the newer form, for kinds that speak about what comes in.
    pub inbound: Option<Vec<InboundRule>>,
    /// By real resource, for kinds that speak about destinations.
    pub resources: Option<TargetRules>,
}

impl Egress {
    /// The rules of a kind for a service with these tags.
    pub fn of(rules: &Rules<'_>, service: &TagSet) -> Result<Self, TooManyCells> {
        let visible: Vec<u32> = rules.in_document_order().into_iter().filter(|slot| is_visible(rules, *slot)).collect();
        let has = |facet| rules.merge.kind().facet(facet).is_some();
        let resources = has(Facet::Objects).then(|| rules.resource_rules(&visible));
        if has(Facet::Clients) {
            let covers = |slot: &u32| {
                rules.policy(*slot).is_some_and(|policy| covers(rules, &attached_to(rules, policy), service))
            };
            let mut slots: Vec<u32> = visible.into_iter().filter(covers).collect();
            lowest_first(rules, &mut slots);
            let inbound = Some(rules.inbound_rules(&slots));
            return Ok(Self { clients: rules.client_rules(&slots)?, inbound, resources });
        }
        Ok(Self { clients: by_client(rules, visible, service)?, inbound: None, resources })
    }
}

/// What policies say to their proxies about the service: each proxy is a client, so ends change places.
fn by_client(rules: &Rules<'_>, mut slots: Vec<u32>, service: &TagSet) -> Result<Vec<SubsetRule>, TooManyCells> {
    lowest_first(rules, &mut slots);
    let (mut entries, mut subsets) = (Vec::new(), Vec::new());
    for slot in slots {
        let Some(clients) = rules.policy(slot).and_then(|policy| clients_of(&attached_to(rules, policy))) else {
            continue;
        };
        let about: Vec<EntryId> = rules
            .entries(&[slot], Facet::Services)
            .into_iter()
            .filter(|entry| {
                let written = rules.merge.entry(*entry).and_then(|entry| {
                    let item = rules.snapshot.files().value(entry.at)?;
                    Some(reference(item, Position::To, rules.edition, entry.at.source))
                });
                written.is_some_and(|written| covers(rules, &written, service))
            })
            .collect();
        // Kuma takes a policy once for each of its items that count, with all of them each time. It changes nothing but
        // the order of groups.
        let times = if rules.edition == Edition::V2Cliques { about.len() } else { 1 };
        for _ in 0..times {
            entries.extend(&about);
            subsets.extend(about.iter().map(|_| clients.clone()));
        }
    }
    rules.subset_rules_of(&entries, &subsets, Negations::Off)
}

fn lowest_first(rules: &Rules<'_>, slots: &mut [u32]) {
    rules.merge.rank_policies(slots);
    slots.reverse();
}

fn is_visible(rules: &Rules<'_>, slot: u32) -> bool {
    let resource = rules.policy(slot).and_then(|policy| rules.snapshot.files().value(policy.at)).and_then(Resource::of);
    resource.is_some_and(|resource| Meta::of(resource).label(label::EFFECT) != Some("shadow"))
}

fn attached_to<'s>(rules: &Rules<'s>, policy: &Policy) -> TargetRef<'s> {
    let spec = rules.snapshot.files().value(policy.at).and_then(Resource::of).and_then(Resource::spec);
    spec.map_or_else(TargetRef::mesh, |spec| reference(spec, Position::Top, rules.edition, policy.at.source))
}

/// The reference inside of something; what is wrong with it was told when it was read first.
fn reference(holder: Value<'_>, position: Position, edition: Edition, source: SourceId) -> TargetRef<'_> {
    let written = holder.get("targetRef").filter(|value| value.kind() != Kind::Null);
    let read = |value| TargetRef::read(value, position, edition, source, &mut Diagnostics::default());
    written.and_then(read).unwrap_or_else(TargetRef::mesh)
}

/// Whether a reference means a service with these tags.
fn covers(rules: &Rules<'_>, reference: &TargetRef<'_>, service: &TagSet) -> bool {
    let text = |key: &str| {
        let tag = rules.snapshot.symbols().get(key).and_then(|key| service.get(key));
        tag.and_then(|tag| tag.value).map(|value| rules.snapshot.text(value))
    };
    let named = || text(SERVICE_TAGS[0]).unwrap_or_default() == reference.name.unwrap_or_default();
    let tagged =
        || reference.tags.iter().all(|(key, want)| text(key).is_some_and(|have| *want == "*" || have == *want));
    match reference.kind {
        TargetKind::Mesh => true,
        TargetKind::MeshSubset => tagged(),
        TargetKind::MeshService => named(),
        TargetKind::MeshServiceSubset => named() && tagged(),
        _ => false,
    }
}

/// The clients that a policy is attached to, if tags can say it.
fn clients_of(reference: &TargetRef<'_>) -> Option<Subset> {
    let tags = reference.as_tags()?.into_iter();
    Some(Subset { tags: tags.map(|(key, value)| Tag { key: key.into(), value: value.into(), not: false }).collect() })
}
