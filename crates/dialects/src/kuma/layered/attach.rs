//! Whom a policy is attached to: its top-level reference as audiences.

use upheld_model::layers::{Audience, Condition, Dangling, Unresolved};
use upheld_model::{NodeRef, Role, Roles, Sym, Symbols, Want};

use super::parsed::Route;
use crate::kuma::SERVICE_TAGS;
use crate::kuma::edition::Edition;
use crate::kuma::kri::Kri;
use crate::kuma::meta::{Meta, fact, label};
use crate::kuma::role;
use crate::kuma::target_ref::{TargetKind, TargetRef};

/// What is known while a policy is attached.
pub(super) struct Attach<'a, 't> {
    pub(super) edition: Edition,
    pub(super) routes: &'a [Route<'t, 't>],
    pub(super) symbols: &'a mut Symbols,
    pub(super) audiences: Vec<Audience>,
    pub(super) dangling: Vec<Dangling>,
    pub(super) at: NodeRef,
    /// How many routes may still be gone through: ways through routes that lead to each other multiply.
    pub(super) steps: usize,
}

/// How many routes a policy may be attached through, all ways together.
pub(super) const MOST_STEPS: usize = 1_000;

/// How many routes may lead through each other.
const DEEPEST: usize = 32;

impl<'t> Attach<'_, 't> {
    /// Adds the audiences of a reference of a policy (or of a route that it goes through).
    pub(super) fn add(
        &mut self,
        meta: &Meta<'t>,
        role: role::Role,
        reference: &TargetRef<'t>,
        outer: &[Condition],
        through: &[usize],
    ) {
        let Some(mut conditions) = self.boundaries(meta, role) else {
            self.dangle(Vec::new(), reference, Unresolved::Nowhere);
            return;
        };
        conditions.extend_from_slice(outer);
        let kind = reference.kind;
        let resource_only = self.edition == Edition::V3 && kind == TargetKind::MeshService;
        if !kind.is_in(self.edition) || resource_only {
            self.dangle(conditions, reference, Unresolved::Unsupported);
            return;
        }
        let tags = |attach: &mut Self, pairs: &[(&str, &str)]| -> Vec<(Sym, Want)> {
            pairs.iter().map(|(key, value)| (attach.symbols.intern(key), attach.want(value))).collect()
        };
        match kind {
            TargetKind::Mesh => {
                let roles = [Role::Inbound, Role::GatewayListener, Role::Gateway, Role::Listener];
                self.push_for_types(reference, &conditions, Roles::of(&roles), &[]);
            }
            TargetKind::MeshSubset => {
                let tags = tags(self, &reference.tags);
                self.push_for_types(reference, &conditions, Roles::of(&TAGGED), &tags);
            }
            TargetKind::MeshService | TargetKind::MeshServiceSubset if reference.name.is_none() => {
                self.dangle(conditions, reference, Unresolved::Empty);
            }
            TargetKind::MeshService | TargetKind::MeshServiceSubset => {
                // A tag of the reference may say another service.
                let mut pairs = vec![(SERVICE_TAGS[0], reference.name.unwrap_or_default())];
                if kind == TargetKind::MeshServiceSubset {
                    pairs.retain(|(key, _)| !reference.tags.iter().any(|(tag, _)| tag == key));
                    pairs.extend(&reference.tags);
                }
                let tags = tags(self, &pairs);
                self.push(conditions, Roles::of(&TAGGED), tags, None);
            }
            TargetKind::MeshGateway => {
                conditions.push(self.is(fact::BUILTIN_GATEWAY, reference.name.unwrap_or_default()));
                let tags = tags(self, &reference.tags);
                self.push(conditions, Roles::of(&[Role::GatewayListener]), tags, None);
            }
            TargetKind::Dataplane => self.dataplane(meta, reference, conditions),
            TargetKind::MeshHTTPRoute => self.route(meta, role, reference, conditions, through),
            TargetKind::MeshExternalService | TargetKind::MeshMultiZoneService => {
                self.dangle(conditions, reference, Unresolved::Unsupported);
            }
        }
    }

    /// What holds of all that a resource of this zone and namespace reaches; `None` if it reaches nothing.
    fn boundaries(&mut self, meta: &Meta<'_>, role: role::Role) -> Option<Vec<Condition>> {
        let mut conditions = Vec::new();
        if role != role::Role::Producer
            && meta.origin() == Some("zone")
            && let Some(zone) = meta.zone()
        {
            conditions.push(Condition::AbsentOr(self.symbols.intern(fact::ZONE), self.symbols.intern(zone)));
        }
        if matches!(role, role::Role::Consumer | role::Role::WorkloadOwner) {
            conditions.push(self.is(label::NAMESPACE, meta.namespace()?));
        }
        Some(conditions)
    }

    fn dataplane(&mut self, meta: &Meta<'t>, reference: &TargetRef<'t>, mut conditions: Vec<Condition>) {
        conditions.push(Condition::Absent(self.symbols.intern(fact::GATEWAY)));
        let section = reference.section.map(|section| self.symbols.intern(section));
        if reference.name.is_none() && reference.namespace.is_none() && reference.labels.is_none() {
            self.push_proxies(&conditions, section);
            return;
        }
        if reference.name.is_none() && reference.labels.is_none() {
            self.dangle(conditions, reference, Unresolved::Empty);
            return;
        }
        if let Some(name) = reference.name {
            let kri = named(TargetKind::Dataplane, name, reference.namespace, meta);
            let mut conditions = conditions.clone();
            conditions.push(self.is(fact::KRI, &kri.to_string()));
            self.push_proxies(&conditions, section);
        }
        if let Some(labels) = &reference.labels {
            for (key, value) in labels {
                let by_name = self.edition == Edition::V3 && *key == label::DISPLAY_NAME;
                let key = if by_name { fact::DISPLAY_NAME } else { key };
                // A label that is not there reads as an empty one.
                let (key, empty, value) = (self.symbols.intern(key), value.is_empty(), self.symbols.intern(value));
                conditions.push(if empty { Condition::AbsentOr(key, value) } else { Condition::Is(key, value) });
            }
            self.push_proxies(&conditions, section);
        }
    }

    /// Proxies, or one section of each. A gateway is meant as a whole even then: it has no inbounds to pick one of.
    fn push_proxies(&mut self, conditions: &[Condition], section: Option<Sym>) {
        let (called, gateway) = ([Role::Inbound, Role::Listener], [Role::Gateway]);
        if section.is_some() {
            self.push(conditions.to_vec(), Roles::of(&called), Vec::new(), section);
            self.push(conditions.to_vec(), Roles::of(&gateway), Vec::new(), None);
        } else {
            let all = [called.as_slice(), &gateway].concat();
            self.push(conditions.to_vec(), Roles::of(&all), Vec::new(), None);
        }
    }

    fn route(
        &mut self,
        meta: &Meta<'t>,
        role: role::Role,
        reference: &TargetRef<'t>,
        conditions: Vec<Condition>,
        through: &[usize],
    ) {
        let found: Vec<usize> = match self.edition {
            Edition::V3 => {
                let labels = reference.labels.as_deref().unwrap_or_default();
                if labels.is_empty() {
                    self.dangle(conditions, reference, Unresolved::Empty);
                    return;
                }
                let own_only = matches!(role, role::Role::Consumer | role::Role::WorkloadOwner);
                let fits = |route: &Route<'_, '_>| {
                    route.meta.mesh == meta.mesh
                        && labels.iter().all(|(key, value)| route.meta.label(key) == Some(value))
                        && (!own_only || route.meta.namespace() == meta.namespace())
                };
                (0..self.routes.len()).filter(|place| self.routes.get(*place).is_some_and(fits)).collect()
            }
            Edition::V2 | Edition::V2Cliques => {
                if reference.name.is_none() {
                    self.dangle(conditions, reference, Unresolved::Empty);
                    return;
                }
                let fits = |route: &Route<'_, '_>| {
                    route.meta.mesh == meta.mesh && Some(route.meta.display_name()) == reference.name
                };
                self.routes.iter().position(fits).into_iter().collect()
            }
        };
        if found.is_empty() {
            self.dangle(conditions, reference, Unresolved::Missing);
            return;
        }
        let routes = self.routes;
        for place in found {
            let Some(route) = routes.get(place) else { continue };
            if self.steps == 0 || through.len() >= DEEPEST {
                self.dangle(conditions, reference, Unresolved::TooMany);
                return;
            }
            self.steps -= 1;
            if through.contains(&place) {
                self.dangle(conditions.clone(), reference, Unresolved::Cycle);
                continue;
            }
            let through: Vec<usize> = through.iter().copied().chain([place]).collect();
            self.add(&route.meta, route.role, &route.top, &conditions, &through);
        }
    }

    fn push_for_types(
        &mut self,
        reference: &TargetRef<'_>,
        conditions: &[Condition],
        roles: Roles,
        tags: &[(Sym, Want)],
    ) {
        if reference.proxy_types.is_empty() {
            self.push(conditions.to_vec(), roles, tags.to_vec(), None);
        }
        for proxy_type in &reference.proxy_types {
            let mut conditions = conditions.to_vec();
            conditions.push(self.is(fact::PROXY_TYPE, proxy_type));
            self.push(conditions, roles, tags.to_vec(), None);
        }
    }

    fn push(&mut self, conditions: Vec<Condition>, roles: Roles, tags: Vec<(Sym, Want)>, section: Option<Sym>) {
        let audience = Audience { conditions, roles, tags, section };
        if !self.audiences.contains(&audience) {
            self.audiences.push(audience);
        }
    }

    fn dangle(&mut self, conditions: Vec<Condition>, reference: &TargetRef<'_>, problem: Unresolved) {
        let labels =
            || reference.labels.iter().flatten().map(|(key, value)| format!("{key}={value}")).collect::<Vec<_>>();
        let name = reference.name.map_or_else(|| labels().join(","), str::to_owned);
        let (kind, name) = (self.symbols.intern(reference.kind.name()), self.symbols.intern(&name));
        let known = |other: &Dangling| (other.kind, other.name, other.problem) == (kind, name, problem);
        if !self.dangling.iter().any(known) {
            self.dangling.push(Dangling { conditions, kind, name, problem, at: self.at });
        }
    }

    fn is(&mut self, key: &str, value: &str) -> Condition {
        Condition::Is(self.symbols.intern(key), self.symbols.intern(value))
    }

    fn want(&mut self, value: &str) -> Want {
        if value == "*" { Want::Any } else { Want::Exactly(self.symbols.intern(value)) }
    }
}

/// Parts that have tags.
const TAGGED: [Role; 3] = [Role::Inbound, Role::GatewayListener, Role::Gateway];

/// The identifier that a reference by name means: in the policy's own zone, and in its namespace unless another is named.
pub(super) fn named(kind: TargetKind, name: &str, namespace: Option<&str>, policy: &Meta<'_>) -> Kri {
    let namespace = namespace.or(policy.namespace()).unwrap_or_default();
    Kri {
        kind: kind.name().to_owned(),
        mesh: policy.mesh.to_owned(),
        zone: policy.zone().unwrap_or_default().to_owned(),
        namespace: namespace.to_owned(),
        name: name.to_owned(),
        section: String::new(),
    }
}
