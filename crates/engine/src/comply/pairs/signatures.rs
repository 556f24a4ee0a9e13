//! Objects with the same values in the tags that rules look at share a signature.

use std::hash::BuildHasher;

use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;
use upheld_model::{Sym, ValuesId};

use super::super::ObjectId;
use super::super::lists::NO_VALUES;

/// The signatures of one side of a table.
#[derive(Clone, Debug, Default)]
pub(in crate::comply) struct Signatures {
    /// The tags that rules look at.
    keys: Vec<Sym>,
    /// Whether a tag was added since objects were signed.
    stale: Stale,
    /// By object; `u32::MAX` for those that have none.
    of: Vec<u32>,
    /// The values of all signatures, row by row.
    values: Vec<ValuesId>,
    count: u32,
    table: HashTable<u32>,
    scratch: Vec<ValuesId>,
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
        self.stale = Stale::No;
        self.of.clear();
        self.values.clear();
        self.count = 0;
        self.table.clear();
    }

    /// Gives an object its signature; returns its values if nobody had it before.
    pub(super) fn sign(&mut self, object: ObjectId, values: impl Fn(Sym) -> ValuesId) -> Option<&[ValuesId]> {
        self.scratch.clear();
        self.scratch.extend(self.keys.iter().map(|key| values(*key)));
        let hash = hash_of(&self.scratch);
        let width = self.keys.len();
        let Self { values: rows, table, scratch, .. } = self;
        let known = table.find(hash, |id| row(rows, width, *id) == scratch.as_slice()).copied();
        let (signature, new) = match known {
            Some(known) => (known, false),
            None => {
                let id = self.count;
                self.count += 1;
                rows.extend_from_slice(scratch);
                table.insert_unique(hash, id, |id| hash_of(row(rows, width, *id)));
                (id, true)
            }
        };
        let place = object.index();
        if self.of.len() <= place {
            self.of.resize(place + 1, u32::MAX);
        }
        if let Some(own) = self.of.get_mut(place) {
            *own = signature;
        }
        new.then_some(&self.scratch)
    }

    /// The signature of an object.
    #[inline]
    pub(super) fn of(&self, object: ObjectId) -> u32 {
        self.of.get(object.index()).copied().unwrap_or(u32::MAX)
    }

    /// How many signatures there are.
    pub(super) fn len(&self) -> usize {
        self.count as usize
    }

    /// The values of all signatures.
    pub(super) fn rows(&self) -> impl Iterator<Item = &[ValuesId]> {
        (0..self.count).map(|id| row(&self.values, self.keys.len(), id))
    }

    /// One value of a signature.
    pub(super) fn value(&self, signature: u32, column: usize) -> ValuesId {
        row(&self.values, self.keys.len(), signature).get(column).copied().unwrap_or(NO_VALUES)
    }
}

fn row(values: &[ValuesId], width: usize, id: u32) -> &[ValuesId] {
    let start = width.saturating_mul(id as usize);
    values.get(start..start.saturating_add(width)).unwrap_or(&[])
}
