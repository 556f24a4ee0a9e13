//! The policies of one kind, found by what they are attached to.
//!
//! Objects are known by their identity, so a policy is indexed without looking at objects, and an object that changes changes
//! nothing here. A change of one policy copies what it touches; the rest is shared.

use std::sync::Arc;

use smol_str::{SmolStr, format_smolstr};
use upheld_model::{
    AttachedLayer, Attachments, Code, LabelWant, NamespaceLabels, NodeRef, Object, Pages, Param, Policy, Reason,
    Shards, Sym, Symbols, TargetNamespaces, TargetReference, TargetSelector, Timestamp,
};

use super::answer::Effective;
use super::question::{EntrySource, Listed, Question, Section, Site};
use crate::ask::{EntryId, Family, Fit, Hit, Place};
use crate::buckets::Buckets;
use crate::kind::HierarchyKind;
use crate::snapshot::PolicyId;
use crate::witness::Witness;

/// One layer of one policy.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The policy.
    pub policy: PolicyId,
    /// Which of its layers.
    pub layer: u16,
    /// Its namespace.
    pub namespace: Sym,
    /// Its name.
    pub name: Sym,
    /// When it was created; unknown is after all others.
    pub created: Option<Timestamp>,
    /// What it is attached to, and all of its layers.
    pub attachments: Arc<Attachments>,
    /// `namespace/name`; compared as one text.
    pub(super) identity: SmolStr,
}

impl Entry {
    /// What it says.
    pub fn says(&self) -> Option<&AttachedLayer> {
        self.attachments.layers.get(usize::from(self.layer))
    }

    /// A number that it ranks by.
    pub(super) fn number(&self, column: Sym) -> Option<i64> {
        self.attachments.numbers.iter().find(|(known, _)| *known == column).map(|(_, number)| *number)
    }
}

/// How an entry came to a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attachment {
    /// In which way.
    pub via: Via,
    /// Its number among those that the place lists; 0 for all others.
    pub position: u32,
    /// Where the attachment was written.
    pub at: NodeRef,
}

/// In which way an entry is attached to a place, the strongest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Via {
    /// The target says it itself.
    Own,
    /// The place refers to it.
    Listed,
    /// It names the object.
    Named,
    /// It selects the object by its labels.
    Selected,
}

/// What is looked up by name: type, namespace and name of an object, and a section.
type TargetKey = (Sym, Sym, Sym, Option<Sym>);

/// What is looked up by labels: the namespace of policies, unless they select in others, the type of objects, and a label that
/// all of them must have.
type LabelKey = (Option<Sym>, Sym, Option<(Sym, Sym)>);

/// The policies of one kind. A clone shares what they say.
#[derive(Clone, Debug)]
pub struct Hierarchy {
    pub(super) kind: Arc<HierarchyKind>,
    entries: Pages<Option<Arc<Entry>>>,
    named: Buckets<TargetKey, (EntryId, NodeRef)>,
    /// Selectors by a label that their objects cannot do without.
    selecting: Buckets<LabelKey, (EntryId, u16)>,
    /// How many of them select in other namespaces: mostly none, and then nobody looks.
    reaching: usize,
    by_policy: Shards<(Sym, Sym), Arc<[EntryId]>>,
    policies: usize,
}

impl Hierarchy {
    /// No policies.
    pub fn new(kind: Arc<HierarchyKind>) -> Self {
        Self {
            kind,
            entries: Pages::default(),
            named: Buckets::default(),
            selecting: Buckets::default(),
            reaching: 0,
            by_policy: Shards::default(),
            policies: 0,
        }
    }

    /// The choices of its kind.
    pub fn kind(&self) -> &HierarchyKind {
        &self.kind
    }

    /// The same policies under other choices, as another edition has them.
    #[must_use]
    pub fn under(&self, kind: Arc<HierarchyKind>) -> Self {
        Self { kind, ..self.clone() }
    }

    /// One entry.
    pub fn entry(&self, id: EntryId) -> Option<&Entry> {
        self.entries.get(id.index())?.as_deref()
    }

    /// The entries of a policy, in the order of its layers.
    pub fn of_policy(&self, namespace: Sym, name: Sym) -> &[EntryId] {
        self.by_policy.get(&(namespace, name)).map_or(&[], |entries| entries)
    }

    /// How many policies there are.
    pub fn len(&self) -> usize {
        self.policies
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.policies == 0
    }

    /// Whether a policy selects objects of other namespaces than its own.
    pub fn selects_elsewhere(&self) -> bool {
        self.reaching > 0
    }

    /// How many pages of entries two indexes do not share.
    pub fn unshared(&self, other: &Self) -> usize {
        self.entries.unshared(&other.entries)
    }

    /// Puts a policy in, in the place of the one with its name.
    pub fn put(&mut self, id: PolicyId, policy: &Policy, symbols: &Symbols) {
        let identity = format_smolstr!("{}/{}", symbols.text(policy.scope), symbols.text(policy.name));
        self.put_as(id, policy, &identity);
    }

    /// As [`Self::put`], for a policy that is ranked under another identity.
    pub fn put_as(&mut self, id: PolicyId, policy: &Policy, identity: &str) {
        self.remove(policy.scope, policy.name);
        let Some(attachments) = policy.attachments() else { return };
        let identity = SmolStr::new(identity);
        let mut own = Vec::with_capacity(attachments.layers.len());
        for layer in 0..attachments.layers.len() {
            let entry = EntryId::new(self.entries.len());
            self.entries.push(Some(Arc::new(Entry {
                policy: id,
                layer: u16::try_from(layer).unwrap_or(u16::MAX),
                namespace: policy.scope,
                name: policy.name,
                created: policy.created,
                attachments: Arc::clone(attachments),
                identity: identity.clone(),
            })));
            for target in &attachments.targets {
                self.named.add(target_key(target), (entry, target.at));
            }
            for (number, selector) in (0..).zip(&attachments.selectors) {
                let key = self.label_key(policy.scope, selector);
                self.reaching += usize::from(key.0.is_none());
                self.selecting.add(key, (entry, number));
            }
            own.push(entry);
        }
        self.by_policy.insert((policy.scope, policy.name), own.into());
        self.policies += 1;
    }

    /// Takes a policy out.
    pub fn remove(&mut self, namespace: Sym, name: Sym) {
        let Some(own) = self.by_policy.get(&(namespace, name)).cloned() else { return };
        for id in own.iter() {
            let Some(entry) = self.entries.get(id.index()).cloned().flatten() else { continue };
            for target in &entry.attachments.targets {
                self.named.take(&target_key(target), |(known, _)| known == id);
            }
            for selector in &entry.attachments.selectors {
                let filed = filed_under(namespace, selector);
                self.reaching -= usize::from(filed.is_none());
                for label in labels_of(selector).map(Some).chain([None]) {
                    let key = (filed, selector.kind, label);
                    self.selecting.take(&key, |(known, _)| known == id);
                }
            }
            if let Some(place) = self.entries.get_mut(id.index()) {
                *place = None;
            }
        }
        self.by_policy.remove(&(namespace, name));
        self.policies -= 1;
    }

    /// The label under which the fewest selectors stand so far.
    fn label_key(&self, namespace: Sym, selector: &TargetSelector) -> LabelKey {
        let key = |label| (filed_under(namespace, selector), selector.kind, label);
        let filed = |label: &(Sym, Sym)| self.selecting.get(&key(Some(*label))).len();
        key(labels_of(selector).min_by_key(filed))
    }

    /// Calls `sit` for every entry that names or selects an object or a section of it, each once.
    fn attached(
        &self,
        object: &Object,
        section: Option<Section<'_>>,
        namespaces: &[Sym],
        around: NamespaceLabels<'_>,
        mut sit: impl FnMut(EntryId, Attachment),
    ) {
        let section = section.map(|section| section.symbol);
        let named = self.named.get(&(object.kind, object.scope, object.name, section));
        for (place, (entry, at)) in named.iter().enumerate() {
            // A policy that names an object twice counts once.
            if !named.iter().take(place).any(|(known, _)| known == entry) {
                sit(*entry, Attachment { via: Via::Named, position: 0, at: *at });
            }
        }
        let labels = || object.facts.as_slice().iter().filter_map(|tag| Some((tag.key, tag.value?)));
        let mut found: Vec<(EntryId, NodeRef)> = Vec::new();
        let anywhere = (self.reaching > 0).then_some(None);
        for namespace in namespaces.iter().copied().map(Some).chain(anywhere) {
            for label in labels().map(Some).chain([None]) {
                let key = (namespace, object.kind, label);
                for (entry, number) in self.selecting.get(&key) {
                    let selector =
                        self.entry(*entry).and_then(|own| own.attachments.selectors.get(usize::from(*number)));
                    let meant = selector
                        .filter(|own| (namespace.is_some() || may_reach(own, around)) && selects(own, object, section));
                    found.extend(meant.map(|own| (*entry, own.at)));
                }
            }
        }
        found.sort_unstable();
        found.dedup_by_key(|(entry, _)| *entry);
        for (entry, at) in found {
            if !named.iter().any(|(known, _)| *known == entry) {
                sit(entry, Attachment { via: Via::Selected, position: 0, at });
            }
        }
    }
}

/// The namespace under which a selector is filed: that of its policy, or none if it selects in others.
fn filed_under(namespace: Sym, selector: &TargetSelector) -> Option<Sym> {
    (selector.namespaces == TargetNamespaces::Own).then_some(namespace)
}

/// Whether a selector that is not bound to the namespace of its policy means objects of a namespace. What nobody knows is taken
/// for granted; whoever asks says so.
fn may_reach(selector: &TargetSelector, around: NamespaceLabels<'_>) -> bool {
    selector.namespaces.reach(around) != Some(false)
}

/// Whether a selector of a policy in a namespace means objects of another one, or of the same.
fn is_near(selector: &TargetSelector, own: Sym, namespaces: &[Sym], around: NamespaceLabels<'_>) -> bool {
    match selector.namespaces {
        TargetNamespaces::Own => namespaces.contains(&own),
        TargetNamespaces::All | TargetNamespaces::Labelled(_) => may_reach(selector, around),
    }
}

/// Whether a selector means an object or a section of it.
fn selects(selector: &TargetSelector, object: &Object, section: Option<Sym>) -> bool {
    selector.kind == object.kind && selector.section == section && selector.selects(&object.facts)
}

fn names(target: &TargetReference, object: &Object, section: Option<Sym>) -> bool {
    target_key(target) == (object.kind, object.scope, object.name, section)
}

fn target_key(target: &TargetReference) -> TargetKey {
    (target.kind, target.namespace, target.name, target.section)
}

/// Labels without which a selector selects nothing.
fn labels_of(selector: &TargetSelector) -> impl Iterator<Item = (Sym, Sym)> {
    selector.wants.iter().filter_map(|want| match want {
        LabelWant::Is(key, value) => Some((*key, *value)),
        _ => None,
    })
}

impl Family for Hierarchy {
    type Question<'q> = Question<'q>;
    type Measure = Attachment;
    type Answer = Effective;
    type Scratch = ();

    fn entries(&self) -> impl Iterator<Item = EntryId> {
        (0..self.entries.len()).map(EntryId::new).filter(|id| self.entry(*id).is_some())
    }

    fn find<W: Witness<Attachment>>(&self, question: &Question<'_>, (): &mut (), hits: &mut Vec<Hit<Attachment>>) {
        for (number, site) in (0..).zip(question.sites) {
            let place = Place(number);
            let sit = |entry, attachment| hits.push(Hit::new(entry, place, Fit::Yes(attachment)));
            match site.looks {
                EntrySource::Object { object, section, namespaces, around } => {
                    self.attached(object, section, namespaces, around, sit);
                }
                EntrySource::Listed(listed) => listed_at(listed, |_| true, sit),
                EntrySource::Own(_) => {}
            }
        }
    }

    fn check<W: Witness<Attachment>>(
        &self,
        id: EntryId,
        question: &Question<'_>,
        witness: &mut W,
        mut sit: impl FnMut(Place, Fit<Attachment>),
    ) {
        let Some(entry) = self.entry(id) else { return };
        let mut anywhere = false;
        for (number, site) in (0..).zip(question.sites) {
            let mut here = |attachment| {
                anywhere = true;
                sit(Place(number), Fit::Yes(attachment));
            };
            match site.looks {
                EntrySource::Object { object, section, namespaces, around } => {
                    let section = section.map(|section| section.symbol);
                    let named = entry.attachments.targets.iter().find(|target| names(target, object, section));
                    let mut selectors = entry.attachments.selectors.iter();
                    let is_meant = |own: &&TargetSelector| {
                        is_near(own, entry.namespace, namespaces, around) && selects(own, object, section)
                    };
                    if let Some(target) = named {
                        here(Attachment { via: Via::Named, position: 0, at: target.at });
                    } else if let Some(own) = selectors.find(is_meant) {
                        here(Attachment { via: Via::Selected, position: 0, at: own.at });
                    }
                }
                EntrySource::Listed(listed) => listed_at(listed, |known| known == id, |_, attachment| here(attachment)),
                EntrySource::Own(_) => {}
            }
        }
        if !anywhere {
            let (distance, reason) = not_attached(entry, question.sites);
            witness.miss(id, distance, || reason);
        }
    }

    fn own(&self, question: &Question<'_>, mut sit: impl FnMut(EntryId, Place, Fit<Attachment>)) {
        let mut next = self.entries.len();
        for (number, site) in (0..).zip(question.sites) {
            let EntrySource::Own(layers) = site.looks else { continue };
            for (position, layer) in (0..).zip(layers) {
                let attachment = Attachment { via: Via::Own, position, at: layer.at };
                sit(EntryId::new(next), Place(number), Fit::Yes(attachment));
                next += 1;
            }
        }
    }

    fn resolve<W: Witness<Attachment>>(
        &self,
        question: &Question<'_>,
        (): &mut (),
        hits: &mut Vec<Hit<Attachment>>,
        witness: &mut W,
    ) -> Effective {
        self.resolved(question, hits, witness)
    }
}

/// Entries that a place refers to; of one that it refers to twice, the first counts.
fn listed_at(listed: &[Listed], is_meant: impl Fn(EntryId) -> bool, mut sit: impl FnMut(EntryId, Attachment)) {
    for (place, Listed { entry, position, at }) in listed.iter().enumerate() {
        let twice = listed.iter().take(place).any(|known| known.entry == *entry);
        if is_meant(*entry) && !twice {
            sit(*entry, Attachment { via: Via::Listed, position: *position, at: *at });
        }
    }
}

/// Why an entry is attached to none of some places, and how far from it.
fn not_attached(entry: &Entry, sites: &[Site<'_>]) -> (u32, Reason) {
    let objects = || {
        sites.iter().filter_map(|site| match site.looks {
            EntrySource::Object { object, .. } => Some(object),
            EntrySource::Listed(_) | EntrySource::Own(_) => None,
        })
    };
    let attachments = &entry.attachments;
    // Everything about an object is right but where it is.
    let elsewhere = sites.iter().find_map(|site| {
        let EntrySource::Object { object, section, namespaces, around } = site.looks else { return None };
        let section = section.map(|section| section.symbol);
        let mut selectors = attachments.selectors.iter().filter(|own| selects(own, object, section));
        selectors.find(|own| !is_near(own, entry.namespace, namespaces, around))?;
        Some(object.scope)
    });
    if let Some(namespace) = elsewhere {
        return (1, Reason::new(Code::SkipNamespace, &[Param::Text(namespace)]));
    }
    let same = |target: &&TargetReference| {
        objects().any(|own| (own.kind, own.scope, own.name) == (target.kind, target.namespace, target.name))
    };
    if let Some(section) = attachments.targets.iter().find(same).and_then(|target| target.section) {
        return (1, Reason::new(Code::SkipOtherSection, &[Param::Text(section)]));
    }
    let failing = |selector: &TargetSelector| {
        let object = objects().find(|object| object.kind == selector.kind)?;
        let failed = selector.wants.iter().find(|want| !want.holds(&object.facts))?;
        let value = |key: &Sym| object.facts.get(*key).and_then(|tag| tag.value).map_or(Param::Nothing, Param::Text);
        Some(match failed {
            LabelWant::Is(key, want) => {
                Reason::new(Code::SkipLabel, &[Param::Text(*key), Param::Text(*want), value(key)])
            }
            LabelWant::In(key, _) | LabelWant::NotIn(key, _) | LabelWant::Exists(key) | LabelWant::Absent(key) => {
                Reason::new(Code::SkipLabel, &[Param::Text(*key), Param::Nothing, value(key)])
            }
            LabelWant::Anything | LabelWant::Impossible => Reason::new(Code::SkipDangling, &[]),
        })
    };
    if let Some(reason) = attachments.selectors.iter().find_map(failing) {
        return (2, reason);
    }
    match attachments.targets.first() {
        Some(target) => (3, Reason::new(Code::SkipOtherObject, &[Param::Text(target.kind), Param::Text(target.name)])),
        None => match attachments.selectors.first() {
            Some(selector) => (3, Reason::new(Code::SkipOtherTarget, &[Param::Text(selector.kind)])),
            None => (4, Reason::new(Code::SkipUnattached, &[])),
        },
    }
}
