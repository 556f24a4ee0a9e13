//! JSON Web Tokens of an issuer that we trust.

mod keys;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use arc_swap::ArcSwap;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jiff::Timestamp;
use jsonwebtoken::{decode, decode_header};
use serde_json::{Map, Value as Json};
use smol_str::SmolStr;
use tokio::sync::{Semaphore, watch};
use upheld_dialects::access::facts::facts_of_json;

use self::keys::KeySet;
use super::caller::{AuthMethod, Caller};
use super::error::SecurityError;
use super::secret::Hash;
use crate::config;
use crate::config::KeysLocation;

/// How many verified tokens are remembered. Verifying one takes longer than answering.
const REMEMBERED: usize = 4096;

/// Verifies tokens.
#[derive(Debug)]
pub(crate) struct Jwt {
    settings: config::Jwt,
    keys: ArcSwap<KeySet>,
    /// When the keys were last looked at because of a token.
    looked: tokio::sync::Mutex<Option<Instant>>,
    remembered: Mutex<Remembered>,
    /// Those who wait for a look at the keys.
    waiting: Semaphore,
    /// Told when the keys are others: what an older one signed does not count any more.
    changes: watch::Sender<u64>,
}

/// How many wait for a look at the keys because of a token. Others are refused at once, so that nobody can make many wait.
const WAITING: usize = 64;

/// Verified tokens, by the hash of the token.
#[derive(Debug, Default)]
struct Remembered(HashMap<[u8; 32], (Caller, u64)>);

impl Jwt {
    /// Reads the keys. A file must be there; a server may come later.
    pub(crate) async fn open(settings: config::Jwt, changes: watch::Sender<u64>) -> Result<Self, SecurityError> {
        if settings.audiences.is_empty() {
            let problem = "tokens of an issuer need an audience: without one, tokens meant for other services would be accepted here";
            return Err(SecurityError::Setting(problem.to_owned()));
        }
        keys::check(&settings.keys)?;
        let jwt = Self {
            settings,
            keys: ArcSwap::default(),
            looked: tokio::sync::Mutex::default(),
            remembered: Mutex::default(),
            waiting: Semaphore::new(WAITING),
            changes,
        };
        match (jwt.refresh().await, &jwt.settings.keys) {
            (Err(error), KeysLocation::File(_)) => Err(error),
            (Err(error), KeysLocation::Url { .. }) => {
                tracing::warn!(%error, "the issuer's keys could not be fetched; none of its tokens is accepted until they are");
                Ok(jwt)
            }
            (Ok(()), _) => Ok(jwt),
        }
    }

    /// Looks at the keys again. When that fails, the last ones stay.
    pub(crate) async fn refresh(&self) -> Result<(), SecurityError> {
        let settings = self.settings.clone();
        let read = tokio::task::spawn_blocking(move || keys::read(&settings)).await;
        let keys = read.map_err(|_| SecurityError::Setting("the keys were not read to the end".to_owned()))??;
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
    pub(crate) async fn follow(&self) {
        /// Without any keys nobody is let in.
        const SOON: Duration = Duration::from_secs(10);
        loop {
            let wait = if self.keys.load().is_empty() { SOON } else { self.settings.refresh };
            tokio::time::sleep(wait.max(Duration::from_secs(1))).await;
            if let Err(error) = self.refresh().await {
                tracing::warn!(%error, "the issuer's keys could not be reloaded; the previous ones stay in use");
            }
        }
    }

    /// Whose token it is.
    pub(crate) async fn verify(&self, token: &str) -> Option<Caller> {
        let hash = Hash::of(token).bytes();
        let now = jsonwebtoken::get_current_timestamp();
        {
            let mut remembered = self.remembered.lock().unwrap_or_else(PoisonError::into_inner);
            match remembered.0.get(&hash) {
                Some((caller, until)) if now < *until => return Some(caller.clone()),
                Some(_) => drop(remembered.0.remove(&hash)),
                None => {}
            }
        }
        let header = decode_header(token).ok()?;
        // What must be understood is not understood here.
        if has_critical(token) {
            return None;
        }
        if let Some(kid) = &header.kid
            && !self.keys.load().knows(kid)
        {
            self.look_again().await;
        }
        let keys = self.keys.load_full();
        let mut fitting = keys.fitting(header.kid.as_deref(), header.alg);
        let verified = fitting.find_map(|key| decode::<Map<String, Json>>(token, &key.verifies, &key.validation).ok());
        let claims = verified?.claims;
        drop(fitting);
        let until = claims.get("exp").and_then(Json::as_f64).unwrap_or(0.0);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "casts of floats saturate")]
        let until = (until.max(0.0) as u64).saturating_add(self.settings.leeway.as_secs());
        let valid = i64::try_from(until).ok().and_then(|seconds| Timestamp::from_second(seconds).ok());
        let caller = Caller { until: valid.or(Some(Timestamp::MAX)), ..self.caller(&claims)? };
        let mut remembered = self.remembered.lock().unwrap_or_else(PoisonError::into_inner);
        // The keys may have changed meanwhile: what the old ones verified must not stay.
        if Arc::ptr_eq(&keys, &self.keys.load()) {
            if remembered.0.len() >= REMEMBERED {
                remembered.0.clear();
            }
            remembered.0.insert(hash, (caller.clone(), until));
        }
        Some(caller)
    }

    /// An issuer that changes its keys signs with new ones at once; but not every unknown name is worth a look.
    async fn look_again(&self) {
        let Ok(_place) = self.waiting.try_acquire() else { return };
        let mut looked = self.looked.lock().await;
        if looked.is_some_and(|when| when.elapsed() < self.settings.refresh_at_most) {
            return;
        }
        *looked = Some(Instant::now());
        if let Err(error) = self.refresh().await {
            tracing::warn!(%error, "a token names a key that is not known, and the keys could not be reloaded");
        }
    }

    fn caller(&self, claims: &Map<String, Json>) -> Option<Caller> {
        let name = claims.get("sub").and_then(Json::as_str).filter(|name| !name.trim().is_empty())?;
        Some(Caller {
            roles: listed(claims, &self.settings.roles),
            groups: listed(claims, &self.settings.groups),
            claims: Arc::new(facts_of_json(claims)),
            ..Caller::new(name, AuthMethod::Jwt)
        })
    }
}

/// Whether the head of a token names extensions that its reader must understand.
fn has_critical(token: &str) -> bool {
    let head = token.split('.').next().unwrap_or_default();
    let head = URL_SAFE_NO_PAD.decode(head).ok().and_then(|head| serde_json::from_slice::<Json>(&head).ok());
    head.is_none_or(|head| head.get("crit").is_some())
}

/// The names in a claim: a list, or one text with spaces between them.
fn listed(claims: &Map<String, Json>, path: &str) -> Arc<[SmolStr]> {
    // Names of claims may have dots in them: `https://example.org/roles`.
    let whole = claims.get(path);
    let found = whole.or_else(|| {
        let mut parts = path.split('.');
        let first = claims.get(parts.next()?)?;
        parts.try_fold(first, |inside, part| inside.get(part))
    });
    match found {
        Some(Json::Array(names)) => names.iter().filter_map(Json::as_str).map(SmolStr::new).collect(),
        Some(Json::String(names)) => names.split_whitespace().map(SmolStr::new).collect(),
        _ => Arc::from([]),
    }
}
