//! Violations that were let through, since when and because of whom: documents that a server writes beside the write that began them.

use serde_json::{Value as Json, json};
use smol_str::SmolStr;
use upheld_engine::comply::{Finding, FindingName};
use upheld_governance::{Cause, Recorded};
use upheld_model::tree::Value;

use super::reader::{Reader, text};
use super::shapes;
use crate::shape::Checker;

/// The value of `kind:` that marks such documents.
pub(super) const ACCEPTED: &str = "AcceptedViolations";

/// What was let through together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Accepted {
    /// The name of the document.
    name: SmolStr,
    /// The kind of policies that they violate.
    policy_kind: SmolStr,
    /// The number of the write in the log.
    revision: Option<u64>,
    /// Since when, and because of what.
    pub(super) cause: Cause,
    /// What violates.
    pub(super) findings: Vec<FindingName>,
}

impl Accepted {
    /// What one write let through; several documents of one write are numbered.
    pub(super) fn of(recorded: &Recorded, policy_kind: &str, revision: u64, number: usize) -> Self {
        Self {
            name: SmolStr::from(format!("r{revision}-{number}")),
            policy_kind: SmolStr::new(policy_kind),
            revision: Some(revision),
            cause: recorded.cause.clone(),
            findings: recorded.findings.iter().map(Finding::name).collect(),
        }
    }

    /// The name of the document.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Without what violates no more; nothing if that leaves it as it is.
    pub(super) fn without(&self, ended: &[FindingName]) -> Option<Self> {
        let stays = |own: &&FindingName| !ended.contains(own);
        let findings: Vec<FindingName> = self.findings.iter().filter(stays).cloned().collect();
        (findings.len() < self.findings.len()).then(|| Self { findings, ..self.clone() })
    }

    /// As a document.
    pub(super) fn document(&self) -> Json {
        let Self { name, policy_kind, revision, cause, findings } = self;
        let Cause { action, object, change, role, name: person, at } = cause;
        let texts = |values: &[SmolStr]| values.iter().map(|value| json!(value.as_str())).collect::<Json>();
        let findings = findings.iter().map(|FindingName { scope, policy, rule, a, b }| {
            json!({
                "policy": policy.as_str(), "rule": rule, "workspace": scope.as_deref(), "a": a.as_str(), "b": b.as_str(),
            })
        });
        let change = change
            .as_ref()
            .map(|(tag, before, after)| json!({"tag": tag.as_str(), "before": texts(before), "after": texts(after)}));
        let mut document = json!({
            "kind": ACCEPTED, "policyKind": policy_kind.as_str(), "name": name.as_str(), "revision": revision,
            "at": at.to_string(), "by": {"name": person.as_deref(), "role": role.as_deref()},
            "action": action.as_str(), "object": object.as_str(), "change": change,
            "violations": findings.collect::<Json>(),
        });
        without_nulls(&mut document);
        document
    }
}

/// What is not there is not written.
fn without_nulls(value: &mut Json) {
    match value {
        Json::Object(fields) => {
            fields.retain(|_, field| !field.is_null());
            fields.values_mut().for_each(without_nulls);
        }
        Json::Array(items) => items.iter_mut().for_each(without_nulls),
        _ => {}
    }
}

impl Reader<'_> {
    /// Reads such a document.
    pub(super) fn accepted(&mut self, written: Value<'_>) -> Option<Accepted> {
        if !Checker::new(self.source, self.found).of("this record").check(written, &shapes::accepted()) {
            return None;
        }
        let texts = |value: Option<Value<'_>>| -> Vec<SmolStr> {
            value.into_iter().flat_map(Value::items).map(|item| SmolStr::new(item.text())).collect()
        };
        let change = written
            .get("change")
            .and_then(|change| Some((text(change, "tag")?, texts(change.get("before")), texts(change.get("after")))));
        let by = written.get("by");
        let finding = |item: Value<'_>| {
            Some(FindingName {
                scope: text(item, "workspace"),
                policy: text(item, "policy")?,
                rule: item.get("rule").and_then(Value::as_integer).and_then(|rule| usize::try_from(rule).ok())?,
                a: text(item, "a")?,
                b: text(item, "b")?,
            })
        };
        Some(Accepted {
            name: text(written, "name")?,
            policy_kind: text(written, "policyKind").unwrap_or_default(),
            revision: written.get("revision").and_then(Value::as_integer).and_then(|own| u64::try_from(own).ok()),
            cause: Cause {
                action: text(written, "action")?,
                object: text(written, "object")?,
                change,
                role: by.and_then(|by| text(by, "role")),
                name: by.and_then(|by| text(by, "name")),
                at: self.moment(written, "at")?,
            },
            findings: written.get("violations").into_iter().flat_map(Value::items).filter_map(finding).collect(),
        })
    }
}
