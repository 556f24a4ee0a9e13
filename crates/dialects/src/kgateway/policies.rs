//! The policies, each read once: who it is, how important, what it says, what is wrong with it.

use std::cmp::Reverse;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use smol_str::SmolStr;
use upheld_engine::PolicyId;
use upheld_model::tree::Value;
use upheld_model::{Config, NodeRef, Timestamp};

use super::errors;
use super::fields;
use super::kinds::{Semantics, Subject};
use super::references::References;
use super::settings::{PolicyMerge, Settings};
use crate::document::Resource;

/// The annotation with the weight of a policy.
pub const WEIGHT: &str = "kgateway.dev/policy-weight";

/// A policy.
#[derive(Clone, Debug)]
pub struct PolicyEntry {
    /// The policy of the snapshot.
    pub id: PolicyId,
    /// Its kind.
    pub subject: Subject,
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// How much it weighs; more goes first.
    pub weight: i32,
    /// When it was created; unknown is before all others.
    pub created: Option<Timestamp>,
    /// What it says, by the names that origins are kept under.
    pub fields: Vec<(SmolStr, Arc<Config>)>,
    /// What is wrong with it. A policy with errors is not applied.
    pub errors: Vec<String>,
    /// Where it was written.
    pub at: NodeRef,
    /// Its place among those of its kind, where a whole object is asked for, and where a section is.
    ranks: (usize, usize),
}

impl PolicyEntry {
    /// `group/kind/namespace/name`.
    pub fn identity(&self) -> String {
        format!("{}/{}/{}/{}", self.subject.group(), self.subject.kind(), self.namespace, self.name)
    }

    /// `Kind namespace/name`.
    pub fn title(&self) -> String {
        format!("{} {}/{}", self.subject.kind(), self.namespace, self.name)
    }

    /// Its place among those of its kind; the first is the most important.
    pub(super) fn rank(&self, section: Option<&str>) -> usize {
        if section.is_some() { self.ranks.1 } else { self.ranks.0 }
    }
}

/// All policies of the kinds that are known here.
#[derive(Debug)]
pub struct Policies {
    entries: Vec<PolicyEntry>,
    by_name: FxHashMap<(Subject, String, String), usize>,
}

impl Policies {
    pub(super) fn read(references: &References<'_>, settings: &Settings, semantics: Semantics) -> Self {
        let snapshot = references.snapshot();
        let mut entries = Vec::new();
        for (id, policy) in snapshot.policies().iter() {
            let Some(subject) = Subject::of(snapshot.text(policy.kind)) else { continue };
            let Some(resource) = references.document(policy.at) else { continue };
            if resource.group() != Some(subject.group()) {
                continue;
            }
            let namespace = snapshot.text(policy.scope);
            let mut errors = errors::of(subject, namespace, resource, references);
            let weight = weight(subject, resource, &mut errors);
            let mut fields = fields::of(subject, namespace, policy.at.source, resource);
            if subject == Subject::Traffic && settings.policy_merge == PolicyMerge::Unreadable {
                fields.clear();
            }
            entries.push(PolicyEntry {
                id,
                subject,
                namespace: namespace.to_owned(),
                name: snapshot.text(policy.name).to_owned(),
                weight,
                created: policy.created,
                fields,
                errors,
                at: policy.at,
                ranks: (0, 0),
            });
        }
        rank(&mut entries, semantics);
        let key = |entry: &PolicyEntry| (entry.subject, entry.namespace.clone(), entry.name.clone());
        let by_name = entries.iter().enumerate().map(|(number, entry)| (key(entry), number)).collect();
        Self { entries, by_name }
    }

    /// All of them, by kind, namespace and name. Numbers elsewhere count in this list.
    pub fn entries(&self) -> &[PolicyEntry] {
        &self.entries
    }

    /// One of them.
    pub fn get(&self, number: usize) -> Option<&PolicyEntry> {
        self.entries.get(number)
    }

    /// The number of the one with a name.
    pub fn find(&self, subject: Subject, namespace: &str, name: &str) -> Option<usize> {
        self.by_name.get(&(subject, namespace.to_owned(), name.to_owned())).copied()
    }
}

/// Only traffic policies have a weight.
fn weight(subject: Subject, resource: Resource<'_>, errors: &mut Vec<String>) -> i32 {
    let Some(text) = annotation(resource, WEIGHT).filter(|_| subject == Subject::Traffic) else { return 0 };
    text.parse().unwrap_or_else(|_| {
        errors.push(format!("invalid value for annotation {WEIGHT}: {text}; must be a valid integer"));
        0
    })
}

/// An annotation of a resource.
pub(super) fn annotation<'t>(resource: Resource<'t>, name: &str) -> Option<&'t str> {
    let metadata = resource.document.get("metadata")?;
    metadata.get("annotations")?.get(name).map(Value::text)
}

/// Identities are compared as one text, and a section adds to it: with one, what follows a name is a slash.
fn rank(entries: &mut [PolicyEntry], semantics: Semantics) {
    let weight = |entry: &PolicyEntry| if semantics == Semantics::Current { entry.weight } else { 0 };
    let mut order: Vec<usize> = (0..entries.len()).collect();
    for with_section in [false, true] {
        let key = |&number: &usize| {
            entries.get(number).map(|entry| {
                let identity = if with_section { entry.identity() + "/" } else { entry.identity() };
                (Reverse(weight(entry)), entry.created, identity)
            })
        };
        order.sort_by_cached_key(key);
        for (rank, number) in order.iter().enumerate() {
            if let Some(entry) = entries.get_mut(*number) {
                if with_section {
                    entry.ranks.1 = rank;
                } else {
                    entry.ranks.0 = rank;
                }
            }
        }
    }
}
