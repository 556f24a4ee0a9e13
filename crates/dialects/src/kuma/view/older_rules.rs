//! The older list of rules, as of releases up to 2.14.
//!
//! ```text
//! GET /meshes/{mesh}/dataplanes/{name}/rules
//! ```
//!
//! It knows services and clients by tags only: real resources do not show here.

use serde_json::{Map, Value as Json, json};
use upheld_engine::Snapshot;
use upheld_engine::merge::Merged;
use upheld_engine::{EntryId, PolicyId};
use upheld_model::Object;
use upheld_model::tree::Value;

use super::InspectError;
use super::listed::{Listed, listed};
use super::meta::conf_json;
use super::proxy::{MESH_TITLE, ShownTags, dataplane, find_mesh, find_proxy, listeners};
use crate::kuma::SERVICE_TAGS;
use crate::kuma::resources::Outbound;
use crate::kuma::rules::SubsetRule;
use crate::kuma::subsets::{Client, Subset};

/// The rules of a proxy in one list, by the name of what they are about.
pub(super) fn dataplane_rules(snapshot: &Snapshot, mesh: &str, name: &str) -> Result<Json, InspectError> {
    let mesh = find_mesh(snapshot, mesh, MESH_TITLE)?;
    let proxy = find_proxy(snapshot, mesh, name)?;
    let mut items: Vec<Item> = Vec::new();
    for listed in listed(snapshot, mesh, proxy) {
        let clients = clients(&listed, snapshot, proxy).ok_or(InspectError::TooManyPolicies)?;
        let services = services(&listed, snapshot, proxy).ok_or(InspectError::TooManyPolicies)?;
        items.extend(clients.into_iter().chain(services).chain(whole(&listed)));
    }
    items.sort_by(|a, b| (&a.service, a.kind).cmp(&(&b.service, b.kind)));
    let items: Vec<Json> = items.into_iter().map(Item::json).collect();
    Ok(json!({"total": items.len(), "items": items}))
}

/// A rule and what it is about.
struct Item {
    kind: &'static str,
    service: String,
    addresses: Vec<String>,
    tags: Json,
    policy_type: String,
    subset: Json,
    conf: Json,
    origins: Vec<Json>,
}

impl Item {
    fn of(listed: &Listed<'_>, kind: &'static str, conf: Json, entries: &[EntryId]) -> Self {
        Self {
            kind,
            service: String::new(),
            addresses: Vec::new(),
            tags: Json::Null,
            policy_type: listed.name().to_owned(),
            subset: json!({}),
            conf,
            origins: keys(listed, &listed.policies_of(entries)),
        }
    }

    fn json(self) -> Json {
        let mut shown = Map::new();
        let mut show = |key: &str, value: Json| drop(shown.insert(key.to_owned(), value));
        show("type", json!(self.kind));
        if !self.service.is_empty() {
            show("name", json!(self.service));
            show("addresses", json!(self.addresses));
            show("service", json!(self.service));
            show("tags", self.tags);
        }
        show("policyType", json!(self.policy_type));
        show("subset", self.subset);
        show("conf", self.conf);
        show("origins", json!(self.origins));
        Json::Object(shown)
    }
}

fn keys(listed: &Listed<'_>, policies: &[PolicyId]) -> Vec<Json> {
    let snapshot = listed.rules.snapshot;
    let known = policies.iter().filter_map(|policy| snapshot.policy(*policy));
    known.map(|policy| json!({"mesh": snapshot.text(policy.scope), "name": snapshot.text(policy.name)})).collect()
}

fn whole(listed: &Listed<'_>) -> Option<Item> {
    let mut rule = listed.rules.proxy_rule(&listed.slots())?;
    let conf = rule.results.first().and_then(Merged::config)?;
    rule.entries.reverse();
    Some(Item::of(listed, "SingleItem", conf_json(&conf), &rule.entries))
}

/// What holds for those who call each inbound; `None` if that cannot be listed.
fn clients(listed: &Listed<'_>, snapshot: &Snapshot, proxy: &Object) -> Option<Vec<Item>> {
    let mut items = Vec::new();
    for listener in listeners(snapshot, proxy) {
        let tags = listener.tags(ShownTags::OfInbounds);
        let service = tags.and_then(|tags| tags.get(SERVICE_TAGS[0])).map_or("", Value::text);
        for rule in listed.rules.client_rules(&listed.slots_at(&listener.parts)).ok()? {
            items.push(Item {
                service: service.to_owned(),
                addresses: vec![format!("{}:{}", listener.address, listener.port)],
                tags: json!(tags),
                subset: subset(&rule.subset),
                ..Item::of(listed, "ClientSubset", conf_json(&rule.conf), &rule.entries)
            });
        }
    }
    Some(items)
}

/// What holds for each service that the proxy calls; `None` if that cannot be listed.
fn services(listed: &Listed<'_>, snapshot: &Snapshot, proxy: &Object) -> Option<Vec<Item>> {
    let rules = listed.rules.service_rules(&listed.slots()).ok()?;
    let outbounds = dataplane(snapshot, proxy).map(|dataplane| dataplane.outbounds().collect::<Vec<_>>());
    let mut items: Vec<Item> = Vec::new();
    for outbound in outbounds.unwrap_or_default() {
        let tags = tags_of(outbound);
        let Some(service) = tags.get(SERVICE_TAGS[0]).cloned() else { continue };
        let Some(rule) = rules.iter().find(|rule: &&SubsetRule| rule.subset.has(&tags)) else { continue };
        let (address, tags) = (outbound.section(), json!(tags));
        match items.iter_mut().find(|item| item.tags == tags) {
            Some(known) if known.addresses.contains(&address) => {}
            Some(known) => known.addresses.push(address),
            None => items.push(Item {
                service,
                addresses: vec![address],
                tags,
                subset: subset(&rule.subset),
                ..Item::of(listed, "DestinationSubset", conf_json(&rule.conf), &rule.entries)
            }),
        }
    }
    Some(items)
}

fn tags_of(outbound: Outbound<'_>) -> Client {
    let tags = outbound.value.get("tags").into_iter().flat_map(Value::entries);
    let older = outbound.value.get("service").map(|service| (SERVICE_TAGS[0].to_owned(), service.text().to_owned()));
    tags.map(|(key, value)| (key.text().to_owned(), value.text().to_owned())).chain(older).collect()
}

/// Tags by key. Of several values that a key must not have, one shows.
fn subset(subset: &Subset) -> Json {
    let value =
        |tag: &crate::kuma::subsets::Tag| if tag.not { format!("!{}", tag.value) } else { tag.value.to_string() };
    Json::Object(subset.tags.iter().map(|tag| (tag.key.to_string(), json!(value(tag)))).collect())
}
