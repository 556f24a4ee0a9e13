//! The corpora of kgateway and the Gateway API: one adapter for each family.
//!
//! - [`values`]: parts of cases as configurations, and back
//! - [`paths`]: topologies as they are written in cases, and the paths through them
//! - the others: what a family asks, and how its answers are written

mod access_list;
mod attachment_scale;
mod delegation;
mod envoy_attachment;
mod gep_2649;
mod gep_713;
mod gwctl;
mod machinery;
mod origins;
mod paths;
mod policies;
mod resolved;
mod spec_merge;
mod topology;
mod values;

use crate::Adapter;
use crate::case::Case;
use crate::outcome::Outcome;

/// Which adapter reads which family.
pub(crate) const ADAPTERS: [(&str, Adapter); 13] = [
    ("gateway-api/envoy-gateway", spec_merge::run),
    ("gateway-api/gep-2649", gep_2649::run),
    ("gateway-api/gep-713", gep_713::run),
    ("gateway-api/gwctl", gwctl::run),
    ("gateway-api/policy-machinery", machinery::run),
    ("kgateway/backend-policy", resolved::run),
    ("kgateway/delegation", resolved::run),
    ("kgateway/listener-policy", resolved::run),
    ("kgateway/misc", resolved::run),
    ("kgateway/policy-errors", resolved::run),
    ("kgateway/scopes", resolved::run),
    ("kgateway/traffic-policy", resolved::run),
    ("kgateway/unit", unit),
];

/// Tables of unit tests; each says by its fields what it is about.
fn unit(case: &Case) -> anyhow::Result<Outcome> {
    if case.says("op") {
        origins::run(case)
    } else if case.says("strategy") {
        access_list::run(case)
    } else if case.says("childNamespace") {
        delegation::run_attach(case)
    } else if case.says("routes") {
        attachment_scale::run(case)
    } else {
        delegation::run_match(case)
    }
}
