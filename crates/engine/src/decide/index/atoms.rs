//! What can be looked up by equality, as small numbers.

use hashbrown::HashTable;

use super::Kinds;
use super::keys::{Key, LongTexts, Slots};
use super::layers::{Growing, Layered, Settle};
use crate::decide::glob::Wildcard;
use crate::decide::number::Number;
use crate::decide::request::Fact;

/// What an atom is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AtomKind {
    /// The id of the subject.
    Id,
    /// The sort of the subject.
    SubjectType,
    /// A role by its name.
    Role,
    /// Roles that look alike.
    RolePattern,
    /// A group.
    Group,
    /// An application by its name.
    App,
    /// Applications that look alike.
    AppPattern,
    /// The sort of the resource.
    Type,
    /// The id of the resource.
    ResourceId,
    /// An operation.
    Operation,
    /// A claim with a value.
    Claim,
}

/// What a claim may be to be looked up; each is a kind of its own.
const VALUES: u32 = 32;

/// Texts with a kind, numbered from one: zero is the atom that every request has.
#[derive(Clone, Debug, Default)]
pub(super) struct Atoms(Layered<Table>);

impl Atoms {
    /// How many there are, the one of every request included.
    pub(super) fn len(&self) -> usize {
        self.0.len() + 1
    }

    /// What an atom is about; nothing for the one that every request has.
    pub(super) fn kind(&self, atom: u32) -> Option<AtomKind> {
        let (table, number) = self.0.layer(atom.checked_sub(1)?);
        table.kinds.get(number).copied()
    }

    /// What there are atoms about.
    pub(super) fn kinds(&self) -> Kinds {
        self.0.frozen.about.with(self.0.recent.about)
    }

    /// All atoms of some kinds.
    pub(super) fn of_kinds(&self, kinds: Kinds) -> impl Iterator<Item = u32> {
        let all = self.0.frozen.kinds.iter().chain(&self.0.recent.kinds);
        (1..).zip(all).filter(move |(_, kind)| kinds.meets(Kinds::one(**kind))).map(|(atom, _)| atom)
    }

    /// The atom of a text, if a policy has it.
    pub(super) fn get(&self, kind: AtomKind, text: &[u8]) -> Option<u32> {
        let key = Key::of(kind as u32, text);
        let hash = key.hash(0);
        self.0.find(|table| table.find(&key, text, hash, |_| true)).map(|number| number + 1)
    }

    /// The atom of a text, made if it is new.
    pub(super) fn intern(&mut self, kind: AtomKind, text: &[u8]) -> u32 {
        self.get(kind, text).unwrap_or_else(|| {
            let add = |table: &mut Table| {
                let key = table.long.keep(Key::of(kind as u32, text), text);
                table.add(kind, key, None)
            };
            self.0.add(add) + 1
        })
    }

    /// The atom of a claim with a value, if a policy has it.
    pub(super) fn claim(&self, name: &str, value: &Fact) -> Option<u32> {
        with_value(value, |kind, text| {
            let (key, name_key) = (Key::of(kind, text), Key::of(AtomKind::Claim as u32, name.as_bytes()));
            let hash = claim_hash(&name_key, &key);
            let found = self.0.find(|table| {
                table.find(&key, text, hash, |number| {
                    let known = table.names.get(number as usize).and_then(Option::as_ref);
                    known.is_some_and(|known| table.long.is(known, &name_key, name.as_bytes()))
                })
            });
            found.map(|number| number + 1)
        })?
    }

    /// The atom of a claim with a value, made if it is new; none for values that cannot be looked up.
    pub(super) fn intern_claim(&mut self, name: &str, value: &Fact) -> Option<u32> {
        if let Some(known) = self.claim(name, value) {
            return Some(known);
        }
        let (kind, text) = with_value(value, |kind, text| (kind, text.to_vec()))?;
        let add = |table: &mut Table| {
            let name = table.long.keep(Key::of(AtomKind::Claim as u32, name.as_bytes()), name.as_bytes());
            let key = table.long.keep(Key::of(kind, &text), &text);
            table.add(AtomKind::Claim, key, Some(name))
        };
        Some(self.0.add(add) + 1)
    }

    /// See [`Layered::settle`].
    pub(super) fn settle(&mut self, when: Settle) {
        self.0.settle(when);
    }

    #[cfg(test)]
    pub(super) fn unshared(&self, other: &Self) -> usize {
        self.0.unshared(&other.0)
    }
}

/// Some of the atoms, numbered from zero.
#[derive(Clone, Debug, Default)]
struct Table {
    /// The key of each; of a claim that of its value.
    keys: Vec<Key>,
    /// The name of each that is a claim.
    names: Vec<Option<Key>>,
    long: LongTexts,
    slots: Slots,
    kinds: Vec<AtomKind>,
    /// What all of them are about.
    about: Kinds,
}

impl Table {
    #[inline]
    fn find(&self, key: &Key, text: &[u8], hash: u64, also: impl Fn(u32) -> bool) -> Option<u32> {
        let is = |number: u32| {
            self.keys.get(number as usize).is_some_and(|known| self.long.is(known, key, text)) && also(number)
        };
        self.slots.find(hash, is)
    }

    fn add(&mut self, kind: AtomKind, key: Key, name: Option<Key>) -> u32 {
        self.kinds.push(kind);
        self.about = self.about.with(Kinds::one(kind));
        let number = u32::try_from(self.keys.len()).unwrap_or(u32::MAX);
        self.keys.push(key);
        self.names.push(name);
        let Self { keys, names, slots, .. } = self;
        let hash_of = |number: u32| {
            let (key, name) = (keys.get(number as usize), names.get(number as usize));
            match (key, name) {
                (Some(key), Some(Some(name))) => claim_hash(name, key),
                (Some(key), _) => key.hash(0),
                (None, _) => 0,
            }
        };
        slots.insert(hash_of(number), number, hash_of);
        number
    }
}

impl Growing for Table {
    fn len(&self) -> usize {
        self.keys.len()
    }

    fn append(&mut self, other: Self) {
        let moved = self.long.append(&other.long);
        self.keys.reserve_exact(other.keys.len());
        self.names.reserve_exact(other.keys.len());
        self.kinds.reserve_exact(other.keys.len());
        for ((kind, key), name) in other.kinds.into_iter().zip(other.keys).zip(other.names) {
            self.add(kind, moved(key), name.map(&moved));
        }
    }

    fn shrink(&mut self) {
        self.keys.shrink_to_fit();
        self.names.shrink_to_fit();
        self.long.shrink();
        self.kinds.shrink_to_fit();
    }
}

fn claim_hash(name: &Key, value: &Key) -> u64 {
    name.hash(0).rotate_left(31) ^ value.hash(0)
}

/// Calls back with the kind and the bytes under which a value of a claim is known.
fn with_value<T>(value: &Fact, act: impl FnOnce(u32, &[u8]) -> T) -> Option<T> {
    Some(match value {
        Fact::Text(text) => act(VALUES, text.as_bytes()),
        Fact::Number(Number::Whole(number)) => act(VALUES + 1, &number.to_le_bytes()),
        Fact::Number(Number::Large(number)) => act(VALUES + 2, &number.to_le_bytes()),
        // What is not a number equals nothing.
        Fact::Number(Number::Other(number)) if !number.is_nan() => act(VALUES + 3, &number.to_le_bytes()),
        Fact::Bool(truth) => act(VALUES + 4, &[u8::from(*truth)]),
        _ => return None,
    })
}

/// Patterns that begin alike, with their atoms.
type SamePrefix = (Vec<u8>, Vec<(Wildcard, u32)>);

/// Patterns by the text with which all begins that they cover.
#[derive(Clone, Debug, Default)]
pub(super) struct Patterns(Layered<Prefixes>);

impl Patterns {
    /// Adds a pattern with its atom.
    pub(super) fn add(&mut self, pattern: &Wildcard, atom: u32) {
        let prefix = pattern.prefix().as_bytes();
        if !self.0.frozen.has(prefix, atom) {
            self.0.recent.add(prefix, pattern, atom);
        }
    }

    /// Calls back with the atoms of all patterns that cover a text.
    pub(super) fn find(&self, text: &str, mut found: impl FnMut(u32)) {
        self.0.frozen.find(text, &mut found);
        if self.0.recent.count > 0 {
            self.0.recent.find(text, &mut found);
        }
    }

    /// See [`Layered::settle`].
    pub(super) fn settle(&mut self, when: Settle) {
        self.0.settle(when);
    }

    #[cfg(test)]
    pub(super) fn unshared(&self, other: &Self) -> usize {
        self.0.unshared(&other.0)
    }
}

/// Some of the patterns.
#[derive(Clone, Debug, Default)]
struct Prefixes {
    /// The lengths of the texts with which they begin, shortest first.
    lengths: Vec<usize>,
    by_prefix: HashTable<SamePrefix>,
    count: usize,
}

impl Prefixes {
    fn has(&self, prefix: &[u8], atom: u32) -> bool {
        let known = self.by_prefix.find(prefix_hash(prefix), |(known, _)| known == prefix);
        known.is_some_and(|(_, patterns)| patterns.iter().any(|(_, known)| *known == atom))
    }

    fn add(&mut self, prefix: &[u8], pattern: &Wildcard, atom: u32) {
        if self.has(prefix, atom) {
            return;
        }
        self.count += 1;
        if let Err(place) = self.lengths.binary_search(&prefix.len()) {
            self.lengths.insert(place, prefix.len());
        }
        let known = self.by_prefix.find_mut(prefix_hash(prefix), |(known, _)| known == prefix);
        match known {
            Some((_, patterns)) => patterns.push((pattern.clone(), atom)),
            None => {
                let new = (prefix.to_vec(), vec![(pattern.clone(), atom)]);
                self.by_prefix.insert_unique(prefix_hash(prefix), new, |(known, _)| prefix_hash(known));
            }
        }
    }

    fn find(&self, text: &str, found: &mut impl FnMut(u32)) {
        for length in &self.lengths {
            let Some(prefix) = text.as_bytes().get(..*length) else { break };
            if let Some((_, patterns)) = self.by_prefix.find(prefix_hash(prefix), |(known, _)| known == prefix) {
                for (pattern, atom) in patterns {
                    if pattern.covers(text) {
                        found(*atom);
                    }
                }
            }
        }
    }
}

impl Growing for Prefixes {
    fn len(&self) -> usize {
        self.count
    }

    fn append(&mut self, other: Self) {
        for (prefix, patterns) in other.by_prefix {
            for (pattern, atom) in patterns {
                self.add(&prefix, &pattern, atom);
            }
        }
    }

    fn shrink(&mut self) {
        self.lengths.shrink_to_fit();
    }
}

fn prefix_hash(prefix: &[u8]) -> u64 {
    Key::of(0, prefix).hash(0)
}
