//! What can be looked up by equality, as small numbers.

use hashbrown::HashTable;

use super::keys::{Key, LongTexts, Slots};
use crate::decide::glob::Wild;
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
pub(super) struct Atoms {
    /// The key of each; of a claim that of its value.
    keys: Vec<Key>,
    /// The name of each that is a claim.
    names: Vec<Option<Key>>,
    long: LongTexts,
    slots: Slots,
    kinds: Vec<AtomKind>,
}

impl Atoms {
    /// How many there are, the one of every request included.
    pub(super) fn len(&self) -> usize {
        self.keys.len() + 1
    }

    /// What an atom is about; nothing for the one that every request has.
    pub(super) fn kind(&self, atom: u32) -> Option<AtomKind> {
        self.kinds.get((atom as usize).checked_sub(1)?).copied()
    }

    /// The atom of a text, if a policy has it.
    pub(super) fn get(&self, kind: AtomKind, text: &[u8]) -> Option<u32> {
        let key = Key::of(kind as u32, text);
        self.find(&key, text, key.hash(0), |_| true)
    }

    /// The atom of a text, made if it is new.
    pub(super) fn intern(&mut self, kind: AtomKind, text: &[u8]) -> u32 {
        self.get(kind, text).unwrap_or_else(|| {
            let key = self.long.keep(Key::of(kind as u32, text), text);
            self.add(kind, key, None)
        })
    }

    /// The atom of a claim with a value, if a policy has it.
    pub(super) fn claim(&self, name: &str, value: &Fact) -> Option<u32> {
        with_value(value, |kind, text| {
            let (key, name_key) = (Key::of(kind, text), Key::of(AtomKind::Claim as u32, name.as_bytes()));
            self.find(&key, text, claim_hash(&name_key, &key), |number| {
                let known = self.names.get(number as usize).and_then(Option::as_ref);
                known.is_some_and(|known| self.long.is(known, &name_key, name.as_bytes()))
            })
        })?
    }

    /// The atom of a claim with a value, made if it is new; none for values that cannot be looked up.
    pub(super) fn intern_claim(&mut self, name: &str, value: &Fact) -> Option<u32> {
        if let Some(known) = self.claim(name, value) {
            return Some(known);
        }
        let (kind, text) = with_value(value, |kind, text| (kind, text.to_vec()))?;
        let name = self.long.keep(Key::of(AtomKind::Claim as u32, name.as_bytes()), name.as_bytes());
        let key = self.long.keep(Key::of(kind, &text), &text);
        Some(self.add(AtomKind::Claim, key, Some(name)))
    }

    fn find(&self, key: &Key, text: &[u8], hash: u64, also: impl Fn(u32) -> bool) -> Option<u32> {
        let is = |number: u32| {
            self.keys.get(number as usize).is_some_and(|known| self.long.is(known, key, text)) && also(number)
        };
        self.slots.find(hash, is).map(|number| number + 1)
    }

    fn add(&mut self, kind: AtomKind, key: Key, name: Option<Key>) -> u32 {
        self.kinds.push(kind);
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
        number + 1
    }
}

fn claim_hash(name: &Key, value: &Key) -> u64 {
    name.hash(0).rotate_left(31) ^ value.hash(0)
}

/// Calls back with the kind and the bytes under which a value of a claim is known.
fn with_value<T>(value: &Fact, act: impl FnOnce(u32, &[u8]) -> T) -> Option<T> {
    Some(match value {
        Fact::Text(text) => act(VALUES, text.as_bytes()),
        // Both zeros are equal, and what is no number equals nothing.
        Fact::Number(number) if !number.is_nan() => act(VALUES + 1, &(number + 0.0).to_le_bytes()),
        Fact::Bool(truth) => act(VALUES + 2, &[u8::from(*truth)]),
        _ => return None,
    })
}

/// Patterns that begin alike, with their atoms.
type SamePrefix = (Vec<u8>, Vec<(Wild, u32)>);

/// Patterns by the text with which all begins that they cover.
#[derive(Clone, Debug, Default)]
pub(super) struct Patterns {
    /// The lengths of those texts, shortest first.
    lengths: Vec<usize>,
    by_prefix: HashTable<SamePrefix>,
}

impl Patterns {
    /// Adds a pattern with its atom.
    pub(super) fn add(&mut self, pattern: &Wild, atom: u32) {
        let prefix = pattern.prefix().as_bytes();
        if let Err(place) = self.lengths.binary_search(&prefix.len()) {
            self.lengths.insert(place, prefix.len());
        }
        let known = self.by_prefix.find_mut(prefix_hash(prefix), |(known, _)| known == prefix);
        match known {
            Some((_, patterns)) if patterns.iter().any(|(_, known)| *known == atom) => {}
            Some((_, patterns)) => patterns.push((pattern.clone(), atom)),
            None => {
                let new = (prefix.to_vec(), vec![(pattern.clone(), atom)]);
                self.by_prefix.insert_unique(prefix_hash(prefix), new, |(known, _)| prefix_hash(known));
            }
        }
    }

    /// Calls back with the atoms of all patterns that cover a text.
    pub(super) fn find(&self, text: &str, mut found: impl FnMut(u32)) {
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

fn prefix_hash(prefix: &[u8]) -> u64 {
    Key::of(0, prefix).hash(0)
}
