//! What the pages and the list of the log cost: keys and counts, whatever documents say.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures::FutureExt;
use futures::future::BoxFuture;
use serde_json::{Value as Json, json};
use tokio::sync::watch;
use upheld_server::Config;
use upheld_server::config::StoreLocation;
use upheld_store::{
    Appended, Batch, Change, Digest, Entry, EntrySummary, Head, History, IdempotencyKey, Key, Memory, Result, Revision,
    State, Store,
};

use crate::support::Served;

/// A store that counts the changes that it hands out with the texts of documents, and without.
#[derive(Debug, Default)]
struct Counting {
    store: Memory,
    with_texts: AtomicUsize,
    without: AtomicUsize,
}

impl Store for Counting {
    fn head(&self) -> BoxFuture<'_, Result<Head>> {
        self.store.head()
    }

    fn state(&self, at: Option<Revision>) -> BoxFuture<'_, Result<State>> {
        self.store.state(at)
    }

    fn digest(&self, at: Revision) -> BoxFuture<'_, Result<Digest>> {
        self.store.digest(at)
    }

    fn entries(&self, after: Revision, limit: usize) -> BoxFuture<'_, Result<Vec<Entry>>> {
        let count = |entries: &Vec<Entry>| entries.iter().map(|entry| entry.changes.len()).sum();
        let counted = move |read: Result<Vec<Entry>>| {
            self.with_texts.fetch_add(read.as_ref().map_or(0, count), Ordering::Relaxed);
            read
        };
        self.store.entries(after, limit).map(counted).boxed()
    }

    fn summaries(&self, after: Revision, limit: usize, keys: usize) -> BoxFuture<'_, Result<Vec<EntrySummary>>> {
        let count = |entries: &Vec<EntrySummary>| entries.iter().map(|entry| entry.first.len()).sum();
        let counted = move |read: Result<Vec<EntrySummary>>| {
            self.without.fetch_add(read.as_ref().map_or(0, count), Ordering::Relaxed);
            read
        };
        self.store.summaries(after, limit, keys).map(counted).boxed()
    }

    fn append(&self, batch: Batch) -> BoxFuture<'_, Result<Appended>> {
        self.store.append(batch)
    }

    fn remembered(&self, key: &IdempotencyKey) -> BoxFuture<'_, Result<Option<Revision>>> {
        self.store.remembered(key)
    }

    fn remember(
        &self,
        key: IdempotencyKey,
        seen: Option<Revision>,
        time: jiff::Timestamp,
    ) -> BoxFuture<'_, Result<Revision>> {
        self.store.remember(key, seen, time)
    }

    fn compact(&self, up_to: Revision) -> BoxFuture<'_, Result<()>> {
        self.store.compact(up_to)
    }

    fn restore(&self, history: History) -> BoxFuture<'_, Result<()>> {
        self.store.restore(history)
    }

    fn follow(&self) -> watch::Receiver<Revision> {
        self.store.follow()
    }

    fn name(&self) -> &'static str {
        "counting"
    }
}

/// A log of eight small revisions after one with so many documents; the last one has `last`.
fn log(first: usize, last: usize) -> (Arc<Counting>, Served) {
    let store = Arc::new(Counting::default());
    let put = |name: String| {
        let text = json!({"id": name, "effect": "permit", "subjects": [{"role": "x"}], "resources": [{"path": "/x"}], "actions": []});
        Change::Put { key: Key::new("AccessPolicy", "access", &name).unwrap(), text: text.to_string().into() }
    };
    let changes =
        |revision: u64, count: usize| (0..count).map(|number| put(format!("r{revision}-{number:05}"))).collect();
    for revision in 1..=9 {
        let count = match revision {
            1 => first,
            9 => last,
            _ => 2,
        };
        let time = jiff::Timestamp::from_second(1_767_225_600).unwrap();
        let batch = Batch {
            after: Revision(revision - 1),
            seen: None,
            time,
            actor: "ada".to_owned(),
            message: None,
            changes: changes(revision, count),
            idempotency: None,
        };
        store.append(batch).now_or_never().unwrap().unwrap();
    }
    let location = StoreLocation::Given(Arc::clone(&store) as Arc<dyn Store>);
    let served = Served::start(Config { store: location, ..Config::default() });
    store.with_texts.store(0, Ordering::Relaxed);
    (store, served)
}

const LISTS: [&str; 6] =
    ["/", "/history", "/changes", "/v1/revisions", "/v1/revisions?limit=1", "/v1/revisions?after=1&limit=8"];

#[test]
fn p9_lists_of_the_log_read_keys_and_counts_and_no_document() {
    let cost = |first: usize| {
        let (store, served) = log(first, 2);
        let costs = LISTS.map(|path| {
            store.without.store(0, Ordering::Relaxed);
            let answer = served.ask("GET", path, &[("accept", "text/html,application/json;q=0.9")], "");
            assert_eq!(answer.status, 200, "{path}: {}", answer.text);
            (path, store.without.load(Ordering::Relaxed), answer.text.len())
        });
        assert_eq!(store.with_texts.load(Ordering::Relaxed), 0, "documents were read");
        costs
    };
    let (few, many) = (cost(40), cost(400));
    for ((path, keys, bytes), (_, more_keys, more_bytes)) in few.into_iter().zip(many) {
        assert_eq!(keys, more_keys, "{path}");
        assert!(more_bytes <= bytes + 64, "{path}: {bytes} bytes, then {more_bytes}");
    }
}

#[test]
fn p9_a_large_revision_is_listed_by_its_count_and_the_first_keys() {
    let (_, served) = log(3, 1000);
    let listed = served.get("/v1/revisions?after=8").json()["items"][0].clone();
    assert_eq!((&listed["puts"], &listed["deletions"]), (&json!(1000), &json!(0)));
    let expected: Vec<Json> =
        (0..10).map(|number| json!({"put": format!("AccessPolicy/access/r9-{number:05}")})).collect();
    assert_eq!(listed["changes"], json!(expected));
    assert_eq!(served.get("/v1/revisions?after=8&changes=0").json()["items"][0]["changes"], json!([]));
    assert_eq!(served.get("/v1/revisions/9").json()["changes"].as_array().unwrap().len(), 1000);
    let page = served.ask("GET", "/history", &[("accept", "text/html")], "").text;
    assert!(page.contains("+ AccessPolicy/access/r9-00002, and 997 more"), "{page}");
    let page = served.ask("GET", "/history?from=8&to=9", &[("accept", "text/html")], "").text;
    assert!(page.contains("and 950 more documents"), "{page}");
}

/// S9: ten revisions of a thousand documents kept the threads that answer for half a second, as a list of their keys.
#[test]
fn s9_a_page_of_large_revisions_is_small() {
    let (store, served) = log(1000, 1000);
    for path in ["/v1/revisions?limit=1000", "/history"] {
        let answer = served.ask("GET", path, &[("accept", "text/html,application/json;q=0.9")], "");
        assert!(answer.status == 200 && answer.text.len() < 16_000, "{path}: {} bytes", answer.text.len());
    }
    assert_eq!(store.with_texts.load(Ordering::Relaxed), 0);
}
