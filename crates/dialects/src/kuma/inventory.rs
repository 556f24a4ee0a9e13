//! What there is in meshes: proxies, services, and the proxies that policies are attached to.

use upheld_engine::{Granularity, KindId, PolicyId, Snapshot};
use upheld_model::{Diagnostic, NodeRef, Policy, Sym};

use super::Kuma;
use super::ends::{caller_parts, destinations, find_mesh, meshes, proxies, services};
use super::layered::ROUTE;
use super::meta::Meta;
use super::resources::ResourceType;
use super::rules::kinds;
use crate::dialect::{Ends, Inventory, LayeredCells, Service};
use crate::recognise::resource_at;

impl Inventory for Kuma {
    fn scopes(&self, snapshot: &Snapshot) -> Vec<Sym> {
        meshes(snapshot)
    }

    fn find_scope(&self, snapshot: &Snapshot, name: &str) -> Option<Result<Sym, Diagnostic>> {
        Some(find_mesh(snapshot, name))
    }

    fn ends(&self, snapshot: &Snapshot, scope: Sym, each: Granularity) -> Option<Ends> {
        let own = proxies(snapshot).filter(|(_, proxy)| proxy.scope == scope);
        let callers = own.map(|(_, proxy)| (proxy.name, caller_parts(proxy))).collect();
        let called = destinations(snapshot, scope, each).into_iter().map(|member| (member.label, member.parts));
        Some(Ends { callers, called: called.collect() })
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

    fn layered_cells(&self, snapshot: &Snapshot, kind: KindId, scope: Sym) -> Option<LayeredCells> {
        super::questions::layered_cells(snapshot, kind, scope)
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
        let policy = snapshot.policies().get(id)?;
        let all = kinds(snapshot, policy.scope);
        let rules = all.iter().find(|rules| rules.kind.governs == policy.kind)?;
        let own_slot = rules.merge.policies().find(|(_, known)| known.policy == id)?.0;
        let own = proxies(snapshot).map(|(_, proxy)| proxy).filter(|proxy| proxy.scope == policy.scope);
        let own: Vec<_> = own.collect();
        let is_attached = |slot: u32| slot == own_slot;
        let reached = own.iter().filter(|proxy| rules.matched(proxy).iter().any(|one| is_attached(one.slot)));
        Some((reached.map(|proxy| snapshot.text(proxy.name).to_owned()).collect(), own.len()))
    }
}
