//! Sessions whose owners signed out. The store remembers them as it remembers requests that changed nothing, so that all servers of a database know;
//! it does so for a day at least, and no session lasts longer.

use std::collections::HashMap;
use std::fmt::Write;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use jiff::Timestamp;
use tokio::sync::watch;
use tokio::time::timeout;
use upheld_store::machine::Moment;
use upheld_store::{IdempotencyKey, Store};

use super::{Id, LASTS, Session, Sessions};

/// How long an answer of the store counts: so late do other servers notice that somebody signed out.
const KNOWN: Duration = Duration::from_secs(5);

/// How often a stream asks whether its session goes on.
const LOOK: Duration = Duration::from_secs(15);

/// How long the store may take. What this server knows counts where the store does not answer.
const PATIENCE: Duration = Duration::from_millis(1500);

/// So many answers are kept.
const KEPT: usize = 10_000;

/// What is known of sessions.
#[derive(Debug)]
pub(super) struct Ended {
    known: Mutex<HashMap<Id, Known>>,
    /// Told whenever somebody signs out here.
    news: watch::Sender<()>,
}

#[derive(Clone, Copy, Debug)]
enum Known {
    /// It ended.
    Ended(Moment),
    /// It had not ended.
    Open(Moment),
}

impl Default for Ended {
    fn default() -> Self {
        Self { known: Mutex::default(), news: watch::Sender::new(()) }
    }
}

impl Ended {
    fn known(&self) -> MutexGuard<'_, HashMap<Id, Known>> {
        // Nothing in here stops half-way.
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn note(&self, id: Id, found: Known) {
        let mut known = self.known();
        if known.len() >= KEPT {
            known.retain(|_, known| matches!(known, Known::Ended(at) if at.elapsed() < LASTS));
        }
        // Who signed out once stays signed out.
        if !matches!(known.get(&id), Some(Known::Ended(_))) {
            known.insert(id, found);
        }
    }
}

impl Sessions {
    /// Whether the owner of a session did not sign out.
    pub(crate) async fn is_open(&self, session: &Session, store: &dyn Store) -> bool {
        match self.ended.known().get(&session.id) {
            Some(Known::Ended(_)) => return false,
            Some(Known::Open(at)) if at.elapsed() < KNOWN => return true,
            _ => {}
        }
        let asked = Moment::now();
        let ended = matches!(timeout(PATIENCE, store.remembered(&name(session))).await, Ok(Ok(Some(_))));
        self.ended.note(session.id, if ended { Known::Ended(asked) } else { Known::Open(asked) });
        !ended
    }

    /// Ends a session: here at once, on other servers of the database within seconds.
    pub(crate) async fn end(&self, session: &Session, store: &dyn Store, now: Timestamp) {
        self.ended.note(session.id, Known::Ended(Moment::now()));
        self.ended.news.send_replace(());
        if !matches!(timeout(PATIENCE, store.remember(name(session), None, now)).await, Ok(Ok(_))) {
            tracing::warn!("a session ended on this server only: the store did not remember it");
        }
    }

    /// Comes back when a session ends, by time or because its owner signs out.
    pub(crate) async fn until_end(&self, session: &Session, store: &dyn Store, now: Timestamp) {
        let mut news = self.ended.news.subscribe();
        let ends = async {
            while self.is_open(session, store).await {
                timeout(LOOK, news.changed()).await.ok();
            }
        };
        timeout(session.left(now), ends).await.ok();
    }
}

/// Under which name the store remembers it. Names of requests have a slash after their caller.
fn name(session: &Session) -> IdempotencyKey {
    let mut name = "session ".to_owned();
    for byte in session.id {
        // Writing into a string does not fail.
        write!(name, "{byte:02x}").ok();
    }
    IdempotencyKey { name, request: "sign-out".to_owned() }
}
