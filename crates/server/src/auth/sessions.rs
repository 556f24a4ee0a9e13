//! Sessions of pages: what a browser keeps in place of a token.
//!
//! A session is the token, sealed together with the time at which the session ends. No server keeps a list of them, so a session holds on
//! every server with the same key; whoever has it is found anew for each request, so it ends with the token.

use std::fs;
use std::io;
use std::path::Path;
use std::time::Duration;

use aws_lc_rs::aead::{AES_256_GCM_SIV, Aad, NONCE_LEN, Nonce, RandomizedNonceKey};
use aws_lc_rs::hkdf::{HKDF_SHA256, Salt};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jiff::Timestamp;

use super::bootstrap;
use super::error::SecurityError;
use super::secret::Secret;
use crate::config::{Config, GivenSecret, StoreLocation};

/// How long a session lasts: a working day.
pub(crate) const LASTS: Duration = Duration::from_hours(8);

/// The file in the data folder that keeps the key.
const FILE: &str = "session.key";

/// What the key is for, so that nothing else that is sealed with it passes for a session.
const PURPOSE: &[u8] = b"upheld session 1";

/// Bytes of a number of seconds.
const SECONDS: usize = 8;

/// No browser keeps a longer cookie, with its name and attributes.
const LONGEST: usize = 3900;

/// Letters of a key at least.
const LEAST: usize = 32;

/// Seals and opens sessions.
#[derive(Debug)]
pub(crate) struct Sessions(RandomizedNonceKey);

/// Why there is no session of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoSession {
    /// No browser would keep it.
    TooLong,
    /// It cannot be sealed.
    Unsealed,
}

impl Sessions {
    /// With the key of a configuration: the one that is given; what the bootstrap token comes to that is given; that of the data folder; or
    /// one that nobody else has.
    pub(crate) fn open(config: &Config) -> Result<Self, SecurityError> {
        let security = &config.security;
        let secret = match (&security.session_key, &security.bootstrap_token, &config.store) {
            (Some(key), ..) => given(key)?,
            (None, Some(token), _) => Secret::given(token)?,
            (None, None, StoreLocation::Folder(folder)) => kept(folder)?,
            (None, None, StoreLocation::Postgres(_)) => {
                tracing::warn!(
                    "sessions of pages hold on this server only: give all servers of the database the same `sessionKey`"
                );
                random()?
            }
            (None, None, StoreLocation::Ephemeral | StoreLocation::Given(_)) => random()?,
        };
        Self::of(&secret)
    }

    fn of(secret: &Secret) -> Result<Self, SecurityError> {
        let mut key = [0; 32];
        let extracted = Salt::new(HKDF_SHA256, PURPOSE).extract(secret.reveal().as_bytes());
        let expanded = extracted.expand(&[PURPOSE], &AES_256_GCM_SIV).and_then(|expanded| expanded.fill(&mut key));
        let sealing = expanded.and_then(|()| RandomizedNonceKey::new(&AES_256_GCM_SIV, &key));
        sealing.map(Self).map_err(|_| SecurityError::Setting("no key for sessions can be made".to_owned()))
    }

    /// A session of a token that begins now.
    pub(crate) fn begin(&self, token: &str, now: Timestamp) -> Result<String, NoSession> {
        let ends = now.saturating_add(LASTS).map_err(|_| NoSession::Unsealed)?.as_second();
        let mut sealed = ends.to_be_bytes().to_vec();
        sealed.extend_from_slice(token.as_bytes());
        let nonce = self.0.seal_in_place_append_tag(Aad::from(PURPOSE), &mut sealed);
        let nonce = nonce.map_err(|_| NoSession::Unsealed)?;
        let session = URL_SAFE_NO_PAD.encode([nonce.as_ref().as_slice(), &sealed].concat());
        if session.len() > LONGEST { Err(NoSession::TooLong) } else { Ok(session) }
    }

    /// The token of a session that has not ended.
    pub(crate) fn token(&self, session: &str, now: Timestamp) -> Option<Secret> {
        let mut bytes = URL_SAFE_NO_PAD.decode(session).ok()?;
        let (nonce, sealed) = bytes.split_at_mut_checked(NONCE_LEN)?;
        let nonce = Nonce::try_assume_unique_for_key(nonce).ok()?;
        let opened = self.0.open_in_place(nonce, Aad::from(PURPOSE), sealed).ok()?;
        let (ends, token) = opened.split_at_checked(SECONDS)?;
        let ends = i64::from_be_bytes(ends.try_into().ok()?);
        let token = String::from_utf8(token.to_vec()).ok()?;
        (now.as_second() < ends).then(|| Secret::kept(token))
    }
}

/// The key that an operator gives.
pub(super) fn given(key: &GivenSecret) -> Result<Secret, SecurityError> {
    let secret = Secret::given(key)?;
    if secret.reveal().len() < LEAST {
        let detail = format!("the session key must have at least {LEAST} letters; `openssl rand -hex 32` makes one");
        return Err(SecurityError::Setting(detail));
    }
    Ok(secret)
}

fn random() -> Result<Secret, SecurityError> {
    Secret::token().ok_or_else(|| SecurityError::Setting("there is no randomness".to_owned()))
}

/// The key of a data folder. Made once; deleting the file ends all sessions at the next start.
fn kept(folder: &Path) -> Result<Secret, SecurityError> {
    let path = folder.join(FILE);
    let read = || match fs::read_to_string(&path) {
        Ok(text) if text.trim().len() >= LEAST => Ok(Some(Secret::kept(text.trim().to_owned()))),
        Ok(text) if text.trim().is_empty() => Ok(None),
        Ok(_) => Err(SecurityError::file(&path, "the key is too short; delete it to get a new one")),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(SecurityError::file(&path, error)),
    };
    if let Some(known) = read()? {
        return Ok(known);
    }
    let made = random()?;
    match bootstrap::write(folder, &path, made.reveal()) {
        Ok(()) => Ok(made),
        // Another server on the same folder was quicker.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            read()?.ok_or_else(|| SecurityError::file(&path, "another server writes it just now; start again"))
        }
        Err(error) => Err(SecurityError::file(&path, error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOKEN: &str = "upheld_known-0123456789abcdef0123456789abcdef";

    fn of(secret: &str) -> Sessions {
        Sessions::of(&Secret::kept(secret.to_owned())).unwrap()
    }

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(1_767_225_600 + second).unwrap()
    }

    fn opened(sessions: &Sessions, session: &str, second: i64) -> Option<String> {
        sessions.token(session, at(second)).map(|token| token.reveal().to_owned())
    }

    #[test]
    fn s11_a_session_hides_its_token_and_ends() {
        let (one, other) = (of("a secret"), of("a secret"));
        let session = one.begin(TOKEN, at(0)).unwrap();
        assert!(!session.contains("known") && session != one.begin(TOKEN, at(0)).unwrap(), "{session}");
        let plain = URL_SAFE_NO_PAD.decode(&session).unwrap();
        assert!(!plain.windows(8).any(|part| TOKEN.as_bytes().windows(8).any(|known| known == part)));
        assert_eq!(opened(&other, &session, 0).as_deref(), Some(TOKEN), "a server with the same secret opens it");
        let last = i64::try_from(LASTS.as_secs()).unwrap() - 1;
        assert_eq!(opened(&one, &session, last).as_deref(), Some(TOKEN));
        assert_eq!(opened(&one, &session, last + 1), None, "it ended");
        assert_eq!(opened(&of("another"), &session, 0), None);
    }

    #[test]
    fn what_is_altered_or_cut_is_no_session() {
        let sessions = of("a secret");
        let session = sessions.begin(TOKEN, at(0)).unwrap();
        let bytes = URL_SAFE_NO_PAD.decode(&session).unwrap();
        for place in 0..bytes.len() {
            let mut altered = bytes.clone();
            altered[place] ^= 1;
            assert_eq!(opened(&sessions, &URL_SAFE_NO_PAD.encode(&altered), 0), None, "{place}");
            assert_eq!(opened(&sessions, &URL_SAFE_NO_PAD.encode(&bytes[..place]), 0), None, "{place}");
        }
        for other in ["", "upheld_known", TOKEN, "a.b.c", "ä"] {
            assert_eq!(opened(&sessions, other, 0), None, "{other}");
        }
    }

    #[test]
    fn a_token_that_no_cookie_holds_has_no_session() {
        assert_eq!(of("a secret").begin(&"x".repeat(LONGEST), at(0)), Err(NoSession::TooLong));
        assert!(of("a secret").begin(&"x".repeat(2800), at(0)).is_ok());
    }

    #[test]
    fn a_data_folder_keeps_one_key() {
        let folder = tempfile::tempdir().unwrap();
        let key = || kept(folder.path()).unwrap().reveal().to_owned();
        let first = key();
        assert_eq!((key(), first.len() >= LEAST), (first, true));
        fs::write(folder.path().join(FILE), "short").unwrap();
        assert!(kept(folder.path()).unwrap_err().to_string().contains("too short"));
    }
}
