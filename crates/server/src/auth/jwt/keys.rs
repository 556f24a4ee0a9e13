//! The public keys of an issuer.

use std::fmt;
use std::path::Path;
use std::time::Duration;

use axum::http::Uri;
use jsonwebtoken::jwk::{AlgorithmParameters, EllipticCurve, Jwk, PublicKeyUse};
use jsonwebtoken::{Algorithm, AlgorithmFamily, DecodingKey, Validation};
use serde::Deserialize;

use crate::auth::error::SecurityError;
use crate::config;
use crate::config::KeysLocation;

/// How long a server may take to hand out its keys.
const FETCH: Duration = Duration::from_secs(5);
/// How large a set of keys may be.
const LARGEST: u64 = 1 << 20;
/// How many keys of a set are looked at.
const MOST: usize = 256;

/// A set of keys as it is written.
#[derive(Deserialize)]
struct Set {
    keys: Vec<serde_json::Value>,
}

/// Public keys that can verify.
#[derive(Debug, Default)]
pub(in crate::auth) struct KeySet {
    keys: Vec<Key>,
    /// What they were read from.
    text: Vec<u8>,
}

/// A public key, with all that a token must be.
pub(super) struct Key {
    kid: Option<String>,
    pub(super) verifies: DecodingKey,
    pub(super) validation: Validation,
}

impl fmt::Debug for Key {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Key").field("kid", &self.kid).finish_non_exhaustive()
    }
}

impl KeySet {
    /// Whether there is no key.
    pub(super) fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// Whether both were read from the same.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        self.text == other.text
    }

    /// Whether there is a key of that name.
    pub(super) fn knows(&self, kid: &str) -> bool {
        self.keys.iter().any(|key| key.kid.as_deref() == Some(kid))
    }

    /// The keys that a token could be signed with: those of its name, or all if it names none.
    pub(super) fn fitting(&self, kid: Option<&str>, algorithm: Algorithm) -> impl Iterator<Item = &Key> {
        let named = move |key: &&Key| kid.is_none() || key.kid.as_deref() == kid;
        self.keys.iter().filter(named).filter(move |key| key.validation.algorithms.contains(&algorithm))
    }
}

/// Whether keys may come from there at all.
pub(super) fn check(keys: &KeysLocation) -> Result<(), SecurityError> {
    let KeysLocation::Url { url, .. } = keys else { return Ok(()) };
    let parsed: Uri = url.parse().map_err(|_| SecurityError::Setting("the URL of the keys is not valid".to_owned()))?;
    let host = parsed.host().unwrap_or_default();
    let address = host.trim_matches(['[', ']']).parse::<std::net::IpAddr>();
    let here = host == "localhost" || address.is_ok_and(|address| address.is_loopback());
    match parsed.scheme_str() {
        Some("https") => Ok(()),
        Some("http") if here => Ok(()),
        _ => Err(SecurityError::Setting("keys are fetched by https only, or by http from this machine".to_owned())),
    }
}

/// Reads the keys. Takes a while: not for threads that answer.
pub(in crate::auth) fn read(settings: &config::Issuer) -> Result<KeySet, SecurityError> {
    let (text, name) = match &settings.keys {
        KeysLocation::File(path) => {
            (std::fs::read(path).map_err(|error| SecurityError::file(path, error))?, path.as_path())
        }
        KeysLocation::Url { url, authority } => {
            // A URL may have a password in it: messages do without.
            let fetched = fetch(url, authority.as_deref());
            (fetched.map_err(SecurityError::Setting)?, Path::new("the keys of the issuer"))
        }
    };
    let set: Set = serde_json::from_slice(&text)
        .map_err(|error| SecurityError::file(name, format!("not a JSON Web Key Set: {error}")))?;
    // A key of a sort that is not known here does not make the others useless.
    let known = set.keys.into_iter().take(MOST).filter_map(|key| serde_json::from_value::<Jwk>(key).ok());
    let keys: Vec<Key> = known.filter_map(|key| usable(&key, settings)).collect();
    if keys.is_empty() {
        return Err(SecurityError::file(
            name,
            "it has no key that can verify signatures: expected RSA, P-256, P-384 or Ed25519",
        ));
    }
    Ok(KeySet { keys, text })
}

fn fetch(url: &str, authority: Option<&Path>) -> Result<Vec<u8>, String> {
    use ureq::tls::{PemItem, RootCerts, TlsConfig, parse_pem};

    let mut tls = TlsConfig::builder();
    if let Some(path) = authority {
        let pem = std::fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
        let certificates = parse_pem(&pem).filter_map(|item| match item {
            Ok(PemItem::Certificate(certificate)) => Some(certificate),
            _ => None,
        });
        tls = tls.root_certs(RootCerts::from(certificates.collect::<Vec<_>>()));
    }
    let agent: ureq::Agent = ureq::Agent::config_builder()
        .timeout_global(Some(FETCH))
        .max_redirects(0)
        .tls_config(tls.build())
        .build()
        .into();
    let failed = |error: &ureq::Error| match error {
        ureq::Error::StatusCode(status) => format!("the key server answers {status}"),
        ureq::Error::Timeout(_) => "the key server does not answer in time".to_owned(),
        ureq::Error::Io(error) => format!("the key server: {error}"),
        _ => "the keys cannot be fetched".to_owned(),
    };
    let mut response = agent.get(url).call().map_err(|error| failed(&error))?;
    response.body_mut().with_config().limit(LARGEST).read_to_vec().map_err(|error| failed(&error))
}

/// A key that can verify. Symmetric ones cannot: whoever could verify could sign.
fn usable(jwk: &Jwk, settings: &config::Issuer) -> Option<Key> {
    if matches!(jwk.common.public_key_use, Some(PublicKeyUse::Encryption)) {
        return None;
    }
    let possible: &[Algorithm] = match &jwk.algorithm {
        AlgorithmParameters::RSA(_) => AlgorithmFamily::Rsa.algorithms(),
        AlgorithmParameters::EllipticCurve(curve) => match curve.curve {
            EllipticCurve::P256 => &[Algorithm::ES256],
            EllipticCurve::P384 => &[Algorithm::ES384],
            _ => return None,
        },
        AlgorithmParameters::OctetKeyPair(pair) if pair.curve == EllipticCurve::Ed25519 => &[Algorithm::EdDSA],
        _ => return None,
    };
    let named = jwk.common.key_algorithm.map(|named| named.to_string());
    let algorithms: Vec<Algorithm> = (possible.iter().copied())
        .filter(|algorithm| named.as_ref().is_none_or(|named| *named == format!("{algorithm:?}")))
        .collect();
    let mut validation = Validation::new(*algorithms.first()?);
    validation.algorithms = algorithms;
    validation.leeway = settings.leeway.as_secs();
    validation.validate_nbf = true;
    validation.set_audience(&settings.audiences);
    let mut required = vec!["exp", "sub", "aud"];
    if !settings.issuers.is_empty() {
        validation.set_issuer(&settings.issuers);
        required.push("iss");
    }
    validation.set_required_spec_claims(&required);
    let verifies = DecodingKey::from_jwk(jwk).ok()?;
    Some(Key { kid: jwk.common.key_id.clone(), verifies, validation })
}
