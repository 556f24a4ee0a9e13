//! What rules of routes say themselves that is about the same as a field of a policy. It goes before any policy.

use std::sync::Arc;

use smol_str::SmolStr;
use upheld_engine::hierarchy::{OwnContent, OwnLayer};
use upheld_model::tree::{Kind, Value};
use upheld_model::{Config, Content, NodeRef, SourceId};

/// The policies whose fields rules have words of their own for.
const BACKEND_TRAFFIC: &str = "BackendTrafficPolicy";

/// Where these policies have the timeout of requests.
const REQUEST_TIMEOUT: [&str; 3] = ["timeout", "http", "requestTimeout"];

/// Whether rules have words of their own for fields of policies of a type.
pub(crate) fn has_own_words(kind: &str) -> bool {
    kind == BACKEND_TRAFFIC
}

/// What a rule says itself: its timeout for backends, or else that for requests.
pub(crate) fn layers(source: SourceId, rule: Value<'_>) -> Vec<OwnLayer> {
    let set = |name: &str| rule.at_path(&["timeouts", name]).filter(|value| value.kind() != Kind::Null);
    let layer = set("backendRequest").or_else(|| set("request")).map(|timeout| {
        let at = NodeRef { source, node: timeout.number() };
        let under = |inner: Arc<Config>, name: &&str| {
            Arc::new(Config { content: Content::Map(vec![(SmolStr::new(name), inner)]), at: Some(at) })
        };
        let config = REQUEST_TIMEOUT.iter().rev().fold(Config::of(source, timeout), under);
        OwnLayer { says: OwnContent::Whole(config), at }
    });
    layer.into_iter().collect()
}
