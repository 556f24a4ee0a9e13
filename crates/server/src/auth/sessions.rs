//! Sessions of pages: what a browser keeps in place of a token.
//!
//! A session is the token, sealed together with a number of its own and two times: when it began, and when it was used last. So it holds on every
//! server with the same key. It ends when it is not used for a while, in any case after a working day, with the token (which is looked up
//! for each request), and when its owner signs out: the store remembers the numbers of those that ended so (`sessions/ended`).

mod ended;

use std::fs;
use std::io;
use std::path::Path;
use std::time::Duration;

use aws_lc_rs::aead::{AES_256_GCM_SIV, Aad, NONCE_LEN, Nonce, RandomizedNonceKey};
use aws_lc_rs::hkdf::{HKDF_SHA256, Salt};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jiff::Timestamp;

use self::ended::Ended;
use super::bootstrap;
use super::error::SecurityError;
use super::secret::Secret;
use crate::config::{Config, GivenSecret, StoreLocation};

/// How long a session lasts at most: a working day.
const LASTS: Duration = Duration::from_hours(8);

/// How long a session lasts that is not used.
const IDLE: Duration = Duration::from_mins(30);

/// A cookie that is older is replaced by one with the time of its use.
const FRESH: Duration = Duration::from_mins(1);

/// The file in the data folder that keeps the key.
const FILE: &str = "session.key";

/// What the key is for, so that nothing else that is sealed with it passes for a session.
const PURPOSE: &[u8] = b"upheld session 2";

/// Bytes of a number of seconds.
const SECONDS: usize = 8;

/// Bytes of the number of a session.
const ID: usize = 16;

/// No browser keeps a longer cookie, with its name and attributes.
const LONGEST: usize = 3900;

/// Letters of a key at least.
const LEAST: usize = 32;

/// Seals and opens sessions, and knows which ended before their time.
#[derive(Debug)]
pub(crate) struct Sessions {
    key: RandomizedNonceKey,
    ended: Ended,
}

/// The number of a session: nobody can guess it.
type Id = [u8; ID];

/// A session that has not ended by time.
#[derive(Clone, Debug)]
pub(crate) struct Session {
    id: Id,
    begun: i64,
    used: i64,
    token: Secret,
}

impl Session {
    /// A session of a token that begins now.
    pub(crate) fn begin(token: &str, now: Timestamp) -> Result<Self, NoSession> {
        let mut id = [0; ID];
        crate::tls::provider().secure_random.fill(&mut id).map_err(|_| NoSession::Unsealed)?;
        let (begun, used) = (now.as_second(), now.as_second());
        Ok(Self { id, begun, used, token: Secret::kept(token.to_owned()) })
    }

    /// The token that it stands for.
    pub(crate) fn token(&self) -> &Secret {
        &self.token
    }

    /// How long it lasts if it is not used again.
    pub(crate) fn left(&self, now: Timestamp) -> Duration {
        let after =
            |begin: i64, time: Duration| begin.saturating_add(i64::try_from(time.as_secs()).unwrap_or(i64::MAX));
        let ends = after(self.begun, LASTS).min(after(self.used, IDLE));
        Duration::from_secs(u64::try_from(ends.saturating_sub(now.as_second())).unwrap_or_default())
    }

    /// Used now, if its cookie should say so.
    pub(crate) fn used(&self, now: Timestamp) -> Option<Self> {
        let age = u64::try_from(now.as_second().saturating_sub(self.used)).unwrap_or_default();
        (Duration::from_secs(age) >= FRESH).then(|| Self { used: now.as_second(), ..self.clone() })
    }
}

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
        let sealing = sealing.map(|key| Self { key, ended: Ended::default() });
        sealing.map_err(|_| SecurityError::Setting("no key for sessions can be made".to_owned()))
    }

    /// A session as a cookie has it.
    pub(crate) fn sealed(&self, session: &Session) -> Result<String, NoSession> {
        let Session { id, begun, used, token } = session;
        let mut sealed = [&begun.to_be_bytes()[..], &used.to_be_bytes(), id, token.reveal().as_bytes()].concat();
        let nonce = self.key.seal_in_place_append_tag(Aad::from(PURPOSE), &mut sealed);
        let nonce = nonce.map_err(|_| NoSession::Unsealed)?;
        let session = URL_SAFE_NO_PAD.encode([nonce.as_ref().as_slice(), &sealed].concat());
        if session.len() > LONGEST { Err(NoSession::TooLong) } else { Ok(session) }
    }

    /// The session of a cookie, if it has not ended by time.
    pub(crate) fn open_sealed(&self, session: &str, now: Timestamp) -> Option<Session> {
        let mut bytes = URL_SAFE_NO_PAD.decode(session).ok()?;
        let (nonce, sealed) = bytes.split_at_mut_checked(NONCE_LEN)?;
        let nonce = Nonce::try_assume_unique_for_key(nonce).ok()?;
        let opened = self.key.open_in_place(nonce, Aad::from(PURPOSE), sealed).ok()?;
        let (begun, rest) = opened.split_first_chunk::<SECONDS>()?;
        let (used, rest) = rest.split_first_chunk::<SECONDS>()?;
        let (id, token) = rest.split_first_chunk::<ID>()?;
        let token = Secret::kept(String::from_utf8(token.to_vec()).ok()?);
        let session = Session { id: *id, begun: i64::from_be_bytes(*begun), used: i64::from_be_bytes(*used), token };
        (!session.left(now).is_zero()).then_some(session)
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

    fn begun(sessions: &Sessions, token: &str) -> Result<String, NoSession> {
        sessions.sealed(&Session::begin(token, at(0))?)
    }

    fn opened(sessions: &Sessions, session: &str, second: i64) -> Option<String> {
        sessions.open_sealed(session, at(second)).map(|session| session.token().reveal().to_owned())
    }

    fn seconds(time: Duration) -> i64 {
        i64::try_from(time.as_secs()).unwrap()
    }

    #[test]
    fn s11_a_session_hides_its_token_and_ends() {
        let (one, other) = (of("a secret"), of("a secret"));
        let session = begun(&one, TOKEN).unwrap();
        assert!(!session.contains("known") && session != begun(&one, TOKEN).unwrap(), "{session}");
        let plain = URL_SAFE_NO_PAD.decode(&session).unwrap();
        assert!(!plain.windows(8).any(|part| TOKEN.as_bytes().windows(8).any(|known| known == part)));
        assert_eq!(opened(&other, &session, 0).as_deref(), Some(TOKEN), "a server with the same secret opens it");
        let last = seconds(IDLE) - 1;
        assert_eq!(opened(&one, &session, last).as_deref(), Some(TOKEN));
        assert_eq!(opened(&one, &session, last + 1), None, "it ended");
        assert_eq!(opened(&of("another"), &session, 0), None);
    }

    /// S11: who has a cookie has a session as long as it is used, and no longer than a working day.
    #[test]
    fn s11_a_session_ends_when_it_is_not_used_and_after_a_working_day() {
        let sessions = of("a secret");
        let mut session = Session::begin(TOKEN, at(0)).unwrap();
        assert!(session.used(at(seconds(FRESH) - 1)).is_none(), "the cookie is young");
        let mut second = 0;
        while second + seconds(IDLE) <= seconds(LASTS) {
            second += seconds(IDLE) - 1;
            session = session.used(at(second)).unwrap();
            let sealed = sessions.sealed(&session).unwrap();
            assert_eq!(opened(&sessions, &sealed, second).as_deref(), Some(TOKEN));
            let ends = (second + seconds(IDLE)).min(seconds(LASTS));
            assert_eq!(session.left(at(second)), Duration::from_secs(u64::try_from(ends - second).unwrap()));
            assert!(opened(&sessions, &sealed, ends - 1).is_some() && opened(&sessions, &sealed, ends).is_none());
        }
    }

    #[test]
    fn what_is_altered_or_cut_is_no_session() {
        let sessions = of("a secret");
        let session = begun(&sessions, TOKEN).unwrap();
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
        assert_eq!(begun(&of("a secret"), &"x".repeat(LONGEST)), Err(NoSession::TooLong));
        assert!(begun(&of("a secret"), &"x".repeat(2800)).is_ok());
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
