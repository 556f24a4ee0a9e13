//! Lists of values, each kept once: real objects use few different ones.

use std::hash::BuildHasher;

use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;
use upheld_model::Sym;

/// Which list of values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct ListId(u32);

impl ListId {
    /// No values.
    pub(super) const NONE: Self = Self(0);
}

/// All lists. Equal lists have equal ids.
#[derive(Clone, Debug)]
pub(super) struct Lists {
    values: Vec<Sym>,
    /// Where each list ends in `values`.
    ends: Vec<u32>,
    /// The list with the same values in the order of symbols.
    sorted: Vec<ListId>,
    table: HashTable<u32>,
}

impl Default for Lists {
    fn default() -> Self {
        let mut lists = Self { values: Vec::new(), ends: Vec::new(), sorted: Vec::new(), table: HashTable::new() };
        lists.intern(&[]);
        lists
    }
}

fn hash_of(values: &[Sym]) -> u64 {
    FxBuildHasher.hash_one(values)
}

impl Lists {
    /// The id of a list without duplicates, made if it is new.
    pub(super) fn intern(&mut self, values: &[Sym]) -> ListId {
        let id = self.plain(values);
        if self.sorted.len() <= id.0 as usize {
            self.sorted.push(id);
            if !values.is_sorted() {
                let mut ordered = values.to_vec();
                ordered.sort_unstable();
                let ordered = self.intern(&ordered);
                if let Some(own) = self.sorted.get_mut(id.0 as usize) {
                    *own = ordered;
                }
            }
        }
        id
    }

    fn plain(&mut self, values: &[Sym]) -> ListId {
        let hash = hash_of(values);
        if let Some(known) = self.table.find(hash, |id| self.get(ListId(*id)) == values) {
            return ListId(*known);
        }
        let id = u32::try_from(self.ends.len()).unwrap_or(u32::MAX);
        self.values.extend_from_slice(values);
        self.ends.push(u32::try_from(self.values.len()).unwrap_or(u32::MAX));
        let Self { values, ends, table, .. } = self;
        table.insert_unique(hash, id, |id| hash_of(slice(values, ends, *id)));
        ListId(id)
    }

    /// The values of a list, in its order.
    pub(super) fn get(&self, list: ListId) -> &[Sym] {
        slice(&self.values, &self.ends, list.0)
    }

    /// The values of a list, in the order of symbols.
    pub(super) fn set(&self, list: ListId) -> &[Sym] {
        self.get(self.sorted.get(list.0 as usize).copied().unwrap_or_default())
    }
}

fn slice<'v>(values: &'v [Sym], ends: &[u32], list: u32) -> &'v [Sym] {
    let end = |at: usize| ends.get(at).map_or(0, |end| *end as usize);
    let start = (list as usize).checked_sub(1).map_or(0, end);
    values.get(start..end(list as usize)).unwrap_or(&[])
}
