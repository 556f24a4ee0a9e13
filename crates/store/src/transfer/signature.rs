//! Who wrote an exported history: a signature over every byte of it.

use std::fmt;
use std::path::Path;

use aws_lc_rs::signature::{ED25519, Ed25519KeyPair, KeyPair, UnparsedPublicKey};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{PrivatePkcs8KeyDer, SubjectPublicKeyInfoDer};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// What is signed besides the bytes, so that no signature of another program is one of ours.
const PURPOSE: &[u8] = b"upheld history, signed\n";

/// How the public key of Ed25519 begins in its usual form.
const ED25519_INFO: [u8; 12] = [0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00];

/// Why a key cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("{path}: {expected}")]
pub struct UnreadableKey {
    path: String,
    expected: &'static str,
}

/// The private key that signs.
#[derive(Debug)]
pub struct SigningKey(Ed25519KeyPair);

impl SigningKey {
    /// Reads a PEM file, as `openssl genpkey -algorithm ed25519` writes it.
    pub fn read(path: &Path) -> Result<Self, UnreadableKey> {
        // The messages of others could repeat what stands in the file.
        let expected = "expected an Ed25519 private key as PEM; `openssl genpkey -algorithm ed25519` makes one";
        let bad = || UnreadableKey { path: path.display().to_string(), expected };
        let der = PrivatePkcs8KeyDer::from_pem_file(path).map_err(|_| bad())?;
        Ed25519KeyPair::from_pkcs8(der.secret_pkcs8_der()).map(Self).map_err(|_| bad())
    }

    pub(super) fn sign(&self, content: Sha256) -> Signature {
        let signature = self.0.sign(&message(content));
        let key = KeyName::of(self.0.public_key().as_ref());
        Signature { algorithm: Algorithm::Ed25519, key, value: STANDARD.encode(signature) }
    }
}

/// The public key of whom one trusts.
#[derive(Clone, Debug)]
pub struct VerifyingKey([u8; 32]);

impl VerifyingKey {
    /// Reads a PEM file, as `openssl pkey -pubout` writes it.
    pub fn read(path: &Path) -> Result<Self, UnreadableKey> {
        let expected =
            "expected an Ed25519 public key as PEM; `openssl pkey -in KEY -pubout` writes that of a private one";
        let bad = || UnreadableKey { path: path.display().to_string(), expected };
        let info = SubjectPublicKeyInfoDer::from_pem_file(path).map_err(|_| bad())?;
        let key = info.as_ref().strip_prefix(&ED25519_INFO).and_then(|key| key.try_into().ok());
        key.map(Self).ok_or_else(bad)
    }

    /// What it is called.
    pub fn name(&self) -> KeyName {
        KeyName::of(&self.0)
    }

    pub(super) fn verifies(&self, content: Sha256, signature: &Signature) -> bool {
        let Ok(value) = STANDARD.decode(&signature.value) else { return false };
        let is_valid = UnparsedPublicKey::new(&ED25519, &self.0).verify(&message(content), &value).is_ok();
        is_valid && signature.key == self.name()
    }
}

fn message(content: Sha256) -> Vec<u8> {
    [PURPOSE, content.finalize().as_slice()].concat()
}

/// The name of a key: a part of the hash of its public half.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct KeyName(String);

impl KeyName {
    fn of(public: &[u8]) -> Self {
        let hash = Sha256::digest(public);
        Self(hash.iter().take(8).map(|byte| format!("{byte:02x}")).collect())
    }
}

impl fmt::Display for KeyName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        // It comes out of a file of somebody else.
        self.0.escape_debug().fmt(formatter)
    }
}

/// The last line of a history that is signed.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Signature {
    algorithm: Algorithm,
    pub(super) key: KeyName,
    value: String,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Algorithm {
    Ed25519,
}

/// What is known about who wrote a history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Signed {
    /// It does not say it.
    No,
    /// It names a key, and nobody looked whether that is true.
    Unchecked(KeyName),
    /// Whoever has this key.
    By(KeyName),
}
