//! The inbound that nobody declares: where Prometheus fetches the metrics of a proxy.
//!
//! It exists when the enabled metrics backend of the mesh is of type `prometheus`; the Dataplane may override port and
//! tags. Permissions and limits apply to it as to any other inbound.

use upheld_engine::Snapshot;
use upheld_model::Object;
use upheld_model::tree::Value;

use crate::document::Resource;
use crate::kuma::SERVICE_TAGS;
use crate::kuma::routes::Tags;
use crate::kuma::rules::mesh_object;

const DEFAULT_PORT: i64 = 5670;
const DEFAULT_SERVICE: &str = "dataplane-metrics";
const PROMETHEUS: &str = "prometheus";

/// Port and tags of the inbound for metrics.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct MetricsInbound<'s> {
    pub(super) port: i64,
    pub(super) tags: Tags<'s>,
}

/// The inbound for metrics of a proxy, if its mesh has metrics.
pub(super) fn metrics_inbound<'s>(snapshot: &'s Snapshot, dataplane: &Object) -> Option<MetricsInbound<'s>> {
    let resource = |object: &Object| snapshot.files().value(object.at).and_then(Resource::of);
    let mesh = snapshot.objects().get(mesh_object(snapshot, dataplane.scope)?)?;
    let metrics = resource(mesh)?.field("metrics")?;
    let enabled = metrics.get("enabledBackend")?.text();
    let mut backends = metrics.get("backends")?.items();
    let backend = backends.find(|backend| text(*backend, "name") == enabled)?;
    if text(backend, "type") != PROMETHEUS {
        return None;
    }
    let backend_conf = backend.get("conf");
    let own_conf = resource(dataplane)
        .and_then(|resource| resource.field("metrics"))
        .filter(|metrics| text(*metrics, "type") == PROMETHEUS)
        .and_then(|metrics| metrics.get("conf"));
    let port = |conf: Option<Value<'s>>| conf?.get("port")?.as_integer();
    let mut tags = tags_of(backend_conf);
    if tags.is_empty() {
        let [tag, _] = SERVICE_TAGS;
        tags.insert(tag, DEFAULT_SERVICE);
    }
    tags.extend(tags_of(own_conf));
    Some(MetricsInbound { port: port(own_conf).or_else(|| port(backend_conf)).unwrap_or(DEFAULT_PORT), tags })
}

fn tags_of(conf: Option<Value<'_>>) -> Tags<'_> {
    let entries = conf.and_then(|conf| conf.get("tags")).into_iter().flat_map(Value::entries);
    entries.map(|(key, value)| (key.text(), value.text())).collect()
}

fn text<'s>(value: Value<'s>, field: &str) -> &'s str {
    value.get(field).map_or("", Value::text)
}
