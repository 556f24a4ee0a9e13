//! Who a resource is, in the shapes of responses.

use serde_json::{Map, Value as Json, json};
use upheld_engine::{PolicyId, Snapshot};
use upheld_model::{Config, NodeRef};

use crate::document::Resource;
use crate::kuma::meta::Meta;
use crate::recognise::resource_at;

/// The resource that was written somewhere.
pub(super) fn resource(snapshot: &Snapshot, at: NodeRef) -> Option<Resource<'_>> {
    resource_at(snapshot, at)
}

/// Type, mesh, name and labels of a resource.
pub(super) fn meta_json(snapshot: &Snapshot, at: NodeRef) -> Json {
    let Some(resource) = resource(snapshot, at) else { return Json::Null };
    let meta = Meta::known(snapshot, resource);
    json!({"type": meta.kind, "mesh": meta.mesh, "name": meta.name, "labels": labels(&meta)})
}

/// The same of a policy.
pub(super) fn policy_meta(snapshot: &Snapshot, policy: PolicyId) -> Json {
    snapshot.policy(policy).map_or(Json::Null, |policy| meta_json(snapshot, policy.at))
}

/// The labels of a resource, perhaps none.
pub(super) fn labels(meta: &Meta<'_>) -> Map<String, Json> {
    meta.labels.iter().map(|(key, value)| ((*key).to_owned(), json!(value))).collect()
}

/// The identifier of a policy; empty if there is no such policy.
pub(super) fn policy_kri(snapshot: &Snapshot, policy: PolicyId) -> String {
    let resource = snapshot.policy(policy).and_then(|policy| resource(snapshot, policy.at));
    resource.map(|resource| Meta::known(snapshot, resource).kri().to_string()).unwrap_or_default()
}

/// A configuration as JSON.
pub(super) fn conf_json(config: &Config) -> Json {
    serde_json::to_value(config).unwrap_or_default()
}
