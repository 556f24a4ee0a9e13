//! How policies get into an index, and out again.
//!
//! Slots and ids of entries stay what they are: a policy that changes keeps its slot, and what others say keeps its ids. So
//! values that were computed for others stay valid. What a change costs follows what it touches, apart from flat lists of
//! numbers.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use upheld_model::layers::{Audience, Layers, Mark, Reach, Statement};
use upheld_model::{Object, Pages, Policy, Shards, Sym, Symbols};

use super::audience::Audiences;
use super::index::{Attached, Column, Entry, Merge, ResolvedReach};
use super::targets::Targets;
use crate::ask::EntryId;
use crate::buckets::Buckets;
use crate::kind::{FacetChoice, MergeKind};
use crate::order::Order;
use crate::snapshot::PolicyId;
use crate::work;

impl Merge {
    /// Indexes policies, each with what references mean.
    pub fn compile(kind: &MergeKind, group: &[(PolicyId, &Policy)], symbols: &Symbols, targets: &Targets) -> Self {
        Self::new(kind).change(&[], group, symbols, targets)
    }

    /// No policies.
    pub fn new(kind: &MergeKind) -> Self {
        Self {
            kind: Arc::new(kind.clone()),
            policies: Pages::default(),
            by_name: Shards::default(),
            audiences: Audiences::default(),
            entries: Pages::default(),
            referring: Buckets::default(),
            names: Order::default(),
            dangling: Order::default(),
            titles: Order::default(),
            free_slots: Vec::new(),
            free_entries: Vec::new(),
        }
    }

    /// Takes policies out, by their names, and puts others in, each in the place of the one with its name. Symbols must be those
    /// of before, perhaps with more; what references mean is looked up for those that come.
    #[must_use]
    pub fn change(mut self, gone: &[Sym], came: &[(PolicyId, &Policy)], symbols: &Symbols, targets: &Targets) -> Self {
        let came: Vec<(PolicyId, &Policy, &Layers)> =
            came.iter().filter_map(|(id, policy)| Some((*id, *policy, policy.layers()?))).collect();
        let replaced = came.iter().map(|(_, policy, _)| policy.name);
        let mut old: Vec<u32> = gone.iter().copied().chain(replaced).filter_map(|name| self.slot_of(name)).collect();
        old.sort_unstable();
        old.dedup();
        let before: FxHashMap<Sym, u32> = old.iter().filter_map(|slot| Some((self.detach(*slot)?, *slot))).collect();
        let mut new: Vec<(u32, &[Audience])> = Vec::with_capacity(came.len());
        let mut referring = Vec::new();
        for (id, policy, layers) in came {
            work::step();
            let known = before.get(&policy.name).copied();
            let next = u32::try_from(self.policies.len()).unwrap_or(u32::MAX);
            let slot = known.or_else(|| self.free_slots.pop()).unwrap_or(next);
            let attached = self.attach(slot, id, policy, layers, targets);
            referring.extend(attached.entries.iter().filter_map(|entry| Some((self.refers(*entry)?, *entry))));
            self.policies.put(slot as usize, Some(attached), || None);
            self.by_name.insert(policy.name, slot);
            new.push((slot, &layers.audiences));
        }
        self.referring.add_all(referring);
        self.audiences.change(&old, &new);
        let free: Vec<u32> = old.iter().copied().filter(|slot| self.policy(*slot).is_none()).collect();
        self.free_slots.extend(free);
        let slots: Vec<u32> = new.iter().map(|(slot, _)| *slot).collect();
        self.number_names(&old, &slots, symbols);
        self
    }

    /// Looks up once more what references mean that could mean one of these objects, which came or went or changed.
    #[must_use]
    pub fn with_objects(mut self, objects: &[&Object], targets: &Targets) -> Self {
        let referring =
            |object: &'_ &Object| self.referring_to(object).map(|id| (id, object.scope)).collect::<Vec<_>>();
        let mut concerned: Vec<(EntryId, Sym)> = objects.iter().flat_map(referring).collect();
        concerned.sort_unstable();
        concerned.dedup();
        for (id, scope) in concerned {
            let Some(Some(entry)) = self.entries.get(id.index()) else { continue };
            let ResolvedReach::Objects(reference, known) = &entry.reach else { continue };
            let found = targets.resolve(reference, scope);
            if **known != *found {
                let reach = ResolvedReach::Objects(reference.clone(), found.into());
                let entry = Entry { reach, ..Entry::clone(entry) };
                self.entries.put(id.index(), Some(Arc::new(entry)), || None);
            }
        }
        self
    }

    /// Takes out a policy with its entries; its name.
    fn detach(&mut self, slot: u32) -> Option<Sym> {
        let Attached { name, entries, .. } = self.policies.get_mut(slot as usize)?.take()?;
        for id in entries.iter() {
            if let Some(key) = self.refers(*id) {
                self.referring.take(&key, |known| known == id);
            }
            if let Some(entry) = self.entries.get_mut(id.index()) {
                *entry = None;
            }
        }
        self.free_entries.extend(entries.iter());
        self.by_name.remove(&name);
        Some(name)
    }

    fn attach(&mut self, slot: u32, id: PolicyId, policy: &Policy, layers: &Layers, targets: &Targets) -> Attached {
        let kind = Arc::clone(&self.kind);
        let spoken = |statement: &Statement| kind.facet(statement.facet).is_some();
        let ids = self.free_ids(layers.entries.iter().filter(|statement| spoken(statement)).count());
        let mut free = ids.iter();
        for statement in &layers.entries {
            let Some(choice) = kind.facet(statement.facet) else { continue };
            let Some(entry) = free.next() else { continue };
            let (rank, words) = ranked(choice, statement, policy, layers);
            let reach = reached(&statement.reach, policy.scope, targets);
            let new = Entry {
                policy: id,
                slot,
                facet: statement.facet,
                item: statement.item,
                reach,
                config: statement.config.clone(),
                at: statement.at,
                rank,
                words,
            };
            self.entries.put(entry.index(), Some(Arc::new(new)), || None);
        }
        let rank = kind.rank.rungs().iter().map(|rung| match rung.column {
            Column::Mark(column) => number_of(find(&layers.marks, column)),
            // Places in orders are kept there.
            Column::Title | Column::Item | Column::Identity => 0,
        });
        Attached {
            policy: id,
            name: policy.name,
            title: policy.title,
            entries: ids.into(),
            dangling: layers.dangling.as_slice().into(),
            rank: rank.collect(),
        }
    }

    /// What the reference of an entry is filed under.
    fn refers(&self, id: EntryId) -> Option<(Sym, Option<(Sym, Sym)>)> {
        match &self.entry(id)?.reach {
            ResolvedReach::Objects(reference, _) => Some((reference.kind, reference.facts.first().copied())),
            ResolvedReach::Everything | ResolvedReach::Tags(_) | ResolvedReach::Callers(_) => None,
        }
    }

    /// Ids for new entries, in their order: below the ladder, the later statement of a policy ranks better.
    fn free_ids(&mut self, count: usize) -> Vec<EntryId> {
        let start = self.free_entries.len().saturating_sub(count);
        let mut ids = self.free_entries.split_off(start);
        let next = self.entries.len();
        ids.extend((next..).take(count - ids.len()).map(EntryId::new));
        ids.sort_unstable();
        ids
    }

    /// Numbers titles and names in the order of their texts.
    fn number_names(&mut self, old: &[u32], new: &[u32], symbols: &Symbols) {
        let Self { policies, names, titles, dangling, .. } = self;
        let text = |slot: u32, read: fn(&Attached) -> Sym| {
            let policy = policies.get(slot as usize).and_then(Option::as_ref);
            policy.map(|policy| symbols.text(read(policy)))
        };
        let by = |read: fn(&Attached) -> Sym| move |a: u32, b: u32| text(a, read).cmp(&text(b, read));
        names.change(old, new, by(|policy| policy.name));
        let dangles = |slot: &u32| {
            policies.get(*slot as usize).and_then(Option::as_ref).is_some_and(|one| !one.dangling.is_empty())
        };
        let dangling_now: Vec<u32> = new.iter().copied().filter(dangles).collect();
        dangling.change(old, &dangling_now, by(|policy| policy.name));
        titles.change(old, new, by(|policy| policy.title));
    }
}

/// What the ladder of a facet reads of a statement: numbers and their words.
fn ranked(
    choice: &FacetChoice,
    statement: &Statement,
    policy: &Policy,
    layers: &Layers,
) -> (Box<[i64]>, Box<[Option<Sym>]>) {
    let read = |column: Column| match column {
        Column::Mark(column) => {
            let mark = find(&statement.marks, column).or_else(|| find(&layers.marks, column));
            (number_of(mark), mark.map(|mark| mark.word))
        }
        Column::Title => (0, Some(policy.title)),
        Column::Item => (i64::from(statement.item), None),
        Column::Identity => (0, Some(policy.name)),
    };
    let (rank, words): (Vec<i64>, Vec<Option<Sym>>) = choice.rank.rungs().iter().map(|rung| read(rung.column)).unzip();
    (rank.into(), words.into())
}

fn find(marks: &[Mark], column: Sym) -> Option<&Mark> {
    marks.iter().find(|mark| mark.column == column)
}

fn number_of(mark: Option<&Mark>) -> i64 {
    mark.map_or(0, |mark| mark.number)
}

fn reached(reach: &Reach, scope: Sym, targets: &Targets) -> ResolvedReach {
    match reach {
        Reach::Everything => ResolvedReach::Everything,
        Reach::Objects(reference) => {
            ResolvedReach::Objects(reference.clone(), targets.resolve(reference, scope).into())
        }
        Reach::Tags(tags) => ResolvedReach::Tags(tags.as_slice().into()),
        Reach::Callers(patterns) => ResolvedReach::Callers(patterns.as_slice().into()),
    }
}
