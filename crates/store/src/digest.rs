//! A fingerprint of a state.

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::hex::as_hex;
use crate::key::Key;

/// The fingerprint of a state: the sum, modulo 2²⁵⁶, of the hashes of its documents. A change of one document is one
/// subtraction and one addition, however many documents there are. It finds damage and disagreement; it is not a signature.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Digest([u8; 32]);

impl Digest {
    /// With a document more.
    #[must_use]
    pub fn with(self, key: &Key, text: &str) -> Self {
        self.sum(hash(key, text), |a, b, carry| u16::from(a) + u16::from(b) + carry)
    }

    /// With a document less.
    #[must_use]
    pub fn without(self, key: &Key, text: &str) -> Self {
        // Minus x is the complement of x, plus one.
        let one = Self({
            let mut bytes = [0; 32];
            bytes[0] = 1;
            bytes
        });
        let complement = hash(key, text).map(|byte| !byte);
        let add = |a: u8, b: u8, carry: u16| u16::from(a) + u16::from(b) + carry;
        self.sum(complement, add).sum(one.0, add)
    }

    fn sum(self, other: [u8; 32], add: impl Fn(u8, u8, u16) -> u16) -> Self {
        let mut carry = 0;
        let mut bytes = self.0;
        for (byte, other) in bytes.iter_mut().zip(other) {
            let [low, high] = add(*byte, other, carry).to_le_bytes();
            (*byte, carry) = (low, u16::from(high));
        }
        Self(bytes)
    }
}

/// Lengths before contents, so that no two documents give the same bytes.
fn hash(key: &Key, text: &str) -> [u8; 32] {
    let mut hash = Sha256::new();
    for part in [key.as_str(), text] {
        hash.update(part.len().to_le_bytes());
        hash.update(part);
    }
    hash.finalize().into()
}

as_hex!(Digest);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hex::BadDigest;

    #[test]
    fn taking_away_undoes_adding_in_any_order() {
        let [a, b]: [Key; 2] = ["K/s/a", "K/s/b"].map(|key| key.parse().unwrap());
        let both = Digest::default().with(&a, "1").with(&b, "2");
        assert_eq!(both, Digest::default().with(&b, "2").with(&a, "1"));
        assert_eq!(both.without(&a, "1"), Digest::default().with(&b, "2"));
        assert_eq!(both.without(&a, "1").without(&b, "2"), Digest::default());
        assert_ne!(both.without(&a, "2"), Digest::default().with(&b, "2"));
    }

    #[test]
    fn texts_are_read_back() {
        let digest = Digest::default().with(&"K/s/a".parse().unwrap(), "1");
        assert_eq!(digest.to_string().parse(), Ok(digest));
        assert_eq!("ab".parse::<Digest>(), Err(BadDigest));
    }
}
