//! How policies get into an index, and out again.
//!
//! Slots and ids of entries stay what they are: a policy that changes keeps its slot, and what it says now gets ids of its
//! own. Values that were computed for others stay valid. What was said before is forgotten and its ids are not used again.

use std::sync::Arc;

use upheld_model::layers::{Layers, Mark, Reach, Statement};
use upheld_model::{Policy, Sym, Symbols};

use super::audience::Audiences;
use super::index::{Attached, Column, Entry, Merge, Reached, Standing};
use super::targets::Targets;
use crate::kind::{FacetChoice, MergeKind};
use crate::snapshot::PolicyId;

impl Merge {
    /// Indexes policies, each with what references mean.
    pub fn compile(kind: &MergeKind, group: &[(PolicyId, &Policy)], symbols: &Symbols, targets: &Targets<'_>) -> Self {
        let kind = Arc::new(kind.clone());
        let mut merge = Self {
            kind,
            policies: Vec::with_capacity(group.len()),
            audiences: Audiences::default(),
            entries: Vec::new(),
        };
        let mut audiences = Vec::with_capacity(group.len());
        for (id, policy) in group {
            let Some(layers) = policy.layers() else { continue };
            let slot = merge.policies.len();
            let attached = merge.attach(slot, *id, policy, layers, targets);
            merge.policies.push(Some(attached));
            audiences.push(layers.audiences.as_slice().into());
        }
        merge.audiences = Audiences::new(audiences);
        merge.number_names(symbols);
        merge
    }

    /// The same index with a policy in it: in the place of the one with its name, or in the next slot. The policy is told
    /// by its name, so the id may be another one. Symbols must be those of before, perhaps with more; what references mean
    /// is looked up for this policy alone.
    #[must_use]
    pub fn put(&self, id: PolicyId, policy: &Policy, symbols: &Symbols, targets: &Targets<'_>) -> Self {
        let Some(layers) = policy.layers() else { return self.clone() };
        let slot = self.slot_of(policy.name);
        let mut merge = match slot {
            Some(slot) => self.without_entries(slot),
            None => self.clone(),
        };
        let slot = slot.map_or(merge.policies.len(), |slot| slot as usize);
        let attached = merge.attach(slot, id, policy, layers, targets);
        match merge.policies.get_mut(slot) {
            Some(old) => *old = Some(attached),
            None => merge.policies.push(Some(attached)),
        }
        merge.audiences = merge.audiences.with(slot, layers.audiences.as_slice().into());
        merge.number_names(symbols);
        merge
    }

    /// The same index without the policy of a slot. The slot stays empty; a policy of that name gets a new one.
    #[must_use]
    pub fn remove(&self, slot: u32) -> Self {
        let mut merge = self.without_entries(slot);
        if let Some(policy) = merge.policies.get_mut(slot as usize) {
            *policy = None;
            merge.audiences = merge.audiences.with(slot as usize, Arc::new([]));
        }
        merge
    }

    fn without_entries(&self, slot: u32) -> Self {
        let mut merge = self.clone();
        let gone = self.policy(slot).map_or(0..0, |policy| policy.entries.clone());
        for entry in merge.entries.get_mut(gone).into_iter().flatten() {
            *entry = None;
        }
        merge
    }

    fn attach(
        &mut self,
        slot: usize,
        id: PolicyId,
        policy: &Policy,
        layers: &Layers,
        targets: &Targets<'_>,
    ) -> Attached {
        let kind = self.kind.clone();
        let start = self.entries.len();
        for statement in &layers.entries {
            let Some(choice) = kind.facet(statement.facet) else { continue };
            let (rank, words) = ranked(choice, statement, policy, layers);
            self.entries.push(Some(Arc::new(Entry {
                policy: id,
                slot: u32::try_from(slot).unwrap_or(u32::MAX),
                facet: statement.facet,
                item: statement.item,
                reach: reached(&statement.reach, policy.scope, targets),
                config: statement.config.clone(),
                at: statement.at,
                rank,
                words,
            })));
        }
        let rank = kind.rank.rungs().iter().map(|rung| match rung.column {
            Column::Mark(column) => number_of(find(&layers.marks, column)),
            // Names are numbered when all of them are known.
            Column::Title | Column::Item | Column::Identity => 0,
        });
        Attached {
            policy: id,
            name: policy.name,
            title: policy.title,
            entries: start..self.entries.len(),
            dangling: layers.dangling.as_slice().into(),
            rank: rank.collect(),
            standing: Standing::default(),
        }
    }

    /// Numbers titles and names in the order of their texts.
    fn number_names(&mut self, symbols: &Symbols) {
        let sorted = |read: fn(&Attached) -> Sym| {
            let mut texts: Vec<&str> = self.policies().map(|(_, policy)| symbols.text(read(policy))).collect();
            texts.sort_unstable();
            texts.dedup();
            texts
        };
        let (titles, names) = (sorted(|policy| policy.title), sorted(|policy| policy.name));
        let place = |texts: &[&str], name: Sym| {
            let place = texts.binary_search(&symbols.text(name)).unwrap_or_default();
            i64::try_from(place).unwrap_or(i64::MAX)
        };
        for policy in self.policies.iter_mut().flatten() {
            policy.standing = Standing { title: place(&titles, policy.title), identity: place(&names, policy.name) };
        }
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

fn reached(reach: &Reach, scope: Sym, targets: &Targets<'_>) -> Reached {
    match reach {
        Reach::Everything => Reached::Everything,
        Reach::Objects(reference) => {
            let mut found = targets.resolve(reference, scope);
            found.sort_unstable();
            Reached::Objects(reference.clone(), found.into())
        }
        Reach::Tags(tags) => Reached::Tags(tags.as_slice().into()),
        Reach::Callers(patterns) => Reached::Callers(patterns.as_slice().into()),
    }
}
