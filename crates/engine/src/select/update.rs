//! How policies get into an index, and out again: what a change costs follows what it touches, apart from flat lists of numbers.

use std::cmp::Reverse;
use std::sync::Arc;

use upheld_model::{Policy, Selector, Side, Sym, Symbols, Timestamp};

use super::fit::specificity_of;
use super::index::{ListId, SideIndex, reading_order};
use super::interning::Unfiled;
use super::ordinals::{Laid, Ordinals};
use super::rank::{Column, TooManyBits};
use super::{Entries, Entry, Select};
use crate::buckets::FlatBuckets;
use crate::kind::{Grants, SelectKind};
use crate::snapshot::PolicyId;
use crate::work;

impl Select {
    /// Indexes the policies of one kind and scope.
    pub fn compile(
        kind: &SelectKind,
        policies: &[(PolicyId, &Policy)],
        symbols: &Symbols,
    ) -> Result<Self, TooManyBits> {
        Self::new(kind).change(&[], policies, symbols)
    }

    /// No policies.
    pub fn new(kind: &SelectKind) -> Self {
        // Pieces of one policy share even their name.
        let rank = if kind.split.is_some() { kind.rank.clone().with_identity() } else { kind.rank.clone() };
        let kind = SelectKind { rank, ..kind.clone() };
        Self {
            entries: Entries::default(),
            free: Vec::new(),
            policies: 0,
            sides: Side::BOTH.map(|side| SideIndex::new(kind.side(side).cloned())),
            ordinals: Ordinals::default(),
            pairs: FlatBuckets::default(),
            kind,
        }
    }

    /// Takes policies out, by their names, and puts others in. Symbols must be those of before, perhaps with more.
    pub fn change(
        mut self,
        gone: &[Sym],
        came: &[(PolicyId, &Policy)],
        symbols: &Symbols,
    ) -> Result<Self, TooManyBits> {
        let old: Vec<u32> = gone.iter().flat_map(|name| self.ids_of(*name, symbols)).copied().collect();
        let mut most_tags = 0_usize;
        let mut unfiled = [Unfiled::default(), Unfiled::default()];
        let mut new = Vec::with_capacity(came.len());
        for (id, policy) in came {
            work::step();
            self.add(*id, policy, symbols, &mut unfiled, &mut most_tags, &mut new);
        }
        // What both have stays.
        let mut touched: Vec<(ListId, ListId)> = Vec::new();
        for entry in old.iter().filter_map(|id| self.entries.get_mut(*id as usize)?.take()) {
            let [source, destination] = entry.lists;
            touched.push((source, destination));
            self.sides.iter_mut().zip(entry.lists).for_each(|(side, list)| side.release(list));
        }
        self.policies = (self.policies + came.len()).saturating_sub(gone.len());
        let Self { kind, entries, sides, ordinals, .. } = &mut self;
        let laid = ordinals.change([&old, &new], entries, most_tags as u64, &kind.rank, symbols)?;
        for (side, unfiled) in sides.iter_mut().zip(unfiled) {
            side.file(unfiled, ordinals.layout());
            if laid == Laid::Anew {
                side.pack(ordinals.layout());
            }
        }
        self.pair(&old, &new, touched);
        self.free.extend(old);
        Ok(self)
    }

    /// How many places entries, selectors and lists take, those that are free as well.
    #[cfg(test)]
    pub(super) fn room(&self) -> usize {
        self.entries.len() + self.sides.iter().map(|side| side.selectors() + side.lists()).sum::<usize>()
    }

    /// The entries of a policy.
    pub(super) fn ids_of(&self, name: Sym, symbols: &Symbols) -> &[u32] {
        let sorted = self.ordinals.by_identity();
        let name_of = |id: &u32| self.entries.get(*id as usize).and_then(Option::as_deref).map(|entry| entry.name);
        let text = |id: &u32| name_of(id).map(|name| symbols.text(name));
        let start = sorted.partition_point(|id| text(id) < Some(symbols.text(name)));
        let rest = sorted.get(start..).unwrap_or_default();
        rest.get(..rest.iter().take_while(|id| name_of(id) == Some(name)).count()).unwrap_or_default()
    }

    /// Adds the entries of a policy; they are ranked, found and paired later.
    fn add(
        &mut self,
        id: PolicyId,
        policy: &Policy,
        symbols: &Symbols,
        unfiled: &mut [Unfiled; 2],
        most_tags: &mut usize,
        new: &mut Vec<u32>,
    ) {
        let Self { kind, entries, free, sides, .. } = self;
        let pieces = match kind.split {
            Some(field) => (0..policy.selectors(field).len()).map(Some).collect(),
            None => vec![None],
        };
        for split in pieces {
            let selectors_of = |field: Sym| match split {
                Some(piece) if kind.split == Some(field) => {
                    policy.selectors(field).get(piece..=piece).unwrap_or_default()
                }
                _ => policy.selectors(field),
            };
            let [source, destination] = sides;
            let [own, other] = &mut *unfiled;
            let lists = [(source, own), (destination, other)].map(|(side, unfiled)| {
                let written = side.field().map_or(&[][..], selectors_of);
                *most_tags = written.iter().map(|selector| selector.wants().len()).fold(*most_tags, usize::max);
                side.intern(written, symbols, unfiled)
            });
            let fixed = kind.rank.rungs().iter().map(|rung| fixed_column(rung.column, policy, &selectors_of));
            let grants = kind.grants.and_then(Grants::field).map_or(&[][..], selectors_of);
            let entry = Entry {
                policy: id,
                split,
                name: policy.name,
                created: policy.created,
                lists,
                grants: grants.iter().map(|selector| reading_order(selector, symbols)).collect(),
                fixed: fixed.collect(),
            };
            let place = free.pop().unwrap_or(u32::try_from(entries.len()).unwrap_or(u32::MAX));
            entries.put(place as usize, Some(Arc::new(entry)), || None);
            new.push(place);
        }
    }

    /// Brings the buckets of pairs up to date: those that entries left, and those that entries came into.
    fn pair(&mut self, old: &[u32], new: &[u32], left: Vec<(ListId, ListId)>) {
        let Self { entries, ordinals, pairs, .. } = self;
        let pair = |id: &u32| {
            let [source, destination] = entries.get(*id as usize)?.as_deref()?.lists;
            Some(((source, destination), *id))
        };
        let mut came: Vec<((ListId, ListId), u32)> = new.iter().filter_map(pair).collect();
        came.sort_unstable();
        let mut touched: Vec<(ListId, ListId)> = left.into_iter().chain(came.iter().map(|(pair, _)| *pair)).collect();
        touched.sort_unstable();
        touched.dedup();
        let mut old = old.to_vec();
        old.sort_unstable();
        for pair in touched {
            let first = came.partition_point(|(known, _)| *known < pair);
            let own = came.iter().skip(first).take_while(|(known, _)| *known == pair).map(|(_, id)| *id);
            pairs.change(pair, |bucket| {
                bucket.retain(|id| old.binary_search(id).is_err());
                bucket.extend(own);
                bucket.sort_by_key(|id| Reverse(ordinals.key(*id as usize)));
            });
        }
    }
}

/// What a rung of the entry alone reads; nothing where that is a place in an order.
fn fixed_column<'p>(column: Column, policy: &Policy, selectors_of: &impl Fn(Sym) -> &'p [Selector]) -> i64 {
    let first =
        |field: Sym| selectors_of(field).first().map(|selector| specificity_of(selector.wants())).unwrap_or_default();
    match column {
        Column::Tags | Column::ExactTags | Column::WildTags | Column::Name | Column::Identity => 0,
        Column::TagsIn(field) => i64::from(first(field).tags()),
        Column::ExactTagsIn(field) => i64::from(first(field).exact),
        Column::Created => policy.created.map_or(i64::MIN, |Timestamp(nanoseconds)| nanoseconds),
        Column::Number(field) => policy.number(field).unwrap_or(i64::MIN),
    }
}
