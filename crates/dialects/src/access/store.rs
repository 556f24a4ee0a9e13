//! Policies by id, in the order in which they came.

use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;
use smol_str::SmolStr;

/// Policies by id. The order is that of arrival, and decides between policies of equal priority.
#[derive(Clone, Debug)]
pub struct PolicyStore<P> {
    policies: IndexMap<SmolStr, P, FxBuildHasher>,
}

impl<P> PolicyStore<P> {
    /// Without policies.
    pub fn new() -> Self {
        Self::default()
    }

    /// Puts a policy at the end, or in the place of the one with its id, which is returned.
    pub fn set(&mut self, id: impl Into<SmolStr>, policy: P) -> Option<P> {
        self.policies.insert(id.into(), policy)
    }

    /// The policy with this id.
    pub fn get(&self, id: &str) -> Option<&P> {
        self.policies.get(id)
    }

    /// Removes a policy; whether it was there. The others keep their order.
    pub fn delete(&mut self, id: &str) -> bool {
        self.policies.shift_remove(id).is_some()
    }

    /// Removes all of them.
    pub fn clear(&mut self) {
        self.policies.clear();
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.policies.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.policies.is_empty()
    }

    /// All of them in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &P)> {
        self.policies.iter().map(|(id, policy)| (id.as_str(), policy))
    }

    /// Their ids in order.
    pub fn ids(&self) -> impl ExactSizeIterator<Item = &str> {
        self.policies.keys().map(SmolStr::as_str)
    }
}

impl<P> Default for PolicyStore<P> {
    fn default() -> Self {
        Self { policies: IndexMap::default() }
    }
}

impl<P> Extend<(SmolStr, P)> for PolicyStore<P> {
    fn extend<I: IntoIterator<Item = (SmolStr, P)>>(&mut self, policies: I) {
        self.policies.extend(policies);
    }
}

impl<P> FromIterator<(SmolStr, P)> for PolicyStore<P> {
    fn from_iter<I: IntoIterator<Item = (SmolStr, P)>>(policies: I) -> Self {
        Self { policies: policies.into_iter().collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn store(ids: &[&str]) -> PolicyStore<u32> {
        ids.iter().zip(0..).map(|(id, policy)| (SmolStr::new(id), policy)).collect()
    }

    fn ids(store: &PolicyStore<u32>) -> Vec<&str> {
        store.ids().collect()
    }

    #[test]
    fn policies_are_found_by_id() {
        let mut store = PolicyStore::new();
        assert_eq!(store.set("a", 1), None);
        assert_eq!(store.get("a"), Some(&1));
        assert_eq!(store.get("b"), None);
    }

    #[test]
    fn order_is_that_of_arrival_whatever_the_ids() {
        assert_eq!(ids(&store(&["b", "10", "a", "9"])), ["b", "10", "a", "9"]);
    }

    #[test]
    fn replacing_keeps_the_position() {
        let mut store = store(&["a", "b", "c"]);
        assert_eq!(store.set("b", 7), Some(1));
        assert_eq!(store.iter().collect::<Vec<_>>(), [("a", &0), ("b", &7), ("c", &2)]);
    }

    #[test]
    fn of_equal_ids_in_a_list_the_last_holds_in_the_place_of_the_first() {
        let store: PolicyStore<u32> = [("a".into(), 1), ("b".into(), 2), ("a".into(), 3)].into_iter().collect();
        assert_eq!(store.iter().collect::<Vec<_>>(), [("a", &3), ("b", &2)]);
    }

    #[test]
    fn deleting_tells_whether_it_was_there_and_keeps_the_order() {
        let mut store = store(&["a", "b", "c", "d"]);
        assert!(store.delete("b"));
        assert!(!store.delete("b"));
        assert_eq!(store.get("b"), None);
        assert_eq!(ids(&store), ["a", "c", "d"]);
    }

    #[test]
    fn what_was_deleted_comes_back_at_the_end() {
        let mut store = store(&["a", "b"]);
        store.delete("a");
        store.set("a", 5);
        assert_eq!(ids(&store), ["b", "a"]);
    }

    #[test]
    fn clearing_leaves_nothing() {
        let mut store = store(&["a", "b"]);
        assert_eq!((store.len(), store.is_empty()), (2, false));
        store.clear();
        assert_eq!((store.len(), store.is_empty()), (0, true));
        assert_eq!(store.iter().count(), 0);
    }
}
