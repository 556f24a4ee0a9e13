//! All pairs at once: every source against every destination, for kinds that resolve `first`.
//!
//! For one source, the best policy of each distinct *destination list* is kept as one packed rank; each destination
//! then takes the maximum over the lists that match it, which were found once. Sources that no policy can tell apart
//! form a class ([`Classes`]) and are answered once.

use rustc_hash::{FxHashMap, FxHashSet};
use upheld_model::{Id, Side, Sym, TagSet, Want};

use super::Select;
use super::index::{ListId, Matching};
use crate::ask::EntryId;
use crate::partition::Partition;

/// Destinations prepared for bulk questions.
#[derive(Debug)]
pub struct Matrix<'s> {
    select: &'s Select,
    /// For each source list: destination lists, with the rank that the best entry of the pair brings.
    by_source: Vec<Vec<(u32, u64)>>,
    /// Destination lists that match each destination, with what they bring, one after the other.
    matching: Vec<(u32, u64)>,
    /// Where the ones of each destination end.
    ends: Vec<usize>,
}

/// Room to work in.
#[derive(Debug, Default)]
pub struct RowScratch {
    sources: Vec<Matching>,
    best: Vec<u64>,
    touched: Vec<u32>,
}

impl<'s> Matrix<'s> {
    /// Prepares the destinations; each is a list of parts, any of which may match.
    pub fn new<'d>(select: &'s Select, destinations: impl IntoIterator<Item = &'d [TagSet]>) -> Self {
        let destination_index = select.side(Side::Destination);
        let mut by_source = vec![Vec::new(); select.side(Side::Source).len()];
        for (source, destination, best) in select.best_of_pairs() {
            let key = select.keys.get(best as usize).copied().unwrap_or_default();
            // Zero is nobody.
            if let Some(list) = by_source.get_mut(source.index()) {
                list.push((number(destination), key + 1));
            }
        }
        let (mut matching, mut ends, mut found) = (Vec::new(), Vec::new(), Vec::new());
        for parts in destinations {
            destination_index.matching(parts, &mut found);
            matching.extend(found.iter().map(|found| (number(found.list), found.packed)));
            ends.push(matching.len());
        }
        Self { select, by_source, matching, ends }
    }

    /// The winners of one source: calls `take` for each destination in order.
    pub fn row(&self, source: &[TagSet], scratch: &mut RowScratch, mut take: impl FnMut(Option<EntryId>)) {
        let RowScratch { sources, best, touched } = scratch;
        best.resize(self.select.side(Side::Destination).len(), 0);
        let source_index = self.select.side(Side::Source);
        source_index.matching(source, sources);
        for &Matching { list, packed, .. } in sources.iter() {
            for &(destination, rank) in self.by_source.get(list.index()).map_or(&[][..], Vec::as_slice) {
                if let Some(slot) = best.get_mut(destination as usize) {
                    if *slot == 0 {
                        touched.push(destination);
                    }
                    *slot = (*slot).max(rank + packed);
                }
            }
        }
        let mut start = 0;
        for &end in &self.ends {
            let mut rank = 0;
            for &(list, packed) in self.matching.get(start..end).unwrap_or_default() {
                match best.get(list as usize) {
                    Some(&found) if found > 0 => rank = rank.max(found + packed),
                    _ => {}
                }
            }
            take(self.winner(rank));
            start = end;
        }
        for destination in touched.drain(..) {
            if let Some(slot) = best.get_mut(destination as usize) {
                *slot = 0;
            }
        }
    }

    fn winner(&self, rank: u64) -> Option<EntryId> {
        let ordinal = self.select.layout.ordinal(rank.checked_sub(1)?);
        self.select.by_ordinal.get(ordinal).map(|&entry| Id::new(entry as usize))
    }
}

impl Select {
    /// The best entry of each pair of lists.
    #[expect(clippy::iter_over_hash_type, reason = "every pair is visited once and a maximum has no order")]
    fn best_of_pairs(&self) -> Vec<(ListId, ListId, u32)> {
        let mut best = Vec::with_capacity(self.pairs.len());
        for (&(source, destination), bucket) in &self.pairs {
            best.extend(bucket.first().map(|&entry| (source, destination, entry)));
        }
        best
    }
}

fn number(list: ListId) -> u32 {
    u32::try_from(list.index()).unwrap_or(u32::MAX)
}

/// What policies can see of a source: of each part, the tags that some selector names. A value that none names is kept
/// as `None` where a wildcard asks whether the tag is there, and dropped elsewhere.
type Visible = Vec<Vec<(Sym, Option<Sym>)>>;

/// Sources in cells with equal answers: those that no policy of the kind can tell apart.
#[derive(Debug)]
pub struct Classes<'o> {
    named: FxHashSet<(Sym, Sym)>,
    wild: FxHashSet<Sym>,
    cells: Vec<&'o [TagSet]>,
    known: FxHashMap<Visible, usize>,
}

impl<'o> Classes<'o> {
    /// No classes yet.
    pub fn new(select: &Select) -> Self {
        let side = select.side(Side::Source);
        let (mut named, mut wild) = (FxHashSet::default(), FxHashSet::default());
        let granted = select.entries.iter().flat_map(|entry| entry.grants.iter().flatten().copied());
        for (key, want) in side.all_wants().chain(granted) {
            match want {
                Want::Exactly(value) => drop(named.insert((key, value))),
                Want::Any => drop(wild.insert(key)),
            }
        }
        Self { named, wild, cells: Vec::new(), known: FxHashMap::default() }
    }

    /// The class of a source, made if it is new.
    pub fn classify(&mut self, source: &'o [TagSet]) -> usize {
        let visible = self.visible(source);
        if let Some(class) = self.known.get(&visible) {
            return *class;
        }
        self.cells.push(source);
        self.known.insert(visible, self.cells.len() - 1);
        self.cells.len() - 1
    }

    fn visible(&self, source: &[TagSet]) -> Visible {
        let part = |tags: &TagSet| -> Vec<(Sym, Option<Sym>)> {
            let seen = tags.as_slice().iter().filter_map(|tag| {
                let named = tag.value.filter(|value| self.named.contains(&(tag.key, *value)));
                (named.is_some() || self.wild.contains(&tag.key)).then_some((tag.key, named))
            });
            seen.collect()
        };
        let mut parts: Visible = source.iter().map(part).collect();
        parts.sort_unstable();
        parts.dedup();
        parts
    }
}

impl<'o> Partition for Classes<'o> {
    type Question = [TagSet];
    type Cell = &'o [TagSet];

    fn cells(&self) -> &[&'o [TagSet]] {
        &self.cells
    }

    fn representative<'c>(&self, cell: &'c &'o [TagSet]) -> &'c [TagSet] {
        cell
    }

    fn locate(&self, question: &[TagSet]) -> Option<usize> {
        self.known.get(&self.visible(question)).copied()
    }
}
