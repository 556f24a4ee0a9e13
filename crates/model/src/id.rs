//! Typed indexes: an index of one kind cannot be used for another.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::marker::PhantomData;

/// The position of a `T` in its [`Table`].
pub struct Id<T> {
    index: u32,
    marker: PhantomData<fn() -> T>,
}

impl<T> Id<T> {
    /// The first position.
    pub const FIRST: Self = Self { index: 0, marker: PhantomData };

    /// The id at a position; positions past `u32::MAX` saturate and are found in no table.
    pub fn new(index: usize) -> Self {
        Self { index: u32::try_from(index).unwrap_or(u32::MAX), marker: PhantomData }
    }

    /// The position.
    pub fn index(self) -> usize {
        self.index as usize
    }
}

impl<T> Clone for Id<T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for Id<T> {}
impl<T> PartialEq for Id<T> {
    fn eq(&self, other: &Self) -> bool {
        self.index == other.index
    }
}
impl<T> Eq for Id<T> {}
impl<T> PartialOrd for Id<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl<T> Ord for Id<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.index.cmp(&other.index)
    }
}
impl<T> Hash for Id<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.index.hash(state);
    }
}
impl<T> fmt::Debug for Id<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{}", self.index)
    }
}

/// A growing list that hands out an [`Id`] for each item.
#[derive(Clone, Debug)]
pub struct Table<T> {
    items: Vec<T>,
}

impl<T> Default for Table<T> {
    fn default() -> Self {
        Self { items: Vec::new() }
    }
}

impl<T> Table<T> {
    /// Adds an item and returns where it is.
    pub fn push(&mut self, item: T) -> Id<T> {
        let id = Id::new(self.items.len());
        self.items.push(item);
        id
    }

    /// Adds items.
    pub fn extend(&mut self, items: impl IntoIterator<Item = T>) {
        self.items.extend(items);
    }

    /// Makes room for more items.
    pub fn reserve(&mut self, more: usize) {
        self.items.reserve(more);
    }

    /// The item, unless the id is of another table.
    pub fn get(&self, id: Id<T>) -> Option<&T> {
        self.items.get(id.index())
    }

    /// All items with their ids, in order of arrival.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (Id<T>, &T)> {
        self.items.iter().enumerate().map(|(index, item)| (Id::new(index), item))
    }

    /// All items in order of arrival.
    pub fn as_slice(&self) -> &[T] {
        &self.items
    }

    /// All items in order, to change them.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.items.iter_mut()
    }

    /// The items, without their ids.
    pub fn into_vec(self) -> Vec<T> {
        self.items
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }
}

impl<T> FromIterator<T> for Table<T> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        Self { items: items.into_iter().collect() }
    }
}
