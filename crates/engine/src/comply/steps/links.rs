//! Relationships, and the pairs that they make.

use std::sync::Arc;

use super::super::Comply;
use super::super::facts::{Link, LinkId, NeighbourPair, Object, ObjectId, Pair, Slot};
use super::super::pairs::{Changed, PairRow};
use super::Undo;

/// What moves with an object.
struct Below {
    residents: Vec<ObjectId>,
    links: Vec<Link>,
}

impl Comply {
    /// Step: relates two objects.
    pub fn relate(&mut self, link: Link) {
        let next = || LinkId(u32::try_from(self.links.len()).unwrap_or(u32::MAX));
        let place = self.free_links.pop().unwrap_or_else(next);
        self.link_at(place, link);
    }

    pub(super) fn link_at(&mut self, place: LinkId, link: Link) {
        self.links.put(place.0 as usize, Some(link), || None);
        self.journal.push(Undo::Linked(place));
        for (end, near) in link.seen(place) {
            if let Some(own) = self.near.get_mut(end.index()) {
                Arc::make_mut(&mut own.links).push(near);
            }
        }
        if self.owns(&link) {
            self.resettle(link.b, |own| own.owner = Some(link.a));
        }
        for pair in self.made_by(&link).collect::<Vec<_>>() {
            self.add_pair(pair);
        }
    }

    /// Step: ends a relationship.
    pub fn unlink(&mut self, place: LinkId) {
        let Some(link) = self.links.get_mut(place.0 as usize).and_then(Option::take) else { return };
        for pair in self.made_by(&link).collect::<Vec<_>>() {
            self.remove_pair(pair);
        }
        for end in link.ends() {
            if let Some(own) = self.near.get_mut(end.index()) {
                Arc::make_mut(&mut own.links).retain(|own| own.link != place);
            }
        }
        if self.owns(&link) {
            self.resettle(link.b, |own| own.owner = None);
        }
        self.freed_links.push(place);
        self.journal.push(Undo::Unlinked(place, link));
    }

    /// Changes where an object lives, or whether it and what lives in it take part. Pairs of all of them belong to another scope
    /// then, and other policies may count for them.
    pub(super) fn resettle(&mut self, object: ObjectId, change: impl FnOnce(&mut Object)) {
        let Below { residents, links } = self.below(object);
        for pair in self.pairs_made(&residents, &links) {
            self.remove_pair(pair);
        }
        if let Some(own) = self.objects.get_mut(object.index()) {
            change(own);
        }
        for resident in &residents {
            self.judge_changed(*resident, Changed::Scope);
        }
        for pair in self.pairs_made(&residents, &links) {
            self.add_pair(pair);
        }
    }

    /// An object and all that lives in it, and their relationships but for what says where it lives.
    fn below(&self, object: ObjectId) -> Below {
        let mut below = Below { residents: Vec::new(), links: Vec::new() };
        let mut waiting = vec![object];
        while let Some(next) = waiting.pop() {
            for (_, link) in self.links_of(next).filter(|(_, link)| link.a == next) {
                if self.owns(link) {
                    waiting.push(link.b);
                }
                below.links.push(*link);
            }
            below.residents.push(next);
        }
        below
    }

    /// The pairs that relationships make, and those of objects with themselves.
    fn pairs_made(&self, residents: &[ObjectId], links: &[Link]) -> Vec<Pair> {
        let alone = residents.iter().filter_map(|resident| self.alone(*resident));
        alone.chain(links.iter().flat_map(|link| self.made_by(link))).collect()
    }

    /// Where a pair stands, if a relationship makes it.
    pub(in crate::comply) fn slot_of(&self, pair: Pair) -> Option<Slot> {
        let table = self.table(pair.kind)?;
        let (a, b) = (self.near_pairs(pair.a), self.near_pairs(pair.b));
        let (fewer, other) = if a.len() <= b.len() { (a, pair.b) } else { (b, pair.a) };
        let fits = |near: &&NeighbourPair| {
            let row = || table.rows.get(near.place as usize);
            near.other == other && near.table == pair.kind && row().is_some_and(|row| row.pair(pair.kind) == pair)
        };
        fewer.iter().find(fits).map(|near| near.slot())
    }

    pub(super) fn add_pair(&mut self, pair: Pair) {
        let known = self.slot_of(pair);
        let Pair { kind, a, b, scope } = pair;
        let Some(table) = self.tables.get_mut(usize::from(kind.0)) else { return };
        if let Some(row) = known.and_then(|slot| table.rows.get_mut(slot.place as usize)) {
            row.count += 1;
            return;
        }
        let place = table.place(PairRow { a, b, scope, count: 1 });
        let slot = Slot { table: kind, place };
        for (end, near) in NeighbourPair::sides(slot, a, b) {
            if let Some(own) = self.near.get_mut(end.index()) {
                Arc::make_mut(&mut own.pairs).push(near);
            }
        }
        self.judge_pair(slot);
    }

    pub(super) fn remove_pair(&mut self, pair: Pair) {
        let Some(slot) = self.slot_of(pair) else { return };
        let table = self.tables.get_mut(usize::from(slot.table.0));
        let Some(row) = table.and_then(|table| table.rows.get_mut(slot.place as usize)) else { return };
        row.count = row.count.saturating_sub(1);
        if row.count > 0 {
            return;
        }
        self.judge_pair(slot);
        for end in [pair.a, pair.b] {
            if let Some(own) = self.near.get_mut(end.index()) {
                Arc::make_mut(&mut own.pairs).retain(|own| own.slot() != slot);
            }
        }
        self.freed.push(slot);
    }
}
