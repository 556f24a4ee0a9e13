//! Things filed under keys, as many snapshots share them: a change copies the buckets that it touches.

use std::borrow::Borrow;
use std::hash::Hash;
use std::sync::Arc;

use upheld_model::Shards;

/// Buckets by key; none is empty.
#[derive(Clone, Debug)]
pub(crate) struct Buckets<K, T> {
    all: Shards<K, Arc<[T]>>,
}

impl<K, T> Default for Buckets<K, T> {
    fn default() -> Self {
        Self { all: Shards::default() }
    }
}

impl<K: Clone + Eq + Hash, T: Clone> Buckets<K, T> {
    /// What is filed under a key.
    #[inline]
    pub(crate) fn get<Q: Eq + Hash + ?Sized>(&self, key: &Q) -> &[T]
    where
        K: Borrow<Q>,
    {
        self.all.get(key).map_or(&[], |bucket| bucket)
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

    /// How many shards two of them do not share: what a change has copied.
    pub(crate) fn unshared(&self, other: &Self) -> usize {
        self.all.unshared(&other.all)
    }
}
