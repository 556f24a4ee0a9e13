//! Dialect *kuma*: source/destination policies, dataplanes and external services.
//!
//! - [`resources`]: what the documents look like and how they become objects
//! - [`routes`]: which services a proxy reaches
//! - [`gateway`]: what built-in gateways choose differently
//! - [`subsets`]: clients in subsets, as policies with `from` items list them
//! - [`summary`]: a configuration in a few words
//! - [`view`]: the shapes of Kuma's own inspection endpoints
//! - `kinds/*.yaml`: the built-in kinds, by edition

pub mod ends;
pub mod gateway;
pub mod resources;
pub mod routes;
pub mod subsets;
pub mod summary;
#[cfg(test)]
mod testing;
pub mod view;

use crate::Builtin;

/// The edition that is used when users name none: the one that the documentation of 0.3 describes.
pub const DEFAULT_SEMANTICS: &str = "kuma/0.3";

/// The tag that names the service of an inbound, and its name before 0.7.
pub const SERVICE_TAGS: [&str; 2] = ["kuma.io/service", "service"];

/// The built-in kinds.
pub(crate) const KINDS: [Builtin; 2] = [
    Builtin { name: "builtin:kuma/0.3.yaml", text: include_str!("kuma/kinds/0.3.yaml") },
    Builtin { name: "builtin:kuma/0.4.yaml", text: include_str!("kuma/kinds/0.4.yaml") },
];

/// Types of Kuma that are no source/destination policies and no objects of such: they are set aside, not refused.
pub(crate) const OTHER_TYPES: [&str; 41] = [
    "Config",
    "ContainerPatch",
    "DataplaneInsight",
    "GlobalSecret",
    "HostnameGenerator",
    "MeshAccessLog",
    "MeshCircuitBreaker",
    "MeshExternalService",
    "MeshFaultInjection",
    "MeshGateway",
    "MeshGatewayConfig",
    "MeshGatewayInstance",
    "MeshGatewayRoute",
    "MeshHTTPRoute",
    "MeshHealthCheck",
    "MeshIdentity",
    "MeshInsight",
    "MeshLoadBalancingStrategy",
    "MeshMetric",
    "MeshMultiZoneService",
    "MeshOpenTelemetryBackend",
    "MeshPassthrough",
    "MeshProxyPatch",
    "MeshRateLimit",
    "MeshRetry",
    "MeshService",
    "MeshTCPRoute",
    "MeshTLS",
    "MeshTimeout",
    "MeshTrace",
    "MeshTrafficPermission",
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
