//! The configuration of a policy, leaf by leaf.

use serde::Serialize;
use upheld_engine::Snapshot;
use upheld_model::tree::{Kind, Value};
use upheld_model::{NodeRef, SourceId};

use super::At;
use crate::formats::visible;

/// One leaf of a configuration.
#[derive(Clone, Debug, Serialize, PartialEq)]
pub struct Field {
    /// Its path, for example `http.requestTimeout`.
    #[serde(rename = "field")]
    pub path: String,
    /// Its value.
    pub value: serde_json::Value,
    /// The policy that sets it.
    pub policy: String,
    /// Where.
    pub at: Option<At>,
    /// What worse layers say here, the best of them first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub over: Vec<Over>,
}

/// A value that does not count, because a better layer says something else.
#[derive(Clone, Debug, Serialize, PartialEq)]
pub struct Over {
    pub value: serde_json::Value,
    pub policy: String,
    /// Why the other one is better.
    pub because: String,
    pub at: Option<At>,
}

impl Field {
    /// The value as people read it.
    pub fn text(&self) -> String {
        match &self.value {
            serde_json::Value::String(text) => visible(text),
            other => other.to_string(),
        }
    }

    /// The path as people read it; a payload that is one value has none.
    pub fn name(&self) -> String {
        if self.path.is_empty() { "value".to_owned() } else { visible(&self.path) }
    }
}

/// All leaves of the payload of a policy, in the order of the document.
pub fn leaves(snapshot: &Snapshot, payload: NodeRef, policy: &str) -> Vec<Field> {
    let mut fields = Vec::new();
    if let Some(value) = snapshot.files().value(payload) {
        walk(snapshot, payload.source, value, String::new(), policy, &mut fields);
    }
    fields
}

fn walk(snapshot: &Snapshot, source: SourceId, value: Value<'_>, path: String, policy: &str, fields: &mut Vec<Field>) {
    let step = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
    match value.kind() {
        Kind::Map if value.entries().next().is_some() => {
            for (key, value) in value.entries() {
                walk(snapshot, source, value, step(key.text()), policy, fields);
            }
        }
        Kind::List if value.items().next().is_some() => {
            for (index, value) in value.items().enumerate() {
                walk(snapshot, source, value, format!("{path}[{index}]"), policy, fields);
            }
        }
        _ => fields.push(Field {
            path,
            value: serde_json::to_value(value).unwrap_or_default(),
            policy: policy.to_owned(),
            at: At::of(snapshot.files(), NodeRef { source, node: value.number() }),
            over: Vec::new(),
        }),
    }
}

/// Whether a leaf is the field or lies below it.
pub fn is_within(leaf: &str, path: &str) -> bool {
    leaf.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
}
