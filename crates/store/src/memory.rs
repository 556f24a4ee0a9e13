//! A log that is forgotten with the process; also what the others are compared with.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use futures::FutureExt;
use futures::future::{BoxFuture, ready};
use jiff::Timestamp;
use tokio::sync::watch;

use crate::store::{Appended, Head, Result, Store, StoreError};
use crate::{Batch, Chain, Digest, Entry, EntrySummary, History, IdempotencyKey, Revision, State, retention};

/// Keeps the log in memory.
#[derive(Debug)]
pub struct Memory {
    log: Mutex<Log>,
    end: watch::Sender<Revision>,
}

#[derive(Debug, Default)]
struct Log {
    /// The state before the first entry that is kept.
    base: State,
    base_chain: Chain,
    entries: Vec<Entry>,
    state: State,
    keys: BTreeMap<String, (IdempotencyKey, Revision, Timestamp)>,
}

impl Memory {
    /// Without entries.
    pub fn new() -> Self {
        Self { log: Mutex::default(), end: watch::Sender::new(Revision::ZERO) }
    }

    fn log(&self) -> MutexGuard<'_, Log> {
        // Nothing in here stops half-way.
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for Memory {
    fn default() -> Self {
        Self::new()
    }
}

impl Log {
    /// Whether the state after a revision is known.
    fn check_known(&self, asked: Revision) -> Result<()> {
        let (oldest, last) = (self.base.revision(), self.state.revision());
        if asked < oldest {
            return Err(StoreError::Compacted { asked, oldest });
        }
        if asked > last {
            return Err(StoreError::Future { asked, last });
        }
        Ok(())
    }

    /// The entries up to a revision, and those after it.
    fn split(&self, at: Revision) -> (&[Entry], &[Entry]) {
        let place = self.entries.partition_point(|entry| entry.revision <= at);
        self.entries.split_at_checked(place).unwrap_or((&self.entries, &[]))
    }

    fn at(&self, asked: Revision) -> Result<State> {
        self.check_known(asked)?;
        if asked == self.state.revision() {
            return Ok(self.state.clone());
        }
        let mut state = self.base.clone();
        self.split(asked).0.iter().for_each(|entry| state.apply(entry));
        Ok(state)
    }

    /// Every entry has the digest after it, so nothing is replayed.
    fn digest(&self, asked: Revision) -> Result<Digest> {
        self.check_known(asked)?;
        Ok(self.split(asked).0.last().map_or_else(|| self.base.digest(), |entry| entry.digest))
    }

    /// The entries after a revision.
    fn after(&self, after: Revision, limit: usize) -> Result<impl Iterator<Item = &Entry>> {
        let oldest = self.base.revision();
        if after < oldest {
            return Err(StoreError::Compacted { asked: after, oldest });
        }
        Ok(self.split(after).1.iter().take(limit))
    }

    fn remembered(&self, key: &IdempotencyKey) -> Result<Option<Revision>> {
        match self.keys.get(&key.name) {
            None => Ok(None),
            Some((known, revision, _)) if known.request == key.request => Ok(Some(*revision)),
            Some(_) => Err(StoreError::KeyReused(key.name.clone())),
        }
    }

    fn append(&mut self, batch: Batch) -> Result<Appended> {
        batch.check()?;
        let before = batch.idempotency.as_ref().map(|key| self.remembered(key)).transpose()?.flatten();
        if let Some(revision) = before {
            return Ok(Appended::Before(revision));
        }
        if batch.after != self.state.revision() {
            return Err(StoreError::Conflict(self.state.revision()));
        }
        batch.check_seen(self.state.digest())?;
        let Batch { after, seen: _, time, actor, message, changes, idempotency } = batch;
        let state = self.state.with(&changes);
        let (revision, digest) = (after.next(), state.digest());
        self.state = state;
        let mut entry = Entry { revision, time, actor, message, digest, chain: Chain::START, changes };
        entry.chain = entry.chain_after(self.chain());
        self.entries.push(entry);
        if let Some(key) = idempotency {
            self.keys.insert(key.name.clone(), (key, revision, time));
        }
        Ok(Appended::Now(revision, digest))
    }

    /// The fingerprint of everything.
    fn chain(&self) -> Chain {
        self.entries.last().map_or(self.base_chain, |entry| entry.chain)
    }

    fn remember(&mut self, key: IdempotencyKey, seen: Option<Revision>, time: Timestamp) -> Result<Revision> {
        if let Some(before) = self.remembered(&key)? {
            return Ok(before);
        }
        let revision = self.state.revision();
        if seen.is_some_and(|seen| seen != revision) {
            return Err(StoreError::Conflict(revision));
        }
        self.keys.insert(key.name.clone(), (key, revision, time));
        Ok(revision)
    }

    fn compact(&mut self, up_to: Revision) -> Result<()> {
        self.base = self.at(up_to)?;
        self.base_chain = self.split(up_to).0.last().map_or(self.base_chain, |entry| entry.chain);
        if let Some(limit) = self.entries.last().and_then(|last| retention::keys_before(last.time)) {
            self.keys.retain(|_, (_, _, time)| *time >= limit);
        }
        self.entries.retain(|entry| entry.revision > up_to);
        Ok(())
    }

    fn restore(&mut self, history: History) -> Result<()> {
        if self.state.revision() != Revision::ZERO {
            return Err(StoreError::Conflict(self.state.revision()));
        }
        self.base_chain = history.base_chain();
        (self.base, self.entries, self.state) = history.into_parts();
        Ok(())
    }
}

impl Store for Memory {
    fn head(&self) -> BoxFuture<'_, Result<Head>> {
        let log = self.log();
        let (revision, digest, oldest) = (log.state.revision(), log.state.digest(), log.base.revision());
        let (chain, oldest_chain) = (log.chain(), log.base_chain);
        ready(Ok(Head { revision, digest, chain, oldest, oldest_chain })).boxed()
    }

    fn state(&self, at: Option<Revision>) -> BoxFuture<'_, Result<State>> {
        let log = self.log();
        ready(at.map_or_else(|| Ok(log.state.clone()), |at| log.at(at))).boxed()
    }

    fn digest(&self, at: Revision) -> BoxFuture<'_, Result<Digest>> {
        ready(self.log().digest(at)).boxed()
    }

    fn entries(&self, after: Revision, limit: usize) -> BoxFuture<'_, Result<Vec<Entry>>> {
        ready(self.log().after(after, limit).map(|entries| entries.cloned().collect())).boxed()
    }

    fn summaries(&self, after: Revision, limit: usize, keys: usize) -> BoxFuture<'_, Result<Vec<EntrySummary>>> {
        let log = self.log();
        ready(log.after(after, limit).map(|entries| entries.map(|entry| entry.summary(keys)).collect())).boxed()
    }

    fn append(&self, batch: Batch) -> BoxFuture<'_, Result<Appended>> {
        let appended = self.log().append(batch);
        if let Ok(Appended::Now(revision, _)) = appended {
            self.end.send_replace(revision);
        }
        ready(appended).boxed()
    }

    fn remembered(&self, key: &IdempotencyKey) -> BoxFuture<'_, Result<Option<Revision>>> {
        ready(self.log().remembered(key)).boxed()
    }

    fn remember(
        &self,
        key: IdempotencyKey,
        seen: Option<Revision>,
        time: Timestamp,
    ) -> BoxFuture<'_, Result<Revision>> {
        ready(self.log().remember(key, seen, time)).boxed()
    }

    fn compact(&self, up_to: Revision) -> BoxFuture<'_, Result<()>> {
        ready(self.log().compact(up_to)).boxed()
    }

    fn restore(&self, history: History) -> BoxFuture<'_, Result<()>> {
        let revision = history.revision();
        let restored = self.log().restore(history);
        if restored.is_ok() {
            self.end.send_replace(revision);
        }
        ready(restored).boxed()
    }

    fn follow(&self) -> watch::Receiver<Revision> {
        self.end.subscribe()
    }

    fn name(&self) -> &'static str {
        "memory"
    }
}
