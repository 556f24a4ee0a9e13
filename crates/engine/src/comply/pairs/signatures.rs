//! Objects of which rules can tell nothing apart share a signature: the values of the tags that they look at, and which
//! policies count for them.

use std::hash::BuildHasher;
use std::sync::Arc;

use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;
use upheld_model::{Pages, Sym, ValuesId};

use super::super::ObjectId;
use super::super::selection::{Column, Picks};
use super::super::value_lists::NO_VALUES;

/// The signatures of one side of a table.
#[derive(Clone, Debug, Default)]
pub(in crate::comply) struct Signatures {
    /// What rules look at.
    columns: Vec<Column>,
    /// Whether a column was added since objects were signed.
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
    /// Of objects that are told apart by nothing, which still have to be signed.
    pub(super) fn unsigned() -> Self {
        Self { stale: Stale::Yes, ..Self::default() }
    }

    /// The places of the columns that look at some tags.
    pub(super) fn columns(&self, keys: &[Sym]) -> Vec<usize> {
        self.places(|column| match column {
            Column::Tag(key) => keys.contains(key),
            Column::Selected(picks) => picks.looks_at(keys),
        })
    }

    /// The places of the columns that look at where objects live.
    pub(super) fn scope_columns(&self) -> Vec<usize> {
        self.places(|column| matches!(column, Column::Selected(picks) if picks.looks_at_scopes()))
    }

    fn places(&self, wanted: impl Fn(&Column) -> bool) -> Vec<usize> {
        let places = self.columns.iter().enumerate().filter(|(_, column)| wanted(column));
        places.map(|(place, _)| place).collect()
    }

    /// What a column selects.
    pub(in crate::comply) fn picks(&self, column: usize) -> Option<&Picks> {
        match self.columns.get(column)? {
            Column::Tag(_) => None,
            Column::Selected(picks) => Some(picks),
        }
    }

    /// Whether a column was added since objects were signed.
    pub(in crate::comply) fn is_stale(&self) -> bool {
        self.stale == Stale::Yes
    }

    /// The place of a column; a new one makes all signatures stale.
    pub(super) fn column(&mut self, column: Column) -> usize {
        if let Some(place) = self.columns.iter().position(|known| *known == column) {
            return place;
        }
        self.columns.push(column);
        self.stale = Stale::Yes;
        self.columns.len() - 1
    }

    /// Forgets all signatures, keeps the columns.
    pub(in crate::comply) fn forget(&mut self) {
        *self = Self { columns: std::mem::take(&mut self.columns), ..Self::default() };
    }

    /// Gives an object its signature; returns its values if nobody had it before.
    pub(super) fn sign(&mut self, object: ObjectId, read: impl Fn(&Column) -> ValuesId) -> Option<Arc<[ValuesId]>> {
        let own: Arc<[ValuesId]> = self.columns.iter().map(read).collect();
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
        let Self { columns: _, stale: _, of, rows, known } = self;
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
