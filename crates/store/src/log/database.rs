//! What a database does for the log: transactions begin and end in it, and it tells when others wrote. Everything else about a store is
//! here, once for all databases.

use std::fmt;
use std::ops::DerefMut;

use futures::FutureExt;
use futures::future::BoxFuture;
use jiff::Timestamp;
use tokio::sync::watch;

use super::link::Link;
use super::{End, append, compact, digest, entries, head, remember, remembered, restore, state, statements, summaries};
use crate::{
    Appended, Batch, Contact, Digest, Entry, EntrySummary, Head, History, IdempotencyKey, Remark, Result, Revision,
    State, Store,
};

/// Keeps the tables of the log.
pub(crate) trait Database: fmt::Debug + Send + Sync {
    /// Changes that count together. One that is dropped is taken back.
    type Transaction: DerefMut<Target: Link> + Send;

    /// What it is called in logs and answers.
    const NAME: &'static str;

    /// The end of the log, as far as it is known here.
    fn end(&self) -> &End;

    /// Begins a transaction that sees one state from beginning to end.
    fn read(&self) -> impl Future<Output = Result<Self::Transaction>> + Send;

    /// Begins a transaction that changes the tables.
    fn write(&self, work: Work) -> impl Future<Output = Result<Self::Transaction>> + Send;

    /// Keeps what a transaction changed, also if the machine loses power right after. `reached` is where the log ends now, if it went on:
    /// other servers hear of it.
    fn commit(
        &self,
        transaction: Self::Transaction,
        reached: Option<Revision>,
    ) -> impl Future<Output = Result<()>> + Send;

    /// Gives up a call that takes longer than its work may.
    fn in_time<T: Send>(
        &self,
        _work: Work,
        call: impl Future<Output = Result<T>> + Send,
    ) -> impl Future<Output = Result<T>> + Send {
        call
    }

    /// What there is to say about it besides.
    fn remarks(&self) -> impl Future<Output = Result<Vec<Remark>>> + Send {
        std::future::ready(Ok(Vec::new()))
    }

    /// Uses the room that was given free. Nothing depends on it.
    fn tidy(&self) -> impl Future<Output = ()> + Send {
        std::future::ready(())
    }

    /// Ends all use of it.
    fn close(&self) -> impl Future<Output = ()> + Send {
        std::future::ready(())
    }
}

/// How much there is to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Work {
    /// A few statements.
    Short,
    /// Much is forgotten, or a whole history is taken over.
    Long,
}

async fn commit<D: Database>(database: &D, transaction: D::Transaction, reached: Option<Revision>) -> Result<()> {
    database.commit(transaction, reached).await?;
    if let Some(revision) = reached {
        database.end().reached(revision);
    }
    Ok(())
}

impl<D: Database> Store for D {
    fn head(&self) -> BoxFuture<'_, Result<Head>> {
        self.in_time(Work::Short, async { head(&mut *self.read().await?).await }).boxed()
    }

    fn state(&self, at: Option<Revision>) -> BoxFuture<'_, Result<State>> {
        self.in_time(Work::Short, async move { state(&mut *self.read().await?, at).await }).boxed()
    }

    fn digest(&self, at: Revision) -> BoxFuture<'_, Result<Digest>> {
        self.in_time(Work::Short, async move { digest(&mut *self.read().await?, at).await }).boxed()
    }

    fn entries(&self, after: Revision, limit: usize) -> BoxFuture<'_, Result<Vec<Entry>>> {
        self.in_time(Work::Short, async move { entries(&mut *self.read().await?, after, limit).await }).boxed()
    }

    fn summaries(&self, after: Revision, limit: usize, keys: usize) -> BoxFuture<'_, Result<Vec<EntrySummary>>> {
        let reading = async move { summaries(&mut *self.read().await?, after, limit, keys).await };
        self.in_time(Work::Short, reading).boxed()
    }

    fn append(&self, batch: Batch) -> BoxFuture<'_, Result<Appended>> {
        let appending = async move {
            let mut transaction = self.write(Work::Short).await?;
            let appended = append(&mut *transaction, &batch).await?;
            let reached = match appended {
                Appended::Now(revision, _) => Some(revision),
                // It was committed; whether it was acknowledged, too, is not known.
                Appended::Before(_) => None,
            };
            commit(self, transaction, reached).await?;
            Ok(appended)
        };
        self.in_time(Work::Short, appending).boxed()
    }

    fn remembered(&self, key: &IdempotencyKey) -> BoxFuture<'_, Result<Option<Revision>>> {
        let key = key.clone();
        let remembering = async move {
            let mut transaction = self.read().await?;
            let known = remembered(&mut *transaction, &key).await?;
            if known.is_some() {
                // It was committed; whether it was acknowledged, too, is not known.
                commit(self, transaction, None).await?;
            }
            Ok(known)
        };
        self.in_time(Work::Short, remembering).boxed()
    }

    fn remember(
        &self,
        key: IdempotencyKey,
        seen: Option<Revision>,
        time: Timestamp,
    ) -> BoxFuture<'_, Result<Revision>> {
        let remembering = async move {
            let mut transaction = self.write(Work::Short).await?;
            let revision = remember(&mut *transaction, &key, seen, time).await?;
            commit(self, transaction, None).await?;
            Ok(revision)
        };
        self.in_time(Work::Short, remembering).boxed()
    }

    fn compact(&self, up_to: Revision) -> BoxFuture<'_, Result<()>> {
        let compacting = async move {
            let mut transaction = self.write(Work::Long).await?;
            compact(&mut *transaction, up_to).await?;
            commit(self, transaction, None).await?;
            self.tidy().await;
            Ok(())
        };
        self.in_time(Work::Long, compacting).boxed()
    }

    fn restore(&self, history: History) -> BoxFuture<'_, Result<()>> {
        let restoring = async move {
            let mut transaction = self.write(Work::Long).await?;
            restore(&mut *transaction, &history).await?;
            commit(self, transaction, Some(history.revision())).await
        };
        self.in_time(Work::Long, restoring).boxed()
    }

    fn follow(&self) -> watch::Receiver<Revision> {
        self.end().follow()
    }

    fn contact(&self) -> Option<watch::Receiver<Contact>> {
        Some(self.end().contact())
    }

    fn try_write(&self) -> BoxFuture<'_, Result<()>> {
        let trying = async {
            let mut transaction = self.write(Work::Short).await?;
            transaction.execute(statements::SAME_HEAD, &[]).await?;
            commit(self, transaction, None).await
        };
        self.in_time(Work::Short, trying).boxed()
    }

    fn remarks(&self) -> BoxFuture<'_, Result<Vec<Remark>>> {
        Database::remarks(self).boxed()
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        Database::close(self).boxed()
    }

    fn name(&self) -> &'static str {
        D::NAME
    }
}
