//! What a proxy gets from the policies of one kind, listed as Kuma lists it.
//!
//! - policies that match, in their order
//! - *proxy rule*: one configuration for the whole proxy
//! - *resource rules*: one for each real resource that some policy names ([`upheld_engine::merge::TargetRules`])
//! - *subset rules*: cells of services or clients that are known by tags ([`super::subsets`])
//! - *inbound rules*: the newer form for what comes in
//!
//! A listing answers all questions at once; [`upheld_engine::ask()`] answers one. Both fold the same layers.

mod listeners;

pub use listeners::Listener;

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;

use upheld_engine::merge::{AdmitScratch, Admitted, Entry, Merge, Merged, ResolvedReach, Subject, Target, TargetRules};
use upheld_engine::{EntryId, KindId, ObjectId, PolicyKind, Snapshot};
use upheld_model::layers::{Extent, Pattern};
use upheld_model::tree::Value;
use upheld_model::{Config, Content, Facet, Object, Policy, Sym};

use super::edition::Edition;
use super::layered::ROUTE;
use super::resources::ResourceType;
use super::subsets::{self, Grouping, Limits, Negations, Subset, Tag, TooManyCells};
use super::target_ref::TargetKind;
use super::{http_match, inbound_match};

/// The policies of one kind in one mesh.
#[derive(Clone, Copy, Debug)]
pub struct Rules<'s> {
    /// Everything there is.
    pub snapshot: &'s Snapshot,
    /// Which kind.
    pub id: KindId,
    /// The kind.
    pub kind: &'s PolicyKind,
    /// Its policies.
    pub merge: &'s Merge,
    /// The edition in force.
    pub edition: Edition,
    /// Where they are.
    scope: Sym,
    /// The mesh as an object, if a document describes it.
    mesh: Option<ObjectId>,
}

/// A cell of services or clients and what holds there.
#[derive(Clone, Debug)]
pub struct SubsetRule {
    /// The cell.
    pub subset: Subset,
    /// The configuration.
    pub conf: Arc<Config>,
    /// The layers, the lowest priority first.
    pub entries: Arc<[EntryId]>,
}

/// The layers of a cell, and the configurations that they come to.
type Resolved = (Arc<[EntryId]>, Arc<[Arc<Config>]>);

/// A rule for what comes in.
#[derive(Clone, Debug)]
pub struct InboundRule {
    /// The callers that it is about; `None` for all.
    pub callers: Option<Arc<Config>>,
    /// The layer.
    pub entry: EntryId,
}

/// One configuration for the whole proxy.
#[derive(Clone, Debug)]
pub struct ProxyRule {
    /// The layers, the best first.
    pub entries: Vec<EntryId>,
    /// What they come to.
    pub results: Vec<Merged>,
}

/// The edition of target references that is in force.
pub fn edition(snapshot: &Snapshot) -> Edition {
    let editions = snapshot.kinds().iter().filter_map(|(_, kind)| Edition::of(snapshot.text(kind.semantics?)));
    editions.min().unwrap_or(Edition::V2)
}

/// All kinds with layered policies in a mesh, in the order of listings.
pub fn kinds<'s>(snapshot: &'s Snapshot, mesh: Sym) -> Vec<Rules<'s>> {
    let mut all: Vec<Rules<'s>> = snapshot.kinds().iter().filter_map(|(id, _)| Rules::of(snapshot, id, mesh)).collect();
    let place = |rules: &Rules<'s>| rules.kind.merge().map_or(0, |merge| merge.position);
    all.sort_by(|a, b| place(a).cmp(&place(b)).then_with(|| a.name().cmp(b.name())));
    all
}

impl<'s> Rules<'s> {
    /// The policies of a kind in a mesh; `None` if there are none, or if the kind is of another family.
    pub fn of(snapshot: &'s Snapshot, id: KindId, mesh: Sym) -> Option<Self> {
        let kind = snapshot.kind(id)?;
        let merge = snapshot.merge(id, mesh)?;
        let (scope, mesh) = (mesh, mesh_object(snapshot, mesh));
        Some(Self { snapshot, id, kind, merge, edition: edition(snapshot), scope, mesh })
    }

    /// The mesh.
    pub fn scope(&self) -> Sym {
        self.scope
    }

    /// The same kind with other policies.
    pub fn with<'m>(&self, merge: &'m Merge) -> Rules<'m>
    where
        's: 'm,
    {
        Rules { merge, ..*self }
    }

    /// The name of the kind.
    pub fn name(&self) -> &'s str {
        self.snapshot.text(self.kind.name)
    }

    /// The policies that match a proxy, the lowest priority first.
    pub fn matched(&self, proxy: &Object) -> Vec<Admitted> {
        self.matched_with(Subject::of(proxy), &mut AdmitScratch::default())
    }

    /// The same with room that is used again, which counts what was looked at.
    pub fn matched_with(&self, proxy: Subject<'_>, scratch: &mut AdmitScratch) -> Vec<Admitted> {
        let admitted = self.merge.audiences().admit(proxy, scratch);
        let mut slots: Vec<u32> = admitted.iter().map(|admitted| admitted.slot).collect();
        self.merge.rank_policies(&mut slots);
        let mut by_slot: BTreeMap<u32, Admitted> = admitted.into_iter().map(|one| (one.slot, one)).collect();
        slots.into_iter().rev().filter_map(|slot| by_slot.remove(&slot)).collect()
    }

    /// One configuration for the whole proxy, given its policies from the lowest priority.
    pub fn proxy_rule(&self, slots: &[u32]) -> Option<ProxyRule> {
        let mut entries = self.entries(slots, Facet::Whole);
        entries.reverse();
        (!entries.is_empty()).then(|| ProxyRule { results: self.merge.fold(&entries), entries })
    }

    /// A rule for each real resource that the policies name.
    pub fn resource_rules(&self, slots: &[u32]) -> TargetRules {
        self.merge.target_rules(&self.entries(slots, Facet::Objects), &self.surroundings())
    }

    /// What surrounds a resource: its mesh.
    pub fn surroundings(&self) -> impl Fn(Target) -> Option<Target> + use<> {
        let mesh = self.mesh;
        move |_| mesh.map(Target::whole)
    }

    /// Cells of services that are known by tags, given the policies from the lowest priority.
    pub fn service_rules(&self, slots: &[u32]) -> Result<Vec<SubsetRule>, TooManyCells> {
        self.subset_rules(&self.entries(slots, Facet::Services), Negations::Off)
    }

    /// Cells of clients, given the policies from the lowest priority.
    pub fn client_rules(&self, slots: &[u32]) -> Result<Vec<SubsetRule>, TooManyCells> {
        self.subset_rules(&self.entries(slots, Facet::Clients), Negations::On)
    }

    /// Cells that some entries can tell apart, given the entries from the lowest priority.
    pub fn subset_rules(&self, entries: &[EntryId], negations: Negations) -> Result<Vec<SubsetRule>, TooManyCells> {
        let subsets: Vec<Subset> = entries.iter().map(|id| self.subset(*id)).collect();
        self.subset_rules_of(entries, &subsets, negations)
    }

    pub(super) fn subset_rules_of(
        &self,
        entries: &[EntryId],
        subsets: &[Subset],
        negations: Negations,
    ) -> Result<Vec<SubsetRule>, TooManyCells> {
        let grouping = if self.edition == Edition::V2Cliques { Grouping::Cliques } else { Grouping::Exact };
        let resolve = |items: &[usize]| -> Resolved {
            let layers: Vec<EntryId> = items.iter().filter_map(|item| entries.get(*item).copied()).collect();
            let best_first: Vec<EntryId> = layers.iter().rev().copied().collect();
            let confs: Vec<Arc<Config>> = self.merge.fold(&best_first).iter().filter_map(Merged::config).collect();
            (layers.into(), confs.into())
        };
        let rules = subsets::rules(subsets, grouping, negations, Limits::default(), resolve)?;
        let each_conf = |subsets::Rule { subset, conf: (entries, confs), .. }: subsets::Rule<Resolved>| {
            let rule = |conf: &Arc<Config>| SubsetRule {
                subset: subset.clone(),
                conf: conf.clone(),
                entries: entries.clone(),
            };
            confs.iter().map(rule).collect::<Vec<_>>()
        };
        Ok(rules.into_iter().flat_map(each_conf).collect())
    }

    /// The tags that an entry is about.
    pub fn subset(&self, id: EntryId) -> Subset {
        let Some(Entry { reach: ResolvedReach::Tags(wants), .. }) = self.merge.entry(id) else {
            return Subset::default();
        };
        let text = |symbol: Sym| self.snapshot.text(symbol);
        let tag = |(key, value): &(Sym, Sym)| Tag { key: text(*key).into(), value: text(*value).into(), not: false };
        Subset { tags: wants.iter().map(tag).collect() }
    }

    /// Rules for what comes in; policies come in any order. Those with more closely described callers stand first; among
    /// equals the one of the highest priority stands last.
    pub fn inbound_rules(&self, slots: &[u32]) -> Vec<InboundRule> {
        let mut slots = slots.to_vec();
        slots.sort_by_cached_key(|slot| self.policy(*slot).map(|policy| self.merit(policy)));
        let entries = self.entries(&slots, Facet::Inbound).into_iter();
        let mut rules: Vec<InboundRule> = entries
            .map(|entry| InboundRule { callers: self.merge.entry(entry).and_then(|one| self.callers(one)), entry })
            .collect();
        rules.sort_by_key(|rule| inbound_match::precedence(rule.callers.as_deref()));
        rules
    }

    /// What ranks the entries of a policy: unlike policies, they are not ranked by the tags of a gateway.
    fn merit(&self, policy: &Policy) -> ([i64; 4], Reverse<&'s str>) {
        let marks = policy.layers().map_or(&[][..], |layers| &layers.marks);
        let number = |column: &str| {
            let mark = marks.iter().find(|mark| self.snapshot.text(mark.column) == column);
            mark.map_or(0, |mark| mark.number)
        };
        let numbers = ["target-kind", "target-detail", "origin", "role"].map(number);
        (numbers, Reverse(self.snapshot.text(policy.title)))
    }

    /// The entries about destinations, the lowest priority first: for each item the one about resources, or else about
    /// services that are known by tags. Where Kuma sees no difference, the policies stay in the order given and their
    /// items in that of the documents.
    pub fn sorted_destinations(&self, slots: &[u32]) -> Vec<EntryId> {
        let mut sorted = Vec::new();
        for slot in slots {
            let Some((numbers, title)) = self.policy(*slot).map(|policy| self.merit(policy)) else { continue };
            let facets = [Facet::Objects, Facet::Services];
            let mut entries: Vec<(EntryId, &Entry)> =
                facets.into_iter().flat_map(|facet| self.merge.entries_of(*slot, facet)).collect();
            entries.sort_by_key(|(_, entry)| entry.item);
            entries.dedup_by_key(|(_, entry)| entry.item);
            sorted.extend(entries.into_iter().map(|(id, entry)| ((numbers, self.item_merit(entry), title), id)));
        }
        sorted.sort_by_key(|(merit, _)| *merit);
        sorted.into_iter().map(|(_, id)| id).collect()
    }

    /// What ranks an entry about destinations besides its policy: the kind of its target, and whether it names a port.
    fn item_merit(&self, entry: &Entry) -> (i64, bool) {
        let target = self.snapshot.files().value(entry.at).and_then(|item| item.get("targetRef"));
        let text = |name: &str| target.and_then(|target| target.get(name)).map(Value::text).unwrap_or_default();
        let kind = TargetKind::of(text("kind"));
        let by_port = kind == Some(TargetKind::MeshService) && !text("sectionName").is_empty();
        (kind.map_or(0, |kind| kind.specificity(self.edition)), by_port)
    }

    /// The policy of a slot.
    pub fn policy(&self, slot: u32) -> Option<&'s Policy> {
        self.snapshot.policy(self.merge.policy(slot)?.policy)
    }

    /// All policies, in the order of their documents.
    pub fn in_document_order(&self) -> Vec<u32> {
        let mut slots: Vec<u32> = self.merge.policies().map(|(slot, _)| slot).collect();
        slots.sort_by_key(|slot| self.policy(*slot).map(|policy| policy.at));
        slots
    }

    /// The callers that an entry is about, as documents describe them.
    pub fn callers(&self, entry: &Entry) -> Option<Arc<Config>> {
        let ResolvedReach::Callers(patterns) = &entry.reach else { return None };
        if patterns.is_empty() {
            return None;
        }
        let text = |text: &str| Config::made(Content::Text(text.into()));
        let one = |pattern: &Pattern| {
            let extent = if pattern.extent == Extent::Beginning { "Prefix" } else { "Exact" };
            let fields = vec![("type".into(), text(extent)), ("value".into(), text(&pattern.text))];
            (self.snapshot.text(pattern.key).into(), Config::made(Content::Map(fields)))
        };
        Some(Config::made(Content::Map(patterns.iter().map(one).collect())))
    }

    /// The entries of policies about a facet: in the order of the policies given, then of their documents.
    pub fn entries(&self, slots: &[u32], facet: Facet) -> Vec<EntryId> {
        slots.iter().flat_map(|slot| self.merge.entries_of(*slot, facet).map(|(id, _)| id)).collect()
    }
}

/// The document that describes a mesh.
pub fn mesh_object(snapshot: &Snapshot, mesh: Sym) -> Option<ObjectId> {
    snapshot.objects_in(ResourceType::Mesh.name(), snapshot.text(mesh)).next().map(|(id, _)| id)
}

/// For every rule of routes the entry that it is attributed to, by the name of its matches: the last one that has such a
/// rule, given the entries from the lowest priority.
pub fn origin_by_matches(rules: &Rules<'_>, entries: &[EntryId]) -> Vec<(String, EntryId)> {
    let mut origins: Vec<(String, EntryId)> = Vec::new();
    if rules.name() != ROUTE {
        return origins;
    }
    for &entry in entries {
        let listed = rules.merge.entry(entry).and_then(|entry| entry.config.get("rules"));
        for rule in listed.map_or(&[][..], |rules| rules.items()) {
            let hash = http_match::hash_of_rule(rule);
            match origins.iter_mut().find(|(known, _)| *known == hash) {
                Some((_, owner)) => *owner = entry,
                None => origins.push((hash, entry)),
            }
        }
    }
    origins
}
