//! How selectors and lists of one side get into the index, and out again when no entry has them any more.

use std::sync::Arc;

use upheld_model::{Pages, Selector, Symbols, Uniques};

use super::fit::specificity_of;
use super::index::{Distinct, List, ListId, SelectorId, SideIndex, Wants, rarest, reading_order};
use super::rank::{Layout, Specificity};
use crate::kind::{Counts, Empty};

/// Selectors that came in and are not found yet.
#[derive(Debug, Default)]
pub(super) struct Unfiled(Vec<SelectorId>);

impl SideIndex {
    /// The list of one more entry. A side that the kind does not look at has one selector that wants nothing.
    pub(super) fn intern(&mut self, selectors: &[Selector], symbols: &Symbols, unfiled: &mut Unfiled) -> ListId {
        let matches_all = self.item.as_ref().is_none_or(|item| item.empty == Empty::Everything);
        let mut seen = Uniques::default();
        let mut list: Vec<SelectorId> = Vec::with_capacity(selectors.len());
        if selectors.is_empty() && matches_all {
            list.push(self.intern_wants(Wants::default(), unfiled));
        }
        for selector in selectors {
            let id = self.intern_wants(reading_order(selector, symbols), unfiled);
            if seen.is_new(id) {
                list.push(id);
            }
        }
        let list: Arc<[SelectorId]> = list.into();
        if let Some(known) = self.known_lists.get(&list).copied() {
            if let Some(Some(list)) = self.lists.get_mut(known.index()) {
                list.users += 1;
            }
            return known;
        }
        let id = self.free_lists.pop().unwrap_or(ListId::new(self.lists.len()));
        for selector in list.iter() {
            if let Some(Some(selector)) = self.selectors.get_mut(selector.index()) {
                selector.lists.push(id);
            }
        }
        self.lists.put(id.index(), Some(List { selectors: Arc::clone(&list), users: 1 }), || None);
        self.known_lists.insert(list, id);
        id
    }

    /// One entry less has a list.
    pub(super) fn release(&mut self, id: ListId) {
        let Some(Some(list)) = self.lists.get_mut(id.index()) else { return };
        list.users -= 1;
        if list.users > 0 {
            return;
        }
        let selectors = Arc::clone(&list.selectors);
        self.known_lists.remove(&selectors);
        clear(&mut self.lists, id.index());
        self.free_lists.push(id);
        for selector in selectors.iter() {
            let Some(Some(Distinct { lists, .. })) = self.selectors.get_mut(selector.index()) else { continue };
            lists.retain(|list| *list != id);
            if lists.is_empty() {
                self.forget(*selector);
            }
        }
    }

    /// Makes selectors that came in findable, once all of a change are known.
    pub(super) fn file(&mut self, Unfiled(ids): Unfiled, layout: &Layout) {
        let mut filed = Vec::with_capacity(ids.len());
        for id in ids {
            let users = |want: &_| self.users.get(want).copied().unwrap_or_default();
            let Some(Some(selector)) = self.selectors.get(id.index()) else { continue };
            let through = rarest(&selector.wants, users);
            if let Some(Some(selector)) = self.selectors.get_mut(id.index()) {
                selector.filed = through;
                selector.packed = layout.pack_side(selector.specificity);
            }
            filed.push((id, through));
        }
        self.postings.add(&filed);
    }

    /// Ranks all selectors anew.
    pub(super) fn pack(&mut self, layout: &Layout) {
        let pack =
            |selector: &Distinct| Distinct { packed: layout.pack_side(selector.specificity), ..selector.clone() };
        self.selectors = self.selectors.iter().map(|selector| selector.as_ref().map(pack)).collect();
    }

    fn intern_wants(&mut self, wants: Wants, unfiled: &mut Unfiled) -> SelectorId {
        if let Some(id) = self.known.get(&wants) {
            return *id;
        }
        let id = self.free_selectors.pop().unwrap_or(SelectorId::new(self.selectors.len()));
        for want in wants.iter() {
            let users = self.users.get(want).copied().unwrap_or_default();
            self.users.insert(*want, users + 1);
        }
        let counts = self.item.as_ref().map_or(Counts::No, |item| item.counts);
        let specificity = counts.of(specificity_of(&wants));
        let distinct = Distinct { wants: Arc::clone(&wants), specificity, packed: 0, lists: Vec::new(), filed: None };
        self.selectors.put(id.index(), Some(distinct), || None);
        self.known.insert(wants, id);
        unfiled.0.push(id);
        id
    }

    /// Takes out a selector that no list has.
    fn forget(&mut self, id: SelectorId) {
        let Some(Some(Distinct { wants, filed, .. })) = self.selectors.get(id.index()).cloned() else { return };
        self.postings.remove(id, filed);
        self.known.remove(&wants);
        for want in wants.iter() {
            match self.users.get(want).copied() {
                Some(users) if users > 1 => drop(self.users.insert(*want, users - 1)),
                _ => drop(self.users.remove(want)),
            }
        }
        clear(&mut self.selectors, id.index());
        self.free_selectors.push(id);
    }
}

fn clear<T: Clone>(pages: &mut Pages<Option<T>>, index: usize) {
    if let Some(place) = pages.get_mut(index) {
        *place = None;
    }
}

impl Counts {
    fn of(self, specificity: Specificity) -> Specificity {
        match self {
            Self::Yes => specificity,
            Self::No => Specificity::default(),
        }
    }
}
