//! `_policies` and `_routes`: what holds for a proxy as a whole, for one of its inbounds, or for one that it calls.
//!
//! ```text
//! GET /meshes/{mesh}/dataplanes/{name}/_policies
//! GET /meshes/{mesh}/dataplanes/{name}/_inbounds/{kri}/_policies
//! GET /meshes/{mesh}/dataplanes/{name}/_outbounds/{kri}/_policies
//! GET /meshes/{mesh}/dataplanes/{name}/_outbounds/{kri}/_routes
//! GET /meshes/{mesh}/dataplanes/{name}/_outbounds/{kri}/_routes/{kri}/_policies
//! ```
//!
//! Whether a called resource exists is not asked: policies for the whole mesh hold for it all the same.

use serde_json::{Value as Json, json};
use upheld_engine::merge::{Merged, Rule, Target};
use upheld_engine::{PolicyId, Snapshot};
use upheld_model::{Config, Object, Sym};

use super::InspectError;
use super::listed::{Listed, listed, mesh_target, route_rules, targets_of};
use super::meta::{conf_json, policy_kri};
use super::proxy::{MESH_TITLE, find_mesh, find_proxy, listeners};
use super::rules::confs_json;
use crate::kuma::edition::Edition;
use crate::kuma::http_match::hash_of_rule;
use crate::kuma::kri::Kri;
use crate::kuma::layered::ROUTE;
use crate::kuma::rules::edition;
use crate::kuma::services::are_exclusive;

/// Routes for connections.
const TCP_ROUTE: &str = "MeshTCPRoute";

/// A proxy of which something is asked.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked<'s> {
    snapshot: &'s Snapshot,
    mesh: Sym,
    proxy: &'s Object,
}

impl<'s> Asked<'s> {
    /// The proxy of a name. Kuma 2 shows these endpoints only where all services are resources.
    pub(super) fn of(snapshot: &'s Snapshot, mesh: &str, name: &str) -> Result<Self, InspectError> {
        let mesh = find_mesh(snapshot, mesh, MESH_TITLE)?;
        let proxy = find_proxy(snapshot, mesh, name)?;
        check_exclusive(snapshot, mesh, "_policies")?;
        Ok(Self { snapshot, mesh, proxy })
    }

    /// What holds for the whole proxy.
    pub(super) fn policies(self) -> Json {
        let mut policies = Vec::new();
        for listed in self.listed() {
            let Some(rule) = listed.rules.proxy_rule(&listed.slots()) else { continue };
            let Some(conf) = rule.results.first().and_then(Merged::config) else { continue };
            let worst_first: Vec<_> = rule.entries.iter().rev().copied().collect();
            let origins = listed.kris(listed.policies_of(&worst_first));
            policies.push(json!({"kind": listed.name(), "conf": conf_json(&conf), "origins": origins}));
        }
        json!({"policies": policies})
    }

    /// What holds for those who call an inbound.
    pub(super) fn inbound_policies(self, kri: &str) -> Result<Json, InspectError> {
        let section = kri.parse::<Kri>()?.section;
        let listeners = listeners(self.snapshot, self.proxy);
        let listener = listeners.iter().find(|listener| section.is_empty() || listener.sections.contains(&section));
        let listener = listener.ok_or(InspectError::NoInbound { section })?;
        let mut policies = Vec::new();
        for listed in self.listed() {
            let rules = listed.rules.inbound_rules(&listed.slots_at(&listener.parts));
            if rules.is_empty() {
                continue;
            }
            let entries: Vec<_> = rules.iter().map(|rule| rule.entry).collect();
            let shown = entries
                .iter()
                .filter_map(|id| listed.rules.merge.entry(*id))
                .map(|entry| json!({"conf": conf_json(&entry.config), "kri": policy_kri(self.snapshot, entry.policy)}));
            let shown: Vec<Json> = shown.collect();
            let origins = listed.kris(listed.policies_of(&entries));
            policies.push(json!({"kind": listed.name(), "rules": shown, "origins": origins}));
        }
        Ok(json!({"policies": policies}))
    }

    /// What holds for one that the proxy calls.
    pub(super) fn outbound_policies(self, kri: &str) -> Result<Json, InspectError> {
        let targets = self.outbound(&kri.parse()?);
        Ok(policies_at(self.listed(), &targets))
    }

    /// What holds for requests that go through a route to one that the proxy calls.
    pub(super) fn route_policies(self, kri: &str, route: &str) -> Result<Json, InspectError> {
        let (outbound, route): (Kri, Kri) = (kri.parse()?, route.parse()?);
        let mut targets: Vec<Target> = targets_of(self.snapshot, self.mesh, &route).into_iter().take(1).collect();
        targets.extend(self.outbound(&outbound));
        let others = self.listed().into_iter().filter(|listed| !is_route(listed));
        Ok(policies_at(others.collect(), &targets))
    }

    /// The routes to one that the proxy calls.
    pub(super) fn routes(self, kri: &str) -> Result<Json, InspectError> {
        let targets = self.outbound(&kri.parse()?);
        let mut routes = Vec::new();
        for listed in self.listed().into_iter().filter(is_route) {
            let rules = listed.rules.resource_rules(&listed.slots());
            let Some(rule) = targets.iter().find_map(|target| rules.at(*target)) else { continue };
            let confs = rule.results.iter().filter_map(Merged::config);
            let shown: Vec<Json> = if listed.name() == TCP_ROUTE {
                confs.map(|conf| json!({"kri": "", "matches": null, "conf": default_of(&conf)})).collect()
            } else {
                confs.flat_map(|conf| http_rules(&listed, rule, &conf)).collect()
            };
            let origins = listed.kris(origins(&listed, rule));
            // A list without items is none in Kuma.
            let shown = if shown.is_empty() { Json::Null } else { json!(shown) };
            routes.push(json!({"kind": listed.name(), "rules": shown, "origins": origins}));
        }
        Ok(json!({"routes": routes}))
    }

    fn listed(self) -> Vec<Listed<'s>> {
        listed(self.snapshot, self.mesh, self.proxy)
    }

    /// What concerns one that the proxy calls, the most specific first.
    fn outbound(self, kri: &Kri) -> Vec<Target> {
        let own = targets_of(self.snapshot, self.mesh, kri);
        own.into_iter().chain(mesh_target(self.snapshot, self.mesh)).collect()
    }
}

/// What holds at the first of some targets for which something is said, kind by kind.
fn policies_at(kinds: Vec<Listed<'_>>, targets: &[Target]) -> Json {
    let mut policies = Vec::new();
    for listed in kinds {
        let rules = listed.rules.resource_rules(&listed.slots());
        let says = |rule: &&std::sync::Arc<Rule>| rule.results.iter().any(|result| result.config().is_some());
        let Some(rule) = targets.iter().filter_map(|target| rules.at(*target)).find(says) else { continue };
        let origins = listed.kris(origins(&listed, rule));
        policies.push(json!({"kind": listed.name(), "conf": confs_json(&rule.results), "origins": origins}));
    }
    json!({"policies": policies})
}

/// An error where Kuma 2 does not show an endpoint.
pub(super) fn check_exclusive(snapshot: &Snapshot, mesh: Sym, endpoint: &str) -> Result<(), InspectError> {
    if edition(snapshot) == Edition::V3 || are_exclusive(snapshot, mesh) {
        return Ok(());
    }
    Err(InspectError::NotExclusive { endpoint: endpoint.to_owned() })
}

fn is_route(listed: &Listed<'_>) -> bool {
    [ROUTE, TCP_ROUTE].contains(&listed.name())
}

/// The policies behind a rule: one that says two things about the same resource stands twice.
fn origins(listed: &Listed<'_>, rule: &Rule) -> Vec<PolicyId> {
    let worst_first: Vec<_> = rule.entries.iter().rev().copied().collect();
    listed.items_of(&worst_first).into_iter().map(|(policy, _)| policy).collect()
}

fn http_rules(listed: &Listed<'_>, rule: &Rule, conf: &Config) -> Vec<Json> {
    let shown = route_rules(conf).map(|one| {
        let origin = listed.origin_of_matches(&rule.entries, &hash_of_rule(one));
        let kri = origin.map(|policy| policy_kri(listed.rules.snapshot, policy)).unwrap_or_default();
        let matches = one.get("matches").map_or_else(|| json!([]), |matches| conf_json(matches));
        json!({"kri": kri, "matches": matches, "conf": default_of(one)})
    });
    shown.collect()
}

fn default_of(rule: &Config) -> Json {
    rule.get("default").map_or_else(|| json!({}), |conf| conf_json(conf))
}
