//! Fingerprints of what answers rest on: SHA-256 over typed parts, each with its length, so that no two things give the same
//! bytes. Only what users wrote and the words that they know go in: how a type or variant is called here does not matter.

use sha2::{Digest, Sha256};

/// 256 bits.
pub type Fingerprint = [u8; 32];

/// Takes things apart and hashes the parts.
#[derive(Clone, Debug, Default)]
pub struct Encoder {
    hash: Sha256,
    /// Parts that were not hashed yet: most are so short that handing each on would take longer than hashing it.
    waiting: Vec<u8>,
}

/// How many bytes are hashed at once.
const AT_ONCE: usize = 1024;

/// Something that can be taken apart. Who implements it names every field, so that a new one cannot be forgotten.
pub trait Encode {
    /// Hands its parts to the encoder.
    fn encode(&self, encoder: &mut Encoder);

    /// The fingerprint of it alone.
    fn fingerprint(&self) -> Fingerprint {
        let mut encoder = Encoder::default();
        self.encode(&mut encoder);
        encoder.finish()
    }
}

impl Encoder {
    fn part(&mut self, kind: u8, bytes: &[u8]) {
        self.waiting.push(kind);
        self.waiting.extend_from_slice(&(bytes.len() as u64).to_le_bytes());
        if bytes.len() < AT_ONCE {
            self.waiting.extend_from_slice(bytes);
        }
        if self.waiting.len() >= AT_ONCE || bytes.len() >= AT_ONCE {
            self.hash.update(&self.waiting);
            self.waiting.clear();
        }
        if bytes.len() >= AT_ONCE {
            self.hash.update(bytes);
        }
    }

    /// A text that somebody wrote.
    pub fn text(&mut self, text: &str) {
        self.part(b't', text.as_bytes());
    }

    /// One of the words of a choice.
    pub fn word(&mut self, word: &'static str) {
        self.part(b'w', word.as_bytes());
    }

    /// A number.
    pub fn number(&mut self, number: impl Into<i128>) {
        self.part(b'n', &number.into().to_le_bytes());
    }

    /// A fingerprint of something else.
    pub fn fingerprint(&mut self, fingerprint: &Fingerprint) {
        self.part(b'f', fingerprint);
    }

    /// Something that can be taken apart.
    pub fn one(&mut self, part: &(impl Encode + ?Sized)) {
        part.encode(self);
    }

    /// How many there are, and each of them in order.
    pub fn list<T>(&mut self, items: impl IntoIterator<Item = T>, mut item: impl FnMut(&mut Self, T)) {
        let items: Vec<T> = items.into_iter().collect();
        self.part(b'l', &(items.len() as u64).to_le_bytes());
        for one in items {
            item(self, one);
        }
    }

    /// Whether there is one, and which.
    pub fn option<T>(&mut self, option: Option<T>, some: impl FnOnce(&mut Self, T)) {
        match option {
            Some(item) => {
                self.part(b'o', &[1]);
                some(self, item);
            }
            None => self.part(b'o', &[0]),
        }
    }

    /// The fingerprint of everything so far.
    pub fn finish(mut self) -> Fingerprint {
        self.take()
    }

    /// The same, and begins anew: for those who make many.
    pub fn take(&mut self) -> Fingerprint {
        self.hash.update(&self.waiting);
        self.waiting.clear();
        self.hash.finalize_reset().into()
    }
}

/// The sum of fingerprints, whatever their order: one more is one addition, one less is one subtraction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sum([u64; 4]);

impl Sum {
    /// With one more.
    pub fn add(&mut self, fingerprint: &Fingerprint) {
        let mut carry = false;
        for (own, more) in self.0.iter_mut().zip(limbs(fingerprint)) {
            let (sum, over) = own.overflowing_add(more);
            let (sum, again) = sum.overflowing_add(u64::from(carry));
            (*own, carry) = (sum, over || again);
        }
    }

    /// With one less.
    pub fn take(&mut self, fingerprint: &Fingerprint) {
        let mut borrow = false;
        for (own, less) in self.0.iter_mut().zip(limbs(fingerprint)) {
            let (rest, under) = own.overflowing_sub(less);
            let (rest, again) = rest.overflowing_sub(u64::from(borrow));
            (*own, borrow) = (rest, under || again);
        }
    }
}

impl Encode for Sum {
    fn encode(&self, encoder: &mut Encoder) {
        encoder.list(self.0, Encoder::number);
    }
}

fn limbs(fingerprint: &Fingerprint) -> impl Iterator<Item = u64> {
    let (limbs, _) = fingerprint.as_chunks::<8>();
    limbs.iter().map(|bytes| u64::from_le_bytes(*bytes))
}

/// As users see it.
pub fn hex(fingerprint: &[u8]) -> String {
    fingerprint.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of(write: impl FnOnce(&mut Encoder)) -> String {
        let mut encoder = Encoder::default();
        write(&mut encoder);
        hex(&encoder.finish())
    }

    #[test]
    fn parts_have_lengths_and_types() {
        let texts = |texts: &[&str]| of(|encoder| encoder.list(texts, |encoder, text| encoder.text(text)));
        let all = [
            texts(&["ab", "c"]),
            texts(&["a", "bc"]),
            texts(&["abc"]),
            texts(&["abc", ""]),
            of(|encoder| encoder.text("abc")),
            of(|encoder| encoder.word("abc")),
            of(|encoder| encoder.number(1)),
            of(|encoder| encoder.text("1")),
            of(|encoder| encoder.option(Some("abc"), Encoder::text)),
            of(|encoder| encoder.option(None, Encoder::text)),
            of(|_| {}),
        ];
        for (place, one) in all.iter().enumerate() {
            assert!(!all[..place].contains(one), "{place}");
        }
    }

    proptest! {
        #[test]
        fn a_sum_forgets_the_order_and_what_was_taken(
            all in prop::collection::vec(any::<[u8; 32]>(), 0..8),
            gone in prop::collection::vec(any::<[u8; 32]>(), 0..4),
        ) {
            let (mut straight, mut turned) = (Sum::default(), Sum::default());
            for one in &all {
                straight.add(one);
            }
            for one in all.iter().chain(&gone).rev() {
                turned.add(one);
            }
            for one in &gone {
                turned.take(one);
            }
            prop_assert_eq!(straight, turned);
            prop_assert_eq!(gone.is_empty() || all.is_empty() || straight != Sum::default(), true);
        }
    }
}
