//! Where two states may differ: what they share need not be looked at.

use std::sync::Arc;

use super::Comply;
use super::facts::{Link, Object, ObjectId, Slot};
use super::listing::slot;
use super::pairs::PairTable;
use super::profile::PairKind;

impl Comply {
    /// The live objects of this state that another one may know otherwise. All of them if the two were built apart.
    pub fn differing_objects(&self, other: &Self) -> Vec<ObjectId> {
        let places = self.objects.differing(&other.objects).map(ObjectId::new);
        places.filter(|object| self.is_live(*object)).collect()
    }

    /// The relationships of this state that another one may not have.
    pub fn differing_links(&self, other: &Self) -> Vec<Link> {
        self.links.differing(&other.links).filter_map(|place| *self.links.get(place)?).collect()
    }

    /// The places of the pairs that may violate otherwise than in another state, which is judged by the same policies and waivers.
    /// Nothing if it is not: then every pair has to be looked at.
    pub(super) fn differing_pairs(&self, other: &Self) -> Option<Vec<Slot>> {
        let same = Arc::ptr_eq(&self.profile, &other.profile)
            && self.partners == other.partners
            && Arc::ptr_eq(&self.policies, &other.policies)
            && Arc::ptr_eq(&self.waivers, &other.waivers);
        if !same {
            return None;
        }
        let mut found = Vec::new();
        for ((kind, own), other) in (0..).map(PairKind).zip(&self.tables).zip(&other.tables) {
            found.extend(own.differing(other).map(|place| slot(kind, place)));
        }
        // A place may have been given to another object; and what an object is counts for its pairs, and for those that live in it.
        for place in self.objects.differing(&other.objects) {
            let (own, others) = (self.objects.get(place), other.objects.get(place));
            if !own.zip(others).is_some_and(|(own, others)| own.is_as(others)) {
                let object = ObjectId::new(place);
                found.extend(self.near_pairs(object).iter().map(|near| near.slot()));
                found.extend(self.violating_in(Some(object)));
            }
        }
        found.sort_unstable();
        found.dedup();
        Some(found)
    }
}

impl Object {
    /// Whether it is the same object, and is judged in the same way but for its tags: what these come to, pairs know.
    fn is_as(&self, other: &Self) -> bool {
        let (own, others) = (&self.described, &other.described);
        (self.kind, &self.id, self.owner) == (other.kind, &other.id, other.owner)
            && (own.standing, own.partner) == (others.standing, others.partner)
    }
}

impl PairTable {
    /// The places at which there is another pair than in another table, or one that violates otherwise.
    fn differing(&self, other: &Self) -> impl Iterator<Item = usize> {
        let mut places: Vec<usize> = self.rows.differing(&other.rows).collect();
        for (own, others) in self.bits.iter().zip(&other.bits) {
            places.extend(own.words.differing(&others.words));
        }
        places.sort_unstable();
        places.dedup();
        places.into_iter().filter(|place| !self.is_alike(other, *place))
    }

    fn is_alike(&self, other: &Self, place: usize) -> bool {
        let pair = |table: &Self| table.rows.get(place).map(|row| (row.a, row.b, row.scope, row.count > 0));
        let mut words = self.bits.iter().zip(&other.bits);
        pair(self) == pair(other) && words.all(|(own, others)| own.words.get(place) == others.words.get(place))
    }
}
