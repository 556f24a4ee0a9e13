//! What would change a decision: in words, and as operations on the document of the request.

use serde::Serialize;
use serde_json::Value as Json;
use upheld_engine::decide::{Change, Edit, changes};

use super::Reporter;
use crate::request::asked;
use crate::sentences::changes as words;

/// A change that would turn the decision round; it was tried out.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WouldFlip {
    /// What is changed: `policies` or `request`.
    pub change: &'static str,
    /// The policies that are removed, or that apply then.
    pub policies: Vec<String>,
    /// The same as a JSON Patch (RFC 6902) of the request in `about`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub patch: Vec<PatchOperation>,
    /// The change in words.
    pub text: String,
}

/// An operation of a JSON Patch.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PatchOperation {
    /// `add`, `remove` or `replace`.
    pub op: &'static str,
    /// Where, as a JSON Pointer.
    pub path: String,
    /// The new value, unless something is removed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<Json>,
}

impl Reporter<'_> {
    pub(super) fn changes(&self) -> Vec<WouldFlip> {
        let changes = changes(self.decide, self.request, &self.decided, self.hits);
        changes.iter().map(|change| self.change(change)).collect()
    }

    fn change(&self, change: &Change) -> WouldFlip {
        match change {
            Change::Without(entries) => {
                let policies: Vec<String> = entries.iter().map(|entry| self.name(*entry)).collect();
                WouldFlip { change: "policies", text: words::removal(&policies), patch: Vec::new(), policies }
            }
            Change::Request(edits, entry) => {
                let policy = entry.map(|entry| self.name(entry));
                let clauses: Vec<String> =
                    edits.iter().map(|edit| words::edit(edit, self.decide.called(edit.field()).as_deref())).collect();
                WouldFlip {
                    change: "request",
                    text: words::otherwise(&clauses, policy.as_deref()),
                    patch: self.patch(edits),
                    policies: policy.into_iter().collect(),
                }
            }
        }
    }

    /// One operation for each change, in order.
    fn patch(&self, edits: &[Edit]) -> Vec<PatchOperation> {
        let (mut request, mut before, mut patch) = (self.request.clone(), asked(self.request), Vec::new());
        for edit in edits {
            edit.apply(&mut request);
            let after = asked(&request);
            patch.extend(difference(&before, &after, String::new()));
            before = after;
        }
        patch
    }
}

/// The operation that makes one document of another that differs from it in one place.
fn difference(before: &Json, after: &Json, path: String) -> Option<PatchOperation> {
    let within = |key: &str| format!("{path}/{}", key.replace('~', "~0").replace('/', "~1"));
    match (before, after) {
        (before, after) if before == after => None,
        (Json::Object(before), Json::Object(after)) => {
            let gone = before.keys().find(|key| !after.contains_key(*key));
            let remove = |key: &String| PatchOperation { op: "remove", path: within(key), value: None };
            gone.map(remove).or_else(|| {
                after.iter().find_map(|(key, value)| match before.get(key) {
                    None => Some(PatchOperation { op: "add", path: within(key), value: Some(value.clone()) }),
                    Some(old) => difference(old, value, within(key)),
                })
            })
        }
        (Json::Array(before), Json::Array(after)) if after.len() == before.len() + 1 && after.starts_with(before) => {
            Some(PatchOperation { op: "add", path: format!("{path}/-"), value: after.last().cloned() })
        }
        (Json::Array(before), Json::Array(after)) if after.len() + 1 == before.len() => {
            let place = before.iter().zip(after).take_while(|(one, other)| one == other).count();
            Some(PatchOperation { op: "remove", path: format!("{path}/{place}"), value: None })
        }
        (_, after) => Some(PatchOperation { op: "replace", path, value: Some(after.clone()) }),
    }
}
