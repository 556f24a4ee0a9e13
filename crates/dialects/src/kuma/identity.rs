//! Who a proxy proves to be when it calls: by the certificate of its mesh, or by a `MeshIdentity`.

use std::cmp::Reverse;

use upheld_engine::Snapshot;
use upheld_model::tree::Value;
use upheld_model::{Lookup, Object, Sym, TagSet};

use super::SERVICE_TAGS;
use super::ends::caller_parts;
use super::meta::Meta;
use super::permission::Enforcement;
use super::resources::ResourceType;
use crate::document::Resource;
use crate::recognise::resource_at;

/// What policies call it.
pub const SPIFFE_ID: &str = "spiffeID";

/// The label that names the workload of a proxy.
pub(super) const WORKLOAD: &str = "kuma.io/workload";

/// The label that names the service account of a proxy.
const SERVICE_ACCOUNT: &str = "k8s.kuma.io/service-account";

/// Who somebody proves to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Identity {
    /// Nobody in particular: there is no certificate.
    Nobody,
    /// One of a certificate, which may have several names.
    Known(Vec<String>),
    /// There is one, but it takes more than what was read to know it.
    Unknown,
}

/// Who a proxy proves to be, given whether its mesh has certificates. These have the services of all inbounds together.
pub fn of_proxy(snapshot: &Snapshot, proxy: &Object, certificates: Enforcement) -> Identity {
    let resource = resource_at(snapshot, proxy.at);
    let own = resource.map(|resource| Meta::known(snapshot, resource));
    let own = own.and_then(|meta| Some((selecting(snapshot, proxy.scope, &meta)?, meta)));
    match own {
        Some((identity, meta)) if readiness(identity) != Some(false) => {
            let id = spiffe_id(snapshot.text(proxy.scope), identity, &meta);
            id.map_or(Identity::Unknown, |id| Identity::Known(vec![id]))
        }
        _ => {
            of_services(snapshot.text(proxy.scope), &caller_parts(proxy), certificates, |symbol| snapshot.text(symbol))
        }
    }
}

/// Who a caller with some tags proves to be, of which nothing else is known.
pub fn of_tags(
    snapshot: &Snapshot,
    mesh: Sym,
    tags: &[TagSet],
    certificates: Enforcement,
    lookup: &Lookup<'_>,
) -> Identity {
    // Identities select by labels, which nobody told.
    match identities(snapshot, mesh).next() {
        Some(_) => Identity::Unknown,
        None => of_services(snapshot.text(mesh), tags, certificates, |symbol| lookup.text(symbol)),
    }
}

fn of_services<'t>(mesh: &str, tags: &[TagSet], certificates: Enforcement, text: impl Fn(Sym) -> &'t str) -> Identity {
    if certificates == Enforcement::Off {
        return Identity::Nobody;
    }
    let tags = tags.iter().flat_map(TagSet::as_slice).filter(|tag| SERVICE_TAGS.contains(&text(tag.key)));
    let services: Option<Vec<&str>> = tags.map(|tag| tag.value.map(&text)).collect();
    let Some(mut services) = services else { return Identity::Unknown };
    services.sort_unstable();
    services.dedup();
    let names: Vec<String> = services.iter().map(|service| format!("spiffe://{mesh}/{service}")).collect();
    if names.is_empty() { Identity::Nobody } else { Identity::Known(names) }
}

/// All identity resources of a mesh.
pub(super) fn identities(snapshot: &Snapshot, mesh: Sym) -> impl Iterator<Item = Resource<'_>> {
    let own = snapshot.objects_in(ResourceType::MeshIdentity.name(), snapshot.text(mesh));
    own.filter_map(|(_, object)| resource_at(snapshot, object.at))
}

/// The identity resource of a proxy: the one that selects it with the most labels, then the first by name.
pub(super) fn selecting<'s>(snapshot: &'s Snapshot, mesh: Sym, proxy: &Meta<'_>) -> Option<Resource<'s>> {
    let selecting = identities(snapshot, mesh).filter_map(|identity| Some((selected_by(identity, proxy)?, identity)));
    let (_, identity) = selecting.min_by_key(|(labels, identity)| (Reverse(*labels), identity.name()))?;
    Some(identity)
}

/// How many labels an identity looks at, if the proxy has all of them.
fn selected_by(identity: Resource<'_>, proxy: &Meta<'_>) -> Option<usize> {
    let selector = identity.spec()?.at_path(&["selector", "dataplane"])?;
    let labels: Vec<_> = selector.get("matchLabels").into_iter().flat_map(Value::entries).collect();
    let all = labels.iter().all(|(key, value)| proxy.label(key.text()) == Some(value.text()));
    all.then_some(labels.len())
}

/// Whether the control plane says that an identity is ready; nothing for one as it is written in files.
pub(super) fn readiness(identity: Resource<'_>) -> Option<bool> {
    let conditions = identity.document.at_path(&["status", "conditions"])?;
    let is = |condition: Value<'_>, name: &str, text: &str| condition.get(name).map(Value::text) == Some(text);
    Some(conditions.items().any(|condition| is(condition, "type", "Ready") && is(condition, "status", "True")))
}

/// The name that an identity resource gives to a proxy; nothing if it takes something that was not read.
pub(super) fn spiffe_id(mesh: &str, identity: Resource<'_>, proxy: &Meta<'_>) -> Option<String> {
    let written = |name: &str| {
        let text = identity.spec()?.at_path(&["spiffeID", name])?.text();
        (!text.is_empty()).then_some(text)
    };
    let zone = Meta::of(identity).zone().or(proxy.zone()).unwrap_or_default();
    let value = |name: &str| match name {
        "Mesh" => Some(mesh),
        "Zone" => Some(zone),
        "Namespace" => proxy.namespace(),
        "ServiceAccount" => proxy.label(SERVICE_ACCOUNT),
        "Workload" => proxy.label(WORKLOAD),
        _ => None,
    };
    let domain = filled(written("trustDomain").unwrap_or("{{ .Mesh }}.{{ .Zone }}.mesh.local"), value)?;
    let path = filled(written("path").unwrap_or("/workload/{{ .Workload }}"), value)?;
    Some(format!("spiffe://{domain}/{}", path.trim_start_matches('/')))
}

/// A template with values in place of `{{ .Names }}`.
fn filled<'v>(template: &str, value: impl Fn(&str) -> Option<&'v str>) -> Option<String> {
    let mut filled = String::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once("{{") {
        let (name, after) = after.split_once("}}")?;
        filled.push_str(before);
        filled.push_str(value(name.trim().strip_prefix('.')?)?);
        rest = after;
    }
    filled.push_str(rest);
    Some(filled)
}

#[cfg(test)]
mod tests {
    use super::filled;

    #[test]
    fn templates_are_filled_with_what_is_known() {
        let value = |name: &str| (name == "Mesh").then_some("prod");
        assert_eq!(filled("{{ .Mesh }}.local/{{.Mesh}}", value).as_deref(), Some("prod.local/prod"));
        assert_eq!(filled("plain", value).as_deref(), Some("plain"));
        assert_eq!(filled("{{ .Zone }}", value), None);
        assert_eq!(filled("{{ .Mesh", value), None);
    }
}
