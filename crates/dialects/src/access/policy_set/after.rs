//! What policies become when documents come and go, for the price of those.

use std::sync::Arc;

use rustc_hash::FxHashSet;
use smol_str::SmolStr;
use upheld_engine::decide::{Decide, MOST_WEIGHT, Member, Rule, RuleChange, Set, Status};
use upheld_model::tree::Value;
use upheld_model::{Files, NodeRef, SourceId};

use super::super::Edition;
use super::super::claim::Claim;
use super::{Places, PolicySet, PolicySetBuilder, is_list, is_switched_off, place_in};

/// What documents said that are gone.
#[derive(Clone, Debug, Default)]
pub struct Withdrawn {
    /// Policies with their names.
    policies: Vec<(NodeRef, SmolStr)>,
    lists: usize,
    /// The manifests with settings.
    settings: Vec<NodeRef>,
    /// How many documents meant more than their own policies and settings.
    entangled: usize,
}

impl Withdrawn {
    /// A document without a type is gone.
    pub fn document(&mut self, source: SourceId, document: Value<'_>, claim: Claim) {
        self.lists += usize::from(claim.lists_policies());
        match claim {
            Claim::Policy => self.policy(source, document),
            Claim::List => document.items().for_each(|item| self.policy(source, item)),
            Claim::Manifest => {
                let items = document.get("policies").into_iter().flat_map(Value::items);
                items.for_each(|item| self.policy(source, item));
                self.entangled += usize::from(document.get("policySeed").is_some());
                if !is_list(document) {
                    self.settings.push(NodeRef { source, node: document.number() });
                }
            }
            Claim::Set => self.entangled += 1,
            Claim::Directory => {}
        }
    }

    /// A policy is gone that was written in a document with a type.
    pub fn named(&mut self, name: &str, at: NodeRef) {
        self.policies.push((at, SmolStr::new(name)));
    }

    fn policy(&mut self, source: SourceId, policy: Value<'_>) {
        let name = policy.get("id").map_or("", Value::text);
        self.named(name, NodeRef { source, node: policy.number() });
    }
}

impl PolicySet {
    /// After some documents are gone and others came, which a builder has read and nothing else. `before` are the files that this was
    /// made of. Nothing where a document means something for the others, or where something is wrong: then all is to be read.
    pub fn after(&self, gone: &Withdrawn, came: PolicySetBuilder<'_>, before: &Files) -> Option<Self> {
        let PolicySetBuilder { files, edition, members, manifest, environment, algorithm, default, .. } = came;
        let entangled = gone.entangled + came.seeded > 0 || [self.places, came.places].contains(&Places::Taken);
        if edition == Edition::Compat || entangled {
            return None;
        }
        let manifest = match (gone.settings.as_slice(), manifest) {
            ([], None) => Arc::clone(&self.manifest),
            ([], Some(came)) if self.manifest.at.is_none() => Arc::new(came),
            ([only], came) if self.manifest.at == Some(*only) => Arc::new(came.unwrap_or_default()),
            _ => return None,
        };
        let (mut names, mut changes) = (self.names.clone(), Vec::new());
        for (at, name) in &gone.policies {
            changes.push(RuleChange::Removed(names.remove(name).filter(|rule| rule.at == *at)?));
        }
        for (at, member) in members {
            let Member::Rule(mut rule) = member else { return None };
            if is_switched_off(at, &manifest, &environment, files) {
                Arc::make_mut(&mut rule).status = Status::Off;
            }
            if names.insert(rule.name.clone(), Arc::clone(&rule)).is_some() {
                return None;
            }
            changes.push(RuleChange::Added(rule));
        }
        let mut decide = changed(&self.decide, &changes, files, before)?;
        if !Arc::ptr_eq(&manifest, &self.manifest) {
            let default = manifest.default.unwrap_or(default);
            decide = decide.with_settings(manifest.algorithm.unwrap_or(algorithm), Some(default), manifest.at);
            decide = decide.reading_paths(manifest.paths);
        }
        if decide.weight() > MOST_WEIGHT {
            return None;
        }
        let lists = self.lists + came.lists - gone.lists;
        // Where nothing is left, there is no such set.
        let is_left = !names.is_empty() || manifest.at.is_some() || lists > 0 || decide.sets().nth(1).is_some();
        is_left.then(|| Self { decide: Arc::new(decide), manifest, names, lists, places: Places::Own })
    }

    /// How many shards of names two sets do not share: what a change has copied.
    pub fn unshared(&self, other: &Self) -> usize {
        self.names.unshared(&other.names)
    }
}

/// What a set of policies of which all was read comes to, where most of its policies are those of another time. Nothing if sets are in
/// it: they are built anew.
pub(super) fn reused(before: &Decide, before_files: &Files, root: &Set, files: &Files) -> Option<Decide> {
    if before.sets().nth(1).is_some() {
        return None;
    }
    let mut gone: FxHashSet<*const Rule> = before.rules().iter().map(Arc::as_ptr).collect();
    let mut changes = Vec::new();
    for member in &root.members {
        match member {
            Member::Rule(rule) if gone.remove(&Arc::as_ptr(rule)) => {}
            Member::Rule(rule) => changes.push(RuleChange::Added(Arc::clone(rule))),
            Member::Set(_) => return None,
        }
    }
    let gone = before.rules().iter().filter(|rule| gone.contains(&Arc::as_ptr(rule)));
    changes.extend(gone.map(|rule| RuleChange::Removed(Arc::clone(rule))));
    let changed = changed(before, &changes, files, before_files)?;
    Some(changed.with_settings(root.algorithm, root.default, root.at))
}

/// The policies of some files after changes that lead to others. Nothing if a file has another name now: its policies stood
/// elsewhere.
fn changed(decide: &Decide, changes: &[RuleChange], files: &Files, before: &Files) -> Option<Decide> {
    let name = |files: &Files, source: SourceId| files.get(source).map(|file| file.name.clone());
    let is_renamed = |change: &RuleChange| match change {
        RuleChange::Removed(rule) => {
            let now = name(files, rule.at.source);
            now.is_some() && now != name(before, rule.at.source)
        }
        RuleChange::Added(_) => false,
    };
    if changes.iter().any(is_renamed) { None } else { decide.with_changes(changes, place_in(files, before)) }
}
