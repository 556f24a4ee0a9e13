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
use upheld_engine::{ObjectId, PolicyId, Snapshot, work};
use upheld_model::layers::Audience;
use upheld_model::tree::Value;
use upheld_model::{NodeRef, Object, Part, Policy, Role, Sym, TagSet};

use super::InspectError;
use super::errors::POLICY_TITLE;
use super::meta::{meta_json, resource};
use super::names::selecting_type;
use super::proxy::{MESH_TITLE, find_mesh, not_found};
use super::request::Request;
use crate::kuma::ends::proxies;
use crate::kuma::meta::{Meta, fact, with_fact};
use crate::kuma::resources::ResourceType;
use crate::kuma::services::{Leading, has_tags, selector, selects};

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
    let policy = snapshot.policy_named(kind, snapshot.text(mesh), name);
    let policy = policy.and_then(|id| Some((id, snapshot.policy(id)?)));
    if let Some((id, policy)) = policy.filter(|(_, policy)| policy.layers().is_some()) {
        return page(snapshot, request, attached(snapshot, id, policy));
    }
    let at = policy.map(|(_, policy)| policy.at).or_else(|| object(snapshot, kind, mesh, name).map(|object| object.at));
    let at = at.ok_or_else(|| not_found(snapshot, kind, name, mesh, POLICY_TITLE))?;
    page(snapshot, request, selected(snapshot, at, mesh))
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
    let found = selector(snapshot, service).map_or_else(Vec::new, |selector| {
        let leading = Leading::of(snapshot);
        let may = leading.selectable(snapshot, mesh, selector);
        objects(snapshot, may).filter(|proxy| selects(snapshot, selector, proxy)).collect()
    });
    page(snapshot, request, found)
}

fn object<'s>(snapshot: &'s Snapshot, kind: &str, mesh: Sym, name: &str) -> Option<&'s Object> {
    snapshot.objects().get(snapshot.object_named(kind, snapshot.text(mesh), name)?)
}

fn objects<'s>(snapshot: &'s Snapshot, ids: &[ObjectId]) -> impl Iterator<Item = &'s Object> {
    work::steps(ids.len() as u64);
    ids.iter().filter_map(|id| snapshot.objects().get(*id))
}

/// Some proxies, in the order in which they were written.
fn page(snapshot: &Snapshot, request: &Request<'_>, mut found: Vec<&Object>) -> Result<Json, InspectError> {
    let page = request.page()?;
    let part = request.parameter("name").unwrap_or_default();
    found.retain(|proxy| snapshot.text(proxy.name).contains(part));
    found.sort_by_key(|proxy| proxy.at);
    found.dedup_by_key(|proxy| proxy.at);
    let shown = found.iter().skip(page.offset).take(page.size);
    let items: Vec<Json> = shown.map(|proxy| meta_json(snapshot, proxy.at)).collect();
    let mut list = Map::from_iter([("total".to_owned(), json!(found.len())), ("items".to_owned(), json!(items))]);
    if page.offset.saturating_add(page.size) < found.len() {
        list.insert("next".to_owned(), json!(request.next(page)));
    }
    Ok(Json::Object(list))
}

/// Whom a policy with target references is for.
fn audiences<'s>(snapshot: &'s Snapshot, id: PolicyId, policy: &Policy) -> &'s [Audience] {
    let mut kinds = snapshot.kinds().iter().filter(|(_, known)| known.governs == policy.kind);
    let Some(merge) = kinds.find_map(|(id, _)| snapshot.merge(id, policy.scope)) else { return &[] };
    let slot = merge.slot_of(policy.name).filter(|slot| merge.policy(*slot).is_some_and(|one| one.policy == id));
    slot.map_or(&[], |slot| merge.audiences().of(slot))
}

/// The proxies that a policy with target references may be attached to.
pub(super) fn attached_ids(snapshot: &Snapshot, id: PolicyId, policy: &Policy) -> Vec<ObjectId> {
    let leading = Leading::of(snapshot);
    let own = audiences(snapshot, id, policy).iter();
    own.flat_map(|audience| leading.addressable(snapshot, policy.scope, audience)).copied().collect()
}

/// Those that it is attached to.
fn attached<'s>(snapshot: &'s Snapshot, id: PolicyId, policy: &Policy) -> Vec<&'s Object> {
    let leading = Leading::of(snapshot);
    let mut found = Vec::new();
    for audience in audiences(snapshot, id, policy) {
        let may = objects(snapshot, leading.addressable(snapshot, policy.scope, audience));
        found.extend(may.filter(|proxy| is_attached(snapshot, audience, proxy)));
    }
    found
}

fn is_attached(snapshot: &Snapshot, audience: &Audience, proxy: &Object) -> bool {
    let own = without_gateway(snapshot, proxy);
    let (facts, parts) = own.as_ref().map_or((&proxy.facts, &proxy.parts), |(facts, parts)| (facts, parts));
    parts_of(audience, Subject { facts, parts, only: None }).is_ok()
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

/// The proxies that any selector of a policy has.
fn selected(snapshot: &Snapshot, policy: NodeRef, mesh: Sym) -> Vec<&Object> {
    let Some(policy) = resource(snapshot, policy) else { return Vec::new() };
    let leading = Leading::of(snapshot);
    let lists = ["sources", "destinations", "selectors"].into_iter().filter_map(|field| policy.field(field));
    let mut found = Vec::new();
    for selector in lists.flat_map(Value::items) {
        match selector.get("match") {
            Some(tags) => {
                let may = objects(snapshot, leading.tagged(snapshot, mesh, tags));
                found.extend(may.filter(|proxy| has_tags(snapshot, tags, proxy)));
            }
            None => found.extend(proxies(snapshot).map(|(_, proxy)| proxy).filter(|proxy| proxy.scope == mesh)),
        }
    }
    found
}
