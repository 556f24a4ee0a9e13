//! All policies of one kind and scope, ready to be asked. How they get in, and out again, is in [`super::update`].

use std::cmp::Ordering;
use std::sync::Arc;

use upheld_model::layers::{Dangling, Pattern, Reference};
use upheld_model::{Code, Config, Facet, NodeRef, Object, Pages, Shards, Sym};

use super::audience::{AdmitScratch, Audiences, Subject};
use super::targets::{Target, is_meant};
use super::{Strategy, fold};
use crate::ask::EntryId;
use crate::buckets::Buckets;
use crate::kind::MergeKind;
use crate::ladder::{Best, Ladder};
use crate::order::Order;
use crate::snapshot::PolicyId;

/// What layers are ranked by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Column {
    /// Something that the dialect reads of a policy or an entry.
    Mark(Sym),
    /// The name that people gave the policy.
    Title,
    /// The place of an entry in its list.
    Item,
    /// What is left: the policy's own name, and the entry's place.
    Identity,
}

impl crate::ladder::Column for Column {
    const IDENTITY: Self = Self::Identity;

    fn code(self, _: Best) -> Code {
        match self {
            Self::Mark(_) => Code::MergeRung,
            Self::Title => Code::MergeNameOrder,
            Self::Item => Code::MergeLaterItem,
            Self::Identity => Code::MergeIdentity,
        }
    }

    fn arbitrary(self) -> bool {
        matches!(self, Self::Title | Self::Identity)
    }
}

/// One statement of one policy.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The policy.
    pub policy: PolicyId,
    /// The place of the policy in the index.
    pub slot: u32,
    /// Which questions it answers.
    pub facet: Facet,
    /// Its number in its list.
    pub item: u32,
    /// What it is about.
    pub reach: ResolvedReach,
    /// The configuration.
    pub config: Arc<Config>,
    /// Where it was written.
    pub at: NodeRef,
    /// What the ladder of its facet reads of it, higher is better; what it reads of the policy's names is kept there.
    pub(super) rank: Box<[i64]>,
    /// The words for what the ladder reads.
    pub(super) words: Box<[Option<Sym>]>,
}

/// What an entry is about, resolved.
#[derive(Clone, Debug)]
pub enum ResolvedReach {
    /// Everything that its facet has.
    Everything,
    /// These objects and sections, by identity; none for a reference that means nothing.
    Objects(Reference, Box<[Target]>),
    /// Those with these tags.
    Tags(Box<[(Sym, Sym)]>),
    /// Callers whose facts look like this.
    Callers(Box<[Pattern]>),
}

/// A policy of the index.
#[derive(Clone, Debug)]
pub struct Attached {
    /// Which one.
    pub policy: PolicyId,
    /// Its own name, by which it is known again.
    pub name: Sym,
    /// How people call it.
    pub title: Sym,
    /// Its entries, in the order of the document.
    pub entries: Arc<[EntryId]>,
    /// Its references that mean nothing.
    pub dangling: Arc<[Dangling]>,
    /// What the ladder of the kind reads of it, higher is better.
    pub(super) rank: Arc<[i64]>,
}

/// The policies of one kind in one scope. A clone shares what it does not change.
#[derive(Clone, Debug)]
pub struct Merge {
    pub(super) kind: Arc<MergeKind>,
    /// By slot; nothing where a policy was removed.
    pub(super) policies: Pages<Option<Attached>>,
    pub(super) by_name: Shards<Sym, u32>,
    pub(super) audiences: Audiences,
    /// By id; nothing where the policy was removed or says something else by now.
    pub(super) entries: Pages<Option<Arc<Entry>>>,
    /// Entries by the type that they refer to and the first fact that they name of it.
    pub(super) referring: Buckets<(Sym, Option<(Sym, Sym)>), EntryId>,
    /// The places of names and titles in the order of all, by slot. They move when a policy comes in, so entries do not have them.
    pub(super) names: Order,
    /// Those with references that mean nothing, by name.
    pub(super) dangling: Order,
    pub(super) titles: Order,
    /// Slots and ids that nobody has.
    pub(super) free_slots: Vec<u32>,
    pub(super) free_entries: Vec<EntryId>,
}

impl Merge {
    /// The choices of its kind.
    pub fn kind(&self) -> &MergeKind {
        &self.kind
    }

    /// Its policies with their slots, by name.
    pub fn policies(&self) -> impl Iterator<Item = (u32, &Attached)> {
        self.names.sorted().iter().filter_map(|slot| Some((*slot, self.policy(*slot)?)))
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.names.sorted().len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.names.sorted().is_empty()
    }

    /// Those with references that mean nothing, by name.
    pub fn dangling(&self) -> impl Iterator<Item = &Attached> {
        self.dangling.sorted().iter().filter_map(|slot| self.policy(*slot))
    }

    /// The policy of a slot, unless it was removed.
    pub fn policy(&self, slot: u32) -> Option<&Attached> {
        self.policies.get(slot as usize)?.as_ref()
    }

    /// The slot of the policy with a name.
    pub fn slot_of(&self, name: Sym) -> Option<u32> {
        self.by_name.get(&name).copied()
    }

    /// Whom its policies are attached to.
    pub fn audiences(&self) -> &Audiences {
        &self.audiences
    }

    /// One entry.
    pub fn entry(&self, id: EntryId) -> Option<&Entry> {
        self.entries.get(id.index())?.as_deref()
    }

    /// The entries whose references mean an object of this scope, or a section that it may have.
    pub fn referring_to(&self, object: &Object) -> impl Iterator<Item = EntryId> {
        let facts = object.facts.as_slice().iter().filter_map(|tag| Some(Some((tag.key, tag.value?))));
        let filed = facts.chain([None]).flat_map(|fact| self.referring.get(&(object.kind, fact)));
        filed.copied().filter(|id| {
            let reach = self.entry(*id).map(|entry| &entry.reach);
            matches!(reach, Some(ResolvedReach::Objects(reference, _)) if is_meant(reference, object))
        })
    }

    /// The entries of a policy about a facet, in the order of the document.
    pub fn entries_of(&self, slot: u32, facet: Facet) -> impl Iterator<Item = (EntryId, &Entry)> {
        let entries = self.policy(slot).map_or(&[][..], |policy| &policy.entries).iter();
        entries.filter_map(move |id| self.entry(*id).filter(|entry| entry.facet == facet).map(|entry| (*id, entry)))
    }

    /// The entries about a facet of all policies that are attached to a subject, in no order that means something.
    pub fn entries_for(&self, subject: Subject<'_>, facet: Facet, scratch: &mut AdmitScratch) -> Vec<EntryId> {
        let admitted = self.audiences.admit(subject, scratch);
        admitted.iter().flat_map(|admitted| self.entries_of(admitted.slot, facet).map(|(id, _)| id)).collect()
    }

    /// Orders policies, the best first.
    pub fn rank_policies(&self, slots: &mut [u32]) {
        slots.sort_by(|a, b| self.compare_policies(*b, *a));
    }

    fn compare_policies(&self, a: u32, b: u32) -> Ordering {
        let (Some(mine), Some(theirs)) = (self.policy(a), self.policy(b)) else {
            return self.policy(a).is_some().cmp(&self.policy(b).is_some());
        };
        let rungs = self.kind.rank.rungs().iter().enumerate();
        let compared = rungs.map(|(place, rung)| match rung.column {
            Column::Title => self.titles.number(b).cmp(&self.titles.number(a)),
            Column::Identity => self.names.number(b).cmp(&self.names.number(a)),
            Column::Mark(_) | Column::Item => mine.rank.get(place).cmp(&theirs.rank.get(place)),
        });
        let differs = compared.into_iter().find(|order| order.is_ne());
        differs.unwrap_or_else(|| self.names.number(b).cmp(&self.names.number(a)))
    }

    /// Orders entries of one facet, the best first.
    pub fn rank(&self, entries: &mut [EntryId]) {
        entries.sort_by(|a, b| self.compare(*b, *a));
    }

    /// Greater if the first entry is the better one. Below the ladder the name counts, then the place in the document; the
    /// order of arrival never does.
    pub fn compare(&self, a: EntryId, b: EntryId) -> Ordering {
        let (Some(mine), Some(theirs)) = (self.entry(a), self.entry(b)) else {
            return self.entry(a).is_some().cmp(&self.entry(b).is_some());
        };
        let rungs = self.ladder(mine.facet).map_or(&[][..], Ladder::rungs).iter().enumerate();
        let columns = rungs.map(|(place, rung)| (place, rung.column)).chain([(usize::MAX, Column::Identity)]);
        columns
            .map(|(place, column)| self.number(mine, place, column).cmp(&self.number(theirs, place, column)))
            .find(|order| order.is_ne())
            .unwrap_or_else(|| (mine.item, a).cmp(&(theirs.item, b)))
    }

    /// What a rung reads of an entry.
    fn number(&self, entry: &Entry, place: usize, column: Column) -> i64 {
        match column {
            Column::Title => -i64::from(self.titles.number(entry.slot)),
            Column::Identity => -i64::from(self.names.number(entry.slot)),
            Column::Mark(_) | Column::Item => entry.rank.get(place).copied().unwrap_or_default(),
        }
    }

    /// The rung on which two entries differ: its number and column, and what each has there.
    pub fn separate(&self, a: EntryId, b: EntryId) -> Option<Separation> {
        let (mine, theirs) = (self.entry(a)?, self.entry(b)?);
        let mut rungs = self.ladder(mine.facet)?.rungs().iter().enumerate();
        let read = |entry: &Entry, place: usize, column: Column| {
            (self.number(entry, place, column), entry.words.get(place).copied().flatten())
        };
        rungs.find_map(|(place, rung)| {
            let (mine, theirs) = (read(mine, place, rung.column), read(theirs, place, rung.column));
            (mine.0 != theirs.0).then_some(Separation { rung: place, column: rung.column, mine, theirs })
        })
    }

    /// How many pages and shards two indexes do not share: what a change has copied.
    pub fn unshared(&self, other: &Self) -> usize {
        self.policies.unshared(&other.policies)
            + self.by_name.unshared(&other.by_name)
            + self.audiences.unshared(&other.audiences)
            + self.entries.unshared(&other.entries)
            + self.referring.unshared(&other.referring)
    }

    /// How the entries of a facet are ranked.
    pub fn ladder(&self, facet: Facet) -> Option<&Ladder<Column>> {
        self.kind.facet(facet).map(|choice| &choice.rank)
    }

    /// What some layers come to, the best first; several where the kind keeps values of a field apart. The numbers in the
    /// result are places in the list of entries.
    pub fn fold(&self, best_first: &[EntryId]) -> Vec<fold::Merged> {
        let layers: Vec<fold::Layer> = (best_first.iter().enumerate())
            .filter_map(|(by, id)| Some(fold::Layer { by, config: self.entry(*id)?.config.clone() }))
            .collect();
        fold_layers(&self.kind.strategy, self.kind.group.as_deref(), &layers)
    }
}

/// What layers come to, for each group apart.
pub fn fold_layers(strategy: &Strategy, group: Option<&str>, layers: &[fold::Layer]) -> Vec<fold::Merged> {
    match group {
        Some(field) => {
            let groups = super::group::by_value(field, layers);
            groups.iter().filter_map(|layers| fold::fold(strategy, layers)).collect()
        }
        None => fold::fold(strategy, layers).into_iter().collect(),
    }
}

/// Where two entries differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Separation {
    /// The rung, from zero.
    pub rung: usize,
    /// What it reads.
    pub column: Column,
    /// What the first has there: number and word.
    pub mine: (i64, Option<Sym>),
    /// What the second has there.
    pub theirs: (i64, Option<Sym>),
}
