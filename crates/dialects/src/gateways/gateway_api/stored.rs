//! What API servers keep of a document: a null where none is allowed is dropped before anybody reads the object.

use std::sync::Arc;

use smol_str::SmolStr;
use upheld_model::tree::{Kind, Value};
use upheld_model::{Config, Content, NodeRef, SourceId};

/// Fields whose content has no schema of its own, so that nulls stay in it.
const FREE: [&str; 2] = ["config", "jsonFormat"];

/// A value as it is stored.
pub(crate) fn stored(source: SourceId, value: Value<'_>) -> Arc<Config> {
    let content = match value.kind() {
        Kind::Map => {
            let kept = value.entries().filter(|(_, value)| value.kind() != Kind::Null);
            Content::Map(
                kept.map(|(key, value)| (SmolStr::new(key.text()), stored_under(key.text(), source, value))).collect(),
            )
        }
        Kind::List => Content::List(value.items().map(|item| stored(source, item)).collect()),
        _ => return Config::of(source, value),
    };
    Arc::new(Config { content, at: Some(NodeRef { source, node: value.number() }) })
}

fn stored_under(key: &str, source: SourceId, value: Value<'_>) -> Arc<Config> {
    if FREE.contains(&key) { Config::of(source, value) } else { stored(source, value) }
}
