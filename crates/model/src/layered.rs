//! A map that many snapshots share: a large part that never changes, and what changed since.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;

use rustc_hash::FxHashMap;

/// A map whose clones share what has not changed for a while. A clone copies the recent changes; when these have become many,
/// they are put into the large part, so that changing it costs little on average.
#[derive(Clone, Debug)]
pub struct Layered<K, V> {
    settled: Arc<FxHashMap<K, V>>,
    /// What is not as in the large part; nothing where a key is gone.
    recent: FxHashMap<K, Option<V>>,
}

impl<K, V> Default for Layered<K, V> {
    fn default() -> Self {
        Self { settled: Arc::default(), recent: HashMap::default() }
    }
}

/// So many changes never make it worth while to copy the large part.
const FEW: usize = 32;

impl<K: Clone + Eq + Hash, V: Clone> Layered<K, V> {
    /// The value of a key.
    #[inline]
    pub fn get(&self, key: &K) -> Option<&V> {
        if self.recent.is_empty() {
            return self.settled.get(key);
        }
        match self.recent.get(key) {
            Some(changed) => changed.as_ref(),
            None => self.settled.get(key),
        }
    }

    /// Gives a key a value.
    pub fn insert(&mut self, key: K, value: V) {
        if let Some(own) = self.unshared() {
            own.insert(key, value);
            return;
        }
        self.recent.insert(key, Some(value));
        self.settle();
    }

    /// Takes a key away.
    pub fn remove(&mut self, key: &K) {
        if let Some(own) = self.unshared() {
            own.remove(key);
        } else if self.settled.contains_key(key) {
            self.recent.insert(key.clone(), None);
            self.settle();
        } else {
            self.recent.remove(key);
        }
    }

    /// The large part, if nobody else sees it and it is all there is.
    fn unshared(&mut self) -> Option<&mut FxHashMap<K, V>> {
        if self.recent.is_empty() { Arc::get_mut(&mut self.settled) } else { None }
    }

    /// How many changes a clone has to copy.
    pub fn recent(&self) -> usize {
        self.recent.len()
    }

    #[expect(clippy::iter_over_hash_type, reason = "each key is changed once, so the order means nothing")]
    fn settle(&mut self) {
        if self.recent.len() <= FEW + self.settled.len() / 16 {
            return;
        }
        let all = Arc::make_mut(&mut self.settled);
        for (key, value) in self.recent.drain() {
            match value {
                Some(value) => drop(all.insert(key, value)),
                None => drop(all.remove(&key)),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_layered_map_is_a_map_whose_clones_do_not_see_changes(
            steps in prop::collection::vec((0..60_u8, prop::option::weighted(0.7, any::<u8>()), prop::bool::weighted(0.2)), 0..300),
        ) {
            let (mut layered, mut map) = (Layered::default(), BTreeMap::new());
            let mut clones = Vec::new();
            for (key, value, keep_a_clone) in steps {
                match value {
                    Some(value) => {
                        layered.insert(key, value);
                        map.insert(key, value);
                    }
                    None => {
                        layered.remove(&key);
                        map.remove(&key);
                    }
                }
                if keep_a_clone {
                    clones.push((layered.clone(), map.clone()));
                }
                prop_assert!(layered.recent() <= FEW + 61);
            }
            clones.push((layered, map));
            for (layered, map) in clones {
                for key in 0..60 {
                    prop_assert_eq!(layered.get(&key), map.get(&key));
                }
            }
        }
    }
}
