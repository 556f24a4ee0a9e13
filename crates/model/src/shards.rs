//! A map that many snapshots share: a clone copies no entries, and a change copies one shard of them.

use std::borrow::Borrow;
use std::fmt;
use std::hash::{BuildHasher, Hash};
use std::sync::Arc;

use hashbrown::hash_table::Entry;
use hashbrown::{DefaultHashBuilder, HashTable};
use rustc_hash::FxBuildHasher;

/// A map in shards of about `SIZE` entries, chosen by the hash of the key. Shards are shared between clones, so a clone costs a
/// pointer for each of them. Entries come in no order, so who lists them sorts
/// them by their keys. Keys that strangers choose want a hasher with a
/// key that these do not know: see [`TextShards`].
#[derive(Clone)]
pub struct Shards<K, V, const SIZE: usize = 64, S = FxBuildHasher> {
    /// None, or as many as a power of two.
    tables: Vec<Arc<HashTable<(K, V)>>>,
    len: usize,
    hasher: S,
}

/// A map whose keys strangers choose.
pub type TextShards<K, V> = Shards<K, V, 64, DefaultHashBuilder>;

impl<K, V, const SIZE: usize, S: Default> Default for Shards<K, V, SIZE, S> {
    fn default() -> Self {
        Self { tables: Vec::new(), len: 0, hasher: S::default() }
    }
}

impl<K, V, const SIZE: usize, S> fmt::Debug for Shards<K, V, SIZE, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Entries come in no order.
        f.debug_struct("Shards").field("len", &self.len).finish_non_exhaustive()
    }
}

impl<K, V, const SIZE: usize, S> Shards<K, V, SIZE, S> {
    /// How many entries there are.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// How many shards two maps do not share: what a change has copied.
    pub fn unshared(&self, other: &Self) -> usize {
        let shared = self.tables.iter().zip(&other.tables).filter(|(own, other)| Arc::ptr_eq(own, other)).count();
        self.tables.len() - shared
    }
}

impl<K: Eq + Hash, V, const SIZE: usize, S: BuildHasher> Shards<K, V, SIZE, S> {
    /// The value of a key.
    pub fn get<Q: Eq + Hash + ?Sized>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        let hash = self.hasher.hash_one(key);
        let shard = self.tables.get(place(hash, self.tables.len()))?;
        shard.find(hash, |(known, _)| known.borrow() == key).map(|(_, value)| value)
    }

    /// Whether another map has the same entries: what the two share is not looked at.
    pub fn is_same(&self, other: &Self) -> bool
    where
        V: PartialEq,
    {
        self.is_same_by(other, |one, other| one == other)
    }

    /// As [`Self::is_same`], where values are the same in some way.
    pub fn is_same_by(&self, other: &Self, same: impl Fn(&V, &V) -> bool) -> bool {
        let is_shared = |place: usize, own: &Arc<HashTable<(K, V)>>| {
            self.tables.len() == other.tables.len()
                && other.tables.get(place).is_some_and(|table| Arc::ptr_eq(own, table))
        };
        let mut own = self.tables.iter().enumerate().filter(|(place, own)| !is_shared(*place, own));
        let is_known = |(key, value): &(K, V)| other.get(key).is_some_and(|known| same(value, known));
        self.len == other.len && own.all(|(_, table)| table.iter().all(is_known))
    }

    /// All entries, in the order of their keys.
    pub fn sorted(&self) -> Vec<(&K, &V)>
    where
        K: Ord,
    {
        let mut all: Vec<(&K, &V)> =
            self.tables.iter().flat_map(|table| table.iter()).map(|(key, value)| (key, value)).collect();
        all.sort_unstable_by_key(|(key, _)| *key);
        all
    }
}

impl<K: Clone + Eq + Hash, V: Clone, const SIZE: usize, S: BuildHasher> Shards<K, V, SIZE, S> {
    /// Sets the value of a key; the one that it had. Clones do not see the change.
    pub fn insert(&mut self, key: K, value: V) -> Option<V> {
        if self.len >= self.tables.len() * SIZE {
            self.grow();
        }
        let Self { tables, len, hasher } = self;
        let hash = hasher.hash_one(&key);
        let place = place(hash, tables.len());
        let shard = Arc::make_mut(tables.get_mut(place)?);
        match shard.entry(hash, |(known, _)| *known == key, |(known, _)| hasher.hash_one(known)) {
            Entry::Occupied(mut known) => Some(std::mem::replace(&mut known.get_mut().1, value)),
            Entry::Vacant(place) => {
                place.insert((key, value));
                *len += 1;
                None
            }
        }
    }

    /// The value of a key, to change it. Clones do not see the change.
    pub fn get_mut<Q: Eq + Hash + ?Sized>(&mut self, key: &Q) -> Option<&mut V>
    where
        K: Borrow<Q>,
    {
        let hash = self.hasher.hash_one(key);
        let place = place(hash, self.tables.len());
        let shard = self.tables.get_mut(place)?;
        // A key that is not there copies nothing.
        shard.find(hash, |(known, _)| known.borrow() == key)?;
        Arc::make_mut(shard).find_mut(hash, |(known, _)| known.borrow() == key).map(|(_, value)| value)
    }

    /// Takes a key away; the value that it had. Clones do not see the change.
    pub fn remove<Q: Eq + Hash + ?Sized>(&mut self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
    {
        self.get(key)?;
        let hash = self.hasher.hash_one(key);
        let place = place(hash, self.tables.len());
        let shard = Arc::make_mut(self.tables.get_mut(place)?);
        let known = shard.find_entry(hash, |(known, _)| known.borrow() == key).ok()?;
        let ((_, value), _) = known.remove();
        self.len -= 1;
        Some(value)
    }

    /// Twice as many shards. As entries must become twice as many before, this costs nothing in the long run.
    fn grow(&mut self) {
        let old = std::mem::take(&mut self.tables);
        let count = (old.len() * 2).max(1);
        let mut shards: Vec<HashTable<(K, V)>> = (0..count).map(|_| HashTable::new()).collect();
        for entry in old.into_iter().flat_map(Arc::unwrap_or_clone) {
            let hash = self.hasher.hash_one(&entry.0);
            if let Some(shard) = shards.get_mut(place(hash, count)) {
                shard.insert_unique(hash, entry, |(known, _)| self.hasher.hash_one(known));
            }
        }
        self.tables = shards.into_iter().map(Arc::new).collect();
    }
}

impl<K: Clone + Eq + Hash, V: Clone, const SIZE: usize, S: BuildHasher + Default> FromIterator<(K, V)>
    for Shards<K, V, SIZE, S>
{
    fn from_iter<I: IntoIterator<Item = (K, V)>>(entries: I) -> Self {
        let mut shards = Self::default();
        for (key, value) in entries {
            shards.insert(key, value);
        }
        shards
    }
}

/// The table of a shard takes the lowest and the highest bits.
fn place(hash: u64, shards: usize) -> usize {
    usize::try_from(hash >> 32).unwrap_or_default() & shards.wrapping_sub(1)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    #[derive(Clone, Debug)]
    enum Step {
        Insert(u8, u8),
        Remove(u8),
        Set(u8, u8),
        /// From here on a clone is looked at, too.
        Clone,
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            4 => (any::<u8>(), any::<u8>()).prop_map(|(key, value)| Step::Insert(key, value)),
            2 => any::<u8>().prop_map(Step::Remove),
            2 => (any::<u8>(), any::<u8>()).prop_map(|(key, value)| Step::Set(key, value)),
            1 => Just(Step::Clone),
        ]
    }

    fn same(shards: &Shards<String, u8, 4>, map: &BTreeMap<String, u8>) -> bool {
        let all = (0..=u8::MAX).map(|key| key.to_string());
        shards.len() == map.len() && all.into_iter().all(|key| shards.get(&key) == map.get(&key))
    }

    proptest! {
        #[test]
        fn shards_are_a_map_whose_clones_do_not_see_changes(steps in prop::collection::vec(step(), 0..120)) {
            let (mut shards, mut map) = (Shards::<String, u8, 4>::default(), BTreeMap::new());
            let mut clones = Vec::new();
            for step in steps {
                match step {
                    Step::Insert(key, value) => {
                        prop_assert_eq!(shards.insert(key.to_string(), value), map.insert(key.to_string(), value));
                    }
                    Step::Remove(key) => {
                        prop_assert_eq!(shards.remove(&key.to_string()), map.remove(&key.to_string()));
                    }
                    Step::Set(key, value) => {
                        let (own, other) = (shards.get_mut(&key.to_string()), map.get_mut(&key.to_string()));
                        prop_assert_eq!(own.is_some(), other.is_some());
                        own.into_iter().chain(other).for_each(|place| *place = value);
                    }
                    Step::Clone => clones.push((shards.clone(), map.clone())),
                }
                prop_assert_eq!(shards.is_empty(), map.is_empty());
            }
            clones.push((shards, map));
            for (shards, map) in &clones {
                prop_assert!(same(shards, map));
                let sorted: Vec<(&String, &u8)> = shards.sorted();
                prop_assert_eq!(sorted, map.iter().collect::<Vec<_>>());
                for (other, theirs) in &clones {
                    prop_assert_eq!(shards.is_same(other), map == theirs);
                }
            }
        }
    }

    #[test]
    fn a_change_copies_one_shard() {
        let before: Shards<usize, usize> = (0..10_000).map(|number| (number, number)).collect();
        let mut after = before.clone();
        assert_eq!(after.remove(&10_000), None);
        assert_eq!(after.get_mut(&10_000), None);
        assert_eq!(after.unshared(&before), 0);
        assert_eq!(after.remove(&5_000), Some(5_000));
        assert_eq!(after.insert(5_000, 1), None);
        assert_eq!(after.unshared(&before), 1);
        assert_eq!((after.len(), before.get(&5_000)), (10_000, Some(&5_000)));
    }
}
