//! Matches of rules: fields, values, what holds, and what rules say themselves.

use std::collections::BTreeMap;

use serde_json::{Map, Value as Json, json};
use upheld_dialects::gateway_api::topology::{Host, Way};
use upheld_dialects::kgateway::{Effective, Holder, Scope};

use super::Asked;
use super::origins::{decoded, expected, expected_decoded, fields};
use crate::difference::differences;

/// Fields for which cases say what holds.
const SINGLE: [&str; 10] = [
    "apiKeyAuth",
    "basicAuth",
    "buffer",
    "cors",
    "faultInjection",
    "headerModifiers",
    "httpACL",
    "rateLimit.local",
    "rbac",
    "transformation",
];

pub(super) fn compare(asked: &Asked<'_>) -> anyhow::Result<Vec<String>> {
    let mut ways: BTreeMap<(String, String), Vec<(&Host, &Way)>> = BTreeMap::new();
    for host in &asked.gateway.hosts {
        let Some(listener) = asked.gateway.listeners.get(host.listener) else { continue };
        let config = asked.resolver.configuration_name(asked.gateway, listener);
        let under = ways.entry((config, host.name.clone())).or_default();
        under.extend(host.ways.iter().map(|way| (host, way)));
    }
    let mut places: BTreeMap<(String, String), usize> = BTreeMap::new();
    let mut lines = Vec::new();
    for route in asked.expect.get("routes").and_then(Json::as_array).into_iter().flatten() {
        let text = |key: &str| route.get(key).and_then(Json::as_str).unwrap_or_default().to_owned();
        let key = (text("routeConfig"), text("host"));
        let place = places.entry(key.clone()).or_default();
        let found = ways.get(&key).and_then(|ways| ways.get(*place));
        let name = format!("route {} {} {place}", key.0, key.1);
        *place += 1;
        // Whether the routes are there is compared with the topology.
        let Some((host, way)) = found else { continue };
        let scope = asked.resolver.route(way);
        let effective = asked.resolver.effective(asked.gateway, host, way);
        let mut actual = json!({
            "fields": fields(asked.resolver, &scope),
            "decoded": decoded(&scope)?,
            "effective": held(asked, &effective),
            "builtinOrigins": builtin(asked, &scope, route),
        });
        let replaced = route.pointer("/action/directResponse").and_then(Json::as_u64) == Some(500);
        let mut wanted = json!({
            "fields": expected(route.get("fields")),
            "decoded": expected_decoded(route.get("decoded")),
            "effective": route.get("effective").cloned().unwrap_or_else(|| json!({})),
            "builtinOrigins": route.get("builtinOrigins").cloned().unwrap_or_else(|| json!({})),
        });
        // Nothing is left of a route that a broken one was replaced by.
        if replaced {
            (actual, wanted) = (json!(null), json!(null));
        }
        lines.extend(differences(&wanted, &actual).into_iter().map(|line| format!("{name} {line}")));
    }
    Ok(lines)
}

/// Who holds each field.
fn held(asked: &Asked<'_>, effective: &[Effective]) -> Json {
    let mut shown = Map::new();
    for field in effective.iter().filter(|field| SINGLE.contains(&field.field.as_str())) {
        // Cases compare policies among themselves, although what a rule says goes before them.
        let mut all = std::iter::once(&field.held).chain(&field.hidden);
        let Some(held) = all.find(|held| held.holder != Holder::Rule) else { continue };
        let scope = match held.holder {
            Holder::Rule => continue,
            Holder::Route => "route",
            Holder::VirtualHost => "virtualHost",
            Holder::RouteConfiguration => "routeConfig",
        };
        let policies = held.origins.iter().filter_map(|policy| asked.resolver.policies().get(*policy));
        let mut policies: Vec<String> = policies.map(upheld_dialects::kgateway::PolicyEntry::title).collect();
        policies.sort();
        shown.insert(field.field.to_string(), json!({ "scope": scope, "policies": policies }));
    }
    Json::Object(shown)
}

/// Which routes the fields of rules come from, as far as the case says.
fn builtin(asked: &Asked<'_>, scope: &Scope, route: &Json) -> Json {
    let mut shown = Map::new();
    for name in route.get("builtinOrigins").and_then(Json::as_object).into_iter().flatten().map(|(name, _)| name) {
        let field = if name == "retry.attempts" { "retry" } else { name.as_str() };
        let Some(builtin) = &scope.builtin else { continue };
        let origin = builtin.folded.fields.get(field).and_then(|joined| joined.origins.first());
        if let Some(source) = origin.and_then(|origin| builtin.sources.get(*origin)) {
            shown.insert(name.clone(), json!(asked.resolver.references().title(source.route)));
        }
    }
    Json::Object(shown)
}
