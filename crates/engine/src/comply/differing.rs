//! Where two states may differ: what they share need not be looked at.

use super::Comply;
use super::facts::{Link, ObjectId};

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
}
