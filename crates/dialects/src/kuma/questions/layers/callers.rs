//! Who calls an inbound: by tags, and by who it proves to be.
//!
//! A caller with several inbounds has one certificate, with the tags of all of them. Policies tell clients apart by the values
//! that they name; a caller that has one of these is such a client, and only one that has none of them is another.

use std::collections::{BTreeMap, BTreeSet};

use upheld_engine::merge::{About, CallerFact, ResolvedReach};
use upheld_model::{Facet, Lookup, Object, Sym, TagSet};

use super::{Layers, is_from_as_rules};
use crate::kuma::ends::Member;
use crate::kuma::identity::{self, Identity};
use crate::kuma::permission::{self, Enforcement, Fit, Lists};
use crate::kuma::rules::Rules;

/// How many clients a caller may be taken for: tags with several values multiply.
const MOST_CLIENTS: usize = 1_000;

/// Something that a caller has, and what it is; nothing if that is not known.
pub(super) type KnownFact = (Sym, Option<String>);

/// Who calls.
pub(super) struct Caller<'m> {
    pub(super) source: Option<&'m Member>,
    /// Every value of each tag, by the names of both. A value may not be known.
    tags: BTreeMap<&'m str, (Sym, BTreeMap<&'m str, Option<Sym>>)>,
    /// What else is known of it.
    facts: Vec<KnownFact>,
    /// The same where permissions are enforced, whether they are or not.
    enforced: Vec<KnownFact>,
}

/// A caller, as the policies of one inbound see it.
pub(super) struct SeenCaller<'c> {
    pub(super) caller: &'c Caller<'c>,
    /// For each kind, the clients that it is taken for.
    pub(super) clients: Vec<Vec<TagSet>>,
    facts: Vec<CallerFact<'c>>,
    enforced: Vec<CallerFact<'c>>,
}

/// Tags with those of their values that policies look at.
pub(super) type LookedAt = Vec<(Sym, Vec<Option<Sym>>)>;

/// The values of tags by which policies of a kind tell the clients of an inbound apart.
pub(super) struct Named {
    values: BTreeMap<Sym, BTreeSet<Sym>>,
    /// Whether clients are told apart by tags at all: some kinds read the same statements as rules for all callers.
    by_tags: bool,
}

impl Named {
    pub(super) fn of(rules: &Rules<'_>, proxy: &Object, part: u32) -> Self {
        let here = rules.matched(proxy).into_iter().filter(|admitted| admitted.has(part));
        Self::by(rules, Facet::Clients, here.map(|admitted| admitted.slot))
    }

    /// At every inbound together.
    pub(super) fn anywhere(rules: &Rules<'_>) -> Self {
        Self::by(rules, Facet::Clients, rules.merge.policies().map(|(slot, _)| slot))
    }

    /// At a zone egress, which has policies of its own about its clients.
    pub(super) fn at_egress(rules: &Rules<'_>) -> Self {
        let slots = rules.merge.policies().map(|(slot, _)| slot);
        match rules.merge.kind().facet(Facet::Clients) {
            Some(_) => Self::by(rules, Facet::Clients, slots),
            None => Self::by(rules, Facet::Services, slots),
        }
    }

    fn by(rules: &Rules<'_>, facet: Facet, slots: impl Iterator<Item = u32>) -> Self {
        let by_tags = rules.merge.kind().facet(facet).is_some() && !is_from_as_rules(rules);
        let mut values: BTreeMap<Sym, BTreeSet<Sym>> = BTreeMap::new();
        for slot in slots.filter(|_| by_tags) {
            for (_, entry) in rules.merge.entries_of(slot, facet) {
                let ResolvedReach::Tags(wants) = &entry.reach else { continue };
                for (key, value) in wants {
                    values.entry(*key).or_default().insert(*value);
                }
            }
        }
        Self { values, by_tags }
    }
}

impl Caller<'_> {
    /// As the policies of an inbound see it.
    pub(super) fn seen(&self, named: &[Named]) -> SeenCaller<'_> {
        SeenCaller {
            caller: self,
            clients: named.iter().map(|named| self.clients(named)).collect(),
            facts: self.facts.iter().map(|(key, text)| (*key, text.as_deref())).collect(),
            enforced: self.enforced.iter().map(|(key, text)| (*key, text.as_deref())).collect(),
        }
    }

    /// What policies look at in its tags. Callers of which the same is looked at are the same clients at every inbound.
    pub(super) fn looked_at(&self, named: &Named) -> LookedAt {
        let tags = self.tags.values().filter_map(|(key, values)| {
            let wanted = named.values.get(key)?;
            let looked_at = |value: &Option<Sym>| value.is_none_or(|value| wanted.contains(&value));
            let values: Vec<Option<Sym>> = values.values().copied().filter(looked_at).collect();
            (!values.is_empty()).then_some((*key, values))
        });
        tags.collect()
    }

    /// What is known of it besides tags, as kinds see it that permit and as others do.
    pub(super) fn facts(&self) -> [&[KnownFact]; 2] {
        [&self.enforced, &self.facts]
    }

    /// All that it is taken for: one value of each tag that policies look at.
    fn clients(&self, named: &Named) -> Vec<TagSet> {
        if !named.by_tags || self.source.is_none() {
            return Vec::new();
        }
        let mut clients: Vec<Vec<(Sym, Option<Sym>)>> = vec![Vec::new()];
        for (key, values) in self.tags.values() {
            let Some(wanted) = named.values.get(key) else { continue };
            let looked_at = |value: &Option<Sym>| value.is_none_or(|value| wanted.contains(&value));
            let mut picked: Vec<Option<Sym>> = values.values().copied().filter(looked_at).collect();
            if picked.is_empty() {
                picked.extend(values.values().next());
            }
            if clients.len() * picked.len() > MOST_CLIENTS {
                // Whatever it is, it is not known.
                picked = vec![None];
            }
            let with = |client: &Vec<(Sym, Option<Sym>)>, value: Option<Sym>| {
                client.iter().copied().chain([(*key, value)]).collect::<Vec<_>>()
            };
            clients = clients.iter().flat_map(|client| picked.iter().map(|value| with(client, *value))).collect();
        }
        clients.into_iter().map(TagSet::new).collect()
    }
}

impl SeenCaller<'_> {
    /// What a kind sees of it besides tags.
    pub(super) fn facts_for(&self, rules: &Rules<'_>) -> &[CallerFact<'_>] {
        if permission::grants(rules) { &self.enforced } else { &self.facts }
    }

    /// What lists of callers say of it.
    pub(super) fn listed(&self, lists: &[Lists], lookup: &Lookup<'_>) -> Vec<Fit> {
        lists.iter().flat_map(|lists| lists.seen(&self.enforced, lookup)).collect()
    }

    /// All that is asked about a part that it calls.
    pub(super) fn asks(&self, part: u32) -> impl Iterator<Item = About<'_>> {
        let clients = self.clients.iter().flatten().map(move |tags| About::Client { part, tags });
        clients.chain([&self.facts, &self.enforced].map(|caller| About::Inbound { part, caller }))
    }
}

impl Layers<'_> {
    /// Those who call an inbound; nobody in particular where nobody was named.
    pub(super) fn callers<'m>(&'m self, sources: &'m [Member]) -> Vec<Caller<'m>> {
        let certificates = permission::mutual_tls(self.snapshot, self.connection.mesh);
        let caller = |source: Option<&'m Member>| {
            let facts = |certificates| source.map_or_else(Vec::new, |source| self.facts(source, certificates));
            Caller {
                source,
                tags: source.map(|source| values(&source.parts, self.lookup)).unwrap_or_default(),
                facts: facts(certificates),
                enforced: facts(Enforcement::On),
            }
        };
        if sources.is_empty() { vec![caller(None)] } else { sources.iter().map(|one| caller(Some(one))).collect() }
    }

    /// What is known of a caller besides tags: who it proves to be, and what the asker says.
    fn facts(&self, source: &Member, certificates: Enforcement) -> Vec<KnownFact> {
        let (snapshot, mesh) = (self.snapshot, self.connection.mesh);
        let identity = match self.proxy(source) {
            Some(proxy) if source.caller().is_some() => identity::of_proxy(snapshot, proxy, certificates),
            _ => {
                let tags = source.parts.iter().flat_map(TagSet::as_slice);
                let said: Vec<KnownFact> = tags
                    .filter(|tag| matches!(self.lookup.text(tag.key), identity::SPIFFE_ID | "sni"))
                    .map(|tag| (tag.key, tag.value.map(|value| self.lookup.text(value).to_owned())))
                    .collect();
                if said.iter().any(|(key, _)| *key == self.identity) {
                    return said;
                }
                let identity = identity::of_tags(snapshot, mesh, &source.parts, certificates, self.lookup);
                return said.into_iter().chain(self.named(identity)).collect();
            }
        };
        self.named(identity)
    }

    fn named(&self, identity: Identity) -> Vec<KnownFact> {
        match identity {
            Identity::Nobody => Vec::new(),
            Identity::Known(names) => names.into_iter().map(|name| (self.identity, Some(name))).collect(),
            Identity::Unknown => vec![(self.identity, None)],
        }
    }
}

/// Every value of each tag.
fn values<'m>(parts: &[TagSet], lookup: &'m Lookup<'_>) -> BTreeMap<&'m str, (Sym, BTreeMap<&'m str, Option<Sym>>)> {
    let mut all: BTreeMap<&str, (Sym, BTreeMap<&str, Option<Sym>>)> = BTreeMap::new();
    for tag in parts.iter().flat_map(TagSet::as_slice) {
        let (_, values) = all.entry(lookup.text(tag.key)).or_insert_with(|| (tag.key, BTreeMap::new()));
        values.insert(tag.value.map_or("?", |value| lookup.text(value)), tag.value);
    }
    all
}
