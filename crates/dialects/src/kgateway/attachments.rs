//! Who is attached to an object, or to a section of it.
//!
//! Names reach objects of their own namespace only, labels those of all namespaces if the policy lives in the global one.
//! Objects with equal labels share one list, so that many policies on many objects cost no more than either.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use rustc_hash::{FxHashMap, FxHashSet};
use smol_str::SmolStr;
use upheld_engine::ObjectId;
use upheld_model::tree::Value;
use upheld_model::{NodeRef, Object, Sym};

use super::policies::{Policies, PolicyEntry};
use super::references::{References, list, text};

/// How a policy is attached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Via {
    /// A filter of a rule or of a reference to a backend names it.
    ExtensionRef,
    /// It names the object.
    TargetRef,
    /// It selects the object by its labels.
    TargetSelector,
    /// The rule says it itself.
    Builtin,
}

/// A policy that is attached to something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attached {
    /// The policy, by its number.
    pub policy: usize,
    /// How.
    pub via: Via,
    /// Where that was written.
    pub at: NodeRef,
}

/// Attached policies, the best first; those of one kind stand together.
pub type AttachedList = Arc<[Attached]>;

/// A way in which a policy speaks about an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spoken {
    /// How.
    pub via: Via,
    /// The section that it names.
    pub section: Option<SmolStr>,
    /// Where that was written.
    pub at: NodeRef,
}

#[derive(Debug)]
struct ByLabels<'s> {
    policy: usize,
    group: &'s str,
    section: Option<SmolStr>,
    labels: Vec<(Sym, Sym)>,
    at: NodeRef,
}

/// Namespace of policies, kind of objects, and one label that objects must have.
type LabelKey = (Sym, Sym, (Sym, Sym));

/// Objects that no selector can tell apart, and the section that is asked for.
type ClassKey = (Sym, Sym, Vec<(Sym, Sym)>, Option<SmolStr>);

/// Who is attached to what.
#[derive(Debug)]
pub struct Attachments<'s> {
    by_name: FxHashMap<ObjectId, BTreeMap<Option<SmolStr>, Vec<Attached>>>,
    /// By policy.
    by_labels: Vec<ByLabels<'s>>,
    /// Each selector stands under the label that the fewest selectors ask for.
    by_label: FxHashMap<LabelKey, Vec<usize>>,
    global: Option<Sym>,
    by_class: Mutex<FxHashMap<ClassKey, AttachedList>>,
    by_section: Mutex<FxHashMap<(ObjectId, Option<SmolStr>), AttachedList>>,
    none: AttachedList,
}

impl<'s> Attachments<'s> {
    pub(super) fn new(policies: &Policies, references: &References<'s>, global_namespace: Option<&str>) -> Self {
        let symbols = references.snapshot().symbols();
        let mut attachments = Self {
            by_name: FxHashMap::default(),
            by_labels: Vec::new(),
            by_label: FxHashMap::default(),
            global: global_namespace.and_then(|name| symbols.get(name)),
            by_class: Mutex::default(),
            by_section: Mutex::default(),
            none: Arc::from([]),
        };
        let mut keys: Vec<(Sym, Sym)> = Vec::new();
        for (number, entry) in policies.entries().iter().enumerate() {
            let Some(spec) = references.document(entry.at).and_then(crate::document::Resource::spec) else { continue };
            attachments.read_names(number, entry, spec, references);
            for selector in list(spec, "targetSelectors").chain(spec.get("targetSelector")) {
                let read = by_labels(number, entry, selector, references);
                let kind = text(selector, "kind").and_then(|kind| symbols.get(kind));
                if let (Some(read), Some(kind), Some(namespace)) = (read, kind, symbols.get(&entry.namespace)) {
                    attachments.by_labels.push(read);
                    keys.push((namespace, kind));
                }
            }
        }
        attachments.index_labels(&keys);
        attachments
    }

    fn read_names(&mut self, number: usize, entry: &PolicyEntry, spec: Value<'s>, references: &References<'s>) {
        for target in list(spec, "targetRefs").chain(spec.get("targetRef")) {
            let (group, kind) = (text(target, "group").unwrap_or_default(), text(target, "kind").unwrap_or_default());
            let name = text(target, "name").unwrap_or_default();
            let Some(object) = references.object(kind, &entry.namespace, name) else { continue };
            if references.resource(object).and_then(crate::document::Resource::group) != Some(group) {
                continue;
            }
            let at = NodeRef { source: entry.at.source, node: target.number() };
            let section = text(target, "sectionName").map(SmolStr::new);
            let attached = Attached { policy: number, via: Via::TargetRef, at };
            self.by_name.entry(object).or_default().entry(section).or_default().push(attached);
        }
    }

    fn index_labels(&mut self, keys: &[(Sym, Sym)]) {
        let mut asked: FxHashMap<LabelKey, usize> = FxHashMap::default();
        let place = |&(namespace, kind): &(Sym, Sym), label: &(Sym, Sym)| (namespace, kind, *label);
        for (selector, key) in self.by_labels.iter().zip(keys) {
            for label in &selector.labels {
                *asked.entry(place(key, label)).or_default() += 1;
            }
        }
        for (number, (selector, key)) in self.by_labels.iter().zip(keys).enumerate() {
            let rarest = selector.labels.iter().min_by_key(|label| asked.get(&place(key, label)).copied());
            if let Some(label) = rarest {
                self.by_label.entry(place(key, label)).or_default().push(number);
            }
        }
    }

    /// Who is attached to an object as a whole, or to a section of it. Asking for one does not include the other.
    pub fn to(
        &self,
        object: ObjectId,
        section: Option<&str>,
        policies: &Policies,
        references: &References<'s>,
    ) -> AttachedList {
        let section = section.map(SmolStr::new);
        let named = self.by_name.get(&object).and_then(|sections| sections.get(&section));
        let selected = self.selected(object, section.as_deref(), policies, references);
        let Some(named) = named else { return selected };
        let mut by_section = self.by_section.lock().unwrap_or_else(PoisonError::into_inner);
        let list = by_section.entry((object, section.clone())).or_insert_with(|| {
            let mut all: Vec<Attached> = named.iter().chain(selected.iter()).copied().collect();
            sort(&mut all, section.as_deref(), policies);
            all.into()
        });
        list.clone()
    }

    fn selected(
        &self,
        id: ObjectId,
        section: Option<&str>,
        policies: &Policies,
        references: &References<'s>,
    ) -> AttachedList {
        let Some(object) = references.snapshot().objects().get(id) else { return self.none.clone() };
        let labels = labels(object);
        if labels.is_empty() || self.by_labels.is_empty() {
            return self.none.clone();
        }
        let key = (object.kind, object.scope, labels.clone(), section.map(SmolStr::new));
        let mut by_class = self.by_class.lock().unwrap_or_else(PoisonError::into_inner);
        let list = by_class.entry(key).or_insert_with(|| {
            let group = references.resource(id).and_then(crate::document::Resource::group);
            let mut found = self.matching(object, &labels, group, section);
            sort(&mut found, section, policies);
            found.into()
        });
        list.clone()
    }

    fn matching(
        &self,
        object: &Object,
        labels: &[(Sym, Sym)],
        group: Option<&str>,
        section: Option<&str>,
    ) -> Vec<Attached> {
        let has: FxHashSet<(Sym, Sym)> = labels.iter().copied().collect();
        let global = self.global.filter(|global| *global != object.scope);
        let mut found = Vec::new();
        for namespace in [Some(object.scope), global].into_iter().flatten() {
            let numbers = labels.iter().filter_map(|label| self.by_label.get(&(namespace, object.kind, *label)));
            for selector in numbers.flatten().filter_map(|number| self.by_labels.get(*number)) {
                let asked = selector.section.as_deref() == section && Some(selector.group) == group;
                if asked && selector.labels.iter().all(|label| has.contains(label)) {
                    found.push(Attached { policy: selector.policy, via: Via::TargetSelector, at: selector.at });
                }
            }
        }
        found
    }

    /// Every way in which a policy speaks about an object, whatever the section.
    pub fn spoken(&self, policy: usize, object: ObjectId, references: &References<'s>) -> Vec<Spoken> {
        let mut ways: Vec<Spoken> = Vec::new();
        for (section, named) in self.by_name.get(&object).into_iter().flatten() {
            let own = named.iter().filter(|attached| attached.policy == policy);
            ways.extend(own.map(|attached| Spoken { via: attached.via, section: section.clone(), at: attached.at }));
        }
        let Some(found) = references.snapshot().objects().get(object) else { return ways };
        let has: FxHashSet<(Sym, Sym)> = labels(found).into_iter().collect();
        let start = self.by_labels.partition_point(|selector| selector.policy < policy);
        let own = self.by_labels.iter().skip(start).take_while(|selector| selector.policy == policy);
        for selector in own {
            if selector.labels.iter().all(|label| has.contains(label)) {
                let section = selector.section.clone();
                ways.push(Spoken { via: Via::TargetSelector, section, at: selector.at });
            }
        }
        ways
    }
}

/// A selector without labels selects nothing.
fn by_labels<'s>(
    number: usize,
    entry: &PolicyEntry,
    selector: Value<'s>,
    references: &References<'s>,
) -> Option<ByLabels<'s>> {
    let symbols = references.snapshot().symbols();
    let wanted = selector.get("matchLabels")?;
    let pair = |(key, value): (Value<'_>, Value<'_>)| Some((symbols.get(key.text())?, symbols.get(value.text())?));
    let labels: Vec<(Sym, Sym)> = wanted.entries().map(pair).collect::<Option<_>>()?;
    if labels.is_empty() {
        return None;
    }
    Some(ByLabels {
        policy: number,
        group: text(selector, "group").unwrap_or_default(),
        section: text(selector, "sectionName").map(SmolStr::new),
        labels,
        at: NodeRef { source: entry.at.source, node: selector.number() },
    })
}

fn labels(object: &Object) -> Vec<(Sym, Sym)> {
    object.facts.as_slice().iter().filter_map(|tag| Some((tag.key, tag.value?))).collect()
}

/// By kind, then by rank. A policy that matches twice counts once.
fn sort(attached: &mut Vec<Attached>, section: Option<&str>, policies: &Policies) {
    attached.sort_by_cached_key(|attached| {
        let entry = policies.get(attached.policy);
        (entry.map(|entry| (entry.subject, entry.rank(section))), attached.via, attached.at)
    });
    attached.dedup_by_key(|attached| attached.policy);
}
