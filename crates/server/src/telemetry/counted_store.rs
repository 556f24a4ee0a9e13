//! A store whose failures are counted.

use std::sync::Arc;
use std::time::Instant;

use futures::future::BoxFuture;
use jiff::Timestamp;
use tokio::sync::watch;
use upheld_store::{
    Appended, Batch, Contact, Digest, Entry, EntrySummary, Head, History, IdempotencyKey, Remark, Result, Revision,
    State, Store,
};

use super::Metrics;
use super::metrics::Operation;

/// Does what the store in it does, and counts.
#[derive(Debug)]
pub(crate) struct CountedStore {
    store: Arc<dyn Store>,
    metrics: Arc<Metrics>,
}

impl CountedStore {
    pub(crate) fn new(store: Arc<dyn Store>, metrics: Arc<Metrics>) -> Self {
        Self { store, metrics }
    }

    fn counted<'s, T: Send + 's>(
        &'s self,
        operation: Operation,
        asked: BoxFuture<'s, Result<T>>,
    ) -> BoxFuture<'s, Result<T>> {
        Box::pin(async move {
            let begun = Instant::now();
            let answer = asked.await;
            self.metrics.stored(operation, begun.elapsed(), answer.as_ref().err());
            answer
        })
    }
}

impl Store for CountedStore {
    fn head(&self) -> BoxFuture<'_, Result<Head>> {
        self.counted(Operation::Head, self.store.head())
    }

    fn state(&self, at: Option<Revision>) -> BoxFuture<'_, Result<State>> {
        self.counted(Operation::State, self.store.state(at))
    }

    fn digest(&self, at: Revision) -> BoxFuture<'_, Result<Digest>> {
        self.counted(Operation::Digest, self.store.digest(at))
    }

    fn entries(&self, after: Revision, limit: usize) -> BoxFuture<'_, Result<Vec<Entry>>> {
        self.counted(Operation::Entries, self.store.entries(after, limit))
    }

    fn summaries(&self, after: Revision, limit: usize, keys: usize) -> BoxFuture<'_, Result<Vec<EntrySummary>>> {
        self.counted(Operation::Entries, self.store.summaries(after, limit, keys))
    }

    fn append(&self, batch: Batch) -> BoxFuture<'_, Result<Appended>> {
        self.counted(Operation::Append, self.store.append(batch))
    }

    fn remembered(&self, key: &IdempotencyKey) -> BoxFuture<'_, Result<Option<Revision>>> {
        self.counted(Operation::Remembered, self.store.remembered(key))
    }

    fn remember(
        &self,
        key: IdempotencyKey,
        seen: Option<Revision>,
        time: Timestamp,
    ) -> BoxFuture<'_, Result<Revision>> {
        self.counted(Operation::Remembered, self.store.remember(key, seen, time))
    }

    fn compact(&self, up_to: Revision) -> BoxFuture<'_, Result<()>> {
        self.counted(Operation::Compact, self.store.compact(up_to))
    }

    fn restore(&self, history: History) -> BoxFuture<'_, Result<()>> {
        self.counted(Operation::Restore, self.store.restore(history))
    }

    fn remarks(&self) -> BoxFuture<'_, Result<Vec<Remark>>> {
        self.store.remarks()
    }

    fn follow(&self) -> watch::Receiver<Revision> {
        self.store.follow()
    }

    fn contact(&self) -> Option<watch::Receiver<Contact>> {
        self.store.contact()
    }

    fn try_write(&self) -> BoxFuture<'_, Result<()>> {
        self.store.try_write()
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        self.store.close()
    }

    fn name(&self) -> &'static str {
        self.store.name()
    }
}
