//! The log in a file.

mod failure;
mod lock;

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use sqlx::sqlite::{
    SqliteAutoVacuum, SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteRow, SqliteSynchronous,
};
use sqlx::{ConnectOptions, Connection, SqliteConnection, SqlitePool, Transaction};

use crate::log::{self, Database, End, Work};
use crate::machine::{self, Moment, Task};
use crate::{Contact, Result, Revision, StoreError};
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
    following: Task,
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
        let at = Moment::now();
        let head = log::head(&mut *read(&readers).await?).await?;
        let end = End::at(Contact { head, at });
        let asked = readers.clone();
        let asks = move || {
            let readers = asked.clone();
            async move { log::head(&mut *read(&readers).await?).await }
        };
        let following = machine::spawn(end.clone().follows(|| tokio::time::sleep(EVERY), asks));
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
}

/// A view that stands still.
async fn read(readers: &SqlitePool) -> Result<Transaction<'static, sqlx::Sqlite>> {
    readers.begin().await.map_err(|error| failure(&error))
}

impl fmt::Debug for Sqlite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sqlite").field("file", &self.file).finish_non_exhaustive()
    }
}

impl Drop for Sqlite {
    fn drop(&mut self) {
        self.following.end();
    }
}

impl Database for Sqlite {
    type Transaction = Transaction<'static, sqlx::Sqlite>;

    const NAME: &'static str = "sqlite";

    fn end(&self) -> &End {
        &self.end
    }

    async fn read(&self) -> Result<Self::Transaction> {
        read(&self.readers).await
    }

    /// Writes wait for each other here, and not in SQLite, which would ask again and again.
    async fn write(&self, _work: Work) -> Result<Self::Transaction> {
        #[cfg(feature = "testing")]
        self.faults.strike(&self.writer).await?;
        self.begin().await
    }

    /// Other processes look for themselves whether the log went on.
    async fn commit(&self, transaction: Self::Transaction, _reached: Option<Revision>) -> Result<()> {
        transaction.commit().await.map_err(|error| failure(&error))
    }

    /// Gives what is free back to the file system.
    async fn tidy(&self) {
        if let Err(error) = sqlx::query("PRAGMA incremental_vacuum").execute(&self.writer).await {
            tracing::debug!(%error, "free pages stay in the file");
        }
    }

    async fn close(&self) {
        self.following.end();
        self.readers.close().await;
        // The last connection that closes moves what the log beside the file has into the file.
        self.writer.close().await;
    }
}
