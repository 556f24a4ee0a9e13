//! The Kuma corpus: one adapter for each family.
//!
//! - [`documents`]: from the input of a case to documents as users write them
//! - [`world`]: from documents to a snapshot, and questions to it
//! - the others: what a family asks, and how its answers are written

mod dataplane_policy;
mod destination_map;
mod documents;
mod external_service;
mod gateway_destination;
mod inbound;
mod inspect;
mod inspect_api;
mod layers;
mod match_order;
mod merge;
mod outbound;
mod policy_role;
mod seed;
mod subsets;
mod tag_selector;
mod virtual_outbound;
mod world;

use std::sync::Arc;

use anyhow::Context;
use upheld_loader::Format;
use upheld_model::{Config, SourceId};

use crate::{Adapter, Adapters};

/// Which adapter reads which family.
pub(crate) const ADAPTERS: [&Adapters; 3] = [&OLDER, &layers::ADAPTERS, &inspect_api::ADAPTERS];

/// Those of policies with sources and destinations, and of single parts.
const OLDER: [(&str, Adapter); 18] = [
    ("derived-clique-divergence", subsets::run_divergence),
    ("legacy-dataplane-policy", dataplane_policy::run),
    ("legacy-destination-map", destination_map::run),
    ("legacy-external-service-permission", external_service::run),
    ("legacy-gateway-destination", gateway_destination::run),
    ("legacy-inbound-connection", inbound::run),
    ("legacy-inspect", inspect::run),
    ("legacy-outbound-connection", outbound::run),
    ("legacy-seed-doc", seed::run),
    ("legacy-tagselector", tag_selector::run),
    ("legacy-v03-alphabetical", outbound::run_up_to_03),
    ("legacy-virtual-outbound", virtual_outbound::run),
    ("unit-cliques", subsets::run_cliques),
    ("unit-http-match-order", match_order::run_http),
    ("unit-inbound-match-order", match_order::run_inbound),
    ("unit-merge", merge::run),
    ("unit-policy-role", policy_role::run),
    ("unit-subset", subsets::run),
];

/// A part of a case as a configuration.
fn config(conf: &serde_json::Value) -> anyhow::Result<Arc<Config>> {
    let source = SourceId::new(0);
    let (file, _) = upheld_syntax::parse("conf", Format::Json, conf.to_string(), source);
    let document = file.tree.documents().next().context("the conf is empty")?;
    Ok(Config::of(source, document))
}

/// The edition that most families show.
const FROM_04: &str = "kuma/0.4";
/// The edition before.
const UP_TO_03: &str = "kuma/0.3";

/// The half of a `RateLimit` that is about callers is a kind of its own, over the same policies.
const OUTBOUND_RATE_LIMIT: &str = "RateLimitOutbound";
