//! Lists of values, each kept once: real objects use few different ones.

use std::hash::BuildHasher;

use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;
use upheld_model::{Sym, ValuesId};

use super::policy::Strategy;

/// The list without values.
pub const NO_VALUES: ValuesId = ValuesId::FIRST;

/// All lists. Equal lists have equal ids.
#[derive(Clone, Debug)]
pub(super) struct ValueLists {
    values: Vec<Sym>,
    /// Where each list ends in `values`.
    ends: Vec<u32>,
    /// The list with the same values in the order of symbols.
    sorted: Vec<ValuesId>,
    table: HashTable<ValuesId>,
}

impl Default for ValueLists {
    fn default() -> Self {
        let mut lists = Self { values: Vec::new(), ends: Vec::new(), sorted: Vec::new(), table: HashTable::new() };
        lists.intern(&[]);
        lists
    }
}

fn hash_of(values: &[Sym]) -> u64 {
    FxBuildHasher.hash_one(values)
}

impl ValueLists {
    /// The id of a list without duplicates, made if it is new.
    pub(super) fn intern(&mut self, values: &[Sym]) -> ValuesId {
        let id = self.plain(values);
        if self.sorted.len() <= id.index() {
            self.sorted.push(id);
            if !values.is_sorted() {
                let mut ordered = values.to_vec();
                ordered.sort_unstable();
                let ordered = self.intern(&ordered);
                if let Some(own) = self.sorted.get_mut(id.index()) {
                    *own = ordered;
                }
            }
        }
        id
    }

    fn plain(&mut self, values: &[Sym]) -> ValuesId {
        if let Some(known) = self.known(values) {
            return known;
        }
        let id = ValuesId::new(self.ends.len());
        self.values.extend_from_slice(values);
        self.ends.push(u32::try_from(self.values.len()).unwrap_or(u32::MAX));
        let Self { values: all, ends, table, .. } = self;
        table.insert_unique(hash_of(values), id, |id| hash_of(slice(all, ends, *id)));
        id
    }

    /// The id of a list, if somebody has it.
    pub(super) fn known(&self, values: &[Sym]) -> Option<ValuesId> {
        self.table.find(hash_of(values), |id| self.get(*id) == values).copied()
    }

    /// The values of a list, in its order.
    pub(super) fn get(&self, list: ValuesId) -> &[Sym] {
        slice(&self.values, &self.ends, list)
    }

    /// Whether values comply, in the order of the policy: both sides without any do, one side without any never does. Of single
    /// objects the second are those that the policy names.
    pub(super) fn hold(&self, strategy: Strategy, [first, second]: [ValuesId; 2]) -> bool {
        let among = || contains(self.set(second), self.set(first));
        match strategy {
            Strategy::Intersection | Strategy::Subset => self.agree(strategy, [first, second]),
            Strategy::Present => first != NO_VALUES,
            Strategy::Among => among(),
            Strategy::PresentAmong => first != NO_VALUES && among(),
        }
    }

    fn agree(&self, strategy: Strategy, [first, second]: [ValuesId; 2]) -> bool {
        if first == second {
            return true;
        }
        let (first, second) = (self.set(first), self.set(second));
        if first.is_empty() || second.is_empty() {
            return first.is_empty() && second.is_empty();
        }
        if strategy == Strategy::Intersection { share(first, second) } else { contains(first, second) }
    }

    /// The values of a list, in the order of symbols.
    fn set(&self, list: ValuesId) -> &[Sym] {
        self.get(self.sorted.get(list.index()).copied().unwrap_or(NO_VALUES))
    }
}

fn slice<'v>(values: &'v [Sym], ends: &[u32], list: ValuesId) -> &'v [Sym] {
    let end = |at: usize| ends.get(at).map_or(0, |end| *end as usize);
    let start = list.index().checked_sub(1).map_or(0, end);
    values.get(start..end(list.index())).unwrap_or(&[])
}

/// Whether two ordered lists have a value in common.
fn share(mut a: &[Sym], mut b: &[Sym]) -> bool {
    while let (Some((first, rest)), Some((other, others))) = (a.split_first(), b.split_first()) {
        match first.cmp(other) {
            std::cmp::Ordering::Equal => return true,
            std::cmp::Ordering::Less => a = rest,
            std::cmp::Ordering::Greater => b = others,
        }
    }
    false
}

/// Whether an ordered list has all values of another.
fn contains(mut all: &[Sym], some: &[Sym]) -> bool {
    for wanted in some {
        loop {
            let Some((first, rest)) = all.split_first() else { return false };
            all = rest;
            match first.cmp(wanted) {
                std::cmp::Ordering::Equal => break,
                std::cmp::Ordering::Less => {}
                std::cmp::Ordering::Greater => return false,
            }
        }
    }
    true
}
