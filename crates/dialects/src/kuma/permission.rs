//! Who may call, as `MeshTrafficPermission` says it: by the action of the layers for a client, or by lists of identities.

use std::collections::BTreeSet;
use std::sync::Arc;

use upheld_engine::Snapshot;
use upheld_engine::merge::{About, CallerFact, Entry, Layered, Merged};
use upheld_model::tree::Value;
use upheld_model::{Config, Facet, Lookup, Object, Role, Sym};

use super::identity;
use super::rules::{Rules, mesh_object};
use crate::document::Resource;

/// Whether the policies of a kind say who may; its document says so.
pub fn grants(rules: &Rules<'_>) -> bool {
    let document = rules.snapshot.files().value(rules.kind.at);
    document.is_some_and(|document| document.get("grants").is_some())
}

/// Whether a caller may.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It may.
    Allowed,
    /// It may not.
    Refused,
    /// That depends on who it proves to be, which is not known.
    Unknown,
}

/// Whether permissions are enforced at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Enforcement {
    /// Proxies prove who they are.
    On,
    /// They do not, so nothing is refused.
    Off,
    /// The proxy is a built-in gateway, which takes calls from outside of the mesh.
    AtGateway,
    /// No document describes the mesh.
    Unknown,
}

/// Whether the mesh of a proxy has what permissions need: identities, from mutual TLS or from a `MeshIdentity`.
pub fn enforcement(rules: &Rules<'_>, proxy: &Object) -> Enforcement {
    if proxy.parts.iter().any(|part| part.role == Role::BuiltinGateway) {
        return Enforcement::AtGateway;
    }
    match identity::identities(rules.snapshot, proxy.scope).next() {
        Some(_) => Enforcement::On,
        None => mutual_tls(rules.snapshot, proxy.scope),
    }
}

/// Whether the document of a mesh turns mutual TLS on.
pub fn mutual_tls(snapshot: &Snapshot, mesh: Sym) -> Enforcement {
    let mesh = mesh_object(snapshot, mesh).and_then(|mesh| snapshot.objects().get(mesh));
    let implied =
        |mesh: &Object| snapshot.files().get(mesh.at.source).is_none_or(|file| file.name == crate::recognise::IMPLIED);
    let Some(document) = mesh.filter(|mesh| !implied(mesh)).and_then(|mesh| snapshot.files().value(mesh.at)) else {
        return Enforcement::Unknown;
    };
    let mtls = Resource::of(document).and_then(|mesh| mesh.field("mtls"));
    let backend = mtls.and_then(|mtls| mtls.get("enabledBackend")).map(Value::text);
    if backend.is_some_and(|backend| !backend.is_empty()) { Enforcement::On } else { Enforcement::Off }
}

/// What the layers for a caller come to; `None` for other kinds, and for questions about no caller.
pub fn verdict(rules: &Rules<'_>, about: About<'_>, answer: &Layered, lookup: &Lookup<'_>) -> Option<Verdict> {
    if !grants(rules) {
        return None;
    }
    let conf = answer.results.first().and_then(Merged::config);
    match about {
        About::Client { .. } => {
            let action = conf.as_ref().and_then(|conf| conf.get("action")).and_then(|action| action.as_text());
            // Nothing is allowed unless a policy says so.
            let allowed = matches!(action, Some("Allow" | "AllowWithShadowDeny"));
            Some(if allowed { Verdict::Allowed } else { Verdict::Refused })
        }
        About::Inbound { caller, .. } => conf.map(|conf| by_lists(&conf, caller, lookup)),
        About::Whole | About::Targets(_) | About::Service(_) => None,
    }
}

/// A deny counts before any allow, whichever policy has it.
fn by_lists(conf: &Config, caller: &[CallerFact<'_>], lookup: &Lookup<'_>) -> Verdict {
    let listed = |name: &str| {
        let items = conf.get(name).map_or(&[][..], |list| list.items());
        items.iter().map(|item| fit(item, caller, lookup)).max().unwrap_or(Fit::No)
    };
    let allowed = listed("allow").max(listed("allowWithShadowDeny"));
    match (listed("deny"), allowed) {
        (Fit::Yes, _) | (_, Fit::No) => Verdict::Refused,
        (Fit::Unknown, _) | (Fit::No, Fit::Unknown) => Verdict::Unknown,
        (Fit::No, Fit::Yes) => Verdict::Allowed,
    }
}

/// What the policies of a kind list of callers: two that fit the same items are the same to [`verdict`].
#[derive(Debug, Default)]
pub struct Lists {
    items: Vec<Arc<Config>>,
}

/// The names of the lists.
const LISTS: [&str; 3] = ["allow", "allowWithShadowDeny", "deny"];

impl Lists {
    /// All items of all policies, each once.
    pub fn of(rules: &Rules<'_>) -> Self {
        if !grants(rules) {
            return Self::default();
        }
        let slots = rules.merge.policies().map(|(slot, _)| slot);
        Self::among(slots.flat_map(|slot| rules.merge.entries_of(slot, Facet::Inbound)).map(|(_, entry)| entry))
    }

    /// All items of some entries of a kind that permits.
    pub fn among<'m>(entries: impl Iterator<Item = &'m Entry>) -> Self {
        let entries = entries.filter(|entry| entry.facet == Facet::Inbound);
        let lists = entries.flat_map(|entry| LISTS.into_iter().filter_map(|list| entry.config.get(list)));
        let mut known = BTreeSet::new();
        let items = lists.flat_map(|list| list.items()).filter(|item| {
            let text = serde_json::to_string(&***item).unwrap_or_default();
            known.insert(text)
        });
        Self { items: items.cloned().collect() }
    }

    /// How a caller fits each of them.
    pub fn seen(&self, caller: &[CallerFact<'_>], lookup: &Lookup<'_>) -> Vec<Fit> {
        self.items.iter().map(|item| fit(item, caller, lookup)).collect()
    }
}

/// Whether an item of a list is about a caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Fit {
    /// It is about somebody else.
    No,
    /// That takes something that is not known.
    Unknown,
    /// It is.
    Yes,
}

/// All that an item describes must fit; one that describes nothing is about everybody.
fn fit(item: &Config, caller: &[CallerFact<'_>], lookup: &Lookup<'_>) -> Fit {
    let described = item.entries().iter().map(|(name, pattern)| {
        let part = |name: &str| pattern.get(name).and_then(|text| text.as_text()).unwrap_or_default();
        let fits = |text: &str| match part("type") {
            "Prefix" => text.starts_with(part("value")),
            _ => text == part("value"),
        };
        let values = caller.iter().filter(|(key, _)| lookup.text(*key) == name.as_str());
        let values = values.map(|(_, text)| match text {
            Some(text) if fits(text) => Fit::Yes,
            Some(_) => Fit::No,
            None => Fit::Unknown,
        });
        values.max().unwrap_or(Fit::Unknown)
    });
    described.min().unwrap_or(Fit::Yes)
}
