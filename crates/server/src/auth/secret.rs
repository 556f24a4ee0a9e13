//! Texts that nobody should read in a log.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest as _, Sha256};

use super::error::SecurityError;
use crate::config::GivenSecret;

/// What static tokens begin with, so that they are reported from others, and found where they should not be.
pub(crate) const PREFIX: &str = "upheld_";

/// A text that does not show itself.
#[derive(Clone)]
pub(crate) struct Secret(String);

impl fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Secret(…)")
    }
}

impl Secret {
    /// A new token: 256 random bits.
    pub(crate) fn token() -> Option<Self> {
        let mut bytes = [0; 32];
        crate::tls::provider().secure_random.fill(&mut bytes).ok()?;
        Some(Self(format!("{PREFIX}{}", URL_SAFE_NO_PAD.encode(bytes))))
    }

    /// One that an operator gives.
    pub(crate) fn given(by: &GivenSecret) -> Result<Self, SecurityError> {
        let text = match by {
            GivenSecret::File(path) => {
                std::fs::read_to_string(path).map_err(|error| SecurityError::file(path, error))?
            }
            GivenSecret::Text(text) => text.clone(),
        };
        Ok(Self(text.trim().to_owned()))
    }

    /// One that was kept where others cannot read it.
    pub(super) fn kept(text: String) -> Self {
        Self(text)
    }

    /// The text itself.
    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }

    /// What may be kept of it.
    pub(crate) fn hash(&self) -> Hash {
        Hash::of(&self.0)
    }
}

/// What is kept of a secret text: its SHA-256.
#[derive(Clone, Copy)]
pub(crate) struct Hash([u8; 32]);

impl fmt::Debug for Hash {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Hash(…)")
    }
}

impl Hash {
    /// Of a text.
    pub(crate) fn of(text: &str) -> Self {
        Self(Sha256::digest(text.as_bytes()).into())
    }

    /// Of 64 hexadecimal digits.
    pub(crate) fn read(text: &str) -> Option<Self> {
        if text.len() != 64 || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return None;
        }
        let mut bytes = [0; 32];
        for (byte, at) in bytes.iter_mut().zip((0..64).step_by(2)) {
            *byte = u8::from_str_radix(text.get(at..at + 2)?, 16).ok()?;
        }
        Some(Self(bytes))
    }

    /// As 64 hexadecimal digits.
    pub(crate) fn write(self) -> String {
        self.0.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// Whether they are the same; how long it takes does not say where they differ.
    pub(crate) fn is(&self, other: &Self) -> subtle::Choice {
        subtle::ConstantTimeEq::ct_eq(&self.0[..], &other.0[..])
    }

    /// The bytes.
    pub(crate) fn bytes(self) -> [u8; 32] {
        self.0
    }
}
