//! What a proxy gets from the policies of one kind, with where it comes from, in the order of Kuma.

use std::fmt::Write;

use serde_json::{Value as Json, json};
use upheld_engine::merge::audience::holds;
use upheld_engine::merge::{Admitted, Target};
use upheld_engine::{EntryId, ObjectId, PolicyId, Snapshot};
use upheld_model::layers::{Dangling, Unresolved};
use upheld_model::{Config, Object, Policy, Sym};

use super::meta::{meta_json, policy_kri, policy_meta};
use crate::kuma::edition::Edition;
use crate::kuma::http_match::hash_of_rule;
use crate::kuma::kri::Kri;
use crate::kuma::meta::fact;
use crate::kuma::rules::{self, Rules, mesh_object};

/// The policies of one kind that match a proxy.
#[derive(Debug)]
pub(super) struct Listed<'s> {
    pub(super) rules: Rules<'s>,
    matched: Vec<Admitted>,
}

/// What a proxy gets from the policies of a mesh, kind by kind.
pub(super) fn listed<'s>(snapshot: &'s Snapshot, mesh: Sym, proxy: &Object) -> Vec<Listed<'s>> {
    let kinds = rules::kinds(snapshot, mesh).into_iter();
    kinds.map(|rules| Listed { matched: rules.matched(proxy), rules }).collect()
}

impl<'s> Listed<'s> {
    /// The name of the kind.
    pub(super) fn name(&self) -> &'s str {
        self.rules.name()
    }

    /// All policies that match, the lowest priority first.
    pub(super) fn slots(&self) -> Vec<u32> {
        self.matched.iter().map(|matched| matched.slot).collect()
    }

    /// The policies that match one of some parts, the lowest priority first.
    pub(super) fn slots_at(&self, parts: &[u32]) -> Vec<u32> {
        let here = |matched: &&Admitted| parts.iter().any(|part| matched.has(*part));
        self.matched.iter().filter(here).map(|matched| matched.slot).collect()
    }

    /// All policies that match, the lowest priority first.
    pub(super) fn policies(&self) -> Vec<PolicyId> {
        let merge = self.rules.merge;
        self.matched.iter().filter_map(|matched| Some(merge.policy(matched.slot)?.policy)).collect()
    }

    /// The policies of some entries, each once, in the order of the entries.
    pub(super) fn policies_of(&self, entries: &[EntryId]) -> Vec<PolicyId> {
        let mut policies = Vec::new();
        for entry in entries.iter().filter_map(|id| self.rules.merge.entry(*id)) {
            if !policies.contains(&entry.policy) {
                policies.push(entry.policy);
            }
        }
        policies
    }

    /// The items of some entries, each once: an item that is about several things stands for each of them.
    pub(super) fn items_of(&self, entries: &[EntryId]) -> Vec<(PolicyId, u32)> {
        let mut items = Vec::new();
        for entry in entries.iter().filter_map(|id| self.rules.merge.entry(*id)) {
            let item = (entry.policy, entry.item);
            if !items.contains(&item) {
                items.push(item);
            }
        }
        items
    }

    /// Policies with what they are, as `origin` shows them.
    pub(super) fn metas(&self, policies: &[PolicyId]) -> Vec<Json> {
        policies.iter().map(|policy| policy_meta(self.rules.snapshot, *policy)).collect()
    }

    /// Items of policies, as `origin` shows them.
    pub(super) fn item_origins(&self, entries: &[EntryId]) -> Vec<Json> {
        let items = self.items_of(entries).into_iter();
        let origin =
            |(policy, item)| json!({"resourceMeta": policy_meta(self.rules.snapshot, policy), "ruleIndex": item});
        items.map(origin).collect()
    }

    /// Policies by identifier, as `origins` shows them.
    pub(super) fn kris(&self, policies: impl IntoIterator<Item = PolicyId>) -> Vec<Json> {
        let kri = |policy| json!({"kri": policy_kri(self.rules.snapshot, policy)});
        policies.into_iter().map(kri).collect()
    }

    /// The policy that has the last word about the rule of a route with these matches, given the layers, the best first.
    pub(super) fn origin_of_matches(&self, best_first: &[EntryId], hash: &str) -> Option<PolicyId> {
        let entries = best_first.iter().filter_map(|id| self.rules.merge.entry(*id));
        let speaks = |config: &Config| route_rules(config).any(|rule| hash_of_rule(rule) == hash);
        entries.into_iter().find(|entry| speaks(&entry.config)).map(|entry| entry.policy)
    }

    /// References of policies that mean nothing for a proxy that they would concern, in the order of the documents.
    pub(super) fn warnings(&self, proxy: &Object) -> Vec<String> {
        let snapshot = self.rules.snapshot;
        let mut warned: Vec<(&Policy, &Dangling)> = Vec::new();
        for attached in self.rules.merge.dangling() {
            let concerns =
                |dangling: &&Dangling| dangling.conditions.iter().all(|condition| holds(*condition, &proxy.facts));
            let policy = snapshot.policy(attached.policy);
            warned.extend(policy.zip(attached.dangling.iter().find(concerns)));
        }
        warned.sort_by_key(|(policy, _)| policy.at);
        let warning = |(policy, dangling): (&Policy, &Dangling)| {
            let (mesh, name) = (snapshot.text(policy.scope), snapshot.text(policy.name));
            let mut text = format!("unable to resolve TargetRef on policy: mesh:{mesh} name:{name} ");
            // The text is quoted as Go does it, which agrees with Rust on everything that a name may have.
            let _ = write!(text, "error:{:?}", self.problem(dangling));
            text
        };
        warned.into_iter().map(warning).collect()
    }

    fn problem(&self, dangling: &Dangling) -> String {
        let text = |symbol| self.rules.snapshot.text(symbol);
        let (kind, name) = (text(dangling.kind), text(dangling.name));
        let by = if self.rules.edition == Edition::V3 { "labels" } else { "name" };
        match dangling.problem {
            Unresolved::Missing | Unresolved::Empty => {
                format!("couldn't resolve {kind} targetRef with {by} '{name}'")
            }
            Unresolved::TooMany => format!("{kind} targetRef with {by} '{name}' leads through too many others"),
            Unresolved::Shadow | Unresolved::Nowhere => format!("{kind} targetRef selects nothing"),
            Unresolved::Cycle => format!("{kind} targetRef with {by} '{name}' leads back to itself"),
            Unresolved::Unsupported => format!("unsupported targetRef kind '{kind}'"),
        }
    }
}

/// The rules of a route.
pub(super) fn route_rules(config: &Config) -> impl Iterator<Item = &Config> {
    config.get("rules").map_or(&[][..], |rules| rules.items()).iter().map(AsRef::as_ref)
}

/// Who a target is.
pub(super) fn target_meta(snapshot: &Snapshot, target: Target) -> Json {
    snapshot.objects().get(target.object).map_or(Json::Null, |object| meta_json(snapshot, object.at))
}

/// The targets that an identifier leads to: what it names itself, then without its section.
pub(super) fn targets_of(snapshot: &Snapshot, mesh: Sym, kri: &Kri) -> Vec<Target> {
    let Some(object) = object_of(snapshot, mesh, kri) else { return Vec::new() };
    let section = snapshot.symbols().get(&kri.section).filter(|_| !kri.section.is_empty());
    let own = section.map(|section| Target { object, section: Some(section) });
    own.into_iter().chain([Target::whole(object)]).collect()
}

/// The mesh as a target.
pub(super) fn mesh_target(snapshot: &Snapshot, mesh: Sym) -> Option<Target> {
    mesh_object(snapshot, mesh).map(Target::whole)
}

fn object_of(snapshot: &Snapshot, mesh: Sym, kri: &Kri) -> Option<ObjectId> {
    let symbols = snapshot.symbols();
    let (key, wanted) = (symbols.get(fact::KRI)?, symbols.get(&kri.without_section().to_string())?);
    let has = |object: &Object| object.facts.get(key).is_some_and(|tag| tag.value == Some(wanted));
    snapshot.objects().iter().find(|(_, object)| object.scope == mesh && has(object)).map(|(id, _)| id)
}
