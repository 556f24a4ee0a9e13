//! What policies say, each read by itself.

use std::sync::Arc;

use upheld_engine::HierarchyKind;
use upheld_model::tree::{Kind, Value};
use upheld_model::{AttachedLayer, Config, Content, LayerContent, LayerMerge, MergeAction, Symbols};

use crate::gateways::gateway_api::attachments::Written;
use crate::gateways::gateway_api::envoy::with_required;
use crate::gateways::gateway_api::stored::stored;

/// The policies for clients.
pub(super) const CLIENT_TRAFFIC: &str = "ClientTrafficPolicy";

/// The fields of a spec that say where it holds and how, not what.
const ATTACHING: [&str; 4] = ["targetRef", "targetRefs", "targetSelectors", "mergeType"];

/// Fields that were given up, and what is there instead.
const GIVEN_UP: [(&str, &str); 2] = [("compression", "compressor"), ("targetRef", "targetRefs")];

/// Whether policies of a type can be attached to routes: those for clients are about listeners only.
pub(crate) fn reaches_routes(kind: &str) -> bool {
    kind != CLIENT_TRAFFIC
}

/// What a policy says, and how it meets the policy of the listener.
pub(crate) fn layer(written: Written<'_>, spec: Value<'_>, kind: &HierarchyKind, symbols: &Symbols) -> AttachedLayer {
    let spec_as_stored = stored(written.source, spec);
    let said = spec_as_stored.entries().iter().filter(|(key, _)| !ATTACHING.contains(&key.as_str())).cloned().collect();
    let config = Arc::new(Config { content: Content::Map(said), at: Some(written.at(spec)) });
    let merged = Some(with_required(&config));
    AttachedLayer { says: LayerContent::Whole { config, merged }, meets: Some(meets(spec, kind, symbols)) }
}

/// Who names no strategy of the kind replaces what is wider.
fn meets(spec: Value<'_>, kind: &HierarchyKind, symbols: &Symbols) -> LayerMerge {
    let named = spec.get("mergeType").map(Value::text);
    let known = (0..).zip(&kind.strategies).skip(1);
    let chosen = known.into_iter().find(|(_, strategy)| Some(symbols.text(**strategy)) == named);
    match chosen {
        Some((strategy, _)) => LayerMerge { act: MergeAction::KeepOver, strategy },
        None => LayerMerge { act: MergeAction::Keep, strategy: 0 },
    }
}

/// The fields of a spec that were given up and say something, each with what is there instead.
pub(super) fn given_up(spec: Value<'_>) -> impl Iterator<Item = (&'static str, &'static str)> {
    let says = move |field: &str| {
        spec.get(field).is_some_and(|value| match value.kind() {
            Kind::Null => false,
            Kind::List => value.items().next().is_some(),
            _ => true,
        })
    };
    GIVEN_UP.into_iter().filter(move |(field, _)| says(field))
}
