//! Objects by what they are called.

use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashTable};

use super::facts::{Object, ObjectId, Objects};
use super::profile::Profile;

/// Which object a reference means; of several that came one after the other, the last. The names themselves
/// stand with the objects, where whoever looks for one looks next.
#[derive(Clone, Debug, Default)]
pub(super) struct ObjectNames {
    table: HashTable<ObjectId>,
    hasher: DefaultHashBuilder,
}

impl ObjectNames {
    /// The object of a reference, whose kind has its neutral name.
    pub(super) fn get(&self, objects: &Objects, profile: &Profile, reference: &str) -> Option<ObjectId> {
        let (kind, id) = reference.split_once('/')?;
        let is_called = |known: &ObjectId| {
            objects.get(known.index()).is_some_and(|own| own.id == id && profile.kind_name(own.kind) == kind)
        };
        self.table.find(self.hasher.hash_one(reference), is_called).copied()
    }

    /// Lets an object have its name; returns who had it before.
    pub(super) fn give(&mut self, objects: &Objects, profile: &Profile, object: ObjectId) -> Option<ObjectId> {
        let own = objects.get(object.index())?;
        let Self { table, hasher } = self;
        let hash = |own: &Object| hasher.hash_one(profile.reference(own.kind, &own.id).as_str());
        let is_called = |known: &ObjectId| {
            objects.get(known.index()).is_some_and(|other| (other.kind, &other.id) == (own.kind, &own.id))
        };
        if let Some(known) = table.find_mut(hash(own), is_called) {
            return Some(std::mem::replace(known, object));
        }
        table.insert_unique(hash(own), object, |known| objects.get(known.index()).map_or(0, hash));
        None
    }

    /// Takes the name from the last object, and gives it back to who had it before.
    pub(super) fn take(&mut self, objects: &Objects, profile: &Profile, object: ObjectId, before: Option<ObjectId>) {
        let Some(own) = objects.get(object.index()) else { return };
        let hash = self.hasher.hash_one(profile.reference(own.kind, &own.id).as_str());
        if let Ok(entry) = self.table.find_entry(hash, |known| *known == object) {
            match before {
                Some(before) => *entry.into_mut() = before,
                None => drop(entry.remove()),
            }
        }
    }
}
