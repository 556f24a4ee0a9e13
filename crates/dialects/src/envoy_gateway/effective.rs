//! What holds at a listener or for a rule of a route, and whose each part is.

use std::sync::Arc;

use upheld_engine::ObjectId;
use upheld_engine::merge::{Layer, Merged, fold};
use upheld_model::Config;

use super::policies::Policy;
use crate::gateway_api::envoy::with_required;
use crate::gateway_api::{MergeType, Profile};

/// A rule of a route at a listener.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Spot {
    /// The gateway, by its place in the topology.
    pub gateway: usize,
    /// The listener, by its place in the gateway.
    pub listener: usize,
    /// The route.
    pub route: ObjectId,
    /// The rule, by its place in the route.
    pub rule: usize,
}

/// What holds somewhere. Origins are places in the list of policies.
#[derive(Clone, Debug)]
pub struct Effective {
    /// The policy that holds.
    pub policy: usize,
    /// The policy that it was merged with.
    pub parent: Option<usize>,
    /// What they say, and which of them each part comes from: references within a part are those of that policy.
    pub merged: Merged,
}

/// A policy alone, or over that of its parent.
pub(super) fn merge(policies: &[Policy], policy: usize, parent: Option<usize>) -> Option<Effective> {
    let child = policies.get(policy)?;
    let Some((by, over)) = parent.and_then(|place| Some((place, policies.get(place)?))) else {
        let merged = Merged::Whole { value: child.spec.clone(), by: policy, overridden: Vec::new() };
        return Some(Effective { policy, parent: None, merged });
    };
    let strategy = Profile::envoy_gateway(child.merge_type).strategy;
    let layers =
        [Layer { by: policy, config: with_required(&child.spec) }, Layer { by, config: with_required(&over.spec) }];
    let mut merged = fold(&strategy, &layers)?;
    if child.merge_type == MergeType::StrategicMerge {
        keep_all_limits(&mut merged, &layers);
    }
    Some(Effective { policy, parent, merged })
}

/// Where the global limits are, which meet by names that are made from those of their policies: so all of them stay.
const GLOBAL_LIMITS: [&str; 3] = ["rateLimit", "global", "rules"];

fn keep_all_limits(merged: &mut Merged, layers: &[Layer]) {
    let limits = |layer: &Layer| -> Vec<Arc<Config>> {
        let found = GLOBAL_LIMITS.iter().try_fold(&layer.config, |config, key| config.get(key));
        found.map(|rules| rules.items().to_vec()).unwrap_or_default()
    };
    let mut items = Vec::new();
    for layer in layers {
        let own = limits(layer).into_iter();
        items.extend(own.map(|value| Merged::Whole { value, by: layer.by, overridden: Vec::new() }));
    }
    let mut here = merged;
    for key in GLOBAL_LIMITS {
        let Merged::Map { fields, .. } = here else { return };
        let Some((_, field)) = fields.iter_mut().find(|(known, _)| known == key) else { return };
        here = field;
    }
    if let (false, Some(first)) = (items.is_empty(), layers.first()) {
        *here = Merged::List { items, by: first.by, overridden: Vec::new() };
    }
}
