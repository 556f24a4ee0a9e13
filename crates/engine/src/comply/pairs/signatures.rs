//! Objects with the same values in the tags that rules look at share a signature.

use std::hash::BuildHasher;
use std::sync::Arc;

use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;
use upheld_model::{Pages, Sym, ValuesId};

use super::super::ObjectId;
use super::super::value_lists::NO_VALUES;

/// The signatures of one side of a table.
#[derive(Clone, Debug, Default)]
pub(in crate::comply) struct Signatures {
    /// The tags that rules look at.
    keys: Vec<Sym>,
    /// Whether a tag was added since objects were signed.
    stale: Stale,
    /// By object; `u32::MAX` for those that have none.
    of: Pages<u32, 1024>,
    /// By signature, its values.
    rows: Pages<Arc<[ValuesId]>>,
    /// Signatures by their values.
    known: Arc<HashTable<u32>>,
}

/// Whether signatures have to be made again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Stale {
    #[default]
    No,
    Yes,
}

fn hash_of(row: &[ValuesId]) -> u64 {
    FxBuildHasher.hash_one(row)
}

impl Signatures {
    /// The places of some tags among those that are looked at.
    pub(super) fn columns(&self, keys: &[Sym]) -> Vec<usize> {
        let places = self.keys.iter().enumerate().filter(|(_, key)| keys.contains(key));
        places.map(|(place, _)| place).collect()
    }

    /// Whether a tag was added since objects were signed.
    pub(in crate::comply) fn is_stale(&self) -> bool {
        self.stale == Stale::Yes
    }

    /// The place of a tag among those that are looked at; a new one makes all signatures stale.
    pub(super) fn column(&mut self, key: Sym) -> usize {
        if let Some(place) = self.keys.iter().position(|known| *known == key) {
            return place;
        }
        self.keys.push(key);
        self.stale = Stale::Yes;
        self.keys.len() - 1
    }

    /// Forgets all signatures, keeps the tags.
    pub(in crate::comply) fn forget(&mut self) {
        *self = Self { keys: std::mem::take(&mut self.keys), ..Self::default() };
    }

    /// Gives an object its signature; returns its values if nobody had it before.
    pub(super) fn sign(&mut self, object: ObjectId, values: impl Fn(Sym) -> ValuesId) -> Option<Arc<[ValuesId]>> {
        let own: Arc<[ValuesId]> = self.keys.iter().map(|key| values(*key)).collect();
        let hash = hash_of(&own);
        let known = self.known.find(hash, |id| self.row(*id) == &*own).copied();
        let (signature, new) = match known {
            Some(known) => (known, None),
            None => {
                let id = u32::try_from(self.rows.len()).unwrap_or(u32::MAX);
                self.rows.push(Arc::clone(&own));
                let rows = &self.rows;
                let hash_again = |id: &u32| rows.get(*id as usize).map_or(0, |row| hash_of(row));
                Arc::make_mut(&mut self.known).insert_unique(hash, id, hash_again);
                (id, Some(own))
            }
        };
        // An object that keeps its signature leaves the page to those who share it.
        if self.of(object) != signature {
            self.of.put(object.index(), signature, || u32::MAX);
        }
        new
    }

    /// The signature of an object.
    #[inline]
    pub(super) fn of(&self, object: ObjectId) -> u32 {
        self.of.get(object.index()).copied().unwrap_or(u32::MAX)
    }

    /// The signatures of all objects in one piece, for those who look at many.
    pub(super) fn flat(&self) -> Vec<u32> {
        let mut flat = Vec::with_capacity(self.of.len());
        for page in self.of.slices() {
            flat.extend_from_slice(page);
        }
        flat
    }

    /// How many pages are not those of another side.
    pub(super) fn unshared(&self, other: &Self) -> usize {
        let Self { keys: _, stale: _, of, rows, known } = self;
        of.unshared(&other.of) + rows.unshared(&other.rows) + usize::from(!Arc::ptr_eq(known, &other.known))
    }

    /// How many signatures there are.
    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    /// The values of all signatures.
    pub(super) fn rows(&self) -> impl Iterator<Item = &[ValuesId]> {
        self.rows.iter().map(|row| &**row)
    }

    fn row(&self, signature: u32) -> &[ValuesId] {
        self.rows.get(signature as usize).map_or(&[], |row| row)
    }

    /// One value of a signature.
    pub(super) fn value(&self, signature: u32, column: usize) -> ValuesId {
        self.row(signature).get(column).copied().unwrap_or(NO_VALUES)
    }
}
