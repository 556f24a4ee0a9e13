//! Fields of a result: who sets each, and what it overrides.

use serde::Serialize;
use serde_json::Value as Json;
use upheld_engine::Snapshot;
use upheld_model::tree::{Kind, Value};
use upheld_model::{NodeRef, SourceId};

use super::{At, Phrase};
use crate::visible;

/// One field of a result.
#[derive(Clone, Debug, Serialize, PartialEq)]
pub struct Field {
    /// Its path, for example `http.requestTimeout`.
    #[serde(rename = "field")]
    pub path: String,
    /// Its value; nothing where nobody sets it any more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<Json>,
    /// The scope whose policy sets it: `route`, `gateway`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scope: Option<String>,
    /// The policies that set it.
    pub from: Vec<Source>,
    /// Why this value holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<Phrase>,
    /// What others say here, the best of them first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub over: Vec<Overridden>,
}

/// A policy that has a part in a field.
#[derive(Clone, Debug, Serialize, PartialEq)]
pub struct Source {
    /// The policy.
    pub policy: String,
    /// How it is attached.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub via: Option<String>,
    /// Where it says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<At>,
}

/// A value that does not count, because another policy goes before.
#[derive(Clone, Debug, Serialize, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct Overridden {
    /// The value.
    pub value: Json,
    /// Who says it.
    pub policy: String,
    /// The scope of that policy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scope: Option<String>,
    /// How it is attached.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub via: Option<String>,
    /// Where.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<At>,
    /// Who goes before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub taken_by: Option<String>,
    /// Why.
    pub reason: Phrase,
}

impl Field {
    /// The value as people read it.
    pub fn text(&self) -> String {
        self.value.as_ref().map_or_else(|| "not set".to_owned(), one_line)
    }

    /// The path as people read it; a payload that is one value has none.
    pub fn name(&self) -> String {
        if self.path.is_empty() { "value".to_owned() } else { visible(&self.path) }
    }

    /// The policies that set it, in one line.
    pub fn policies(&self) -> String {
        self.from.iter().map(|source| source.policy.as_str()).collect::<Vec<_>>().join(", ")
    }

    /// Where it is set first.
    pub fn at(&self) -> Option<&At> {
        self.from.first().and_then(|source| source.at.as_ref())
    }
}

/// A value in one line.
pub fn one_line(value: &Json) -> String {
    match value {
        Json::String(text) => visible(text),
        other => other.to_string(),
    }
}

/// A leaf that one policy sets.
pub(crate) fn set_by(path: String, value: Json, policy: &str, at: Option<At>) -> Field {
    let from = vec![Source { policy: policy.to_owned(), via: None, at }];
    Field { path, value: Some(value), scope: None, from, reason: None, over: Vec::new() }
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
        _ => {
            let at = At::of(snapshot.files(), NodeRef { source, node: value.number() });
            fields.push(set_by(path, serde_json::to_value(value).unwrap_or_default(), policy, at));
        }
    }
}

impl Field {
    /// What lies below a path, if the path is this field or leads into its value.
    pub fn below(mut self, path: &str) -> Option<Self> {
        if is_within(&self.path, path) {
            return Some(self);
        }
        let rest = path.strip_prefix(self.path.as_str()).filter(|_| is_within(path, &self.path))?.to_owned();
        self.value = self.value.as_ref().and_then(|value| part(value, &rest)).cloned();
        self.over.retain_mut(|over| match part(&over.value, &rest) {
            Some(inner) => {
                over.value = inner.clone();
                true
            }
            None => false,
        });
        path.clone_into(&mut self.path);
        (self.value.is_some() || !self.over.is_empty()).then_some(self)
    }
}

/// What is at `.name[0].other` of a value.
fn part<'j>(value: &'j Json, path: &str) -> Option<&'j Json> {
    let mut value = value;
    for step in path.split(['.', '[']).filter(|step| !step.is_empty()) {
        value = match step.strip_suffix(']') {
            Some(number) => value.get(number.parse::<usize>().ok()?)?,
            None => value.get(step)?,
        };
    }
    Some(value)
}

/// Whether a leaf is the field or lies below it.
pub fn is_within(leaf: &str, path: &str) -> bool {
    leaf.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
}
