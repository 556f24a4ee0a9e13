//! Violations that were let through, since when and because of whom: documents that a server writes beside the write that began them.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Value as Json, json};
use smol_str::SmolStr;
use upheld_engine::comply::{Finding, FindingName};
use upheld_governance::{Cause, Recorded, Remembered};
use upheld_model::tree::Value;
use upheld_model::{NodeRef, TextShards};

use super::SCOPE;
use super::reader::{Reader, text};
use super::shapes;
use crate::identity::Identity;
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
    pub(super) cause: Arc<Cause>,
    /// What violates.
    pub(super) findings: Vec<FindingName>,
}

/// All records, by their names and by what violates: a write looks only at those that it is about. A clone shares what does not change.
#[derive(Clone, Debug, Default)]
pub(super) struct AcceptedRecords {
    by_name: TextShards<SmolStr, (NodeRef, Arc<Accepted>)>,
    remembered: Remembered,
}

impl AcceptedRecords {
    /// Adds a record; the place of the one that has its name already, if there is one.
    pub(super) fn add(&mut self, at: NodeRef, record: Arc<Accepted>) -> Result<(), NodeRef> {
        if let Some((first, _)) = self.by_name.get(&record.name) {
            return Err(*first);
        }
        self.remembered.add(&record.name, &record.cause, &record.findings);
        self.by_name.insert(record.name.clone(), (at, record));
        Ok(())
    }

    /// Takes a record back that was written at a place.
    pub(super) fn remove(&mut self, at: NodeRef, record: &Accepted) {
        if self.by_name.get(&record.name).is_some_and(|(known, _)| *known == at) {
            self.remembered.remove(&record.name, &record.findings);
            self.by_name.remove(&record.name);
        }
    }

    /// What they say of violations.
    pub(super) fn remembered(&self) -> &Remembered {
        &self.remembered
    }

    /// Those that say something of one of these, in the order of their names.
    pub(super) fn about(&self, findings: &[FindingName]) -> Vec<&Accepted> {
        let mut names: Vec<&SmolStr> = findings.iter().flat_map(|own| self.remembered.records_of(own)).collect();
        names.sort_unstable();
        names.dedup();
        names.into_iter().filter_map(|name| self.by_name.get(name)).map(|(_, record)| &**record).collect()
    }

    /// Whether the records are the same, wherever they are written.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        self.by_name.is_same_by(&other.by_name, |(_, one), (_, other)| one == other)
    }
}

impl Accepted {
    /// What one write let through; several documents of one write are numbered.
    pub(super) fn of(recorded: &Recorded, policy_kind: &str, revision: u64, number: usize) -> Self {
        Self {
            name: SmolStr::from(format!("r{revision}-{number}")),
            policy_kind: SmolStr::new(policy_kind),
            revision: Some(revision),
            cause: Arc::new(recorded.cause.clone()),
            findings: recorded.findings.iter().map(Finding::name).collect(),
        }
    }

    /// The name of the document.
    pub(super) fn name(&self) -> &SmolStr {
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
        let Cause { action, object, change, role, name: person, at } = &**cause;
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

/// The policies that a stored record names.
pub(super) fn policies_named(text: &str) -> Vec<Identity> {
    let record: Json = serde_json::from_str(text).unwrap_or_default();
    let word = |value: &Json| value.as_str().unwrap_or_default().to_owned();
    let kind = word(record.get("policyKind").unwrap_or(&Json::Null));
    let violations = record.get("violations").and_then(Json::as_array).into_iter().flatten();
    let policies: BTreeSet<String> = violations.filter_map(|own| own.get("policy")).map(word).collect();
    policies.into_iter().map(|policy| Identity::new(&kind, SCOPE, policy)).collect()
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
            cause: Arc::new(Cause {
                action: text(written, "action")?,
                object: text(written, "object")?,
                change,
                role: by.and_then(|by| text(by, "role")),
                name: by.and_then(|by| text(by, "name")),
                at: self.moment(written, "at")?,
            }),
            findings: written.get("violations").into_iter().flat_map(Value::items).filter_map(finding).collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use upheld_model::{SourceId, Timestamp};

    use super::*;

    fn finding(number: usize) -> FindingName {
        let (a, b) = (format!("project/p{number}").into(), SmolStr::new_static("landingZone/z"));
        FindingName { scope: None, policy: SmolStr::new_static("env"), rule: 0, a, b }
    }

    fn record(number: usize, findings: &[usize]) -> Arc<Accepted> {
        let word = SmolStr::new_static("link");
        let at = Timestamp(i64::try_from(number).unwrap());
        let cause = Cause { action: word.clone(), object: word, change: None, role: None, name: None, at };
        Arc::new(Accepted {
            name: format!("r{number}-1").into(),
            policy_kind: SmolStr::new_static("MeshPolicy"),
            revision: None,
            cause: Arc::new(cause),
            findings: findings.iter().map(|number| finding(*number)).collect(),
        })
    }

    fn place(number: usize) -> NodeRef {
        NodeRef { source: SourceId::new(number), node: 0 }
    }

    /// Whoever writes looks at the records that a write is about, not at thousands of others.
    #[test]
    fn records_are_found_by_what_they_are_about_and_told_apart_without_a_look_at_all() {
        let mut records = AcceptedRecords::default();
        for number in 0..5_000 {
            records.add(place(number), record(number, &[number, number + 1])).unwrap();
        }
        let names = |records: &AcceptedRecords, about: &[usize]| -> Vec<String> {
            let about: Vec<FindingName> = about.iter().map(|number| finding(*number)).collect();
            records.about(&about).into_iter().map(|own| own.name().to_string()).collect()
        };
        assert_eq!(names(&records, &[7]), ["r6-1", "r7-1"]);
        assert_eq!(names(&records, &[9_000]), Vec::<String>::new());
        assert_eq!(records.add(place(9), record(7, &[])), Err(place(7)), "names are given once");
        let mut after = records.clone();
        after.add(place(6_000), record(6_000, &[7])).unwrap();
        assert_eq!(names(&after, &[7]), ["r6-1", "r6000-1", "r7-1"]);
        assert!(!after.is_same(&records));
        assert_eq!(after.by_name.unshared(&records.by_name), 1, "one piece of many is copied");
        after.remove(place(6_000), &record(6_000, &[7]));
        assert!(after.is_same(&records) && names(&after, &[7]) == names(&records, &[7]));
        after.remove(place(1), &record(7, &[7, 8]));
        assert!(after.is_same(&records), "what is written elsewhere is another record");
    }
}
