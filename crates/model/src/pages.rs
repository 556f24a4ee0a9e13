//! A list that many snapshots share: a clone copies no items, and a change copies one page of them.

use std::sync::Arc;

/// A growing list in pages of `SIZE` items, which must be a power of two. Full pages are shared between clones; what follows
/// the last full page is copied, so a clone costs one page and a pointer for each of the others.
#[derive(Clone, Debug)]
pub struct Pages<T, const SIZE: usize = 64> {
    /// Of a fixed size, so that an item is found with one comparison.
    full: Vec<Arc<[T; SIZE]>>,
    /// Fewer than `SIZE` items.
    rest: Vec<T>,
}

impl<T, const SIZE: usize> Default for Pages<T, SIZE> {
    fn default() -> Self {
        Self { full: Vec::new(), rest: Vec::new() }
    }
}

impl<T, const SIZE: usize> Pages<T, SIZE> {
    /// How many items there are.
    pub fn len(&self) -> usize {
        self.full.len() * SIZE + self.rest.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.full.is_empty() && self.rest.is_empty()
    }

    /// One item.
    #[inline]
    pub fn get(&self, index: usize) -> Option<&T> {
        match self.full.get(index / SIZE) {
            Some(page) => page.get(index % SIZE),
            None => self.rest.get(index.wrapping_sub(self.full.len() * SIZE)),
        }
    }

    /// The last item.
    pub fn last(&self) -> Option<&T> {
        self.len().checked_sub(1).and_then(|last| self.get(last))
    }

    /// All items in order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &T> + Clone {
        self.slices().flatten()
    }

    /// The same, page by page: for loops that must be tight.
    pub fn slices(&self) -> impl DoubleEndedIterator<Item = &[T]> + Clone {
        self.full.iter().map(|page| page.as_slice()).chain(std::iter::once(self.rest.as_slice()))
    }

    /// Adds an item at the end.
    pub fn push(&mut self, item: T) {
        self.rest.push(item);
        if self.rest.len() == SIZE {
            let page: Arc<[T]> = std::mem::take(&mut self.rest).into();
            self.full.extend(page.try_into().ok());
        }
    }

    /// The places that two lists do not share, as far as this one goes: others have the same items in both.
    pub fn differing(&self, other: &Self) -> impl Iterator<Item = usize> {
        let shared = |page: &usize| match (self.full.get(*page), other.full.get(*page)) {
            (Some(own), Some(other)) => Arc::ptr_eq(own, other),
            _ => false,
        };
        let pages = (0..=self.full.len()).filter(move |page| !shared(page));
        pages.flat_map(|page| page * SIZE..(page + 1) * SIZE).take_while(|place| *place < self.len())
    }

    /// How many pages two lists do not share: what a change has copied.
    pub fn unshared(&self, other: &Self) -> usize {
        let shared = self.full.iter().zip(&other.full).filter(|(own, other)| Arc::ptr_eq(own, other)).count();
        self.full.len() - shared
    }
}

impl<T: Clone, const SIZE: usize> Pages<T, SIZE> {
    /// One item, to change it. Clones do not see the change.
    pub fn get_mut(&mut self, index: usize) -> Option<&mut T> {
        let rest = index.wrapping_sub(self.full.len() * SIZE);
        match self.full.get_mut(index / SIZE) {
            Some(page) => Arc::make_mut(page).get_mut(index % SIZE),
            None => self.rest.get_mut(rest),
        }
    }

    /// Takes the last item away.
    pub fn pop(&mut self) -> Option<T> {
        if self.rest.is_empty() {
            self.rest = self.full.pop()?.to_vec();
        }
        self.rest.pop()
    }

    /// Puts an item in its place; places before it that are new get what `fill` makes.
    pub fn put(&mut self, index: usize, item: T, fill: impl FnMut() -> T) {
        self.reach(index + 1, fill);
        if let Some(place) = self.get_mut(index) {
            *place = item;
        }
    }

    /// Makes the list at least so long; new places get what `fill` makes.
    pub fn reach(&mut self, length: usize, mut fill: impl FnMut() -> T) {
        while self.len() < length {
            self.push(fill());
        }
    }
}

impl<T, const SIZE: usize> FromIterator<T> for Pages<T, SIZE> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        let mut pages = Self::default();
        items.into_iter().for_each(|item| pages.push(item));
        pages
    }
}

impl<T, const SIZE: usize> Extend<T> for Pages<T, SIZE> {
    fn extend<I: IntoIterator<Item = T>>(&mut self, items: I) {
        items.into_iter().for_each(|item| self.push(item));
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[derive(Clone, Debug)]
    enum Step {
        Push(u8),
        Pop,
        Set(usize, u8),
        Put(usize, u8),
        /// From here on a clone is looked at, too.
        Clone,
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            4 => any::<u8>().prop_map(Step::Push),
            1 => Just(Step::Pop),
            2 => (0..40_usize, any::<u8>()).prop_map(|(place, value)| Step::Set(place, value)),
            1 => (0..40_usize, any::<u8>()).prop_map(|(place, value)| Step::Put(place, value)),
            1 => Just(Step::Clone),
        ]
    }

    proptest! {
        #[test]
        fn pages_are_a_list_whose_clones_do_not_see_changes(steps in prop::collection::vec(step(), 0..80)) {
            let (mut pages, mut list) = (Pages::<u8, 4>::default(), Vec::new());
            let mut clones: Vec<(Pages<u8, 4>, Vec<u8>)> = Vec::new();
            for step in steps {
                match step {
                    Step::Push(value) => {
                        pages.push(value);
                        list.push(value);
                    }
                    Step::Pop => prop_assert_eq!(pages.pop(), list.pop()),
                    Step::Set(place, value) => {
                        let (own, other) = (pages.get_mut(place), list.get_mut(place));
                        prop_assert_eq!(own.is_some(), other.is_some());
                        own.into_iter().chain(other).for_each(|place| *place = value);
                    }
                    Step::Put(place, value) => {
                        pages.put(place, value, || 0);
                        list.resize(list.len().max(place + 1), 0);
                        list[place] = value;
                    }
                    Step::Clone => clones.push((pages.clone(), list.clone())),
                }
                prop_assert_eq!(pages.iter().copied().collect::<Vec<_>>(), list.clone());
                prop_assert_eq!(pages.len(), list.len());
                prop_assert_eq!(pages.last(), list.last());
                prop_assert_eq!(pages.get(list.len()), None);
            }
            for (pages, list) in clones {
                prop_assert_eq!(pages.iter().copied().collect::<Vec<_>>(), list);
            }
        }
    }

    #[test]
    fn a_change_copies_one_page() {
        let before: Pages<usize> = (0..10_000).collect();
        let mut after = before.clone();
        assert_eq!(after.unshared(&before), 0);
        *after.get_mut(5_000).unwrap() = 0;
        assert_eq!(after.unshared(&before), 1);
    }
}
