//! The log in a file.

mod failure;
mod lock;

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;
use jiff::Timestamp;
use sqlx::sqlite::{
    SqliteAutoVacuum, SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteRow, SqliteSynchronous,
};
use sqlx::{ConnectOptions, Connection, SqliteConnection, SqlitePool, Transaction};
use tokio::sync::watch;
use tokio::task::AbortHandle;

use crate::log::{self, End};
use crate::{
    Appended, Batch, Digest, Entry, Head, History, IdempotencyKey, Result, Revision, State, Store, StoreError,
};
use failure::failure;

/// The name of the file.
pub const STORE_FILE: &str = "upheld.db";

/// How often it looks whether another process wrote.
const EVERY: Duration = Duration::from_millis(200);

/// How long it waits for other writers.
const PATIENCE: Duration = Duration::from_secs(5);

/// How many read at once.
const READERS: u32 = 4;

/// Keeps the log in a file. Several processes may use the file at once, as long as they are on one machine.
pub struct Sqlite {
    file: PathBuf,
    writer: SqlitePool,
    readers: SqlitePool,
    end: End,
    following: AbortHandle,
    #[cfg(feature = "testing")]
    faults: crate::testing::Faults,
}

log::implement_link!(SqliteConnection, SqliteRow, log::HEAD, failure);

impl Sqlite {
    /// Opens the store in a folder. Both are made if they are not there.
    pub async fn open(folder: &Path) -> Result<Self> {
        let file = folder.join(STORE_FILE);
        let unusable = |error: &dyn fmt::Display| StoreError::Unusable(format!("{}: {error}", file.display()));
        lock::make_folder(folder).map_err(|error| unusable(&error))?;
        lock::make_file(&file).map_err(|error| unusable(&error))?;
        let options = SqliteConnectOptions::new()
            .filename(&file)
            .create_if_missing(true)
            .auto_vacuum(SqliteAutoVacuum::Incremental)
            .journal_mode(SqliteJournalMode::Wal)
            .synchronous(SqliteSynchronous::Full)
            .foreign_keys(true)
            .busy_timeout(PATIENCE)
            .disable_statement_logging();
        {
            // SQLite has no lock that spans several transactions, and a new file takes more than one.
            let _lock = lock::exclusive(folder, PATIENCE).await.map_err(|error| unusable(&error))?;
            let mut connection = options.connect().await.map_err(|error| unusable(&error))?;
            log::migrate(&mut connection).await.map_err(|error| unusable(&error))?;
            let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await.map_err(|error| unusable(&error))?;
            log::complete(&mut *transaction).await?;
            transaction.commit().await.map_err(|error| unusable(&error))?;
            connection.close().await.map_err(|error| unusable(&error))?;
        }
        let pool = |connections| {
            SqlitePoolOptions::new().max_connections(connections).acquire_timeout(PATIENCE * 2).idle_timeout(None)
        };
        let writer = pool(1).connect_lazy_with(options.clone());
        let readers = pool(READERS).connect_lazy_with(options);
        let head = log::head(&mut *read(&readers).await?).await?;
        let end = End::at(head.revision);
        let following = tokio::spawn(follow(readers.clone(), end.clone())).abort_handle();
        Ok(Self {
            file,
            writer,
            readers,
            end,
            following,
            #[cfg(feature = "testing")]
            faults: crate::testing::Faults::default(),
        })
    }

    /// Which writes fail, for tests.
    #[cfg(feature = "testing")]
    pub fn faults(&self) -> &crate::testing::Faults {
        &self.faults
    }

    /// Where it is.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// Writes wait for each other here, and not in SQLite, which would ask again and again.
    async fn write(&self) -> Result<Transaction<'static, sqlx::Sqlite>> {
        #[cfg(feature = "testing")]
        self.faults.strike(&self.writer).await?;
        self.begin().await
    }

    async fn begin(&self) -> Result<Transaction<'static, sqlx::Sqlite>> {
        let begin = || self.writer.begin_with("BEGIN IMMEDIATE");
        match begin().await {
            Ok(transaction) => Ok(transaction),
            Err(error @ sqlx::Error::Database(_)) => Err(failure(&error)),
            // SQLite ends a transaction by itself when the disk is full, and the library that counts transactions does not hear of it: its
            // connection would count as being in one for ever. Another one begins anew.
            Err(error) => {
                tracing::warn!(%error, "the connection that writes is replaced");
                if let Ok(connection) = self.writer.acquire().await {
                    connection.close().await.ok();
                }
                begin().await.map_err(|error| failure(&error))
            }
        }
    }

    async fn append(&self, batch: &Batch) -> Result<Appended> {
        let mut transaction = self.write().await?;
        let appended = log::append(&mut *transaction, batch).await?;
        if let Appended::Now(revision, _) = appended {
            transaction.commit().await.map_err(|error| failure(&error))?;
            self.end.reached(revision);
        }
        Ok(appended)
    }

    async fn compact(&self, up_to: Revision) -> Result<()> {
        let mut transaction = self.write().await?;
        log::compact(&mut *transaction, up_to).await?;
        transaction.commit().await.map_err(|error| failure(&error))?;
        // What is free is given back to the file system. Nothing depends on it.
        if let Err(error) = sqlx::query("PRAGMA incremental_vacuum").execute(&self.writer).await {
            tracing::debug!(%error, "free pages stay in the file");
        }
        Ok(())
    }

    async fn restore(&self, history: &History) -> Result<()> {
        let mut transaction = self.write().await?;
        log::restore(&mut *transaction, history).await?;
        transaction.commit().await.map_err(|error| failure(&error))?;
        self.end.reached(history.revision());
        Ok(())
    }
}

/// A view that stands still.
async fn read(readers: &SqlitePool) -> Result<Transaction<'static, sqlx::Sqlite>> {
    readers.begin().await.map_err(|error| failure(&error))
}

async fn follow(readers: SqlitePool, end: End) {
    let mut lost = false;
    loop {
        tokio::time::sleep(EVERY).await;
        let head = async { log::head(&mut *read(&readers).await?).await };
        end.asked(head.await, &mut lost);
    }
}

impl fmt::Debug for Sqlite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sqlite").field("file", &self.file).finish_non_exhaustive()
    }
}

impl Drop for Sqlite {
    fn drop(&mut self) {
        self.following.abort();
    }
}

impl Store for Sqlite {
    fn head(&self) -> BoxFuture<'_, Result<Head>> {
        async { log::head(&mut *read(&self.readers).await?).await }.boxed()
    }

    fn state(&self, at: Option<Revision>) -> BoxFuture<'_, Result<State>> {
        async move { log::state(&mut *read(&self.readers).await?, at).await }.boxed()
    }

    fn digest(&self, at: Revision) -> BoxFuture<'_, Result<Digest>> {
        async move { log::digest(&mut *read(&self.readers).await?, at).await }.boxed()
    }

    fn entries(&self, after: Revision, limit: usize) -> BoxFuture<'_, Result<Vec<Entry>>> {
        async move { log::entries(&mut *read(&self.readers).await?, after, limit).await }.boxed()
    }

    fn append(&self, batch: Batch) -> BoxFuture<'_, Result<Appended>> {
        async move { self.append(&batch).await }.boxed()
    }

    fn remembered(&self, key: &IdempotencyKey) -> BoxFuture<'_, Result<Option<Revision>>> {
        let key = key.clone();
        async move { log::remembered(&mut *read(&self.readers).await?, &key).await }.boxed()
    }

    fn remember(&self, key: IdempotencyKey, time: Timestamp) -> BoxFuture<'_, Result<Revision>> {
        async move {
            let mut transaction = self.write().await?;
            let revision = log::remember(&mut *transaction, &key, time).await?;
            transaction.commit().await.map_err(|error| failure(&error))?;
            Ok(revision)
        }
        .boxed()
    }

    fn compact(&self, up_to: Revision) -> BoxFuture<'_, Result<()>> {
        self.compact(up_to).boxed()
    }

    fn restore(&self, history: History) -> BoxFuture<'_, Result<()>> {
        async move { self.restore(&history).await }.boxed()
    }

    fn follow(&self) -> watch::Receiver<Revision> {
        self.end.follow()
    }

    fn try_write(&self) -> BoxFuture<'_, Result<()>> {
        async {
            let mut transaction = self.write().await?;
            let same = sqlx::query("UPDATE head SET revision = revision").execute(&mut *transaction).await;
            same.map_err(|error| failure(&error))?;
            transaction.commit().await.map_err(|error| failure(&error))
        }
        .boxed()
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        async {
            self.following.abort();
            self.readers.close().await;
            // The last connection that closes moves what the log beside the file has into the file.
            self.writer.close().await;
        }
        .boxed()
    }

    fn name(&self) -> &'static str {
        "sqlite"
    }
}
