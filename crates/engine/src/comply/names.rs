//! Objects by what they are called.

use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashTable};

use super::facts::{Object, ObjectId};
use super::profile::Kind;

/// Which object a kind and an id mean; of several that came one after the other, the last. The names themselves stand with
/// the objects, where whoever looks for one looks next.
#[derive(Clone, Debug, Default)]
pub(super) struct Names {
    table: HashTable<ObjectId>,
    hasher: DefaultHashBuilder,
}

impl Names {
    pub(super) fn get(&self, objects: &[Object], kind: Kind, id: &str) -> Option<ObjectId> {
        self.table.find(self.hash(kind, id), |known| is_called(objects, *known, kind, id)).copied()
    }

    /// Lets an object have its name; returns who had it before.
    pub(super) fn give(&mut self, objects: &[Object], object: ObjectId) -> Option<ObjectId> {
        let own = objects.get(object.index())?;
        let hash = self.hash(own.kind, &own.id);
        match self.table.find_mut(hash, |known| is_called(objects, *known, own.kind, &own.id)) {
            Some(known) => Some(std::mem::replace(known, object)),
            None => {
                let Self { table, hasher } = self;
                table.insert_unique(hash, object, |known| {
                    objects.get(known.index()).map_or(0, |own| hasher.hash_one((own.kind, own.id.as_str())))
                });
                None
            }
        }
    }

    /// Takes the name from the last object, and gives it back to who had it before.
    pub(super) fn take(&mut self, objects: &[Object], object: ObjectId, before: Option<ObjectId>) {
        let Some(own) = objects.get(object.index()) else { return };
        let hash = self.hash(own.kind, &own.id);
        if let Ok(entry) = self.table.find_entry(hash, |known| *known == object) {
            match before {
                Some(before) => *entry.into_mut() = before,
                None => drop(entry.remove()),
            }
        }
    }

    fn hash(&self, kind: Kind, id: &str) -> u64 {
        self.hasher.hash_one((kind, id))
    }
}

fn is_called(objects: &[Object], object: ObjectId, kind: Kind, id: &str) -> bool {
    objects.get(object.index()).is_some_and(|own| own.kind == kind && own.id == id)
}
