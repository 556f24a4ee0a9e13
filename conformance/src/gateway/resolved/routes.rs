//! Matches of rules: fields, values, what holds, and what rules say themselves.

use std::collections::BTreeMap;

use serde_json::{Map, Value as Json, json};
use upheld_dialects::gateways::gateway_api::Asked;
use upheld_dialects::gateways::gateway_api::scopes::{GATEWAY, HOST, ROUTE, RULE};
use upheld_dialects::gateways::gateway_api::topology::{Host, Way};
use upheld_engine::hierarchy::{Effective, Field};

use super::super::topology::config_name;
use super::Compared;
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

pub(super) fn compare(compared: &Compared<'_>) -> anyhow::Result<Vec<String>> {
    let mut ways: BTreeMap<(String, String), Vec<(&Host, &Way)>> = BTreeMap::new();
    for host in &compared.gateway.hosts {
        let Some(listener) = compared.gateway.listeners.get(host.listener) else { continue };
        let config = config_name(compared.snapshot(), compared.gateway, listener);
        let under = ways.entry((config, host.name.clone())).or_default();
        under.extend(host.ways.iter().map(|way| (host, way)));
    }
    let mut places: BTreeMap<(String, String), usize> = BTreeMap::new();
    let mut lines = Vec::new();
    for route in compared.expect.get("routes").and_then(Json::as_array).into_iter().flatten() {
        let text = |key: &str| route.get(key).and_then(Json::as_str).unwrap_or_default().to_owned();
        let key = (text("routeConfig"), text("host"));
        let place = places.entry(key.clone()).or_default();
        let found = ways.get(&key).and_then(|ways| ways.get(*place));
        let name = format!("route {} {} {place}", key.0, key.1);
        *place += 1;
        // Whether the routes are there is compared with the topology.
        let Some((host, way)) = found else { continue };
        let (mut all, mut values) = (Map::new(), Map::new());
        for kind in compared.kinds() {
            let asked = compared.network.under(kind).route(&way.chain);
            let answer = asked.effective();
            all.extend(fields(&asked, &answer));
            values.extend(decoded(&answer)?);
        }
        let asked = compared.network.way(compared.kind("TrafficPolicy")?, compared.gateway, host, way);
        let answer = asked.effective();
        let mut actual = json!({
            "fields": all,
            "decoded": values,
            "effective": held(&asked, &answer),
            "builtinOrigins": builtin(&asked, &answer, route),
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
fn held(asked: &Asked<'_>, answer: &Effective) -> Json {
    let mut shown = Map::new();
    for field in answer.fields.iter().filter(|field| SINGLE.contains(&field.name.as_str())) {
        let Some((scope, policies)) = holder(asked, answer, field) else { continue };
        let scope = match scope {
            ROUTE => "route",
            HOST => "virtualHost",
            GATEWAY => "routeConfig",
            _ => continue,
        };
        let mut policies: Vec<String> = policies.iter().filter_map(|place| title(asked, answer, *place)).collect();
        policies.sort();
        shown.insert(field.name.to_string(), json!({ "scope": scope, "policies": policies }));
    }
    Json::Object(shown)
}

/// Cases compare policies among themselves, although what a rule says goes before them.
fn holder(asked: &Asked<'_>, answer: &Effective, field: &Field) -> Option<(u8, Vec<usize>)> {
    let scope = |place: usize| Some(asked.place(answer.order.get(place)?.place)?.0);
    let first = scope(*field.by.first()?)?;
    if first != RULE {
        return Some((first, field.by.to_vec()));
    }
    let nearest = field.lost.iter().filter_map(|lost| scope(lost.by)).filter(|scope| *scope != RULE).min()?;
    let joined = answer.in_scope(nearest)?.get(&field.name)?;
    Some((nearest, joined.origins.to_vec()))
}

fn title(asked: &Asked<'_>, answer: &Effective, place: usize) -> Option<String> {
    let entry = asked.kind().policies.entry(answer.order.get(place)?.entry)?;
    let texts = [asked.kind().kind.governs, entry.namespace, entry.name];
    let [kind, namespace, name] = texts.map(|symbol| asked.network().snapshot.text(symbol));
    Some(format!("{kind} {namespace}/{name}"))
}

/// Which routes the fields of rules come from, as far as the case says.
fn builtin(asked: &Asked<'_>, answer: &Effective, route: &Json) -> Json {
    let mut shown = Map::new();
    let snapshot = asked.network().snapshot;
    for name in route.get("builtinOrigins").and_then(Json::as_object).into_iter().flatten().map(|(name, _)| name) {
        let field = match name.as_str() {
            "retry.attempts" => "retry",
            "urlRewrite.path" => "urlRewrite",
            name => name,
        };
        let joined = answer.in_scope(RULE).and_then(|folded| folded.get(field));
        let origin = joined.and_then(|joined| answer.order.get(*joined.origins.first()?));
        if let Some(object) = origin.and_then(|member| asked.spot(member.place)?.object) {
            let [kind, scope, name_of] = [object.kind, object.scope, object.name].map(|symbol| snapshot.text(symbol));
            shown.insert(name.clone(), json!(format!("{kind} {scope}/{name_of}")));
        }
    }
    Json::Object(shown)
}
