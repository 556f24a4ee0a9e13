//! The identity that a proxy has in the mesh.

use std::cmp::Reverse;

use upheld_engine::Snapshot;
use upheld_model::Sym;
use upheld_model::tree::Value;

use super::meta::resource;
use crate::document::Resource;
use crate::kuma::meta::Meta;
use crate::kuma::resources::ResourceType;

/// The label that names the workload of a proxy.
const WORKLOAD: &str = "kuma.io/workload";

/// The SPIFFE ID of a proxy: that of the identity which selects it with the most labels, then of the first by name. `None`
/// while that identity is not ready.
pub(super) fn spiffe_id(snapshot: &Snapshot, mesh: Sym, proxy: &Meta<'_>) -> Option<String> {
    let kind = ResourceType::MeshIdentity.name();
    let own = snapshot.objects().iter().map(|(_, object)| object);
    let own = own.filter(|object| object.scope == mesh && snapshot.text(object.kind) == kind);
    let written = own.filter_map(|object| resource(snapshot, object.at));
    let selecting = written.filter_map(|identity| Some((selected_by(identity, proxy)?, identity)));
    let (_, identity) = selecting.min_by_key(|(labels, identity)| (Reverse(*labels), identity.name()))?;
    if !is_ready(identity) {
        return None;
    }
    let meta = Meta::of(identity);
    let zone = meta.zone().or(proxy.zone()).unwrap_or_default();
    let workload = proxy.label(WORKLOAD)?;
    Some(format!("spiffe://{}.{zone}.mesh.local/workload/{workload}", snapshot.text(mesh)))
}

/// How many labels an identity looks at, if the proxy has all of them.
fn selected_by(identity: Resource<'_>, proxy: &Meta<'_>) -> Option<usize> {
    let selector = identity.spec()?.at_path(&["selector", "dataplane"])?;
    let labels: Vec<_> = selector.get("matchLabels").into_iter().flat_map(Value::entries).collect();
    let all = labels.iter().all(|(key, value)| proxy.label(key.text()) == Some(value.text()));
    all.then_some(labels.len())
}

fn is_ready(identity: Resource<'_>) -> bool {
    let conditions = identity.document.at_path(&["status", "conditions"]);
    let text = |condition: Value<'_>, name: &str| condition.get(name).map(|value| value.text().to_owned());
    let mut conditions = conditions.into_iter().flat_map(Value::items);
    conditions.any(|condition| {
        text(condition, "type").as_deref() == Some("Ready") && text(condition, "status").as_deref() == Some("True")
    })
}
