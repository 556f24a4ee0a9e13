//! A gateway as a proxy that would serve it.

use upheld_engine::Snapshot;
use upheld_model::{Object, Part, Role, Sym, Table, TagSet};

use super::InspectError;
use super::meta::resource;
use super::proxy::not_found;
use crate::kuma::control_plane::Stamps;
use crate::kuma::meta::{Meta, fact};
use crate::kuma::resources::{ResourceType, tag_set};
use crate::kuma::rules::edition;
use crate::kuma::served;

/// A proxy with the labels of a gateway and the tags of its first selector. Policies that look at other tags of real
/// proxies do not match it.
pub(super) fn gateway_subject(snapshot: &Snapshot, mesh: Sym, name: &str) -> Result<Object, InspectError> {
    let kind = ResourceType::MeshGateway.name();
    let text = |symbol| snapshot.text(symbol);
    let gateways = || {
        let own = snapshot.objects().iter().map(|(_, object)| object);
        own.filter(|object| object.scope == mesh && text(object.kind) == kind)
    };
    let gateway = gateways()
        .find(|object| text(object.name) == name)
        .ok_or_else(|| not_found(snapshot, kind, name, mesh, &format!("Could not retrieve {kind}")))?;
    let no_selectors = || InspectError::NoSelectors { name: name.to_owned() };
    let written = resource(snapshot, gateway.at).ok_or_else(no_selectors)?;
    let selector =
        written.field("selectors").and_then(|selectors| selectors.items().next()).ok_or_else(no_selectors)?;
    // Names that no document has yet get numbers after all others, so those of the snapshot keep their meaning.
    let mut symbols = snapshot.symbols().clone();
    let own = [(fact::PROXY_TYPE, Some("Gateway")), (fact::ZONE, Meta::known(snapshot, written).zone_fact())];
    let own = own.into_iter().filter_map(|(key, value)| Some((symbols.intern(key), Some(symbols.intern(value?)))));
    let own: Vec<_> = own.collect();
    let facts = gateway.facts.as_slice().iter().map(|tag| (tag.key, tag.value)).chain(own);
    let tags = tag_set(selector.get("match"), &mut symbols);
    let proxy = Object {
        kind: symbols.intern(ResourceType::Dataplane.name()),
        facts: TagSet::new(facts),
        parts: vec![Part { role: Role::BuiltinGateway, section: symbols.intern("gateway"), port: None, tags }],
        ..gateway.clone()
    };
    let mut objects: Table<Object> = gateways().cloned().chain([proxy]).collect();
    served::attach(snapshot.files(), edition(snapshot), Stamps::of(snapshot), &mut objects, &mut symbols);
    objects.into_vec().pop().ok_or_else(no_selectors)
}
