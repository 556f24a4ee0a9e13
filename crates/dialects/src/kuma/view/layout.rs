//! `_layout`: where a proxy is called, and whom it can call.
//!
//! ```text
//! GET /meshes/{mesh}/dataplanes/{name}/_layout
//! ```

use std::collections::BTreeMap;

use serde_json::{Map, Value as Json, json};
use upheld_engine::Snapshot;
use upheld_model::tree::Value;

use super::InspectError;
use super::backends::{Port, all_ports, reachable_ports};
use super::identity::spiffe_id;
use super::meta::{labels, resource};
use super::policies::check_exclusive;
use super::proxy::{find_mesh, find_proxy, not_found};
use crate::kuma::edition::Edition;
use crate::kuma::kri::Kri;
use crate::kuma::meta::Meta;
use crate::kuma::resources::{Dataplane, Inbound, ResourceType};
use crate::kuma::rules::edition;

/// The layout of a proxy.
pub(super) fn layout(snapshot: &Snapshot, mesh: &str, name: &str) -> Result<Json, InspectError> {
    let mesh = find_mesh(snapshot, mesh, "Failed to build MeshContext")?;
    check_exclusive(snapshot, mesh, "_layout")?;
    let missing = || {
        let kind = ResourceType::Dataplane.name();
        not_found(snapshot, kind, name, mesh, &format!("Failed to retrieve {kind}"))
    };
    let proxy = find_proxy(snapshot, mesh, name).map_err(|_| missing())?;
    let written = resource(snapshot, proxy.at).ok_or_else(missing)?;
    let (meta, dataplane) = (Meta::known(snapshot, written), Dataplane::of(written));
    let section = |place: Inbound<'_>| Kri { section: place.section(), ..meta.kri() }.to_string();
    let inbounds: Vec<Json> = dataplane
        .inbounds()
        .map(|inbound| {
            json!({
                "kri": section(inbound),
                "port": number(inbound.proxy_port()),
                "protocol": protocol(inbound, edition(snapshot)),
                "proxyResourceName": format!("self_inbound_dp_{}", inbound.section()),
            })
        })
        .collect();
    let listeners: Vec<Json> = dataplane
        .listeners()
        .map(|listener| {
            let kind = listener.value.get("type").map_or("ZoneIngress", Value::text);
            json!({
                "kri": section(listener),
                "type": kind,
                "port": number(listener.proxy_port()),
                "proxyResourceName": format!("self_{}_dp_{}", kind.to_lowercase(), listener.section()),
            })
        })
        .collect();
    let own = reachable_ports(snapshot, mesh, &meta, dataplane);
    let ports = own.unwrap_or_else(|| all_ports(snapshot, mesh));
    // Lists are ordered by the text of identifiers, and each stands once.
    let outbounds: BTreeMap<String, Json> = ports.iter().map(outbound).collect();
    let shown = labels(&meta);
    let mut layout = Map::new();
    let mut show = |key: &str, value: Json| drop(layout.insert(key.to_owned(), value));
    show("kri", json!(meta.kri().to_string()));
    show("labels", if shown.is_empty() { Json::Null } else { Json::Object(shown) });
    if let Some(id) = spiffe_id(snapshot, mesh, &meta) {
        show("spiffeId", json!(id));
    }
    show("inbounds", json!(inbounds));
    show("listeners", json!(listeners));
    show("outbounds", outbounds.into_values().collect());
    Ok(Json::Object(layout))
}

fn outbound(port: &Port) -> (String, Json) {
    let kri = port.kri.to_string();
    let shown = json!({
        "kri": kri, "port": number(&port.number), "protocol": port.protocol, "proxyResourceName": kri,
    });
    (kri, shown)
}

/// Kuma 2 has it in a tag.
fn protocol(inbound: Inbound<'_>, edition: Edition) -> &str {
    let path: &[&str] = if edition == Edition::V3 { &["protocol"] } else { &["tags", "kuma.io/protocol"] };
    inbound.value.at_path(path).map_or("", Value::text)
}

fn number(port: &str) -> u64 {
    port.parse().unwrap_or_default()
}
