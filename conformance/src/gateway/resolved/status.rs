//! What is said of policies, and what they come to at backends.

use std::collections::BTreeMap;

use anyhow::Context;
use serde_json::{Map, Value as Json, json};
use upheld_engine::ObjectId;

use super::Compared;
use crate::difference::differences;
use crate::gateway::values::{conditions, names};

pub(super) fn compare(compared: &Compared<'_>) -> Vec<String> {
    let snapshot = compared.snapshot();
    let mut lines = Vec::new();
    let mut actual: BTreeMap<String, Map<String, Json>> = BTreeMap::new();
    let mut messages: BTreeMap<(String, String), String> = BTreeMap::new();
    for status in compared.network.kgateway_statuses() {
        let Some(policy) = snapshot.policy(status.policy) else { continue };
        let [kind, namespace, name] = [policy.kind, policy.scope, policy.name].map(|symbol| snapshot.text(symbol));
        let title = format!("{kind} {namespace}/{name}");
        for at in status.ancestors.iter().filter(|at| concerns(compared, at.ancestor.object)) {
            let section = at.ancestor.section.as_deref().unwrap_or_default();
            let ancestor = format!("{}#{section}", compared.network.title(at.ancestor.object));
            let (conditions, said) = conditions(&at.conditions);
            messages.insert((title.clone(), ancestor.clone()), said);
            actual.entry(title.clone()).or_default().insert(ancestor, Json::Object(conditions));
        }
    }
    let mut wanted: BTreeMap<String, Map<String, Json>> = BTreeMap::new();
    for (policy, entries) in compared.expect.get("policyStatus").and_then(Json::as_object).into_iter().flatten() {
        for entry in entries.as_array().into_iter().flatten() {
            let text = |key: &str| entry.get(key).and_then(Json::as_str).unwrap_or_default();
            let ancestor = format!("{}#{}", text("ancestor"), text("sectionName"));
            let conditions = entry.get("conditions").cloned().unwrap_or_default();
            let said = messages.get(&(policy.clone(), ancestor.clone())).map_or("", String::as_str);
            for message in entry.get("messages").and_then(Json::as_object).into_iter().flat_map(Map::values) {
                let missing = names(message.as_str().unwrap_or_default()).filter(|name| !said.contains(name));
                lines.extend(missing.map(|name| format!("status of {policy} at {ancestor}: `{name}` is not named")));
            }
            wanted.entry(policy.clone()).or_default().insert(ancestor, conditions);
        }
    }
    lines.extend(differences(&json!(wanted), &json!(actual)).into_iter().map(|line| format!("status of {line}")));
    lines
}

/// Whether an ancestor belongs to the gateway of the case, or to nobody.
fn concerns(compared: &Compared<'_>, object: ObjectId) -> bool {
    let title = compared.network.title(object);
    let owns = compared.gateway.listeners.iter().any(|listener| listener.owner == object);
    compared.gateway.object == object || owns || !title.starts_with("Gateway ") && !title.starts_with("ListenerSet ")
}

/// Fields of backends; the two kinds are one map, in which the policy of the Gateway API has the last word about trust.
pub(super) fn compare_backends(compared: &Compared<'_>) -> anyhow::Result<Vec<String>> {
    let mut lines = Vec::new();
    for expected in compared.expect.get("backends").and_then(Json::as_array).into_iter().flatten() {
        let cluster = expected.get("cluster").and_then(Json::as_str).unwrap_or_default();
        let (backend, port) = backend(compared, cluster).with_context(|| format!("there is no backend `{cluster}`"))?;
        let mut fields: BTreeMap<String, Json> = BTreeMap::new();
        for name in ["BackendConfigPolicy", "BackendTLSPolicy"] {
            let kind = compared.kind(name)?;
            let answer = compared.network.backend(kind, backend, port.as_deref()).effective();
            for (field, joined) in answer.scopes.iter().flat_map(|own| own.folded.iter()) {
                let members = joined.origins.iter().filter_map(|place| answer.order.get(*place));
                let entries = members.filter_map(|member| kind.policies.entry(member.entry));
                let text = |symbol| compared.snapshot().text(symbol);
                let origins = entries
                    .map(|entry| json!({ "kind": name, "namespace": text(entry.namespace), "name": text(entry.name) }));
                fields.insert(field.to_string(), origins.collect());
            }
        }
        let wanted = expected.get("fields").cloned().unwrap_or_default();
        let found = differences(&wanted, &json!(fields));
        lines.extend(found.into_iter().map(|line| format!("backend {cluster} {line}")));
    }
    Ok(lines)
}

/// The service of `kube_namespace_name_port`, and the name of the port.
fn backend(compared: &Compared<'_>, cluster: &str) -> Option<(ObjectId, Option<String>)> {
    let rest = cluster.strip_prefix("kube_")?;
    let (rest, port) = rest.rsplit_once('_')?;
    let (namespace, name) = rest.split_once('_')?;
    let found = compared.snapshot().object_named("Service", namespace, name)?;
    let ports = compared.network.resource(found).and_then(|service| service.field("ports"));
    let named =
        ports.and_then(|ports| ports.items().find(|known| known.get("port").is_some_and(|known| known.text() == port)));
    let name = named.and_then(|port| port.get("name")).map(|name| name.text().to_owned());
    Some((found, name))
}
