//! Kinds whose policies are layers: which questions a connection comes to, and their explanations.
//!
//! A proxy alone is asked for everything: itself, its inbounds, and every destination that some policy names. With a
//! destination it is asked for what it calls; with a caller for what comes in. A connection between two proxies is both.

use std::collections::HashMap;

use upheld_dialects::kuma::SERVICE_TAGS;
use upheld_dialects::kuma::ends::{Connection, End, Is, Member, services};
use upheld_dialects::kuma::rules::{Rules, kinds};
use upheld_dialects::kuma::subsets::{Subset, Tag};
use upheld_engine::merge::{About, Classes, Subject, Target, chain};
use upheld_engine::{Each, KindId, ObjectId, Snapshot};
use upheld_model::{Facet, Lookup, Object, Part, Role, Sym, TagSet};

use super::question::{Group, same_answer_key};
use crate::report::{AskedLayers, Explanation, Outcome, explain_layers};

/// How many sorts of clients of an inbound are shown; more can be asked for one by one.
const MOST_CELLS: usize = 50;

/// Asks for one connection.
pub(super) struct Layers<'a> {
    pub(super) snapshot: &'a Snapshot,
    pub(super) lookup: &'a Lookup<'a>,
    pub(super) connection: &'a Connection,
    rules: Vec<Rules<'a>>,
}

impl<'a> Layers<'a> {
    /// For one kind, or for all that have policies in the mesh.
    pub(super) fn new(
        snapshot: &'a Snapshot,
        lookup: &'a Lookup<'a>,
        connection: &'a Connection,
        kind: Option<KindId>,
    ) -> Self {
        let mut rules = kinds(snapshot, connection.mesh);
        rules.retain(|rules| kind.is_none_or(|kind| rules.id == kind));
        Self { snapshot, lookup, connection, rules }
    }

    /// Explanations for all pairs of members; pairs with the same answers stand together.
    pub(super) fn groups(&self) -> Vec<Group> {
        let mut groups = Groups::default();
        let members = |end: Option<&End>, each| end.map_or_else(Vec::new, |end| end.members_for(each).to_vec());
        let sources = members(self.connection.source.as_ref(), Each::Service);
        let (source, destination) = (self.connection.source.is_some(), self.connection.destination.is_some());
        let mut classes = Classes::new(self.rules.iter().map(|rules| rules.merge));
        if source && !destination {
            for source in &sources {
                let Some((id, object)) = self.proxy(source) else { continue };
                let class = classes.classify(Subject::of(object));
                groups.add(source.label.clone(), (class, 0), || self.everything(id, object, &source.label));
            }
        }
        for (number, called) in members(self.connection.destination.as_ref(), Each::Service).iter().enumerate() {
            for source in &sources {
                let Some((id, object)) = self.proxy(source) else { continue };
                let class = classes.classify(Subject::of(object));
                groups.add(format!("{} → {}", source.label, called.label), (class, number), || {
                    self.calling(id, source, called)
                });
            }
        }
        for called in members(self.connection.destination.as_ref(), Each::Inbound) {
            let Some(Is::Inbound(id, part)) = called.is else { continue };
            let asked: Vec<Option<&Member>> =
                if sources.is_empty() { vec![None] } else { sources.iter().map(Some).collect() };
            for source in asked {
                let labels = source.into_iter().chain([&called]).map(|member| member.label.clone());
                let pair = labels.collect::<Vec<_>>().join(" → ");
                groups.add_always(pair, self.called(id, part, source, &called.label));
            }
        }
        groups.all
    }

    fn proxy(&self, member: &Member) -> Option<(ObjectId, &'a Object)> {
        let id = member.caller()?;
        Some((id, self.snapshot.objects().get(id)?))
    }

    /// A proxy alone.
    fn everything(&self, id: ObjectId, object: &Object, label: &str) -> Vec<Explanation> {
        let mut all = Vec::new();
        for rules in &self.rules {
            all.extend(self.ask(rules, id, About::Whole, (Some(label), None), "proxy"));
            for (part, described) in numbered(object) {
                let place = self.place(described);
                let about = About::Inbound { part, caller: &[] };
                all.extend(self.ask(rules, id, about, (None, Some(label)), &place).filter(spoken));
                all.extend(self.clients(rules, id, object, part, label, &place));
            }
            let slots: Vec<u32> = rules.matched(object).iter().map(|admitted| admitted.slot).collect();
            let listed = rules.resource_rules(&slots);
            let mut targets: Vec<(String, Target)> =
                listed.iter().map(|(target, _)| (self.target_label(target), target)).collect();
            targets.sort();
            for (called, target) in targets {
                let chain = chain(target, &rules.surroundings());
                let about = About::Targets(&chain);
                all.extend(self.ask(rules, id, about, (Some(label), Some(&called)), "outbound"));
            }
        }
        for rules in &self.rules {
            for (called, tags) in self.services_of(rules, object) {
                all.extend(self.ask(rules, id, About::Service(&tags), (Some(label), Some(&called)), "outbound"));
            }
        }
        all.retain(|explanation| spoken(explanation) || !explanation.notes.is_empty());
        if all.is_empty() {
            // Nobody says anything: why not is the answer.
            let silent = |rules: &Rules<'_>| {
                let asked = [About::Whole, About::Targets(&[]), About::Inbound { part: 0, caller: &[] }];
                asked.into_iter().find_map(|about| self.ask(rules, id, about, (Some(label), None), "proxy"))
            };
            all.extend(self.rules.iter().filter_map(silent));
        }
        all
    }

    /// Clients of an inbound that some policy can tell apart, a representative of each sort.
    fn clients(
        &self,
        rules: &Rules<'_>,
        id: ObjectId,
        object: &Object,
        part: u32,
        label: &str,
        place: &str,
    ) -> Vec<Explanation> {
        let admitted = rules.matched(object);
        let slots: Vec<u32> =
            admitted.iter().filter(|admitted| admitted.has(part)).map(|admitted| admitted.slot).collect();
        let Ok(cells) = rules.client_rules(&slots) else { return Vec::new() };
        let mut seen: Vec<String> = Vec::new();
        let mut all = Vec::new();
        for cell in cells.iter().take(MOST_CELLS) {
            let positive: Vec<&Tag> = cell.subset.tags.iter().filter(|tag| !tag.not).collect();
            let called: Vec<String> = positive.iter().map(|tag| format!("{}={}", tag.key, tag.value)).collect();
            let called = if called.is_empty() { "all others".to_owned() } else { called.join(",") };
            if seen.contains(&called) {
                continue;
            }
            let symbols = self.snapshot.symbols();
            let tags =
                TagSet::new(positive.iter().filter_map(|tag| Some((symbols.get(&tag.key)?, symbols.get(&tag.value)))));
            let about = About::Client { part, tags: &tags };
            all.extend(self.ask(rules, id, about, (Some(&called), Some(label)), place));
            seen.push(called);
        }
        all
    }

    /// Services that are known by their tag, if a policy of the proxy names them.
    fn services_of(&self, rules: &Rules<'_>, object: &Object) -> Vec<(String, TagSet)> {
        let slots: Vec<u32> = rules.matched(object).iter().map(|admitted| admitted.slot).collect();
        let entries = rules.entries(&slots, Facet::Services);
        let named: Vec<Subset> = entries.iter().map(|entry| rules.subset(*entry)).collect();
        let own = services(self.snapshot).into_iter().filter(|service| service.mesh == object.scope);
        own.filter(|service| {
            let tag = (self.snapshot.text(service.tag), self.snapshot.text(service.name));
            named.iter().any(|subset| subset.tags.iter().any(|known| (known.key.as_str(), known.value.as_str()) == tag))
        })
        .map(|service| {
            let tags = TagSet::new([(service.tag, Some(service.name))]);
            (format!("service/{}", self.snapshot.text(service.name)), tags)
        })
        .collect()
    }

    fn place(&self, part: &Part) -> String {
        format!("{} {}", part.role.word(), self.snapshot.text(part.section))
    }

    /// What a proxy does when it calls.
    fn calling(&self, id: ObjectId, source: &Member, called: &Member) -> Vec<Explanation> {
        let ends = (Some(source.label.as_str()), Some(called.label.as_str()));
        let mut all = Vec::new();
        for rules in &self.rules {
            if let Some(Is::Resource(target)) = called.is {
                let chain = chain(target, &rules.surroundings());
                all.extend(self.ask(rules, id, About::Targets(&chain), ends, "outbound"));
            } else if let Some(tags) = called.parts.first().and_then(|tags| self.service_only(tags)) {
                all.extend(self.ask(rules, id, About::Service(&tags), ends, "outbound"));
            }
        }
        all
    }

    /// What a part of a proxy does when it is called.
    fn called(&self, id: ObjectId, part: u32, source: Option<&Member>, label: &str) -> Vec<Explanation> {
        let mut all: Vec<Explanation> = Vec::new();
        let facts = self.caller_facts(source);
        let place = self.snapshot.objects().get(id).and_then(|object| object.parts.get(part as usize));
        // A proxy with several inbounds is called by the one in question.
        let place = place.map_or_else(String::new, |part| {
            if label.contains('#') { part.role.word().to_owned() } else { self.place(part) }
        });
        for rules in &self.rules {
            let ends = (source.map(|source| source.label.as_str()), Some(label));
            let has_clients = rules.merge.kind().facet(Facet::Clients).is_some();
            // Which of its identities a caller shows is not known, so each is asked.
            let identities: Vec<&TagSet> = source
                .into_iter()
                .flat_map(|source| &source.parts)
                .filter(|tags| !tags.as_slice().is_empty())
                .collect();
            let mut answers: Vec<Explanation> = identities
                .iter()
                .filter_map(|tags| self.ask(rules, id, About::Client { part, tags }, ends, &place))
                .collect();
            answers.dedup_by_key(|answer| same_answer_key(std::slice::from_ref(answer)));
            all.extend(answers);
            let about = About::Inbound { part, caller: &facts };
            // Where clients are told apart by tags, the newer form says the same once more.
            all.extend(self.ask(rules, id, about, ends, &place).filter(|answer| !has_clients || spoken(answer)));
        }
        all
    }

    fn ask(
        &self,
        rules: &Rules<'_>,
        subject: ObjectId,
        about: About<'_>,
        (from, to): (Option<&str>, Option<&str>),
        place: &str,
    ) -> Option<Explanation> {
        explain_layers(&AskedLayers { rules, lookup: self.lookup, subject, about, from, to, place })
    }

    /// Callers know nothing of a service but its name.
    fn service_only(&self, tags: &TagSet) -> Option<TagSet> {
        let key = self.snapshot.symbols().get(SERVICE_TAGS[0])?;
        let tag = tags.get(key)?;
        Some(TagSet::new([(tag.key, tag.value)]))
    }

    /// What is said of a caller besides tags: who it proves to be.
    fn caller_facts(&self, source: Option<&Member>) -> Vec<(Sym, &str)> {
        let tags = source.filter(|source| source.is.is_none()).into_iter().flat_map(|source| &source.parts);
        tags.flat_map(TagSet::as_slice)
            .filter(|tag| matches!(self.lookup.text(tag.key), "spiffeID" | "sni"))
            .filter_map(|tag| Some((tag.key, self.lookup.text(tag.value?))))
            .collect()
    }

    fn target_label(&self, target: Target) -> String {
        let Some(object) = self.snapshot.objects().get(target.object) else { return String::new() };
        let (kind, name) = (self.snapshot.text(object.kind).to_ascii_lowercase(), self.snapshot.text(object.name));
        match target.section {
            Some(section) => format!("{kind}/{name}#{}", self.snapshot.text(section)),
            None => format!("{kind}/{name}"),
        }
    }
}

/// Whether some policy says something.
pub(super) fn spoken(explanation: &Explanation) -> bool {
    !explanation.policies.is_empty() || explanation.outcome == Outcome::Undecided
}

/// The parts of a proxy that are called.
fn numbered(object: &Object) -> impl Iterator<Item = (u32, &Part)> {
    let called = |part: &Part| matches!(part.role, Role::Inbound | Role::Listener | Role::GatewayListener);
    let parts = object.parts.iter().enumerate().filter(move |(_, part)| called(part));
    parts.filter_map(|(number, part)| Some((u32::try_from(number).ok()?, part)))
}

/// Groups in the making.
#[derive(Default)]
struct Groups {
    all: Vec<Group>,
    keys: Vec<String>,
    told: HashMap<(usize, usize), Vec<Explanation>>,
}

impl Groups {
    /// Adds a pair; callers of one class have the same explanations.
    fn add(&mut self, pair: String, class: (usize, usize), explain: impl FnOnce() -> Vec<Explanation>) {
        let explanations = self.told.entry(class).or_insert_with(explain).clone();
        self.add_always(pair, explanations);
    }

    fn add_always(&mut self, pair: String, explanations: Vec<Explanation>) {
        if explanations.is_empty() {
            return;
        }
        let key = same_answer_key(&explanations);
        match self.keys.iter().position(|known| *known == key).and_then(|place| self.all.get_mut(place)) {
            Some(group) => group.pairs.push(pair),
            None => {
                self.keys.push(key);
                self.all.push(Group { pairs: vec![pair], explanations });
            }
        }
    }
}
