//! Readiness while the store is away, and a history that is not what was written. Time is that of the test: nothing depends on how fast the
//! machine is.

use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use axum::body::Body;
use axum::http::Request;
use futures::FutureExt;
use futures::future::BoxFuture;
use tokio::sync::watch;
use upheld_store::{
    Appended, Batch, Change, Digest, Entry, EntrySummary, Head, History, IdempotencyKey, Key, Memory, Result, Revision,
    State as Documents, Store,
};

use super::*;
use crate::Config;
use crate::config::{Security, StoreLocation};
use crate::unlisted::Unlisted;

/// A store that can stop to answer, and can remember something else than what was written.
#[derive(Debug, Default)]
struct Faulty {
    store: Memory,
    answers_nothing: AtomicBool,
    is_altered: AtomicBool,
    /// Another server writes when this one has read everything, and does not follow yet.
    is_written_before_it_is_followed: AtomicBool,
}

impl Faulty {
    fn unless_silent<'s, T: Send + 's>(&'s self, answer: BoxFuture<'s, Result<T>>) -> BoxFuture<'s, Result<T>> {
        if self.answers_nothing.load(Ordering::Relaxed) { pending().boxed() } else { answer }
    }
}

impl Store for Faulty {
    fn head(&self) -> BoxFuture<'_, Result<Head>> {
        self.unless_silent(self.store.head())
    }

    fn state(&self, at: Option<Revision>) -> BoxFuture<'_, Result<Documents>> {
        self.unless_silent(self.store.state(at))
    }

    fn digest(&self, at: Revision) -> BoxFuture<'_, Result<Digest>> {
        self.unless_silent(self.store.digest(at))
    }

    fn entries(&self, after: Revision, limit: usize) -> BoxFuture<'_, Result<Vec<Entry>>> {
        let altered = |mut entries: Vec<Entry>| {
            for entry in entries.iter_mut().filter(|_| self.is_altered.load(Ordering::Relaxed)) {
                entry.actor.push('!');
            }
            entries
        };
        self.unless_silent(self.store.entries(after, limit).map(move |read| read.map(altered)).boxed())
    }

    fn summaries(&self, after: Revision, limit: usize, keys: usize) -> BoxFuture<'_, Result<Vec<EntrySummary>>> {
        self.unless_silent(self.store.summaries(after, limit, keys))
    }

    fn append(&self, batch: Batch) -> BoxFuture<'_, Result<Appended>> {
        self.unless_silent(self.store.append(batch))
    }

    fn remembered(&self, key: &IdempotencyKey) -> BoxFuture<'_, Result<Option<Revision>>> {
        self.unless_silent(self.store.remembered(key))
    }

    fn remember(
        &self,
        key: IdempotencyKey,
        seen: Option<Revision>,
        time: jiff::Timestamp,
    ) -> BoxFuture<'_, Result<Revision>> {
        self.unless_silent(self.store.remember(key, seen, time))
    }

    fn compact(&self, up_to: Revision) -> BoxFuture<'_, Result<()>> {
        self.unless_silent(self.store.compact(up_to))
    }

    fn restore(&self, history: History) -> BoxFuture<'_, Result<()>> {
        self.unless_silent(self.store.restore(history))
    }

    fn follow(&self) -> watch::Receiver<Revision> {
        if self.is_written_before_it_is_followed.swap(false, Ordering::Relaxed) {
            self.store.append(of_another()).now_or_never().unwrap().unwrap();
        }
        self.store.follow()
    }

    fn name(&self) -> &'static str {
        "silent"
    }
}

/// What another server writes next.
fn of_another() -> Batch {
    let key = Key::new("AccessPolicy", "access", "other").unwrap();
    let text = r#"{"id":"other","effect":"permit","subjects":[{"role":"admin"}],"resources":[],"actions":[]}"#;
    Batch {
        after: Revision::ZERO,
        seen: None,
        time: jiff::Timestamp::UNIX_EPOCH,
        actor: "another".to_owned(),
        message: None,
        changes: vec![Change::Put { key, text: text.into() }],
        idempotency: None,
    }
}

#[tokio::test(start_paused = true)]
async fn a_write_of_another_server_during_the_start_is_followed() {
    let store = Arc::new(Faulty { is_written_before_it_is_followed: true.into(), ..Faulty::default() });
    let given = StoreLocation::Given(Arc::clone(&store) as Arc<dyn Store>);
    let config = Config { store: given, security: Security::open(), ..Config::default() };
    let server = Unlisted::start(config).await.unwrap();
    tokio::time::sleep(Duration::from_secs(1)).await;
    let request = Request::get("/v1/documents/AccessPolicy/access/other").body(Body::empty()).unwrap();
    assert_eq!(server.ask(request).await.unwrap().status, StatusCode::OK);
}

#[tokio::test]
async fn the_history_is_handed_out_whole_or_not_at_all() {
    let store = Arc::new(Faulty::default());
    let given = StoreLocation::Given(Arc::clone(&store) as Arc<dyn Store>);
    let config = Config { store: given, security: Security::open(), ..Config::default() };
    let server = Unlisted::start(config).await.unwrap();
    let policy = r#"{"id": "a", "effect": "permit", "subjects": [{"role": "admin"}], "resources": [], "actions": []}"#;
    let write = Request::put("/v1/documents/AccessPolicy/access/a").header("content-type", "application/json");
    let written = server.ask(write.body(Body::from(policy)).unwrap()).await.unwrap();
    assert_eq!(written.status, StatusCode::CREATED);
    let ask = async || {
        let answer = server.ask(Request::get("/v1/history").body(Body::empty()).unwrap()).await.unwrap();
        (answer.status, answer.body)
    };
    let (status, history) = ask().await;
    assert_eq!(status, StatusCode::OK);
    let (verified, _) = upheld_store::check_export(&*history, None).unwrap();
    assert_eq!((verified.revision, verified.documents), (Revision(1), 1));
    store.is_altered.store(true, Ordering::Relaxed);
    let (status, problem) = ask().await;
    assert_eq!(status, StatusCode::INTERNAL_SERVER_ERROR);
    let problem: Value = serde_json::from_slice(&problem).unwrap();
    assert!(problem["type"].as_str().unwrap().ends_with("/damaged-history"), "{problem}");
}

#[tokio::test(start_paused = true)]
async fn readiness_is_told_within_two_seconds_while_the_store_is_away() {
    let store = Arc::new(Faulty::default());
    let given = StoreLocation::Given(Arc::clone(&store) as Arc<dyn Store>);
    let config = Config { store: given, security: Security::open(), ..Config::default() };
    let server = Unlisted::start(config).await.unwrap();
    let ask = async |path: &str| {
        let answer = server.ask(Request::get(path).body(Body::empty()).unwrap()).await.unwrap();
        (answer.status, serde_json::from_slice::<Value>(&answer.body).unwrap())
    };
    assert_eq!(ask("/readyz").await.1["status"], "ready");
    store.answers_nothing.store(true, Ordering::Relaxed);
    let begun = Instant::now();
    let (status, answer) = ask("/readyz").await;
    assert!(begun.elapsed() <= Duration::from_secs(2), "{:?}", begun.elapsed());
    assert_eq!(
        (status, &answer["status"], &answer["store"]["reachable"]),
        (StatusCode::OK, &"degraded".into(), &false.into())
    );
    assert_eq!(ask("/readyz?strict=true").await.0, StatusCode::SERVICE_UNAVAILABLE);
    store.answers_nothing.store(false, Ordering::Relaxed);
    assert_eq!(ask("/readyz").await.1["status"], "ready", "it heals by itself");
}
