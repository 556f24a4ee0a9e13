//! What a zone egress does for an external service that is known by tags.
//!
//! The egress is one place for all clients, so what policies say to clients about the service becomes rules by client.

use upheld_engine::merge::{Merge, TargetRules};
use upheld_engine::{EntryId, PolicyId, Snapshot};
use upheld_model::layers::{Audience, Layers, Reach, Statement};
use upheld_model::tree::{Kind, Value};
use upheld_model::{Diagnostics, Facet, NodeRef, Policy, PolicyContent, Role, Roles, SourceId, Sym, TagSet};

use super::SERVICE_TAGS;
use super::edition::Edition;
use super::meta::{Meta, label};
use super::resources::ResourceType;
use super::rules::{InboundRule, Rules, SubsetRule, mesh_object};
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
            .filter(|entry| rules.merge.entry(*entry).is_some_and(|entry| is_about(rules, entry.at, service)))
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

/// What leaves a mesh.
#[derive(Clone, Copy, Debug)]
pub enum Leaving<'t> {
    /// Calls of a service that is known by tags.
    Tagged(&'t TagSet),
    /// Calls of a real resource.
    Resource,
}

/// The policies of a kind as a zone egress has them, to ask for one client where [`Egress`] lists all: each that counts is
/// attached to the egress, and what it says to its proxies about the service it says there about these clients.
pub fn policies(rules: &Rules<'_>, leaving: Leaving<'_>) -> Option<Merge> {
    let snapshot = rules.snapshot;
    let all = rules.merge.policies().filter(|(slot, _)| is_visible(rules, *slot));
    let there: Vec<(PolicyId, Policy)> = all
        .filter_map(|(slot, attached)| {
            let policy = rules.policy(slot)?;
            Some((attached.policy, at_egress(rules, policy, policy.layers()?, leaving)))
        })
        .collect();
    let group: Vec<(PolicyId, &Policy)> = there.iter().map(|(id, policy)| (*id, policy)).collect();
    Some(Merge::compile(rules.merge.kind(), &group, snapshot.symbols(), snapshot.targets()?))
}

/// Whether a policy counts at a zone egress for some external service, although it may be attached to no proxy.
pub fn reaches(rules: &Rules<'_>, policy: &Policy) -> bool {
    let snapshot = rules.snapshot;
    if rules.edition == Edition::V3 || !is_in_use(snapshot, policy.scope) {
        return false;
    }
    let top = attached_to(rules, policy);
    let external = snapshot.objects_in(ResourceType::ExternalService.name(), snapshot.text(policy.scope));
    let mut services = external.flat_map(|(_, object)| &object.parts);
    rules.merge.kind().facet(Facet::Clients).is_some() && services.any(|part| covers(rules, &top, &part.tags))
}

fn at_egress(rules: &Rules<'_>, policy: &Policy, layers: &Layers, leaving: Leaving<'_>) -> Policy {
    let top = attached_to(rules, policy);
    let speaks_to_callers = rules.merge.kind().facet(Facet::Clients).is_some();
    let counts = |statement: &Statement| match (statement.facet, leaving) {
        (Facet::Objects, Leaving::Resource) => Some(statement.clone()),
        (Facet::Clients | Facet::Inbound, Leaving::Tagged(service)) => {
            covers(rules, &top, service).then(|| statement.clone())
        }
        (Facet::Services, Leaving::Tagged(service)) if !speaks_to_callers => {
            let clients = clients_of(&top).filter(|_| is_about(rules, statement.at, service))?;
            let symbols = rules.snapshot.symbols();
            let tag = |tag: &Tag| Some((symbols.get(&tag.key)?, symbols.get(&tag.value)?));
            let tags = clients.tags.iter().map(tag).collect::<Option<Vec<_>>>()?;
            Some(Statement { reach: Reach::Tags(tags), ..statement.clone() })
        }
        _ => None,
    };
    let everywhere =
        Audience { conditions: Vec::new(), roles: Roles::of(&[Role::Inbound]), tags: Vec::new(), section: None };
    let entries = layers.entries.iter().filter_map(counts).collect();
    let layers = Layers { audiences: vec![everywhere], marks: layers.marks.clone(), entries, dangling: Vec::new() };
    Policy { says: PolicyContent::Layers(layers), ..policy.clone() }
}

/// Whether an item of a policy is about a service with these tags.
fn is_about(rules: &Rules<'_>, item: NodeRef, service: &TagSet) -> bool {
    let written = rules.snapshot.files().value(item);
    let written = written.map(|written| reference(written, Position::To, rules.edition, item.source));
    written.is_some_and(|written| covers(rules, &written, service))
}

/// Whether what leaves a mesh does so through a zone egress, as the document of the mesh says.
pub fn is_in_use(snapshot: &Snapshot, mesh: Sym) -> bool {
    let mesh = mesh_object(snapshot, mesh).and_then(|id| snapshot.objects().get(id));
    let document = mesh.and_then(|mesh| Resource::of(snapshot.files().value(mesh.at)?));
    let routing = document.and_then(|mesh| mesh.field("routing")?.get("zoneEgress"));
    routing.and_then(Value::as_bool) == Some(true)
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
