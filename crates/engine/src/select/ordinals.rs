//! What each entry brings to its rank: its numbers in the orders of what depends on it alone.
//!
//! Numbers are dense, so they move when an entry comes or goes. They are kept in flat lists that are copied: that costs less
//! than anything cleverer, and a rank stays one `u64`.

use std::cmp::Ordering;

use upheld_model::Symbols;

use super::rank::{Column, Group, Layout, TooManyBits, grouped};
use super::{Entries, Entry};
use crate::ladder::{Ladder, Rung};
use crate::order::Order;

/// The ranks of all entries, as far as they depend on the entry alone.
#[derive(Clone, Debug, Default)]
pub(super) struct Ordinals {
    /// By name, then by piece.
    identities: Order,
    /// One for each group of neighbouring rungs that read the entry alone, the lowest first; the worst entry has number zero.
    groups: Vec<Order>,
    layout: Layout,
    /// What each entry brings to its rank.
    keys: Vec<u64>,
}

/// What a change did to the layout of ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Laid {
    /// It is what it was.
    AsBefore,
    /// It is another one: all ranks must be packed once more.
    Anew,
}

impl Ordinals {
    pub(super) fn layout(&self) -> &Layout {
        &self.layout
    }

    /// What an entry brings to its rank.
    #[inline]
    pub(super) fn key(&self, entry: usize) -> u64 {
        self.keys.get(entry).copied().unwrap_or_default()
    }

    /// All entries by identity.
    pub(super) fn by_identity(&self) -> &[u32] {
        self.identities.sorted()
    }

    /// The entry with a rank.
    pub(super) fn ranked(&self, key: u64) -> Option<u32> {
        self.groups.first()?.sorted().get(self.layout.ordinal(key)).copied()
    }

    /// What a rung reads of an entry alone.
    pub(super) fn read(&self, id: u32, entry: &Entry, ladder: &Ladder<Column>, column: Column) -> i64 {
        let identity = i64::from(self.identities.number(id));
        match column {
            Column::Identity => identity,
            // Pieces of one policy are neighbours, and share the name of the first.
            Column::Name => identity - entry.split.and_then(|piece| i64::try_from(piece).ok()).unwrap_or_default(),
            _ => ladder.position(column).and_then(|rung| entry.fixed.get(rung)).copied().unwrap_or_default(),
        }
    }

    /// Takes entries out and puts others in.
    pub(super) fn change(
        &mut self,
        [gone, came]: [&[u32]; 2],
        entries: &Entries,
        most_tags: u64,
        ladder: &Ladder<Column>,
        symbols: &Symbols,
    ) -> Result<Laid, TooManyBits> {
        let identity = |id: u32| {
            let entry = entries.get(id as usize).and_then(Option::as_deref);
            entry.map(|entry| (symbols.text(entry.name), entry.split))
        };
        self.identities.change(gone, came, |a, b| identity(a).cmp(&identity(b)));
        let groups = grouped(ladder.rungs());
        let fixed = groups.iter().rev().filter_map(|group| match group {
            Group::Fixed(rungs) => Some(rungs.as_slice()),
            Group::Match(_) => None,
        });
        let mut orders = std::mem::take(&mut self.groups);
        for (place, rungs) in fixed.enumerate() {
            if orders.len() == place {
                orders.push(Order::default());
            }
            let Some(order) = orders.get_mut(place) else { continue };
            order.change(gone, came, |a, b| {
                let compared = self.compare(a, b, rungs, entries, ladder);
                // In the lowest group, the identity separates what the rungs leave equal.
                let later = || self.identities.number(b).cmp(&self.identities.number(a));
                if place == 0 { compared.then_with(later) } else { compared }
            });
        }
        self.groups = orders;
        self.pack(most_tags, ladder, entries.len())
    }

    /// Greater if the first entry is the better one.
    fn compare(&self, a: u32, b: u32, rungs: &[Rung<Column>], entries: &Entries, ladder: &Ladder<Column>) -> Ordering {
        let read = |id: u32, column: Column| {
            let entry = entries.get(id as usize).and_then(Option::as_deref);
            entry.map_or(0, |entry| self.read(id, entry, ladder, column))
        };
        let orders = rungs.iter().map(|rung| rung.compare(read(a, rung.column), read(b, rung.column)));
        orders.reduce(Ordering::then).unwrap_or(Ordering::Equal)
    }

    fn pack(&mut self, most_tags: u64, ladder: &Ladder<Column>, length: usize) -> Result<Laid, TooManyBits> {
        let highest: Vec<u64> = self.groups.iter().map(|order| u64::from(order.highest())).collect();
        let most_tags = most_tags.max(self.layout.most_tags());
        let laid = if self.layout.holds(most_tags, &highest) {
            Laid::AsBefore
        } else {
            self.layout = Layout::new(ladder, most_tags, &highest)?;
            Laid::Anew
        };
        let mut keys = vec![0; length];
        for &id in self.identities.sorted() {
            if let Some(key) = keys.get_mut(id as usize) {
                *key = self.layout.pack_fixed(self.groups.iter().map(|order| u64::from(order.number(id))));
            }
        }
        self.keys = keys;
        Ok(laid)
    }
}
