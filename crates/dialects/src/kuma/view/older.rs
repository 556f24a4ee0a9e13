//! The older endpoints, as of releases up to 2.14.
//!
//! ```text
//! GET /meshes/{mesh}/dataplanes/{name}/policies       which policies a proxy gets, and where
//! GET /meshes/{mesh}/{policies}/{name}/dataplanes     which proxies a policy reaches, and where
//! ```
//!
//! Both show the same thing from two sides: the `attachments` of policies to proxies, for which the engine is asked with the
//! kinds of [`EDITION`]. Policies with target references are attached to the whole proxy.

use std::collections::BTreeMap;

use serde_json::{Value as Json, json};
use upheld_engine::Snapshot;
use upheld_model::Policy;

use super::InspectError;
use super::attachments::{Attachment, Inspector};
use super::meta::resource;
use super::proxy::{MESH_TITLE, find_mesh, find_proxy, not_found};
use crate::document::Form;
use crate::kuma::meta::Meta;

/// The edition whose choices these endpoints show.
pub const EDITION: &str = "kuma/0.4";

/// The time of resources that say none.
const ZERO_TIME: &str = "0001-01-01T00:00:00Z";

/// Which policies a proxy gets, by the places where they are attached.
pub(super) fn dataplane_policies(snapshot: &Snapshot, mesh: &str, name: &str) -> Result<Json, InspectError> {
    let mesh = find_mesh(snapshot, mesh, MESH_TITLE)?;
    let dataplane = find_proxy(snapshot, mesh, name)?;
    let mut items = Vec::new();
    for attachment in Inspector::new(snapshot, mesh)?.attachments(dataplane)? {
        let mut matched: BTreeMap<&str, Vec<Json>> = BTreeMap::new();
        for policy in attachment.policies.iter().filter_map(|id| snapshot.policy(*id)) {
            matched.entry(snapshot.text(policy.kind)).or_default().push(meta(snapshot, policy));
        }
        let mut item = place(&attachment);
        item.insert("matchedPolicies".to_owned(), json!(matched));
        items.push(Json::Object(item));
    }
    Ok(json!({"kind": "SidecarDataplane", "total": items.len(), "items": items}))
}

/// Which proxies a policy reaches, in the order in which they were written, and where it is attached to them.
pub(super) fn policy_dataplanes(snapshot: &Snapshot, mesh: &str, kind: &str, name: &str) -> Result<Json, InspectError> {
    let mesh = find_mesh(snapshot, mesh, MESH_TITLE)?;
    let title = format!("Could not retrieve {kind}");
    let found = snapshot.policy_named(kind, snapshot.text(mesh), name);
    let found = found.and_then(|id| Some((id, snapshot.policy(id)?)));
    let (policy, document) = found.ok_or_else(|| not_found(snapshot, kind, name, mesh, &title))?;
    let inspector = Inspector::new(snapshot, mesh)?;
    let mut items = Vec::new();
    for dataplane in inspector.reachable(policy, document) {
        let mut places = Vec::new();
        for attachment in inspector.attachments(dataplane)? {
            let times = attachment.policies.iter().filter(|attached| **attached == policy).count();
            places.extend(std::iter::repeat_n(Json::Object(place(&attachment)), times));
        }
        if !places.is_empty() {
            let key = json!({"mesh": snapshot.text(mesh), "name": snapshot.text(dataplane.name)});
            items.push(json!({"kind": "SidecarDataplane", "dataplane": key, "attachments": places}));
        }
    }
    Ok(json!({"total": items.len(), "items": items}))
}

/// Where policies are attached; what says nothing is left out.
fn place(attachment: &Attachment) -> serde_json::Map<String, Json> {
    let fields = [("type", attachment.place.word()), ("name", &attachment.name), ("service", &attachment.service)];
    let said = fields.into_iter().filter(|(_, text)| !text.is_empty());
    said.map(|(field, text)| (field.to_owned(), json!(text))).collect()
}

/// Who a policy is, without what it says. Those with target references have an identifier.
fn meta(snapshot: &Snapshot, policy: &Policy) -> Json {
    let resource = resource(snapshot, policy.at);
    let metadata = resource.and_then(|resource| match resource.form {
        Form::Universal => Some(resource.document),
        Form::Kubernetes => resource.document.get("metadata"),
    });
    let created = policy.created.map_or_else(|| ZERO_TIME.to_owned(), |created| created.to_string());
    let modified = metadata.and_then(|metadata| metadata.get("modificationTime")?.as_text());
    let mut meta = json!({
        "type": snapshot.text(policy.kind),
        "mesh": snapshot.text(policy.scope),
        "name": snapshot.text(policy.name),
        "creationTime": created,
        "modificationTime": modified.unwrap_or(ZERO_TIME),
    });
    let labels =
        metadata.and_then(|metadata| metadata.get("labels")).filter(|labels| labels.entries().next().is_some());
    let kri = resource.filter(|_| policy.layers().is_some()).map(|resource| Meta::known(snapshot, resource).kri());
    if let Some(meta) = meta.as_object_mut() {
        meta.extend(labels.map(|labels| ("labels".to_owned(), json!(labels))));
        meta.extend(kri.map(|kri| ("kri".to_owned(), json!(kri.to_string()))));
    }
    meta
}
