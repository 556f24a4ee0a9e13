//! What can be looked up by equality, as small numbers.

use hashbrown::HashTable;

use super::NONE;
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
    /// The name of a claim; no atom of its own, but its number stands before those of its values.
    Claim,
}

/// Numbers of values of claims begin here; each claim has one for each type of value.
const VALUES: u32 = 16;

/// Texts with a kind, numbered from one: zero is the atom that every request has.
#[derive(Clone, Debug, Default)]
pub(super) struct Atoms {
    keys: Vec<Key>,
    /// The texts that are too long for a key.
    long: Vec<u8>,
    slots: Slots,
    used: u32,
}

impl Atoms {
    /// How many there are, the one of every request included.
    pub(super) fn len(&self) -> usize {
        self.keys.len() + 1
    }

    /// Whether any atom is of a kind.
    pub(super) fn uses(&self, kind: AtomKind) -> bool {
        self.used & 1 << kind as u32 != 0
    }

    /// The atom of a text, if a policy has it.
    pub(super) fn get(&self, kind: AtomKind, text: &[u8]) -> Option<u32> {
        self.look_up(&Key::of(kind as u32, text), text)
    }

    /// The atom of a text, made if it is new.
    pub(super) fn intern(&mut self, kind: AtomKind, text: &[u8]) -> u32 {
        self.used |= 1 << kind as u32;
        self.make(kind as u32, text)
    }

    /// The atom of a claim with a value, if a policy has it.
    pub(super) fn claim(&self, name: &str, value: &Fact) -> Option<u32> {
        let name = self.get(AtomKind::Claim, name.as_bytes())?;
        with_value(name, value, |kind, text| self.look_up(&Key::of(kind, text), text))?
    }

    /// The atom of a claim with a value, made if it is new; none for values that cannot be looked up.
    pub(super) fn intern_claim(&mut self, name: &str, value: &Fact) -> Option<u32> {
        let name = self.intern(AtomKind::Claim, name.as_bytes());
        with_value(name, value, |kind, text| self.make(kind, text))
    }

    fn look_up(&self, key: &Key, text: &[u8]) -> Option<u32> {
        let found = self.slots.find(key.hash(), |number| {
            let known = self.keys.get(number as usize);
            known.is_some_and(|known| known.is(key) && (key.length <= SHORT || self.long_text(known) == text))
        });
        found.map(|number| number + 1)
    }

    fn make(&mut self, kind: u32, text: &[u8]) -> u32 {
        let mut key = Key::of(kind, text);
        if let Some(atom) = self.look_up(&key, text) {
            return atom;
        }
        if key.length > SHORT {
            key.words[1] = self.long.len() as u64;
            self.long.extend_from_slice(text);
        }
        let number = u32::try_from(self.keys.len()).unwrap_or(u32::MAX);
        self.keys.push(key);
        let keys = &self.keys;
        self.slots.insert(key.hash(), number, |atom| keys.get(atom as usize).map_or(0, Key::hash));
        number + 1
    }

    fn long_text(&self, key: &Key) -> &[u8] {
        let start = usize::try_from(key.words[1]).unwrap_or(usize::MAX);
        self.long.get(start..start.saturating_add(key.length as usize)).unwrap_or_default()
    }
}

/// The longest text that a key holds whole.
const SHORT: u32 = 16;

/// A text as numbers: comparing two of them needs no look at bytes.
#[derive(Clone, Copy, Debug)]
struct Key {
    kind: u32,
    length: u32,
    /// All of a short text; of a long one its hash, and where it stands.
    words: [u64; 2],
}

impl Key {
    fn of(kind: u32, text: &[u8]) -> Self {
        let length = u32::try_from(text.len()).unwrap_or(u32::MAX);
        let words = if text.len() > SHORT as usize { [long_hash(text), 0] } else { short_words(text) };
        Self { kind, length, words }
    }

    /// Whether two are the same, as far as keys can tell.
    fn is(&self, other: &Self) -> bool {
        let long = self.length > SHORT;
        self.kind == other.kind
            && self.length == other.length
            && self.words[0] == other.words[0]
            && (long || self.words[1] == other.words[1])
    }

    fn hash(&self) -> u64 {
        let head = u64::from(self.kind) << 32 | u64::from(self.length);
        let last = if self.length > SHORT { 0 } else { self.words[1] };
        mix(mix(mix(0, head), self.words[0]), last)
    }
}

/// Up to sixteen bytes in two numbers; the length tells which bytes stand in both.
fn short_words(text: &[u8]) -> [u64; 2] {
    if let (Some(first), Some(last)) = (text.first_chunk::<8>(), text.last_chunk::<8>()) {
        return [u64::from_le_bytes(*first), u64::from_le_bytes(*last)];
    }
    if let (Some(first), Some(last)) = (text.first_chunk::<4>(), text.last_chunk::<4>()) {
        return [u64::from(u32::from_le_bytes(*first)) << 32 | u64::from(u32::from_le_bytes(*last)), 0];
    }
    let byte = |place: usize| text.get(place).map_or(0, |byte| u64::from(*byte));
    [byte(0) << 16 | byte(1) << 8 | byte(2), 0]
}

fn long_hash(text: &[u8]) -> u64 {
    let (words, _) = text.as_chunks::<8>();
    let hash = words.iter().fold(text.len() as u64, |hash, word| mix(hash, u64::from_le_bytes(*word)));
    text.last_chunk::<8>().map_or(hash, |last| mix(hash, u64::from_le_bytes(*last)))
}

/// A few multiplications are all it takes: requests only look up what policies brought in.
fn mix(hash: u64, word: u64) -> u64 {
    (hash.rotate_left(5) ^ word).wrapping_mul(0x517c_c1b7_2722_0a95)
}

/// Numbers by their hash, at most half full, so that most are found at the first look.
#[derive(Clone, Debug, Default)]
pub(super) struct Slots {
    /// A part of the hash, and the number; [`NONE`] where nothing is.
    slots: Vec<(u32, u32)>,
    count: usize,
}

impl Slots {
    /// The number with a hash that is the right one.
    pub(super) fn find(&self, hash: u64, is: impl Fn(u32) -> bool) -> Option<u32> {
        let mask = self.slots.len().wrapping_sub(1);
        let tag = tag(hash);
        let mut place = place(hash) & mask;
        loop {
            let (known, number) = *self.slots.get(place)?;
            if number == NONE {
                return None;
            }
            if known == tag && is(number) {
                return Some(number);
            }
            place = (place + 1) & mask;
        }
    }

    /// Adds a number that is not there; `hash_of` is asked when more room is made.
    pub(super) fn insert(&mut self, hash: u64, number: u32, hash_of: impl Fn(u32) -> u64) {
        if (self.count + 1) * 2 > self.slots.len() {
            let old = std::mem::take(&mut self.slots);
            self.slots = vec![(0, NONE); (old.len() * 2).max(8)];
            for (_, number) in old.into_iter().filter(|(_, number)| *number != NONE) {
                self.put(hash_of(number), number);
            }
        }
        self.put(hash, number);
        self.count += 1;
    }

    fn put(&mut self, hash: u64, number: u32) {
        let mask = self.slots.len().wrapping_sub(1);
        let mut place = place(hash) & mask;
        while let Some(slot) = self.slots.get_mut(place) {
            if slot.1 == NONE {
                *slot = (tag(hash), number);
                return;
            }
            place = (place + 1) & mask;
        }
    }
}

/// The upper half is the better half of a product.
fn place(hash: u64) -> usize {
    usize::try_from(hash >> 32).unwrap_or_default()
}

#[expect(clippy::cast_possible_truncation, reason = "a part of it is enough")]
fn tag(hash: u64) -> u32 {
    (hash ^ hash >> 40) as u32
}

/// Calls back with the kind and the bytes under which a value of a claim is known.
fn with_value<T>(name: u32, value: &Fact, act: impl FnOnce(u32, &[u8]) -> T) -> Option<T> {
    let kind = |kind: u32| name.checked_mul(4)?.checked_add(VALUES + kind);
    Some(match value {
        Fact::Text(text) => act(kind(0)?, text.as_bytes()),
        // Both zeros are equal, and what is no number equals nothing.
        Fact::Number(number) if !number.is_nan() => act(kind(1)?, &(number + 0.0).to_le_bytes()),
        Fact::Bool(truth) => act(kind(2)?, &[u8::from(*truth)]),
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
        let known = self.by_prefix.find_mut(long_hash(prefix), |(known, _)| known == prefix);
        match known {
            Some((_, patterns)) if patterns.iter().any(|(_, known)| *known == atom) => {}
            Some((_, patterns)) => patterns.push((pattern.clone(), atom)),
            None => {
                let new = (prefix.to_vec(), vec![(pattern.clone(), atom)]);
                self.by_prefix.insert_unique(long_hash(prefix), new, |(known, _)| long_hash(known));
            }
        }
    }

    /// Calls back with the atoms of all patterns that cover a text.
    pub(super) fn find(&self, text: &str, mut found: impl FnMut(u32)) {
        for length in &self.lengths {
            let Some(prefix) = text.as_bytes().get(..*length) else { break };
            if let Some((_, patterns)) = self.by_prefix.find(long_hash(prefix), |(known, _)| known == prefix) {
                for (pattern, atom) in patterns {
                    if pattern.covers(text) {
                        found(*atom);
                    }
                }
            }
        }
    }
}
