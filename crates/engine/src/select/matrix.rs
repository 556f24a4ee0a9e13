//! All pairs at once: every source against every destination, for kinds that resolve `first`.
//!
//! For one source, the best policy of each distinct *destination selector* is kept as one packed rank; each destination
//! then takes the maximum over the selectors that match it, which were found once. Ranks are sums, so a policy with
//! several selectors needs no care: its best one wins. Ends that no policy can tell apart are asked once, see
//! [`super::cells`].

use upheld_model::{Id, Side, TagSet};

use super::index::{ListId, Postings, SelectorId};
use super::{Entry, Select};
use crate::ask::EntryId;

/// Destinations prepared for bulk questions.
#[derive(Debug)]
pub struct Matrix<'s> {
    select: &'s Select,
    /// The source selectors that can decide something here.
    sources: Postings,
    /// For each source list: slots, with the rank that the best entry brings there.
    by_source: Vec<Vec<(u32, u64)>>,
    /// How many destination selectors match some destination; each has a slot. The others can decide nothing here.
    slots: usize,
    /// Slots of the destination selectors that match each destination, one after the other.
    matching: Vec<u32>,
    /// Where the ones of each destination end.
    ends: Vec<usize>,
}

/// Room to work in.
#[derive(Debug, Default)]
pub struct RowScratch {
    best: Vec<u64>,
    touched: Vec<u32>,
}

impl<'s> Matrix<'s> {
    /// Prepares the destinations; each is a list of parts, any of which may match.
    pub fn new<'d>(select: &'s Select, destinations: impl IntoIterator<Item = &'d [TagSet]>) -> Self {
        let [source_index, destination_index] = [Side::Source, Side::Destination].map(|side| select.side(side));
        let mut slot_of: Vec<Option<u32>> = vec![None; destination_index.selectors()];
        let mut slots = 0_u32;
        let (mut matching, mut ends) = (Vec::new(), Vec::new());
        for parts in destinations {
            destination_index.each_match(destination_index.all(), parts, |id, _| {
                let Some(slot) = slot_of.get_mut(id.index()) else { return };
                if slot.is_none() {
                    *slot = Some(slots);
                    slots += 1;
                }
                matching.extend(*slot);
            });
            ends.push(matching.len());
        }
        let mut by_source = vec![Vec::new(); source_index.lists()];
        for (source, destination, best) in select.best_of_pairs() {
            // Zero is nobody.
            let key = select.ordinals.key(best as usize) + 1;
            let Some(list) = by_source.get_mut(source.index()) else { continue };
            for &selector in destination_index.selectors_of(destination) {
                let slot = slot_of.get(selector.index()).copied().flatten();
                list.extend(slot.map(|slot| (slot, key + destination_index.packed(selector))));
            }
        }
        let decides = |list: &ListId| by_source.get(list.index()).is_some_and(|slots| !slots.is_empty());
        let sources = source_index.postings(|id: SelectorId| source_index.lists_of(id).iter().any(decides));
        Self { select, sources, by_source, slots: slots as usize, matching, ends }
    }

    /// The winners of one source: calls `take` for each destination in order.
    pub fn row(&self, source: &[TagSet], scratch: &mut RowScratch, mut take: impl FnMut(Option<EntryId>)) {
        let RowScratch { best, touched } = scratch;
        best.resize(self.slots, 0);
        let source_index = self.select.side(Side::Source);
        source_index.each_match(&self.sources, source, |_, selector| {
            let brings = selector.packed;
            let slots = selector.lists.iter().filter_map(|list| self.by_source.get(list.index())).flatten();
            for &(slot, rank) in slots {
                if let Some(best) = best.get_mut(slot as usize) {
                    if *best == 0 {
                        touched.push(slot);
                    }
                    *best = (*best).max(rank + brings);
                }
            }
        });
        let mut start = 0;
        for &end in &self.ends {
            let slots = self.matching.get(start..end).unwrap_or_default();
            let rank = slots.iter().map(|&slot| best.get(slot as usize).copied().unwrap_or(0)).max().unwrap_or(0);
            take(self.winner(rank));
            start = end;
        }
        for slot in touched.drain(..) {
            if let Some(best) = best.get_mut(slot as usize) {
                *best = 0;
            }
        }
    }

    fn winner(&self, rank: u64) -> Option<EntryId> {
        self.select.ordinals.ranked(rank.checked_sub(1)?).map(|entry| Id::new(entry as usize))
    }
}

impl Select {
    /// The best entry of each pair of lists.
    fn best_of_pairs(&self) -> impl Iterator<Item = (ListId, ListId, u32)> {
        let entries =
            self.ordinals.by_identity().iter().filter_map(|id| Some((*id, self.entry(Id::new(*id as usize))?)));
        entries.filter_map(|(id, Entry { lists: [source, destination], .. })| {
            let best = self.pairs.get(&(*source, *destination)).first() == Some(&id);
            best.then_some((*source, *destination, id))
        })
    }
}
