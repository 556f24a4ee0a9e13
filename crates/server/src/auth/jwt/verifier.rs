//! Verifying tokens, with keys that change.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use arc_swap::ArcSwap;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jiff::Timestamp;
use jsonwebtoken::{decode, decode_header};
use serde_json::Value as Json;
use tokio::sync::{Semaphore, watch};
use upheld_dialects::access::token_claims::Payload;
use upheld_loader::Format;
use upheld_model::{Severity, SourceId};
use upheld_store::machine;
use upheld_syntax::parse;

use super::Rejected;
use super::keys::{self, KeySet};
use crate::auth::error::SecurityError;
use crate::auth::secret::Hash;
use crate::config::{Issuer, KeysLocation};

/// How many verified tokens are remembered. Verifying one takes longer than answering.
const REMEMBERED: usize = 4096;

/// How many wait for a look at the keys because of a token. Others are refused at once, so that nobody can make many wait.
const WAITING: usize = 64;

/// Verifies tokens of an issuer, and remembers what was read out of them.
#[derive(Debug)]
pub(in crate::auth) struct Verifier<T> {
    issuer: Issuer,
    keys: ArcSwap<KeySet>,
    /// Whether the last look at the keys failed.
    failing: AtomicBool,
    /// When the keys were last looked at because of a token.
    looked: tokio::sync::Mutex<Option<Instant>>,
    remembered: Mutex<Remembered<T>>,
    /// Those who wait for a look at the keys.
    waiting: Semaphore,
    /// Told when the keys are others: what an older one signed does not count any more.
    changes: watch::Sender<u64>,
}

/// What was read out of verified tokens, by the hash of the token.
#[derive(Debug)]
struct Remembered<T>(HashMap<[u8; 32], (T, u64)>);

impl<T: Clone> Verifier<T> {
    /// Reads the keys. A file must be there; a server may come later.
    pub(in crate::auth) async fn open(issuer: Issuer, changes: watch::Sender<u64>) -> Result<Self, SecurityError> {
        issuer.check()?;
        let verifier = Self {
            issuer,
            keys: ArcSwap::default(),
            failing: AtomicBool::new(false),
            looked: tokio::sync::Mutex::default(),
            remembered: Mutex::new(Remembered(HashMap::new())),
            waiting: Semaphore::new(WAITING),
            changes,
        };
        match (verifier.refresh().await, &verifier.issuer.keys) {
            (Err(error), KeysLocation::File(_)) => Err(error),
            (Err(error), KeysLocation::Url { .. }) => {
                tracing::warn!(%error, "the issuer's keys could not be fetched; none of its tokens is accepted until they are");
                Ok(verifier)
            }
            (Ok(()), _) => Ok(verifier),
        }
    }

    /// Looks at the keys again. When that fails, the last ones stay.
    pub(in crate::auth) async fn refresh(&self) -> Result<(), SecurityError> {
        let issuer = self.issuer.clone();
        let read = machine::aside(move || keys::read(&issuer)).await;
        let read = read.map_err(|_| SecurityError::Setting("the keys were not read to the end".to_owned())).flatten();
        self.failing.store(read.is_err(), Ordering::Relaxed);
        let keys = read?;
        let is_same = self.keys.load().is_same(&keys);
        self.keys.store(Arc::new(keys));
        // What an older key signed must be looked at again.
        self.remembered.lock().unwrap_or_else(PoisonError::into_inner).0.clear();
        if !is_same {
            self.changes.send_modify(|count| *count += 1);
        }
        Ok(())
    }

    /// Looks at the keys again every now and then, for ever.
    pub(in crate::auth) async fn follow(&self) {
        /// Without any keys nobody is let in.
        const SOON: Duration = Duration::from_secs(10);
        loop {
            let wait = if self.keys.load().is_empty() { SOON } else { self.issuer.refresh };
            tokio::time::sleep(wait.max(Duration::from_secs(1))).await;
            if let Err(error) = self.refresh().await {
                tracing::warn!(%error, "the issuer's keys could not be reloaded; the previous ones stay in use");
            }
        }
    }

    /// What a token says, read out of its claims after all of it is verified. The moment is the one until which it is valid.
    pub(in crate::auth) async fn verify(
        &self,
        token: &str,
        read: impl FnOnce(&Payload, Timestamp) -> Option<T>,
    ) -> Result<T, Rejected> {
        let hash = Hash::of(token).bytes();
        let now = jsonwebtoken::get_current_timestamp();
        {
            let mut remembered = self.remembered.lock().unwrap_or_else(PoisonError::into_inner);
            match remembered.0.get(&hash) {
                Some((known, until)) if now < *until => return Ok(known.clone()),
                Some(_) => drop(remembered.0.remove(&hash)),
                None => {}
            }
        }
        let header = decode_header(token).map_err(|_| Rejected::Malformed)?;
        plain(token)?;
        let is_strange = {
            let keys = self.keys.load();
            keys.is_empty() || header.kid.as_ref().is_some_and(|kid| !keys.knows(kid))
        };
        if is_strange {
            self.look_again().await;
        }
        let keys = self.keys.load_full();
        if keys.is_empty() {
            return Err(Rejected::NoKeys);
        }
        let mut verified = Err(Rejected::UnknownKey);
        for key in keys.fitting(header.kid.as_deref(), header.alg) {
            verified = decode::<Payload>(token, &key.verifies, &key.validation).map_err(Rejected::from);
            // Claims are looked at after the signature: where they are wrong, no other key makes them right.
            let by_another = matches!(verified, Err(Rejected::Signature | Rejected::UnknownKey | Rejected::Malformed));
            if !by_another {
                break;
            }
        }
        let claims = match verified {
            Ok(token) => token.claims,
            // An issuer that cannot be asked may have a key by now that it did not have.
            Err(Rejected::UnknownKey) if is_strange && self.failing.load(Ordering::Relaxed) => {
                return Err(Rejected::NoKeys);
            }
            Err(rejected) => return Err(rejected),
        };
        let until = claims.get("exp").and_then(Json::as_f64).unwrap_or(0.0);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "casts of floats saturate")]
        let until = (until.max(0.0) as u64).saturating_add(self.issuer.leeway.as_secs());
        let valid = i64::try_from(until).ok().and_then(|seconds| Timestamp::from_second(seconds).ok());
        let known = read(&claims, valid.unwrap_or(Timestamp::MAX)).ok_or(Rejected::Claims)?;
        let mut remembered = self.remembered.lock().unwrap_or_else(PoisonError::into_inner);
        // The keys may have changed meanwhile: what the old ones verified must not stay.
        if Arc::ptr_eq(&keys, &self.keys.load()) {
            if remembered.0.len() >= REMEMBERED {
                remembered.0.clear();
            }
            remembered.0.insert(hash, (known.clone(), until));
        }
        Ok(known)
    }

    /// An issuer that changes its keys signs with new ones at once; but not every unknown name is worth a look.
    async fn look_again(&self) {
        let Ok(_place) = self.waiting.try_acquire() else { return };
        let mut looked = self.looked.lock().await;
        if looked.is_some_and(|when| when.elapsed() < self.issuer.refresh_at_most) {
            return;
        }
        *looked = Some(Instant::now());
        if let Err(error) = self.refresh().await {
            tracing::warn!(%error, "a token names a key that is not known, and the keys could not be reloaded");
        }
    }
}

impl Issuer {
    /// What would open a door.
    pub(in crate::auth) fn check(&self) -> Result<(), SecurityError> {
        if self.audiences.is_empty() {
            let problem = "tokens of an issuer need an audience: without one, tokens meant for other services would be accepted here";
            return Err(SecurityError::Setting(problem.to_owned()));
        }
        keys::check(&self.keys)
    }
}

/// Whether head and payload of a token can be read in one way only: no field is there twice, and the head names no extensions that its
/// reader must understand.
fn plain(token: &str) -> Result<(), Rejected> {
    let mut parts = token.split('.');
    for is_head in [true, false] {
        let text = part(parts.next()).ok_or(Rejected::Malformed)?;
        let (file, problems) = parse("token", Format::Json, text, SourceId::new(0));
        if problems.iter().any(|problem| problem.severity == Severity::Error) {
            return Err(Rejected::Doubled);
        }
        let document = file.tree.documents().next().ok_or(Rejected::Malformed)?;
        if is_head && document.get("crit").is_some() {
            return Err(Rejected::Critical);
        }
    }
    Ok(())
}

/// The text of a part of a token.
fn part(part: Option<&str>) -> Option<String> {
    URL_SAFE_NO_PAD.decode(part?).ok().and_then(|bytes| String::from_utf8(bytes).ok())
}

/// Who issued a token, as it says itself: nothing is verified, so this only chooses whose keys are tried.
pub(in crate::auth) fn claimed_issuer(token: &str) -> Option<String> {
    let payload = part(token.split('.').nth(1))?;
    let claims: Payload = serde_json::from_str(&payload).ok()?;
    claims.get("iss").and_then(Json::as_str).map(str::to_owned)
}
