//! The log in a file, with the head that was acknowledged last in two files beside it.

mod failure;
mod head_files;
mod lock;
mod loss;
mod open;
mod place;
mod wal;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use sqlx::sqlite::{SqliteConnectOptions, SqlitePoolOptions, SqliteRow};
use sqlx::{ConnectOptions, Connection, SqliteConnection, SqlitePool, Transaction};

pub use self::head_files::NAMES as HEAD_FILES;
pub use self::loss::{AcceptedLoss, Acknowledgement, Evidence, Loss};
pub use self::open::Acceptance;
pub use self::wal::FramesBehind;

use self::failure::failure;
use self::head_files::{HeadFiles, StoreId};
use self::open::{Losses, Ready};
use self::place::Place;
use crate::log::{self, ChainEnd, Database, End, Work};
use crate::machine::{self, Moment, Task};
use crate::{Contact, Remark, Result, Revision, StoreError};

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
    opened: Arc<Opened>,
    /// As long as it is open, SQLite keeps the log beside the file.
    guard: Mutex<Option<SqliteConnection>>,
    behind: Option<FramesBehind>,
    end: End,
    following: Task,
    #[cfg(feature = "testing")]
    faults: crate::testing::Faults,
}

log::implement_link!(SqliteConnection, SqliteRow, log::HEAD, failure);

impl Sqlite {
    /// Opens the store in a folder. Both are made if they are not there. A store that ends before what was acknowledged is refused.
    pub async fn open(folder: &Path) -> Result<Self> {
        Self::of(folder, open::ready(folder, Losses::Refuse).await?).await
    }

    /// Opens a store as it is, if it lost what was acknowledged and `last` is the last revision that it has. From then on it opens again. Says
    /// what is lost; nothing, if nothing is.
    pub async fn accept_loss(folder: &Path, last: Revision) -> Result<(Self, Option<Acceptance>)> {
        let mut ready = open::ready(folder, Losses::Accept(last)).await?;
        let accepted = ready.accepted.take();
        Ok((Self::of(folder, ready).await?, accepted))
    }

    async fn of(folder: &Path, ready: Ready) -> Result<Self> {
        let Ready { options, store, kept, behind, accepted: _ } = ready;
        let file = folder.join(STORE_FILE);
        // All connections at once would be closed when they are old, and SQLite would begin a log anew.
        let pool = |connections| {
            let pool = SqlitePoolOptions::new().max_connections(connections).acquire_timeout(PATIENCE * 2);
            pool.idle_timeout(None).max_lifetime(None)
        };
        let writer = pool(1).connect_lazy_with(options.clone());
        let readers = pool(READERS).connect_lazy_with(options.clone());
        let mut guard = options.connect().await.map_err(|error| failure(&error))?;
        let at = Moment::now();
        let head = log::head(&mut guard).await?;
        let place = Place::of(&file, &open::log_of(&file))
            .map_err(|error| StoreError::Unusable(format!("{}: {error}", file.display())))?;
        let opened = Arc::new(Opened {
            files: HeadFiles::of(folder),
            store,
            place,
            options,
            readers,
            known: Mutex::new(kept.end),
        });
        let end = End::at(Contact { head, at });
        let asked = Arc::clone(&opened);
        let asks = move || {
            let opened = Arc::clone(&asked);
            async move { log::head(&mut *opened.read().await?).await }
        };
        let following = machine::spawn(end.clone().follows(|| tokio::time::sleep(EVERY), asks));
        Ok(Self {
            file,
            writer,
            opened,
            guard: Mutex::new(Some(guard)),
            behind,
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

/// What is known of a store that is open, and how it is read.
#[derive(Debug)]
struct Opened {
    files: HeadFiles,
    store: StoreId,
    place: Place,
    options: SqliteConnectOptions,
    readers: SqlitePool,
    /// What the files with the last head say at least.
    known: Mutex<ChainEnd>,
}

impl Opened {
    fn known(&self) -> MutexGuard<'_, ChainEnd> {
        // Nothing in here stops half-way.
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the files are those that were opened. SQLite would go on with the ones that are gone.
    fn has_its_files(&self) -> Result<()> {
        match self.place.replaced() {
            Some(file) if !self.readers.is_closed() => {
                Err(StoreError::Replaced { own: self.known().revision, file: file.display().to_string() })
            }
            _ => Ok(()),
        }
    }

    /// Whether the files are still those that were opened, and go on from what was acknowledged. What SQLite has in memory does not show
    /// that somebody copied over a file, so another connection looks when one was written.
    async fn is_in_place(&self) -> Result<()> {
        self.has_its_files()?;
        let Some(written) = self.place.written().filter(|_| !self.readers.is_closed()) else { return Ok(()) };
        let known = *self.known();
        let mut connection = self.options.connect().await.map_err(|error| failure(&error))?;
        let end = log::chain_end(&mut connection).await?;
        let found = log::chain_at(&mut connection, known.revision).await?;
        connection.close().await.map_err(|error| failure(&error))?;
        if end.revision < known.revision || found.is_some_and(|found| found != known.chain) {
            return Err(StoreError::Diverged { own: known.revision, last: end.revision });
        }
        self.place.looked(written);
        Ok(())
    }

    /// A view that stands still.
    async fn read(&self) -> Result<Transaction<'static, sqlx::Sqlite>> {
        self.is_in_place().await?;
        self.readers.begin().await.map_err(|error| failure(&error))
    }

    /// Whether the log goes on from what was acknowledged. What another process added is in the files before anything follows it.
    async fn follows(&self, connection: &mut SqliteConnection) -> Result<()> {
        let end = log::chain_end(connection).await?;
        let known = *self.known();
        if end == known {
            return Ok(());
        }
        let heads = open::read(&self.files).await?;
        let kept = heads.newest(Some(self.store)).map_or(known, |head| head.end);
        let kept = if kept.revision > known.revision { kept } else { known };
        let is_same = kept.revision == Revision::ZERO
            || (end.revision >= kept.revision && log::chain_at(connection, kept.revision).await? == Some(kept.chain));
        if !is_same {
            return Err(StoreError::Diverged { own: kept.revision, last: end.revision });
        }
        self.keep(end).await
    }

    /// Does not come back before the files have the end of the log, or a later one.
    async fn keep(&self, end: ChainEnd) -> Result<()> {
        if end.revision <= self.known().revision {
            return Ok(());
        }
        let (files, store) = (self.files.clone(), self.store);
        let kept = open::aside(move || files.keep(store, end)).await.map_err(|error| open::unkept(&error))?;
        let mut known = self.known();
        if kept.end.revision > known.revision {
            *known = kept.end;
        }
        Ok(())
    }
}

impl fmt::Debug for Sqlite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sqlite").field("file", &self.file).finish_non_exhaustive()
    }
}

impl Sqlite {
    /// The connection that keeps the log beside the file.
    fn take_guard(&self) -> Option<SqliteConnection> {
        let guard = self.guard.lock().unwrap_or_else(PoisonError::into_inner).take()?;
        // A log that is gone is not lost yet: the last connection that is closed writes what it has of it into the file.
        if self.opened.has_its_files().is_ok() || self.opened.place.is_database_untouched() {
            return Some(guard);
        }
        // It would do so into the file that was put there, too.
        std::mem::forget(guard);
        None
    }
}

impl Drop for Sqlite {
    fn drop(&mut self) {
        self.following.end();
        drop(self.take_guard());
    }
}

impl Database for Sqlite {
    type Transaction = Transaction<'static, sqlx::Sqlite>;

    const NAME: &'static str = "sqlite";

    fn end(&self) -> &End {
        &self.end
    }

    async fn read(&self) -> Result<Self::Transaction> {
        self.opened.read().await
    }

    /// Writes wait for each other here, and not in SQLite, which would ask again and again.
    async fn write(&self, _work: Work) -> Result<Self::Transaction> {
        #[cfg(feature = "testing")]
        self.faults.strike(&self.writer).await?;
        self.opened.is_in_place().await?;
        let mut transaction = self.begin().await?;
        self.opened.follows(&mut transaction).await?;
        Ok(transaction)
    }

    /// Other processes look for themselves whether the log went on.
    async fn commit(&self, mut transaction: Self::Transaction, _reached: Option<Revision>) -> Result<()> {
        let end = log::chain_end(&mut *transaction).await?;
        transaction.commit().await.map_err(|error| failure(&error))?;
        // The database is first: a process that ends in between leaves one that is ahead of what was acknowledged.
        self.opened.keep(end).await
    }

    async fn remarks(&self) -> Result<Vec<Remark>> {
        let losses = loss::accepted(&mut *self.opened.read().await?).await?;
        Ok(losses.into_iter().map(Remark::Loss).chain(self.behind.map(Remark::Frames)).collect())
    }

    /// Gives what is free back to the file system.
    async fn tidy(&self) {
        if let Err(error) = sqlx::query("PRAGMA incremental_vacuum").execute(&self.writer).await {
            tracing::debug!(%error, "free pages stay in the file");
        }
    }

    async fn close(&self) {
        self.following.end();
        let guard = self.take_guard();
        self.opened.readers.close().await;
        if let Some(guard) = guard {
            guard.close().await.ok();
        }
        // The last connection that closes moves what the log beside the file has into the file.
        self.writer.close().await;
    }
}
