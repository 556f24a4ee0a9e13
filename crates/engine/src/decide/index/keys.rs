//! Texts as numbers, and a table of them: what a decision does most often is to look up a short text.

use super::NONE;

/// The longest text that a key holds whole.
const SHORT: u64 = 16;

/// A text with a kind. Two short ones are equal if their numbers are; of long ones the bytes are compared, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Key {
    /// The kind and the length.
    head: u64,
    /// All of a short text; of a long one its hash, and where it stands once it is kept.
    words: [u64; 2],
}

impl Key {
    pub(super) fn of(kind: u32, text: &[u8]) -> Self {
        let length = text.len() as u64;
        let words = if length > SHORT { [long_hash(text), 0] } else { short_words(text) };
        Self { head: u64::from(kind) << 32 | length, words }
    }

    fn is_long(&self) -> bool {
        self.head & 0xffff_ffff > SHORT
    }

    /// A number that differs where texts, kinds or seeds do, nearly always.
    pub(super) fn hash(&self, seed: u32) -> u64 {
        const SPREAD: [u64; 3] = [0x9e37_79b9_7f4a_7c15, 0xbf58_476d_1ce4_e5b9, 0x94d0_49bb_1331_11eb];
        let last = if self.is_long() { 0 } else { self.words[1] };
        let seeded = self.head.rotate_left(17) ^ u64::from(seed).wrapping_mul(SPREAD[2]);
        folded(self.words[0] ^ seeded ^ SPREAD[0], last ^ SPREAD[1])
    }
}

/// A product whose halves are laid over each other, so that every bit of both numbers counts in all of it.
fn folded(one: u64, other: u64) -> u64 {
    let product = u128::from(one) * u128::from(other);
    #[expect(clippy::cast_possible_truncation, reason = "the upper half is laid over it")]
    let folded = product as u64 ^ (product >> 64) as u64;
    folded
}

/// Up to sixteen bytes in two numbers; the length tells which bytes stand in both.
fn short_words(text: &[u8]) -> [u64; 2] {
    if let (Some(first), Some(last)) = (text.first_chunk::<8>(), text.last_chunk::<8>()) {
        return [u64::from_le_bytes(*first), u64::from_le_bytes(*last)];
    }
    if let (Some(first), Some(last)) = (text.first_chunk::<4>(), text.last_chunk::<4>()) {
        return [u64::from(u32::from_le_bytes(*first)) << 32 | u64::from(u32::from_le_bytes(*last)), 0];
    }
    let [first, middle, last] = match text {
        [] => [0, 0, 0],
        [one] => [*one, 0, 0],
        [one, two] => [*one, *two, 0],
        [one, two, three, ..] => [*one, *two, *three],
    };
    [u64::from(first) << 16 | u64::from(middle) << 8 | u64::from(last), 0]
}

fn long_hash(text: &[u8]) -> u64 {
    let mix = |hash: u64, word: &[u8; 8]| {
        (hash.rotate_left(5) ^ u64::from_le_bytes(*word)).wrapping_mul(0x517c_c1b7_2722_0a95)
    };
    let (words, _) = text.as_chunks::<8>();
    let hash = words.iter().fold(text.len() as u64, mix);
    text.last_chunk::<8>().map_or(hash, |last| mix(hash, last))
}

/// The bytes of long texts.
#[derive(Clone, Debug, Default)]
pub(super) struct LongTexts(Vec<u8>);

impl LongTexts {
    /// Adds the texts of another table behind its own; what turns a key that was kept there into one that is kept here.
    pub(super) fn append(&mut self, other: &Self) -> impl Fn(Key) -> Key + use<> {
        let before = self.0.len() as u64;
        self.0.reserve_exact(other.0.len());
        self.0.extend_from_slice(&other.0);
        move |key| {
            let [first, start] = key.words;
            if key.is_long() { Key { words: [first, start + before], ..key } } else { key }
        }
    }

    pub(super) fn shrink(&mut self) {
        self.0.shrink_to_fit();
    }

    /// The key of a text that is kept from now on.
    pub(super) fn keep(&mut self, key: Key, text: &[u8]) -> Key {
        if !key.is_long() {
            return key;
        }
        let start = self.0.len() as u64;
        self.0.extend_from_slice(text);
        Key { words: [key.words[0], start], ..key }
    }

    /// Whether a kept key is that of a text.
    pub(super) fn is(&self, kept: &Key, key: &Key, text: &[u8]) -> bool {
        kept.head == key.head
            && kept.words[0] == key.words[0]
            && (kept.words[1] == key.words[1] || key.is_long())
            && (!key.is_long() || self.text(kept) == text)
    }

    fn text(&self, key: &Key) -> &[u8] {
        let place = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
        let start = place(key.words[1]);
        self.0.get(start..start.saturating_add(place(key.head & 0xffff_ffff))).unwrap_or_default()
    }
}

/// Numbers by a hash, at most half full, so that most are found, or found missing, at the first look.
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
        let mut place = place(hash);
        loop {
            let (known, number) = *self.slots.get(place & mask)?;
            if known == tag && number != NONE && is(number) {
                return Some(number);
            }
            if number == NONE {
                return None;
            }
            place = place.wrapping_add(1);
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
        let mut place = place(hash);
        while let Some(slot) = self.slots.get_mut(place & mask) {
            if slot.1 == NONE {
                *slot = (tag(hash), number);
                return;
            }
            place = place.wrapping_add(1);
        }
    }
}

/// The upper half is the better half of a product.
fn place(hash: u64) -> usize {
    usize::try_from(hash >> 32).unwrap_or_default()
}

#[expect(clippy::cast_possible_truncation, reason = "a part of it is enough")]
fn tag(hash: u64) -> u32 {
    hash as u32
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// Texts that people write differ in one place; they must not crowd together.
    #[test]
    fn texts_that_are_alike_go_to_different_places() {
        let crowds: [&dyn Fn(u32) -> (String, u32); 5] = [
            &|number| (format!("service-{number}"), 2),
            &|number| (format!("item-{number}"), 7),
            &|number| (format!("{number}-of-a-rather-long-name"), 0),
            &|number| (format!("a-rather-long-name-{number}"), 0),
            &|number| ("invoices".to_owned(), number),
        ];
        for crowd in crowds {
            let places: BTreeSet<usize> = (0..100)
                .map(|number| {
                    let (text, seed) = crowd(number);
                    place(Key::of(0, text.as_bytes()).hash(seed)) & 1023
                })
                .collect();
            assert!(places.len() > 75, "{} places for {:?}", places.len(), crowd(1));
        }
    }
}
