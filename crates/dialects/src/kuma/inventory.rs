//! What there is in meshes: proxies, services, and the proxies that policies are attached to.

use std::sync::Arc;

use upheld_engine::merge::audience::parts_of;
use upheld_engine::merge::{Classes, Subject};
use upheld_engine::{Granularity, KindId, PolicyId, Snapshot, work};
use upheld_model::{Diagnostic, NodeRef, Object, Policy, Sym};

use super::Kuma;
use super::ends::{Directory, caller_parts, destinations, find_mesh, meshes, proxies, services};
use super::layered::ROUTE;
use super::meta::Meta;
use super::resources::ResourceType;
use super::rules::{Rules, kinds};
use super::services::Leading;
use crate::dialect::{Ends, Inventory, LayeredCells, LayeredReach, Service, SomePairs};
use crate::recognise::resource_at;

impl Inventory for Kuma {
    fn scopes(&self, snapshot: &Snapshot) -> Vec<Sym> {
        meshes(snapshot)
    }

    fn find_scope(&self, snapshot: &Snapshot, name: &str) -> Option<Result<Sym, Diagnostic>> {
        Some(find_mesh(snapshot, name))
    }

    fn ends(&self, snapshot: &Snapshot, scope: Sym, each: Granularity) -> Option<Arc<Ends>> {
        let ends = || {
            let own = proxies(snapshot).filter(|(_, proxy)| proxy.scope == scope);
            let callers = own.map(|(_, proxy)| (proxy.name, caller_parts(proxy))).collect();
            let called = destinations(snapshot, scope, each).into_iter().map(|member| (member.label, member.parts));
            Arc::new(Ends::new(callers, called.collect()))
        };
        Some(match snapshot.companion::<Directory>() {
            Some(directory) => directory.ends(snapshot, scope, each, ends),
            None => ends(),
        })
    }

    fn services(&self, snapshot: &Snapshot) -> Vec<Service> {
        let service = |one: super::ends::Service| Service { scope: one.mesh, tag: one.tag, name: one.name };
        services(snapshot).into_iter().map(service).collect()
    }

    fn object_types(&self) -> Vec<&'static str> {
        ResourceType::ALL.map(ResourceType::name).to_vec()
    }

    fn is_policy_type(&self, kind: &str) -> bool {
        kind == ROUTE
    }

    fn layered_cells(&self, snapshot: &Snapshot, kind: KindId, scope: Sym, among: &SomePairs) -> Option<LayeredCells> {
        super::questions::layered_cells(snapshot, kind, scope, among)
    }

    fn layered_reach(
        &self,
        snapshot: &Snapshot,
        kind: KindId,
        scope: Sym,
        is_meant: &dyn Fn(&Policy) -> bool,
    ) -> Option<LayeredReach> {
        super::questions::layered_reach(snapshot, kind, scope, is_meant)
    }

    fn computed(&self, snapshot: &Snapshot, at: NodeRef, policy: Option<&Policy>) -> Vec<(&'static str, String)> {
        let Some(resource) = resource_at(snapshot, at) else { return Vec::new() };
        let layers = policy.and_then(Policy::layers);
        if layers.is_none() && ResourceType::of(resource.kind.text()).is_none() {
            return Vec::new();
        }
        let role = layers.and_then(|layers| layers.marks.iter().find(|mark| snapshot.text(mark.column) == "role"));
        let role = role.map(|mark| snapshot.text(mark.word).to_owned());
        let meta = Meta::known(snapshot, resource);
        let text = |value: Option<&str>| value.map(str::to_owned);
        let facts = [
            ("role", role),
            ("origin", text(meta.origin())),
            ("zone", text(meta.zone())),
            ("identifier", Some(meta.kri().to_string())),
        ];
        facts.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
    }

    fn attached(&self, snapshot: &Snapshot, id: PolicyId) -> Option<(Vec<String>, usize)> {
        let (rules, attached) = attached(snapshot, id)?;
        let names = attached.iter().map(|proxy| snapshot.text(proxy.name).to_owned()).collect();
        Some((names, Leading::of(snapshot).all(rules.scope()).len()))
    }

    fn attached_classes(&self, snapshot: &Snapshot, id: PolicyId) -> Option<Vec<(String, u64)>> {
        let (rules, attached) = attached(snapshot, id)?;
        let name = |proxy: &Object| snapshot.text(proxy.name).to_owned();
        if let [only] = attached.as_slice() {
            // There is nobody to be told apart from.
            return Some(vec![(name(only), 1)]);
        }
        let mut classes = Classes::new([rules.merge]);
        let mut all: Vec<(String, u64)> = Vec::new();
        for proxy in attached {
            let class = classes.add(Subject::of(proxy), ());
            match all.get_mut(class) {
                Some((_, count)) => *count += 1,
                None => all.push((name(proxy), 1)),
            }
        }
        Some(all)
    }
}

/// The proxies that a policy with target references is attached to, by name.
fn attached(snapshot: &Snapshot, id: PolicyId) -> Option<(Rules<'_>, Vec<&Object>)> {
    let policy = snapshot.policies().get(id)?;
    let rules = kinds(snapshot, policy.scope).into_iter().find(|rules| rules.kind.governs == policy.kind)?;
    let slot = rules.merge.slot_of(policy.name)?;
    rules.merge.policy(slot).filter(|known| known.policy == id)?;
    let leading = Leading::of(snapshot);
    let mut found: Vec<&Object> = Vec::new();
    for audience in rules.merge.audiences().of(slot) {
        let may = leading.addressable(snapshot, policy.scope, audience);
        work::steps(may.len() as u64);
        let proxies = may.iter().filter_map(|id| snapshot.objects().get(*id));
        found.extend(proxies.filter(|proxy| parts_of(audience, Subject::of(proxy)).is_ok()));
    }
    found.sort_by_key(|proxy| snapshot.text(proxy.name));
    found.dedup_by_key(|proxy| proxy.name);
    Some((rules, found))
}
