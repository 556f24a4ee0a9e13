//! Readiness while the store is away. Time is that of the test: nothing depends on how fast the machine is.

use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use axum::body::Body;
use axum::http::Request;
use futures::FutureExt;
use futures::future::BoxFuture;
use http_body_util::BodyExt;
use tokio::sync::watch;
use tower::ServiceExt;
use upheld_store::{
    Appended, Batch, Digest, Entry, Head, History, IdempotencyKey, Memory, Result, Revision, State as Documents, Store,
};

use super::*;
use crate::config::{Security, StoreLocation};
use crate::{Config, start};

/// A store that can stop to answer.
#[derive(Debug)]
struct Silent {
    store: Memory,
    is_silent: AtomicBool,
}

impl Silent {
    fn unless_silent<'s, T: Send + 's>(&'s self, answer: BoxFuture<'s, Result<T>>) -> BoxFuture<'s, Result<T>> {
        if self.is_silent.load(Ordering::Relaxed) { pending().boxed() } else { answer }
    }
}

impl Store for Silent {
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
        self.unless_silent(self.store.entries(after, limit))
    }

    fn append(&self, batch: Batch) -> BoxFuture<'_, Result<Appended>> {
        self.unless_silent(self.store.append(batch))
    }

    fn remembered(&self, key: &IdempotencyKey) -> BoxFuture<'_, Result<Option<Revision>>> {
        self.unless_silent(self.store.remembered(key))
    }

    fn remember(&self, key: IdempotencyKey, time: jiff::Timestamp) -> BoxFuture<'_, Result<Revision>> {
        self.unless_silent(self.store.remember(key, time))
    }

    fn compact(&self, up_to: Revision) -> BoxFuture<'_, Result<()>> {
        self.unless_silent(self.store.compact(up_to))
    }

    fn restore(&self, history: History) -> BoxFuture<'_, Result<()>> {
        self.unless_silent(self.store.restore(history))
    }

    fn follow(&self) -> watch::Receiver<Revision> {
        self.store.follow()
    }

    fn name(&self) -> &'static str {
        "silent"
    }
}

#[tokio::test(start_paused = true)]
async fn readiness_is_told_within_two_seconds_while_the_store_is_away() {
    let store = Arc::new(Silent { store: Memory::new(), is_silent: AtomicBool::new(false) });
    let given = StoreLocation::Given(Arc::clone(&store) as Arc<dyn Store>);
    let listen = "127.0.0.1:0".parse().unwrap();
    let config = Config { listen, store: given, security: Security::open(), ..Config::default() };
    let running = start(config).await.unwrap();
    let ask = async |path: &str| {
        let Ok(answer) = running.router().oneshot(Request::get(path).body(Body::empty()).unwrap()).await;
        let (status, body) = (answer.status(), answer.into_body().collect().await.unwrap().to_bytes());
        (status, serde_json::from_slice::<Value>(&body).unwrap())
    };
    assert_eq!(ask("/readyz").await.1["status"], "ready");
    store.is_silent.store(true, Ordering::Relaxed);
    let begun = Instant::now();
    let (status, answer) = ask("/readyz").await;
    assert!(begun.elapsed() <= Duration::from_secs(2), "{:?}", begun.elapsed());
    assert_eq!(
        (status, &answer["status"], &answer["store"]["reachable"]),
        (StatusCode::OK, &"degraded".into(), &false.into())
    );
    assert_eq!(ask("/readyz?strict=true").await.0, StatusCode::SERVICE_UNAVAILABLE);
    store.is_silent.store(false, Ordering::Relaxed);
    assert_eq!(ask("/readyz").await.1["status"], "ready", "it heals by itself");
}
