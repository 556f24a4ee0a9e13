//! Which proxies a policy or a service selects, page by page.
//!
//! ```text
//! GET /meshes/{mesh}/{policies}/{name}/_resources/dataplanes?size&offset&name
//! GET /meshes/{mesh}/meshservices/{name}/_dataplanes?size&offset&name
//! ```
//!
//! Selecting is not winning: no rank plays a part.

use serde_json::{Map, Value as Json, json};
use upheld_engine::merge::Subject;
use upheld_engine::merge::audience::parts_of;
use upheld_engine::{PolicyId, Snapshot};
use upheld_model::tree::Value;
use upheld_model::{NodeRef, Object, Part, Role, Sym, TagSet};

use super::InspectError;
use super::errors::POLICY_TITLE;
use super::meta::{meta_json, resource};
use super::names::selecting_type;
use super::proxy::{MESH_TITLE, find_mesh, not_found};
use super::request::Request;
use crate::document::Resource;
use crate::kuma::ends::proxies;
use crate::kuma::meta::{Meta, fact, with_fact};
use crate::kuma::resources::ResourceType;
use crate::kuma::services::{has_tags, selects};

/// The proxies that a policy is attached to, or that one of its selectors has.
pub(super) fn of_policy(
    snapshot: &Snapshot,
    request: &Request<'_>,
    mesh: &str,
    policies: &str,
    name: &str,
) -> Result<Json, InspectError> {
    let no_endpoint = || InspectError::NoEndpoint { path: request.text.to_owned() };
    let kind = selecting_type(snapshot, policies).ok_or_else(no_endpoint)?;
    let mesh = find_mesh(snapshot, mesh, MESH_TITLE)?;
    let text = |symbol| snapshot.text(symbol);
    let mut all = snapshot.policies().iter();
    let policy = all.find(|(_, policy)| (policy.scope, text(policy.kind), text(policy.name)) == (mesh, kind, name));
    if let Some((id, policy)) = policy.filter(|(_, policy)| policy.layers().is_some()) {
        return page(snapshot, request, mesh, |proxy| is_attached(snapshot, id, policy.kind, proxy));
    }
    let at = policy.map(|(_, policy)| policy.at).or_else(|| object(snapshot, kind, mesh, name).map(|object| object.at));
    let at = at.ok_or_else(|| not_found(snapshot, kind, name, mesh, POLICY_TITLE))?;
    page(snapshot, request, mesh, |proxy| is_selected(snapshot, at, proxy))
}

/// The proxies behind a service.
pub(super) fn of_service(
    snapshot: &Snapshot,
    request: &Request<'_>,
    mesh: &str,
    name: &str,
) -> Result<Json, InspectError> {
    let kind = ResourceType::MeshService.name();
    let mesh = find_mesh(snapshot, mesh, POLICY_TITLE)?;
    let missing = || not_found(snapshot, kind, name, mesh, POLICY_TITLE);
    let service = object(snapshot, kind, mesh, name).ok_or_else(missing)?;
    let spec = resource(snapshot, service.at).and_then(Resource::spec);
    let selector = spec.and_then(|spec| spec.get("selector"));
    page(snapshot, request, mesh, |proxy| selector.is_some_and(|selector| selects(snapshot, selector, proxy)))
}

fn object<'s>(snapshot: &'s Snapshot, kind: &str, mesh: Sym, name: &str) -> Option<&'s Object> {
    let text = |symbol| snapshot.text(symbol);
    let mut objects = snapshot.objects().iter().map(|(_, object)| object);
    objects.find(|object| (object.scope, text(object.kind), text(object.name)) == (mesh, kind, name))
}

/// Some proxies of a mesh, in the order in which they were written.
fn page(
    snapshot: &Snapshot,
    request: &Request<'_>,
    mesh: Sym,
    is_meant: impl Fn(&Object) -> bool,
) -> Result<Json, InspectError> {
    let page = request.page()?;
    let part = request.parameter("name").unwrap_or_default();
    let mut found: Vec<&Object> = (proxies(snapshot).map(|(_, proxy)| proxy))
        .filter(|proxy| proxy.scope == mesh && snapshot.text(proxy.name).contains(part) && is_meant(proxy))
        .collect();
    found.sort_by_key(|proxy| proxy.at);
    let shown = found.iter().skip(page.offset).take(page.size);
    let items: Vec<Json> = shown.map(|proxy| meta_json(snapshot, proxy.at)).collect();
    let mut list = Map::from_iter([("total".to_owned(), json!(found.len())), ("items".to_owned(), json!(items))]);
    if page.offset.saturating_add(page.size) < found.len() {
        list.insert("next".to_owned(), json!(request.next(page)));
    }
    Ok(Json::Object(list))
}

/// Whether a policy with target references is attached to a proxy.
fn is_attached(snapshot: &Snapshot, policy: PolicyId, kind: Sym, proxy: &Object) -> bool {
    let mut kinds = snapshot.kinds().iter().filter(|(_, known)| known.governs == kind);
    let Some(merge) = kinds.find_map(|(id, _)| snapshot.merge(id, proxy.scope)) else { return false };
    let Some((slot, _)) = merge.policies().find(|(_, attached)| attached.policy == policy) else { return false };
    let own = without_gateway(snapshot, proxy);
    let (facts, parts) = own.as_ref().map_or((&proxy.facts, &proxy.parts), |(facts, parts)| (facts, parts));
    merge.audiences().of(slot).iter().any(|audience| parts_of(audience, Subject { facts, parts, only: None }).is_ok())
}

/// A proxy as this endpoint sees it: one that is not a built-in gateway serves no gateway, whatever its tags are. `None` if
/// that is so anyway.
fn without_gateway(snapshot: &Snapshot, proxy: &Object) -> Option<(TagSet, Vec<Part>)> {
    let [gateway, builtin, zone] =
        [fact::GATEWAY, fact::BUILTIN_GATEWAY, fact::ZONE].map(|name| snapshot.symbols().get(name));
    let has = |fact: Option<Sym>| fact.is_some_and(|fact| proxy.facts.get(fact).is_some());
    if !has(gateway) || has(builtin) {
        return None;
    }
    let facts = with_fact(&proxy.facts, gateway?, None);
    let own_zone = resource(snapshot, proxy.at).and_then(|resource| Meta::known(snapshot, resource).zone_fact());
    let own_zone = own_zone.map(|zone| snapshot.lookup().symbol(zone));
    let facts = zone.map_or_else(|| facts.clone(), |zone| with_fact(&facts, zone, own_zone));
    let parts = proxy.parts.iter().filter(|part| part.role != Role::GatewayListener).cloned();
    Some((facts, parts.collect()))
}

/// Whether any selector of a policy has a proxy.
fn is_selected(snapshot: &Snapshot, policy: NodeRef, proxy: &Object) -> bool {
    let Some(policy) = resource(snapshot, policy) else { return false };
    let lists = ["sources", "destinations", "selectors"].into_iter().filter_map(|field| policy.field(field));
    let mut selectors = lists.flat_map(Value::items);
    selectors.any(|selector| selector.get("match").is_none_or(|tags| has_tags(snapshot, tags, proxy)))
}
