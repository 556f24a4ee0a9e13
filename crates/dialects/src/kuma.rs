//! Dialect *kuma*: source/destination policies, dataplanes and external services.
//!
//! - [`resources`]: what the documents look like and how they become objects
//! - [`routes`]: which services a proxy reaches
//! - [`gateway`]: what built-in gateways choose differently
//! - [`subsets`]: clients in subsets, as policies with `from` items list them
//! - [`edition`]: editions of policies with target references
//! - [`egress`]: what a zone egress does for an external service
//! - [`control_plane`]: what the control plane adds to resources
//! - [`kri`]: identifiers of resources; [`identity`]: who callers prove to be
//! - [`http_match`], [`inbound_match`]: matches of routes and of inbound rules, in order
//! - [`role`]: on whose behalf a policy speaks
//! - [`summary`]: a configuration in a few words
//! - [`view`]: the shapes of Kuma's own inspection endpoints
//! - `kinds/*.yaml`: the built-in kinds, by edition

mod changed;
mod common_kinds;
mod concerned;
pub mod control_plane;
mod documents;
pub mod edition;
pub mod egress;
pub mod ends;
pub mod gateway;
pub mod http_match;
pub mod identity;
pub mod implied;
pub mod inbound_match;
mod inventory;
pub mod kri;
pub mod layered;
mod merge_kind;
pub mod meta;
pub mod permission;
pub mod questions;
mod reader;
pub mod remarks;
pub mod resources;
pub mod role;
pub mod routes;
pub mod rules;
pub(crate) mod served;
pub mod services;
pub mod subsets;
mod successors;
pub mod summary;
pub mod target_ref;
#[cfg(test)]
mod testing;
mod unattached;
pub mod view;

use std::collections::BTreeSet;
use std::sync::Arc;

use upheld_engine::digest::{Encode, Fingerprint};
use upheld_engine::{Companions, PolicyKind, Snapshot};
use upheld_model::tree::Value;
use upheld_model::{Diagnostic, Files, SourceId};
use upheld_report::Answer;

use crate::dialect::{Builtin, Dialect, KnownTypes, Native, Opening, Reader, SystemSettings};
use crate::identity::{Identify, Identity, KindsInForce};
use crate::policy_kind::KindForm;
use crate::question::{Asked, Refused};
use crate::recognise::{Before, Documents, Reading, Recognised};
use crate::shape::Shape;

/// Types that are in no namespace. Policies with target references, proxies and services of the newer form are in one.
const CLUSTER_WIDE: [(&str, &str); 18] = [
    (GROUP, "CircuitBreaker"),
    (GROUP, "ExternalService"),
    (GROUP, "FaultInjection"),
    (GROUP, "HealthCheck"),
    (GROUP, "Mesh"),
    (GROUP, "MeshGateway"),
    (GROUP, "MeshGatewayConfig"),
    (GROUP, "MeshGatewayRoute"),
    (GROUP, "ProxyTemplate"),
    (GROUP, "RateLimit"),
    (GROUP, "Retry"),
    (GROUP, "Timeout"),
    (GROUP, "TrafficLog"),
    (GROUP, "TrafficPermission"),
    (GROUP, "TrafficRoute"),
    (GROUP, "TrafficTrace"),
    (GROUP, "VirtualOutbound"),
    (GROUP, "Zone"),
];

/// The dialect.
#[derive(Debug)]
pub struct Kuma;

impl Dialect for Kuma {
    fn name(&self) -> &'static str {
        "kuma"
    }

    fn kinds(&self) -> &'static [Builtin] {
        &[
            Builtin { name: "builtin:kuma/0.3.yaml", text: include_str!("kuma/kinds/0.3.yaml") },
            Builtin { name: "builtin:kuma/0.4.yaml", text: include_str!("kuma/kinds/0.4.yaml") },
            Builtin { name: "builtin:kuma/2.yaml", text: include_str!("kuma/kinds/2.yaml") },
            Builtin { name: "builtin:kuma/3.yaml", text: include_str!("kuma/kinds/3.yaml") },
        ]
    }

    fn schemas(&self) -> &'static [Builtin] {
        &[Builtin { name: "builtin:kuma.schemas.yaml", text: include_str!("kuma/schemas/policies.yaml") }]
    }

    fn editions(&self) -> &'static [&'static str] {
        &["kuma/0.3", "kuma/0.4", "kuma/2", "kuma/2-cliques", "kuma/3"]
    }

    fn default_editions(&self) -> &'static [&'static str] {
        &DEFAULT_SEMANTICS
    }

    fn cluster_wide(&self) -> &'static [(&'static str, &'static str)] {
        &CLUSTER_WIDE
    }

    fn kind_forms(&self) -> &'static [KindForm] {
        &[merge_kind::FORM]
    }

    fn settings(&self) -> &'static [SystemSettings] {
        &[control_plane::SETTINGS]
    }

    fn fingerprint(&self, settings: &Companions) -> Option<Fingerprint> {
        settings.get::<control_plane::ControlPlane>().map(Encode::fingerprint)
    }

    fn add_kinds(&self, documents: &Documents<'_>, recognised: &mut Recognised) {
        common_kinds::add(documents, recognised);
    }

    fn resembles(&self, document: Value<'_>) -> bool {
        reader::resembles(document)
    }

    fn known_types(&self) -> KnownTypes {
        let hint = Some("a Kuma policy begins with `type: TrafficLog`, `name:` and `mesh:`");
        KnownTypes { group: Some(GROUP), ignored: &OTHER_TYPES, hint }
    }

    fn reader<'f>(&self, opening: Opening<'f, '_>) -> Box<dyn Reader<'f> + 'f> {
        Box::new(reader::KumaReader::new(opening))
    }

    fn identities<'k>(&self, kinds: KindsInForce<'k>) -> Box<dyn Identify + 'k> {
        Box::new(documents::KumaDocuments::new(kinds))
    }

    fn implied(&self, documents: &Documents<'_>, settings: &Companions) -> Option<String> {
        implied::meshes(documents, settings.get().copied().unwrap_or_default())
    }

    fn concerned(
        &self,
        before: Before<'_>,
        _reading: Reading<'_>,
        files: &Files,
        changed: &BTreeSet<SourceId>,
    ) -> Option<BTreeSet<SourceId>> {
        concerned::concerned(before, files, changed)
    }

    fn complete(&self, snapshot: Snapshot, _other_editions: Vec<PolicyKind>, _settings: &Companions) -> Snapshot {
        snapshot.keeping(Arc::new(unattached::Unattached::default())).keeping(Arc::new(ends::Directory::default()))
    }

    fn complete_after(&self, before: &Snapshot, next: Snapshot, _changed: &BTreeSet<SourceId>) -> Snapshot {
        let directory = ends::Directory::after(before, &next);
        next.keeping(Arc::new(unattached::Unattached::default())).keeping(Arc::new(directory))
    }

    fn warnings(&self, snapshot: &Snapshot) -> Vec<Diagnostic> {
        unattached::warnings(snapshot).to_vec()
    }

    fn shapes(&self, snapshot: &Snapshot) -> Vec<(String, Vec<Shape>)> {
        reader::shapes(snapshot)
    }

    fn example(&self, snapshot: &Snapshot) -> Option<&'static str> {
        questions::has_anything(snapshot).then_some(questions::EXAMPLE)
    }

    fn usual_example(&self) -> Option<&'static str> {
        Some(questions::EXAMPLE)
    }

    fn command_about(&self, object: &Identity) -> Option<String> {
        (object.kind == "Dataplane").then(|| format!("upheld explain dataplane/{}", object.name))
    }

    fn answer(&self, asked: &Asked<'_>) -> Option<Result<Answer, Refused>> {
        questions::answer(asked)
    }

    fn native(&self) -> Option<&'static dyn Native> {
        Some(&view::InspectApi)
    }
}

/// The API group of Kuma's own types.
const GROUP: &str = "kuma.io";

/// The editions that are used when users name no other: what the documentation of 0.3 describes for policies with sources
/// and destinations, Kuma 2 for those with target references.
pub const DEFAULT_SEMANTICS: [&str; 2] = ["kuma/0.3", "kuma/2"];

/// The tag that names the service of an inbound, and its name before 0.7.
pub const SERVICE_TAGS: [&str; 2] = ["kuma.io/service", "service"];

/// Types of Kuma that no policy is and that no policy speaks about: they are set aside, not refused.
pub(crate) const OTHER_TYPES: [&str; 20] = [
    "Config",
    "ContainerPatch",
    "DataplaneInsight",
    "GlobalSecret",
    "HostnameGenerator",
    "MeshGatewayConfig",
    "MeshGatewayInstance",
    "MeshInsight",
    "MeshOpenTelemetryBackend",
    "MeshTrust",
    "OPAPolicy",
    "Secret",
    "ServiceInsight",
    "Workload",
    "Zone",
    "ZoneEgress",
    "ZoneEgressInsight",
    "ZoneIngress",
    "ZoneIngressInsight",
    "ZoneInsight",
];
