//! Short ways to say what tests say often.

use std::time::{Duration, Instant};

use jiff::{SignedDuration, Timestamp};
use upheld_store::{Appended, Batch, Change, Entry, IdempotencyKey, Key, Revision, State, Store};

/// One runtime for one test.
pub(crate) fn run<T>(test: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    runtime.unwrap().block_on(test)
}

pub(crate) fn key(name: &str) -> Key {
    // A store keeps whatever it has; which names new documents may have is not its business.
    format!("Kind/scope/{name}").parse().unwrap()
}

pub(crate) fn put(name: &str, text: &str) -> Change {
    Change::Put { key: key(name), text: text.into() }
}

pub(crate) fn delete(name: &str) -> Change {
    Change::Delete { key: key(name) }
}

/// Minutes after a certain moment.
pub(crate) fn at(minutes: i64) -> Timestamp {
    "2026-03-04T05:06:07.089Z".parse::<Timestamp>().unwrap() + SignedDuration::from_mins(minutes)
}

pub(crate) fn batch(after: u64, changes: Vec<Change>) -> Batch {
    let after = Revision(after);
    Batch { after, seen: None, time: at(0), actor: "ada".to_owned(), message: None, changes, idempotency: None }
}

pub(crate) fn named(mut batch: Batch, name: &str, request: &str) -> Batch {
    batch.idempotency = Some(IdempotencyKey { name: name.to_owned(), request: request.to_owned() });
    batch
}

/// Appends each list of changes, one after the other.
pub(crate) async fn fill(store: &dyn Store, batches: Vec<Vec<Change>>) {
    for changes in batches {
        let after = store.head().await.unwrap().revision.0;
        let appended = store.append(batch(after, changes)).await.unwrap();
        assert!(matches!(appended, Appended::Now(revision, _) if revision.0 == after + 1));
    }
}

/// The names of the documents in order, with texts.
pub(crate) fn shown(state: &State) -> String {
    let documents =
        state.iter().map(|(key, document)| format!("{}={}@{}", key.name(), document.text, document.revision));
    documents.collect::<Vec<_>>().join(" ")
}

/// All entries that there are.
pub(crate) async fn log(store: &dyn Store) -> Vec<Entry> {
    let oldest = store.head().await.unwrap().oldest;
    store.entries(oldest, usize::MAX).await.unwrap()
}

/// Waits until something is so, which must be within half a minute.
pub(crate) async fn until<F: Future<Output = bool>>(what: &str, mut so: impl FnMut() -> F) {
    let start = Instant::now();
    while !so().await {
        assert!(start.elapsed() < Duration::from_secs(30), "still not: {what}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}
