//! Fingerprints and names of 32 bytes, as 64 digits.

use std::fmt;

/// A text that is not a digest.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a digest has 64 digits of 0-9 and a-f")]
pub struct BadDigest;

/// Two digits a byte.
pub(crate) fn write_hex(bytes: &[u8; 32], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
}

/// The bytes of 64 digits.
pub(crate) fn bytes_of(text: &str) -> Result<[u8; 32], BadDigest> {
    let digits: Vec<u8> = text.chars().filter_map(|digit| digit.to_digit(16)?.try_into().ok()).collect();
    let bytes: Vec<u8> =
        digits.chunks_exact(2).map(|pair| pair.iter().fold(0, |byte, digit| byte * 16 + digit)).collect();
    match (text.len(), <[u8; 32]>::try_from(bytes)) {
        (64, Ok(bytes)) => Ok(bytes),
        _ => Err(BadDigest),
    }
}

/// Writes and reads a type around 32 bytes as digits, in texts and in JSON.
macro_rules! as_hex {
    ($type:ident) => {
        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                $crate::hex::write_hex(&self.0, f)
            }
        }

        impl std::fmt::Debug for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                std::fmt::Display::fmt(self, f)
            }
        }

        impl std::str::FromStr for $type {
            type Err = $crate::hex::BadDigest;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                $crate::hex::bytes_of(text).map(Self)
            }
        }

        impl TryFrom<String> for $type {
            type Error = $crate::hex::BadDigest;

            fn try_from(text: String) -> Result<Self, Self::Error> {
                text.parse()
            }
        }

        impl From<$type> for String {
            fn from(one: $type) -> Self {
                one.to_string()
            }
        }
    };
}

pub(crate) use as_hex;
