//! Things filed under keys, as many snapshots share them: a change copies the buckets that it touches.

use std::hash::Hash;
use std::marker::PhantomData;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use upheld_model::{Pages, Shards};

/// Buckets by key; none is empty.
#[derive(Clone, Debug)]
pub(crate) struct Buckets<K, T, M = Shards<K, Arc<[T]>>> {
    all: M,
    marker: PhantomData<fn() -> (K, T)>,
}

/// Buckets that are looked for so often that a few instructions count. A clone copies a flat table.
pub(crate) type FlatBuckets<K, T> = Buckets<K, T, Flat<K, Arc<[T]>>>;

impl<K, T, M: Default> Default for Buckets<K, T, M> {
    fn default() -> Self {
        Self { all: M::default(), marker: PhantomData }
    }
}

impl<K: Clone, T: Clone, M: Map<K, Arc<[T]>>> Buckets<K, T, M> {
    /// What is filed under a key; nothing, or something.
    #[inline]
    pub(crate) fn find(&self, key: &K) -> Option<&[T]> {
        self.all.get(key).map(|bucket| &**bucket)
    }

    /// What is filed under a key.
    #[inline]
    pub(crate) fn get(&self, key: &K) -> &[T] {
        self.find(key).unwrap_or_default()
    }

    /// Changes what is filed under a key.
    pub(crate) fn change(&mut self, key: K, edit: impl FnOnce(&mut Vec<T>)) {
        let mut bucket = self.get(&key).to_vec();
        edit(&mut bucket);
        if bucket.is_empty() {
            self.all.remove(&key);
        } else {
            self.all.insert(key, bucket.into());
        }
    }

    /// Files one more.
    pub(crate) fn add(&mut self, key: K, item: T) {
        self.change(key, |bucket| bucket.push(item));
    }

    /// Takes away some of what is filed under a key.
    pub(crate) fn take(&mut self, key: &K, is_gone: impl Fn(&T) -> bool) {
        if self.get(key).iter().any(&is_gone) {
            self.change(key.clone(), |bucket| bucket.retain(|item| !is_gone(item)));
        }
    }

    /// Files many, each bucket once.
    pub(crate) fn add_all(&mut self, mut items: Vec<(K, T)>)
    where
        K: Ord,
    {
        items.sort_by(|(a, _), (b, _)| a.cmp(b));
        for run in items.chunk_by(|(a, _), (b, _)| a == b) {
            let Some((key, _)) = run.first() else { continue };
            self.change(key.clone(), |bucket| bucket.extend(run.iter().map(|(_, item)| item.clone())));
        }
    }

    /// How many shards or pages two of them do not share: what a change has copied.
    pub(crate) fn unshared(&self, other: &Self) -> usize {
        self.all.unshared(&other.all)
    }
}

/// A map whose clones share what they do not change.
pub(crate) trait Map<K, V> {
    /// The value of a key.
    fn get(&self, key: &K) -> Option<&V>;
    /// Sets the value of a key.
    fn insert(&mut self, key: K, value: V);
    /// Takes a key away.
    fn remove(&mut self, key: &K);
    /// How many pieces two maps do not share.
    fn unshared(&self, other: &Self) -> usize;
}

impl<K: Clone + Eq + Hash, V: Clone> Map<K, V> for Shards<K, V> {
    #[inline]
    fn get(&self, key: &K) -> Option<&V> {
        Shards::get(self, key)
    }

    fn insert(&mut self, key: K, value: V) {
        Shards::insert(self, key, value);
    }

    fn remove(&mut self, key: &K) {
        Shards::remove(self, key);
    }

    fn unshared(&self, other: &Self) -> usize {
        Shards::unshared(self, other)
    }
}

/// Values in pages that clones share, found through one table of their places, which clones copy.
#[derive(Clone, Debug)]
pub(crate) struct Flat<K, V> {
    places: FxHashMap<K, u32>,
    values: Pages<Option<V>>,
    /// Places that no key has.
    free: Vec<u32>,
}

impl<K, V> Default for Flat<K, V> {
    fn default() -> Self {
        Self { places: FxHashMap::default(), values: Pages::default(), free: Vec::new() }
    }
}

impl<K: Copy + Eq + Hash, V: Clone> Map<K, V> for Flat<K, V> {
    #[inline]
    fn get(&self, key: &K) -> Option<&V> {
        let place = self.places.get(key)?;
        self.values.get(*place as usize)?.as_ref()
    }

    fn insert(&mut self, key: K, value: V) {
        let known = self.places.get(&key).copied();
        let next = || u32::try_from(self.values.len()).unwrap_or(u32::MAX);
        let place = known.or_else(|| self.free.pop()).unwrap_or_else(next);
        self.places.insert(key, place);
        self.values.put(place as usize, Some(value), || None);
    }

    fn remove(&mut self, key: &K) {
        let Some(place) = self.places.remove(key) else { return };
        self.values.put(place as usize, None, || None);
        self.free.push(place);
    }

    fn unshared(&self, other: &Self) -> usize {
        self.values.unshared(&other.values)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_flat_map_is_a_map_whose_clones_do_not_see_changes(
            steps in prop::collection::vec((any::<u8>(), prop::option::weighted(0.6, any::<u8>()), prop::bool::weighted(0.1)), 0..300),
        ) {
            let (mut flat, mut map) = (Flat::<u8, u8>::default(), BTreeMap::new());
            let mut clones = Vec::new();
            for (key, value, cloned) in steps {
                if cloned {
                    clones.push((flat.clone(), map.clone()));
                }
                match value {
                    Some(value) => {
                        flat.insert(key, value);
                        map.insert(key, value);
                    }
                    None => {
                        flat.remove(&key);
                        map.remove(&key);
                    }
                }
            }
            clones.push((flat, map));
            for (flat, map) in clones {
                prop_assert!((0..=u8::MAX).all(|key| flat.get(&key) == map.get(&key)));
                prop_assert!(flat.values.len() <= 256);
            }
        }
    }
}
