//! Policies with target references: families `v2-*` and `v3-*`, and the `unit-*` families about references.
//!
//! - [`deployment`]: metas of documents, rebuilt as a deployment would have them
//! - [`scene`]: a snapshot of the documents, and how a golden writes resources
//! - [`shown`]: rules as goldens write them
//! - [`written`]: policies as goldens repeat them
//! - the others: what a family asks

mod deployment;
pub(super) mod durations;
mod egress;
mod entries;
mod lookup;
mod matched;
mod references;
mod resources;
mod scene;
mod shown;
mod unmatched;
mod written;

use upheld_dialects::kuma::edition::Edition;

use crate::Adapter;

/// Subset rules are listed as the late releases of Kuma 2 do.
const V2: Edition = Edition::V2Cliques;
const V3: Edition = Edition::V3;

/// Which adapter reads which family.
pub(super) const ADAPTERS: [(&str, Adapter); 27] = [
    ("unit-resolve-targetref", references::run),
    ("unit-resource-lookup", lookup::run),
    ("unit-route-ref-namespace", references::run_route_namespace),
    ("v2-egress-fromrules", |case| egress::run(case, "MeshTrafficPermission")),
    ("v2-egress-fromtorules", |case| egress::run(case, "MeshTimeout")),
    ("v2-egress-torules", |case| egress::run(case, "MeshLoadBalancingStrategy")),
    ("v2-inboundrules", |case| entries::run_inbound(case, V2)),
    ("v2-matched-dataplane-kind", |case| matched::run_policies(case, V2)),
    ("v2-matched-dataplanepolicies", |case| matched::run_policies(case, V2)),
    ("v2-matched-fromrules", |case| matched::run_from(case, V2)),
    ("v2-matched-meshexternalservice", |case| matched::run_to(case, V2)),
    ("v2-matched-meshgateways", matched::run_gateways),
    ("v2-matched-torules", |case| matched::run_to(case, V2)),
    ("v2-resourcerules", |case| resources::run(case, V2)),
    ("v2-rules-from", unmatched::run_from),
    ("v2-rules-single", unmatched::run_single_v2),
    ("v2-rules-to", unmatched::run_to),
    ("v2-sort", |case| entries::run_sort(case, V2)),
    ("v3-inboundrules", |case| entries::run_inbound(case, V3)),
    ("v3-matched-dataplane-kind", |case| matched::run_policies(case, V3)),
    ("v3-matched-dataplanepolicies", |case| matched::run_policies(case, V3)),
    ("v3-matched-fromrules", |case| matched::run_from(case, V3)),
    ("v3-matched-meshexternalservice", |case| matched::run_to(case, V3)),
    ("v3-matched-torules", |case| matched::run_to(case, V3)),
    ("v3-resourcerules", |case| resources::run(case, V3)),
    ("v3-rules-single", unmatched::run_single_v3),
    ("v3-sort", |case| entries::run_sort(case, V3)),
];
