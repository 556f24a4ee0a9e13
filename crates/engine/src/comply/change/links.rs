//! Relationships, and the pairs that they make.

use super::super::Comply;
use super::super::facts::{Link, Made, NearPair, ObjectId, Slot};
use super::super::joint::Pair;
use super::Undo;

impl Comply {
    /// Step: relates two objects.
    pub(in crate::comply) fn link(&mut self, link: Link) {
        let place = self.free_links.pop().unwrap_or_else(|| u32::try_from(self.links.len()).unwrap_or(u32::MAX));
        self.link_at(place, link);
    }

    pub(in crate::comply) fn link_at(&mut self, place: u32, link: Link) {
        while self.links.len() <= place as usize {
            self.links.push(None);
        }
        if let Some(own) = self.links.get_mut(place as usize) {
            *own = Some(link);
        }
        self.journal.push(Undo::Linked { place });
        for (end, near) in link.seen(place) {
            if let Some(object) = self.objects.get_mut(end.index()) {
                object.links.push(near);
            }
        }
        if self.owns(&link) {
            self.move_to(link.b, link.a);
        }
        for made in self.made_by(&link) {
            self.add_pair(made);
        }
    }

    /// Step: ends a relationship.
    pub(in crate::comply) fn unlink(&mut self, place: u32) {
        let Some(link) = self.links.get_mut(place as usize).and_then(Option::take) else { return };
        for made in self.made_by(&link) {
            self.remove_pair(made);
        }
        for end in link.ends() {
            if let Some(object) = self.objects.get_mut(end.index()) {
                object.links.retain(|own| own.place != place);
            }
        }
        if self.owns(&link) {
            self.move_to(link.b, ObjectId::NONE);
        }
        self.freed_links.push(place);
        self.journal.push(Undo::Unlinked { place, link });
    }

    /// Changes what an object lives in. Pairs of what lives in it belong to another scope then.
    pub(in crate::comply) fn move_to(&mut self, object: ObjectId, owner: ObjectId) {
        let links: Vec<Link> = self.links_below(object);
        for link in &links {
            for made in self.made_by(link) {
                self.remove_pair(made);
            }
        }
        if let Some(own) = self.objects.get_mut(object.index()) {
            own.owner = owner;
        }
        for link in &links {
            for made in self.made_by(link) {
                self.add_pair(made);
            }
        }
    }

    /// The relationships of an object and of all that lives in it, but for what says where they live.
    pub(in crate::comply) fn links_below(&self, object: ObjectId) -> Vec<Link> {
        let mut found = Vec::new();
        let mut waiting = vec![object];
        while let Some(next) = waiting.pop() {
            let places = self.object(next).map_or(&[][..], |object| &object.links);
            for link in places.iter().filter_map(|near| self.links.get(near.place as usize)).flatten() {
                let first = link.a == next;
                if first && self.owns(link) {
                    waiting.push(link.b);
                }
                if first {
                    found.push(*link);
                }
            }
        }
        found
    }

    pub(in crate::comply) fn slot_of(&self, made: Made) -> Option<Slot> {
        let joint = self.joints.get(usize::from(made.joint))?;
        let (a, b) = (self.object(made.a)?, self.object(made.b)?);
        let (fewer, other) = if a.pairs.len() <= b.pairs.len() { (a, made.b) } else { (b, made.a) };
        let fits = |near: &&NearPair| {
            let same = near.other == other && near.joint == made.joint;
            let pair = joint.pairs.get(near.place as usize).filter(|_| same);
            pair.is_some_and(|pair| (pair.a, pair.b, pair.scope) == (made.a, made.b, made.scope))
        };
        fewer.pairs.iter().find(fits).map(|near| near.slot())
    }

    pub(in crate::comply) fn add_pair(&mut self, made: Made) {
        let known = self.slot_of(made);
        let Some(joint) = self.joints.get_mut(usize::from(made.joint)) else { return };
        if let Some(pair) = known.and_then(|slot| joint.pairs.get_mut(slot.place as usize)) {
            pair.count += 1;
            return;
        }
        let Made { joint: number, a, b, scope } = made;
        let place = joint.place(Pair { a, b, scope, count: 1 });
        let slot = Slot { joint: number, place };
        for (end, near) in NearPair::sides(slot, a, b) {
            if let Some(object) = self.objects.get_mut(end.index()) {
                object.pairs.push(near);
            }
        }
        self.judge_pair(slot);
    }

    pub(in crate::comply) fn remove_pair(&mut self, made: Made) {
        let Some(slot) = self.slot_of(made) else { return };
        let joint = self.joints.get_mut(usize::from(slot.joint));
        let Some(pair) = joint.and_then(|joint| joint.pairs.get_mut(slot.place as usize)) else { return };
        pair.count = pair.count.saturating_sub(1);
        if pair.count > 0 {
            return;
        }
        self.judge_pair(slot);
        for end in [made.a, made.b] {
            if let Some(object) = self.objects.get_mut(end.index()) {
                object.pairs.retain(|own| own.slot() != slot);
            }
        }
        self.freed.push(slot);
    }
}
