//! `_rules`: everything that a proxy gets from policies with target references, kind by kind.
//!
//! ```text
//! GET /meshes/{mesh}/dataplanes/{name}/_rules
//! GET /meshes/{mesh}/meshgateways/{name}/_rules       Kuma 2: for a proxy that serves the gateway
//! ```

use std::collections::BTreeMap;

use serde_json::{Map, Value as Json, json};
use upheld_engine::Snapshot;
use upheld_engine::merge::{Merged, Rule, Target};
use upheld_model::{Config, Object, Sym};

use super::InspectError;
use super::gateway::gateway_subject;
use super::listed::{Listed, listed, route_rules, target_meta};
use super::meta::{conf_json, meta_json};
use super::proxy::{Listener, MESH_TITLE, ShownTags, find_mesh, find_proxy, listeners};
use crate::kuma::edition::Edition;
use crate::kuma::http_match::hash_of_rule;
use crate::kuma::layered::ROUTE;
use crate::kuma::rules::{SubsetRule, edition};
use crate::kuma::services::are_exclusive;
use crate::kuma::subsets::{Subset, TooManyCells};

/// The rules of a proxy.
pub(super) fn dataplane_rules(snapshot: &Snapshot, mesh: &str, name: &str) -> Result<Json, InspectError> {
    let mesh = find_mesh(snapshot, mesh, MESH_TITLE)?;
    Ok(rules_of(snapshot, mesh, find_proxy(snapshot, mesh, name)?))
}

/// The rules of a proxy that serves a gateway.
pub(super) fn gateway_rules(snapshot: &Snapshot, mesh: &str, name: &str) -> Result<Json, InspectError> {
    let mesh = find_mesh(snapshot, mesh, MESH_TITLE)?;
    Ok(rules_of(snapshot, mesh, &gateway_subject(snapshot, mesh, name)?))
}

fn rules_of(snapshot: &Snapshot, mesh: Sym, proxy: &Object) -> Json {
    let shape = Shape {
        edition: edition(snapshot),
        is_exclusive: are_exclusive(snapshot, mesh),
        listeners: by_port(listeners(snapshot, proxy)),
    };
    let mut matches: BTreeMap<String, Json> = BTreeMap::new();
    let mut rules = Vec::new();
    for listed in listed(snapshot, mesh, proxy) {
        let found = Found::of(&listed, proxy, &shape);
        if listed.name() == ROUTE {
            for conf in found.confs() {
                matches.extend(route_rules(&conf).map(|rule| (hash_of_rule(rule), matches_of(rule))));
            }
        }
        rules.extend(found.json(&listed, &shape));
    }
    let matches: Vec<Json> = matches.into_iter().map(|(hash, one)| json!({"hash": hash, "match": one})).collect();
    json!({"resource": meta_json(snapshot, proxy.at), "rules": rules, "httpMatches": matches})
}

/// What decides what is shown.
struct Shape<'s> {
    edition: Edition,
    is_exclusive: bool,
    listeners: Vec<Listener<'s>>,
}

impl Shape<'_> {
    fn tags(&self) -> ShownTags {
        if self.edition == Edition::V3 { ShownTags::OfGateways } else { ShownTags::OfInbounds }
    }
}

fn by_port(mut listeners: Vec<Listener<'_>>) -> Vec<Listener<'_>> {
    listeners.sort_by_key(Listener::port_number);
    listeners
}

fn matches_of(rule: &Config) -> Json {
    rule.get("matches").map_or(Json::Null, |matches| conf_json(matches))
}

/// What a proxy gets from one kind.
struct Found {
    proxy: Option<Json>,
    services: Vec<SubsetRule>,
    resources: Vec<(Target, std::sync::Arc<Rule>)>,
    clients: Vec<Json>,
    inbounds: Vec<Json>,
    warnings: Vec<String>,
}

impl Found {
    fn of(listed: &Listed<'_>, proxy: &Object, shape: &Shape<'_>) -> Self {
        let slots = listed.slots();
        let mut warnings = listed.warnings(proxy);
        let services = if shape.edition == Edition::V3 { Ok(Vec::new()) } else { listed.rules.service_rules(&slots) };
        let services = or_warning(services, "To", &mut warnings);
        let rules = listed.rules.resource_rules(&slots);
        let mut resources: Vec<_> = rules.iter().map(|(target, rule)| (target, rule.clone())).collect();
        let snapshot = listed.rules.snapshot;
        resources.sort_by_cached_key(|(target, _)| {
            let object = snapshot.objects().get(target.object);
            let text = |symbol: Option<Sym>| symbol.map(|symbol| snapshot.text(symbol).to_owned());
            (text(object.map(|object| object.name)), text(target.section), text(object.map(|object| object.kind)))
        });
        let mut found = Self {
            proxy: proxy_rule(listed, &slots),
            services,
            resources,
            clients: Vec::new(),
            inbounds: Vec::new(),
            warnings: Vec::new(),
        };
        for listener in &shape.listeners {
            let slots = listed.slots_at(&listener.parts);
            let inbound = listener.json(shape.tags());
            if shape.edition != Edition::V3 {
                let rules = or_warning(listed.rules.client_rules(&slots), "From", &mut warnings);
                let rules: Vec<Json> = rules.iter().map(|rule| subset_rule(listed, rule)).collect();
                found.clients.extend((!rules.is_empty()).then(|| json!({"inbound": inbound, "rules": rules})));
            }
            let rules = inbound_rules(listed, &slots);
            found.inbounds.extend((!rules.is_empty()).then(|| json!({"inbound": inbound, "rules": rules})));
        }
        found.warnings = warnings;
        found
    }

    /// All configurations for those that the proxy calls.
    fn confs(&self) -> impl Iterator<Item = std::sync::Arc<Config>> {
        let services = self.services.iter().map(|rule| rule.conf.clone());
        let resources = self.resources.iter().flat_map(|(_, rule)| rule.results.iter().filter_map(Merged::config));
        services.chain(resources)
    }

    /// One item of the list; nothing for a kind without rules, even if there is something to warn of.
    fn json(&self, listed: &Listed<'_>, shape: &Shape<'_>) -> Option<Json> {
        // Services by tags are not used in such a mesh.
        let services: Vec<Json> = if shape.is_exclusive {
            Vec::new()
        } else {
            self.services.iter().map(|rule| subset_rule(listed, rule)).collect()
        };
        let lists = [&services, &self.clients, &self.inbounds];
        if self.proxy.is_none() && self.resources.is_empty() && lists.iter().all(|list| list.is_empty()) {
            return None;
        }
        let resources: Vec<Json> =
            self.resources.iter().map(|(target, rule)| resource_rule(listed, *target, rule)).collect();
        let mut shown = Map::new();
        let mut show = |key: &str, value: Json| drop(shown.insert(key.to_owned(), value));
        show("type", json!(listed.name()));
        if let Some(proxy) = &self.proxy {
            show("proxyRule", proxy.clone());
        }
        if shape.edition != Edition::V3 {
            show("toRules", json!(services));
        }
        show("toResourceRules", json!(resources));
        if shape.edition != Edition::V3 {
            show("fromRules", json!(self.clients));
        }
        show("inboundRules", json!(self.inbounds));
        show("warnings", json!(self.warnings));
        Some(Json::Object(shown))
    }
}

fn or_warning(
    rules: Result<Vec<SubsetRule>, TooManyCells>,
    section: &str,
    warnings: &mut Vec<String>,
) -> Vec<SubsetRule> {
    rules.unwrap_or_else(|refused| {
        let warning = format!("couldn't create {section} rules: {} cells are too many to list", refused.cells);
        if !warnings.contains(&warning) {
            warnings.push(warning);
        }
        Vec::new()
    })
}

fn proxy_rule(listed: &Listed<'_>, slots: &[u32]) -> Option<Json> {
    let mut rule = listed.rules.proxy_rule(slots)?;
    let conf = rule.results.first().and_then(Merged::config)?;
    rule.entries.reverse();
    let origin = listed.metas(&listed.policies_of(&rule.entries));
    Some(json!({"conf": conf_json(&conf), "origin": origin}))
}

/// A cell of services or clients. Its entries come with the lowest priority first.
fn subset_rule(listed: &Listed<'_>, rule: &SubsetRule) -> Json {
    let origin = listed.metas(&listed.policies_of(&rule.entries));
    json!({"matchers": matchers(&rule.subset), "conf": conf_json(&rule.conf), "origin": origin})
}

fn matchers(subset: &Subset) -> Vec<Json> {
    let matcher =
        |tag: &crate::kuma::subsets::Tag| json!({"key": tag.key.as_str(), "value": tag.value.as_str(), "not": tag.not});
    subset.tags.iter().map(matcher).collect()
}

fn resource_rule(listed: &Listed<'_>, target: Target, rule: &Rule) -> Json {
    let snapshot = listed.rules.snapshot;
    let entries: Vec<_> = rule.entries.iter().rev().copied().collect();
    json!({
        "resourceMeta": target_meta(snapshot, target),
        "resourceSectionName": target.section.map_or("", |section| snapshot.text(section)),
        "conf": confs_json(&rule.results),
        "origin": listed.item_origins(&entries),
    })
}

/// What layers come to: one configuration, or one for each thing that is kept apart.
pub(super) fn confs_json(results: &[Merged]) -> Vec<Json> {
    results.iter().filter_map(Merged::config).map(|conf| conf_json(&conf)).collect()
}

fn inbound_rules(listed: &Listed<'_>, slots: &[u32]) -> Vec<Json> {
    let rules = listed.rules.inbound_rules(slots).into_iter();
    let shown = rules.filter_map(|rule| {
        let entry = listed.rules.merge.entry(rule.entry)?;
        let mut shown = Map::new();
        shown.insert("conf".to_owned(), json!([conf_json(&entry.config)]));
        if let Some(callers) = &rule.callers {
            shown.insert("match".to_owned(), conf_json(callers));
        }
        shown.insert("origin".to_owned(), json!(listed.item_origins(&[rule.entry])));
        Some(Json::Object(shown))
    });
    shown.collect()
}
