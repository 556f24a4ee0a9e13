//! Policies that are attached to no proxy, with the nearest thing that exists. What a policy reaches depends on all proxies, so
//! it is looked for where somebody asks, once for each snapshot.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use upheld_engine::Snapshot;
use upheld_engine::merge::audience::parts_of;
use upheld_engine::merge::{AdmitScratch, Subject};
use upheld_model::layers::Audience;
use upheld_model::nearest::{did_you_mean, nearest};
use upheld_model::tree::Value;
use upheld_model::{Diagnostic, Fault, Object, Policy, Sym, TagSet};

use super::SERVICE_TAGS;
use super::egress;
use super::ends::{meshes, proxies};
use super::meta::fact;
use super::rules::kinds;
use crate::document::Resource;

/// What was found, when somebody looked.
#[derive(Debug, Default)]
pub(super) struct Unattached {
    found: OnceLock<Vec<Diagnostic>>,
}

/// All of them, in the order of their documents.
pub(super) fn warnings(snapshot: &Snapshot) -> &[Diagnostic] {
    let known = snapshot.companion::<Unattached>();
    known.map_or(&[], |known| known.found.get_or_init(|| find(snapshot)))
}

fn find(snapshot: &Snapshot) -> Vec<Diagnostic> {
    let mut found = upheld_model::Diagnostics::default();
    // A folder of policies alone says nothing about proxies.
    if proxies(snapshot).next().is_none() {
        return Vec::new();
    }
    for mesh in meshes(snapshot) {
        let own: Vec<&Object> = proxies(snapshot).map(|(_, proxy)| proxy).filter(|proxy| proxy.scope == mesh).collect();
        for rules in kinds(snapshot, mesh) {
            let mut waiting: BTreeSet<u32> = rules.merge.policies().map(|(slot, _)| slot).collect();
            let mut scratch = AdmitScratch::default();
            for proxy in &own {
                if waiting.is_empty() {
                    break;
                }
                for admitted in rules.merge.audiences().admit(Subject::of(proxy), &mut scratch) {
                    waiting.remove(&admitted.slot);
                }
            }
            // Those with a reference that means nothing are reported already.
            let told = |slot: &u32| rules.merge.policy(*slot).is_none_or(|policy| !policy.dangling.is_empty());
            for slot in waiting.into_iter().filter(|slot| !told(slot)) {
                let Some(policy) = rules.policy(slot).filter(|policy| !egress::reaches(&rules, policy)) else {
                    continue;
                };
                let audiences: Vec<Audience> = rules.merge.audiences().of(slot).to_vec();
                found.push(warning(snapshot, policy, &audiences, &own));
            }
        }
    }
    found.sort();
    found.into_iter().collect()
}

fn warning(snapshot: &Snapshot, policy: &Policy, audiences: &[Audience], own: &[&Object]) -> Diagnostic {
    let text = |symbol: Sym| snapshot.text(symbol);
    let (kind, name, mesh) = (text(policy.kind), text(policy.title), text(policy.scope));
    let resource = snapshot.files().value(policy.at).and_then(Resource::of);
    let top = resource.and_then(|resource| resource.spec()?.get("targetRef"));
    let message = if own.is_empty() {
        format!("{kind} `{name}` reaches no proxy: there is none in mesh `{mesh}`")
    } else {
        format!("{kind} `{name}` reaches no proxy of mesh `{mesh}`")
    };
    let place = match (own.is_empty(), resource, top) {
        (true, Some(resource), _) => resource.mesh_field().or_else(|| resource.mesh_label()),
        (_, _, top) => top,
    };
    let place = place.or(resource.map(|resource| resource.kind));
    let diagnostic = Diagnostic::warning(Fault::DanglingReference, message);
    let diagnostic = match place {
        Some(place) => diagnostic.at_value(policy.at.source, place, "attached to nothing"),
        None => diagnostic,
    };
    let help = if own.is_empty() {
        let used = proxies(snapshot).map(|(_, proxy)| text(proxy.scope));
        nearest(mesh, used).map(did_you_mean)
    } else {
        Looking { snapshot, own, audiences }.hint(top)
    };
    diagnostic.help(help.unwrap_or_else(|| "`upheld list objects` shows all proxies".to_owned()))
}

/// Looks for what was meant.
struct Looking<'a> {
    snapshot: &'a Snapshot,
    own: &'a [&'a Object],
    audiences: &'a [Audience],
}

impl<'a> Looking<'a> {
    fn hint(&self, top: Option<Value<'_>>) -> Option<String> {
        let top = top?;
        let field = |name: &str| top.get(name).map(Value::text).filter(|text| !text.is_empty());
        if let Some(section) = field("sectionName")
            && let Some(hint) = self.section(section)
        {
            return Some(hint);
        }
        if let Some(labels) = top.get("labels") {
            let facts: Vec<&TagSet> = self.own.iter().map(|proxy| &proxy.facts).collect();
            return labels.entries().find_map(|(key, value)| self.pair("label", key.text(), value.text(), &facts));
        }
        let parts: Vec<&TagSet> = self.own.iter().flat_map(|proxy| &proxy.parts).map(|part| &part.tags).collect();
        if let Some(hint) = top
            .get("tags")
            .and_then(|tags| tags.entries().find_map(|(key, value)| self.pair("tag", key.text(), value.text(), &parts)))
        {
            return Some(hint);
        }
        let name = field("name")?;
        match field("kind")? {
            "Dataplane" => self.proxy(name),
            "MeshService" | "MeshServiceSubset" => self.pair("tag", SERVICE_TAGS[0], name, &parts),
            _ => None,
        }
    }

    /// Sections of the proxies that would be meant without one.
    fn section(&self, section: &str) -> Option<String> {
        let whole: Vec<Audience> =
            self.audiences.iter().map(|audience| Audience { section: None, ..audience.clone() }).collect();
        let meant = self.own.iter().filter(|proxy| {
            whole.iter().any(|audience| parts_of(audience, Subject::of(proxy)).is_ok_and(|parts| !parts.is_empty()))
        });
        let parts: Vec<_> = meant.flat_map(|proxy| &proxy.parts).filter(|part| part.port.is_some()).collect();
        let by_port = parts.iter().find(|part| part.port.is_some_and(|port| self.text(port) == section));
        if let Some(part) = by_port {
            let named = self.text(part.section);
            return Some(format!("the inbound on port {section} is called {named}: write `sectionName: {named}`"));
        }
        let sections: BTreeSet<&str> = parts.iter().map(|part| self.text(part.section)).collect();
        let all = || format!("inbounds: {}", sections.iter().copied().collect::<Vec<_>>().join(", "));
        let near = nearest(section, sections.iter().copied()).map(did_you_mean);
        near.or_else(|| (!sections.is_empty()).then(all))
    }

    /// A label or tag that nobody has with this value.
    fn pair(&self, what: &str, key: &str, value: &str, among: &[&'a TagSet]) -> Option<String> {
        let tags = || among.iter().flat_map(|tags| tags.as_slice());
        let values: BTreeSet<&str> =
            tags().filter(|tag| self.text(tag.key) == key).filter_map(|tag| Some(self.text(tag.value?))).collect();
        if values.contains(value) || (value == "*" && !values.is_empty()) {
            return None;
        }
        if values.is_empty() {
            let keys = tags().map(|tag| self.text(tag.key)).filter(|key| !key.starts_with('@'));
            let near = nearest(key, keys).map(|near| format!("; {}", did_you_mean(near))).unwrap_or_default();
            return Some(format!("no proxy has the {what} {key}{near}"));
        }
        let near = nearest(value, values.iter().copied()).map(|near| did_you_mean(format!("{key}: {near}")));
        let few: Vec<&str> = values.iter().copied().take(5).collect();
        Some(near.unwrap_or_else(|| format!("the {what} {key} is {} here", few.join(", "))))
    }

    fn proxy(&self, name: &str) -> Option<String> {
        let key = self.snapshot.symbols().get(fact::DISPLAY_NAME)?;
        let names = || self.own.iter().filter_map(|proxy| proxy.facts.get(key)?.value).map(|name| self.text(name));
        if names().any(|known| known == name) {
            return Some(format!("there is {name}, but in another namespace or zone than the policy"));
        }
        nearest(name, names()).map(did_you_mean)
    }

    fn text(&self, symbol: Sym) -> &'a str {
        self.snapshot.text(symbol)
    }
}
