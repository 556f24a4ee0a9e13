//! Dialect *kuma*: source/destination policies, dataplanes and external services.
//!
//! - [`resources`]: what the documents look like and how they become objects
//! - [`routes`]: which services a proxy reaches
//! - [`gateway`]: what built-in gateways choose differently
//! - [`subsets`]: clients in subsets, as policies with `from` items list them
//! - [`edition`]: editions of policies with target references
//! - [`egress`]: what a zone egress does for an external service
//! - [`kri`]: identifiers of resources
//! - [`http_match`], [`inbound_match`]: matches of routes and of inbound rules, in order
//! - [`role`]: on whose behalf a policy speaks
//! - [`summary`]: a configuration in a few words
//! - [`view`]: the shapes of Kuma's own inspection endpoints
//! - `kinds/*.yaml`: the built-in kinds, by edition

pub mod edition;
pub mod egress;
pub mod ends;
pub mod gateway;
pub mod http_match;
pub mod implied;
pub mod inbound_match;
pub mod kri;
pub mod layered;
pub mod meta;
pub mod permission;
pub mod remarks;
pub mod resources;
pub mod role;
pub mod routes;
pub mod rules;
pub(crate) mod served;
pub mod services;
pub mod subsets;
pub mod summary;
pub mod target_ref;
#[cfg(test)]
mod testing;
pub mod view;

use crate::Builtin;

/// The editions that are used when users name no other: what the documentation of 0.3 describes for policies with sources
/// and destinations, Kuma 2 for those with target references.
pub const DEFAULT_SEMANTICS: [&str; 2] = ["kuma/0.3", "kuma/2"];

/// The tag that names the service of an inbound, and its name before 0.7.
pub const SERVICE_TAGS: [&str; 2] = ["kuma.io/service", "service"];

/// The built-in kinds.
pub(crate) const KINDS: [Builtin; 4] = [
    Builtin { name: "builtin:kuma/0.3.yaml", text: include_str!("kuma/kinds/0.3.yaml") },
    Builtin { name: "builtin:kuma/0.4.yaml", text: include_str!("kuma/kinds/0.4.yaml") },
    Builtin { name: "builtin:kuma/2.yaml", text: include_str!("kuma/kinds/2.yaml") },
    Builtin { name: "builtin:kuma/3.yaml", text: include_str!("kuma/kinds/3.yaml") },
];

/// Types of Kuma that no policy is and that no policy speaks about: they are set aside, not refused.
pub(crate) const OTHER_TYPES: [&str; 19] = [
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
