//! An ordered list that many snapshots share: items come and go anywhere in it, and a change copies one run of them.

use std::sync::Arc;

use smallvec::{SmallVec, smallvec};

/// An ordered list in runs of at most `SIZE` items. Runs and items are shared between clones, so a clone costs a pointer for
/// each run. The place of an item is its number among all, and shifts when others come and go before it.
#[derive(Debug)]
pub struct Runs<T, const SIZE: usize = 64> {
    /// Short lists are the most: one run stands in place.
    runs: SmallVec<[Run<T>; 1]>,
}

/// One item stands in place, too.
type Items<T> = SmallVec<[Arc<T>; 1]>;

#[derive(Debug)]
struct Run<T> {
    /// At least one.
    items: Arc<Items<T>>,
    /// How many items there are up to the end of this run.
    end: usize,
}

impl<T> Clone for Run<T> {
    fn clone(&self) -> Self {
        Self { items: Arc::clone(&self.items), end: self.end }
    }
}

impl<T, const SIZE: usize> Clone for Runs<T, SIZE> {
    fn clone(&self) -> Self {
        Self { runs: self.runs.clone() }
    }
}

impl<T, const SIZE: usize> Default for Runs<T, SIZE> {
    fn default() -> Self {
        Self { runs: SmallVec::new() }
    }
}

impl<T, const SIZE: usize> Runs<T, SIZE> {
    /// How many items there are.
    pub fn len(&self) -> usize {
        self.runs.last().map_or(0, |run| run.end)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    /// One item.
    pub fn get(&self, place: usize) -> Option<&T> {
        self.shared(place).map(Arc::as_ref)
    }

    /// One item, to be shared.
    pub fn shared(&self, place: usize) -> Option<&Arc<T>> {
        let run = self.runs.partition_point(|run| run.end <= place);
        self.runs.get(run)?.items.get(place - self.start(run))
    }

    /// The first item.
    pub fn first(&self) -> Option<&T> {
        self.get(0)
    }

    /// All items in order.
    pub fn iter(&self) -> Iter<'_, T> {
        Iter { runs: self.runs.iter(), items: [].iter() }
    }

    /// The place of the first item for which this does not hold; it must hold for all items before it, and for none behind.
    pub fn partition_point(&self, holds: impl Fn(&T) -> bool) -> usize {
        let run = self.runs.partition_point(|run| run.items.last().is_some_and(|item| holds(item)));
        self.start(run) + self.runs.get(run).map_or(0, |run| run.items.partition_point(|item| holds(item)))
    }

    /// Puts an item in a place, before the one that is there. Clones do not see the change.
    pub fn insert(&mut self, place: usize, item: Arc<T>) {
        // At the end of a run rather than at the start of the next.
        let number = self.runs.partition_point(|run| run.end < place).min(self.runs.len().saturating_sub(1));
        let start = self.start(number);
        let Some(run) = self.runs.get_mut(number) else {
            self.runs.push(Run { items: Arc::new(smallvec![item]), end: 1 });
            return;
        };
        let items = Arc::make_mut(&mut run.items);
        let within = (place - start).min(items.len());
        items.insert(within, item);
        if items.len() > SIZE {
            // A list that grows at its end keeps full runs.
            let half = if within + 1 == items.len() { within } else { items.len() / 2 };
            let rest = Arc::new(items.drain(half..).collect());
            self.runs.insert(number + 1, Run { items: rest, end: 0 });
        }
        self.count_from(number);
    }

    /// Takes an item away. Clones do not see the change.
    pub fn remove(&mut self, place: usize) -> Option<Arc<T>> {
        let number = self.runs.partition_point(|run| run.end <= place);
        let within = place - self.start(number);
        let items = Arc::make_mut(&mut self.runs.get_mut(number)?.items);
        let gone = (within < items.len()).then(|| items.remove(within))?;
        let left = items.len();
        let next = self.runs.get(number + 1).map(|next| Arc::clone(&next.items));
        match next.filter(|next| left + next.len() <= SIZE / 2) {
            // Else a list from which much was taken away would be all runs and no items.
            Some(next) => {
                self.runs.remove(number + 1);
                if let Some(run) = self.runs.get_mut(number) {
                    Arc::make_mut(&mut run.items).extend(next.iter().cloned());
                }
            }
            None if left == 0 => drop(self.runs.remove(number)),
            None => {}
        }
        self.count_from(number);
        Some(gone)
    }

    /// How many runs are not shared with another list: what a change has copied.
    pub fn unshared(&self, other: &Self) -> usize {
        let mut known: Vec<_> = other.runs.iter().map(|run| Arc::as_ptr(&run.items)).collect();
        known.sort_unstable();
        self.runs.iter().filter(|run| known.binary_search(&Arc::as_ptr(&run.items)).is_err()).count()
    }

    fn start(&self, run: usize) -> usize {
        run.checked_sub(1).and_then(|before| self.runs.get(before)).map_or(0, |before| before.end)
    }

    fn count_from(&mut self, run: usize) {
        let mut end = self.start(run);
        for run in self.runs.iter_mut().skip(run) {
            end += run.items.len();
            run.end = end;
        }
    }
}

impl<T: Clone, const SIZE: usize> Runs<T, SIZE> {
    /// One item, to change it. Clones do not see the change.
    pub fn get_mut(&mut self, place: usize) -> Option<&mut T> {
        let run = self.runs.partition_point(|run| run.end <= place);
        let start = self.start(run);
        Arc::make_mut(&mut self.runs.get_mut(run)?.items).get_mut(place - start).map(Arc::make_mut)
    }
}

impl<T, const SIZE: usize> FromIterator<T> for Runs<T, SIZE> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        let mut runs = Self::default();
        for (place, item) in items.into_iter().enumerate() {
            runs.insert(place, Arc::new(item));
        }
        runs
    }
}

impl<'r, T, const SIZE: usize> IntoIterator for &'r Runs<T, SIZE> {
    type Item = &'r T;
    type IntoIter = Iter<'r, T>;

    fn into_iter(self) -> Iter<'r, T> {
        self.iter()
    }
}

/// The items of [`Runs`] in order.
#[derive(Debug)]
pub struct Iter<'r, T> {
    runs: std::slice::Iter<'r, Run<T>>,
    items: std::slice::Iter<'r, Arc<T>>,
}

impl<'r, T> Iterator for Iter<'r, T> {
    type Item = &'r T;

    fn next(&mut self) -> Option<&'r T> {
        loop {
            if let Some(item) = self.items.next() {
                return Some(item);
            }
            self.items = self.runs.next()?.items.iter();
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[derive(Clone, Debug)]
    enum Step {
        Insert(usize, u8),
        Remove(usize),
        Set(usize, u8),
        /// From here on a clone is looked at, too.
        Clone,
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            6 => (0..40_usize, any::<u8>()).prop_map(|(place, value)| Step::Insert(place, value)),
            4 => (0..40_usize).prop_map(Step::Remove),
            1 => (0..40_usize, any::<u8>()).prop_map(|(place, value)| Step::Set(place, value)),
            1 => Just(Step::Clone),
        ]
    }

    fn same(runs: &Runs<u8, 4>, list: &[u8]) -> bool {
        runs.iter().eq(list)
            && runs.len() == list.len()
            && runs.is_empty() == list.is_empty()
            && (0..=list.len()).all(|place| runs.get(place) == list.get(place))
            && runs.runs.iter().all(|run| (1..=4).contains(&run.items.len()))
    }

    proptest! {
        #[test]
        fn runs_are_a_list_whose_clones_do_not_see_changes(steps in prop::collection::vec(step(), 0..120)) {
            let (mut runs, mut list) = (Runs::<u8, 4>::default(), Vec::new());
            let mut clones: Vec<(Runs<u8, 4>, Vec<u8>)> = Vec::new();
            for step in steps {
                match step {
                    Step::Insert(place, value) => {
                        let place = place.min(list.len());
                        runs.insert(place, Arc::new(value));
                        list.insert(place, value);
                    }
                    Step::Remove(place) => {
                        let gone = (place < list.len()).then(|| list.remove(place));
                        prop_assert_eq!(runs.remove(place).as_deref().copied(), gone);
                    }
                    Step::Set(place, value) => {
                        let (own, other) = (runs.get_mut(place), list.get_mut(place));
                        prop_assert_eq!(own.is_some(), other.is_some());
                        own.into_iter().chain(other).for_each(|place| *place = value);
                    }
                    Step::Clone => clones.push((runs.clone(), list.clone())),
                }
                prop_assert!(same(&runs, &list), "{runs:?} {list:?}");
            }
            for (runs, list) in clones {
                prop_assert!(same(&runs, &list));
            }
        }

        #[test]
        fn places_in_sorted_runs_are_those_in_sorted_lists(mut list in prop::collection::vec(0..20_u8, 0..60), bound in 0..20_u8) {
            list.sort_unstable();
            let runs: Runs<u8, 4> = list.iter().copied().collect();
            prop_assert_eq!(runs.partition_point(|item| *item < bound), list.partition_point(|item| *item < bound));
        }
    }

    #[test]
    fn a_change_copies_one_run() {
        let before: Runs<usize> = (0..10_000).collect();
        let mut after = before.clone();
        assert_eq!(after.unshared(&before), 0);
        after.remove(5_000);
        after.insert(5_000, Arc::new(0));
        assert_eq!(after.unshared(&before), 1);
        after.insert(1, Arc::new(0));
        assert_eq!(after.unshared(&before), 3, "a full run becomes two");
    }

    #[test]
    fn runs_that_become_short_are_joined() {
        let mut runs: Runs<usize, 8> = (0..800).collect();
        for place in (0..800).rev().filter(|place| place % 100 != 0) {
            runs.remove(place);
        }
        assert_eq!((runs.len(), runs.runs.len() <= 4), (8, true));
    }
}
