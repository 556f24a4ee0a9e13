//! Listeners, route configurations and hosts.

use std::collections::BTreeMap;

use serde_json::{Map, Value as Json, json};
use upheld_dialects::gateways::gateway_api::Asked;
use upheld_dialects::gateways::gateway_api::topology::Gateway;

use super::super::topology::config_name;
use super::Compared;
use super::origins::{decoded, expected, expected_decoded, fields};
use crate::difference::differences;

/// Scopes by name, as they are written.
type Shown = BTreeMap<String, Json>;

pub(super) fn compare(compared: &Compared<'_>) -> anyhow::Result<Vec<String>> {
    let gateway = compared.gateway;
    let mut listeners = Shown::new();
    let mut configurations = Shown::new();
    for listener in gateway.listeners.iter() {
        let (fields, _) = shown(compared, |asked, gateway: &Gateway| asked.port(gateway))?;
        keep(&mut listeners, format!("listener~{}", listener.port), json!({ "fields": fields }));
        let name = config_name(compared.snapshot(), gateway, listener);
        let (fields, decoded) = shown(compared, |asked, gateway| asked.behind(gateway, listener))?;
        keep(&mut configurations, name, json!({ "fields": fields, "decoded": decoded }));
    }
    let mut hosts = Shown::new();
    for host in &gateway.hosts {
        let Some(listener) = gateway.listeners.get(host.listener) else { continue };
        let config = config_name(compared.snapshot(), gateway, listener);
        let (fields, decoded) = shown(compared, |asked, gateway| asked.host(gateway, listener))?;
        keep(&mut hosts, format!("{config} {}", host.name), json!({ "fields": fields, "decoded": decoded }));
    }
    let mut lines = Vec::new();
    let (wanted_listeners, wanted_configurations, wanted_hosts) = wanted(compared.expect);
    for (what, wanted, found) in [
        ("listener", wanted_listeners, listeners),
        ("route configuration", wanted_configurations, configurations),
        ("host", wanted_hosts, hosts),
    ] {
        let [wanted, found] = [wanted, found].map(|shown| Json::Object(shown.into_iter().collect()));
        lines.extend(differences(&wanted, &found).into_iter().map(|line| format!("{what} {line}")));
    }
    Ok(lines)
}

/// What policies of all kinds come to in one scope.
fn shown<'a>(
    compared: &Compared<'a>,
    scope: impl Fn(Asked<'a>, &'a Gateway) -> Asked<'a>,
) -> anyhow::Result<(Map<String, Json>, Map<String, Json>)> {
    let (mut all, mut values) = (Map::new(), Map::new());
    for kind in compared.kinds() {
        let asked = scope(compared.network.under(kind), compared.gateway);
        let answer = asked.effective();
        all.extend(fields(&asked, &answer));
        values.extend(decoded(&answer)?);
    }
    Ok((all, values))
}

/// What the case expects of listeners, configurations and hosts.
fn wanted(expect: &Json) -> (Shown, Shown, Shown) {
    let list = |value: &Json, key: &str| value.get(key).and_then(Json::as_array).cloned().unwrap_or_default();
    let text = |value: &Json, key: &str| value.get(key).and_then(Json::as_str).unwrap_or_default().to_owned();
    let (mut listeners, mut configurations, mut hosts) = (Shown::new(), Shown::new(), Shown::new());
    for listener in list(expect, "listenerScope") {
        keep(&mut listeners, text(&listener, "name"), json!({ "fields": expected(listener.get("fields")) }));
    }
    let scope = |value: &Json| json!({ "fields": expected(value.get("fields")), "decoded": expected_decoded(value.get("decoded")) });
    for configuration in list(expect, "routeConfigScope") {
        let name = text(&configuration, "name");
        for host in list(&configuration, "virtualHosts") {
            for domain in list(&host, "domains").iter().filter_map(Json::as_str) {
                keep(&mut hosts, format!("{name} {domain}"), scope(&host));
            }
        }
        keep(&mut configurations, name, scope(&configuration));
    }
    (listeners, configurations, hosts)
}

/// Notes a scope, unless nothing is in it.
fn keep(shown: &mut Shown, name: String, scope: Json) {
    let is_empty = |value: &Json| value.as_object().is_some_and(Map::is_empty);
    if scope.as_object().is_some_and(|parts| !parts.values().all(is_empty)) {
        shown.insert(name, scope);
    }
}
