//! Opening a file: what is in it is held against what was acknowledged before anything is written.

use std::fmt::Display;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use sqlx::sqlite::{SqliteAutoVacuum, SqliteConnectOptions, SqliteJournalMode, SqliteSynchronous};
use sqlx::{ConnectOptions, Connection, SqliteConnection};

use super::head_files::{HeadFiles, KeptHead, Pair, StoreId};
use super::loss::{self, Evidence, Look, Loss, Proof};
use super::wal::{self, FramesBehind};
use super::{PATIENCE, STORE_FILE, failure, lock};
use crate::{Result, Revision, StoreError, log, machine};

/// What is done about a loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Losses {
    Refuse,
    /// Those of a store that ends with this revision are accepted.
    Accept(Revision),
}

/// A loss that was accepted just now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Acceptance {
    /// What is lost.
    pub loss: Loss,
    /// Where the write-ahead log was copied to, if there was one.
    pub log: Option<PathBuf>,
}

/// A folder with a file that is up to date.
#[derive(Debug)]
pub(super) struct Ready {
    pub(super) options: SqliteConnectOptions,
    pub(super) store: StoreId,
    pub(super) kept: KeptHead,
    pub(super) behind: Option<FramesBehind>,
    pub(super) accepted: Option<Acceptance>,
}

/// The write-ahead log beside a file.
pub(super) fn log_of(file: &Path) -> PathBuf {
    beside(file, "-wal")
}

fn beside(file: &Path, ending: &str) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}

/// Brings the file in a folder up to date, or makes it. What was acknowledged and is not there is an error, and changes nothing.
pub(super) async fn ready(folder: &Path, losses: Losses) -> Result<Ready> {
    let file = folder.join(STORE_FILE);
    let unusable = |error: &dyn Display| StoreError::Unusable(format!("{}: {error}", file.display()));
    lock::make_folder(folder).map_err(|error| unusable(&error))?;
    // SQLite has no lock that spans several transactions, and a new file takes more than one.
    let _lock = lock::exclusive(folder, PATIENCE).await.map_err(|error| unusable(&error))?;
    // The files are read before the database, which goes on first.
    let files = HeadFiles::of(folder);
    let heads = read(&files).await?;
    let log = log_of(&file);
    let scanned = log.clone();
    let behind = aside(move || wal::frames_behind(&scanned)).await.map_err(|error| unusable(&error))?;
    let loss = |look: Look, evidence| Loss { folder: folder.to_owned(), evidence, last: look.last, behind };
    let mut accepted = match probe(&file, &heads, behind).await? {
        (look, Some(evidence)) => Some(losses.accept(loss(look, evidence), &log)?),
        (_, None) => None,
    };
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
    let mut connection = options.connect().await.map_err(|error| unusable(&error))?;
    log::migrate(&mut connection).await.map_err(|error| unusable(&error))?;
    let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await.map_err(|error| unusable(&error))?;
    log::complete(&mut *transaction).await?;
    // Others may have gone on; now they cannot.
    let heads = read(&files).await?;
    let (look, evidence) = loss::look(&mut transaction, &heads, Proof::Now).await?;
    if let (Some(evidence), None) = (evidence, &accepted) {
        accepted = Some(losses.accept(loss(look, evidence), &log)?);
    }
    let end = log::chain_end(&mut *transaction).await?;
    let known = look.store.or_else(|| heads.newest(None).map(|head| head.store));
    let store = known.map_or_else(StoreId::random, Ok).map_err(|error| unusable(&error))?;
    if look.store != Some(store) || accepted.is_some() {
        loss::name(&mut transaction, store).await?;
    }
    if let Some(Acceptance { loss, .. }) = &accepted {
        loss::accept(&mut transaction, loss, end, machine::now()).await?;
    }
    let kept = if accepted.is_some() {
        // The loss is noted first: after a crash in between, it must be accepted again.
        transaction.commit().await.map_err(|error| unusable(&error))?;
        aside(move || files.replace(store, end)).await.map_err(|error| unkept(&error))?
    } else {
        // A database that has its id before the files are on the disk would miss them after a crash.
        let kept = aside(move || files.keep(store, end).and_then(|kept| files.sync().map(|()| kept))).await;
        let kept = kept.map_err(|error| unkept(&error))?;
        transaction.commit().await.map_err(|error| unusable(&error))?;
        kept
    };
    connection.close().await.map_err(|error| unusable(&error))?;
    // Of a loss that was accepted, it is not known what was acknowledged.
    let behind = behind.filter(|_| accepted.is_none());
    Ok(Ready { options, store, kept, behind, accepted })
}

/// Looks at a database that may not be there, without changing anything: SQLite would move what it reads of the log into the file, and forget
/// the rest.
async fn probe(file: &Path, heads: &Pair, behind: Option<FramesBehind>) -> Result<(Look, Option<Evidence>)> {
    let unusable = |error: &dyn Display| StoreError::Unusable(format!("{}: {error}", file.display()));
    if length(file) == 0 {
        let look = Look::default();
        let lone = heads.is_empty() && length(&log_of(file)) > 0;
        let evidence = loss::evidence(heads, look).err().or(lone.then_some(Evidence::NoDatabase));
        return Ok((look, evidence));
    }
    // A transaction that was cut off in a file without a log must be taken back before anybody can read.
    let is_cut_off = length(&beside(file, "-journal")) > 0;
    let options = SqliteConnectOptions::new()
        .filename(file)
        .read_only(!is_cut_off)
        .busy_timeout(PATIENCE)
        .disable_statement_logging();
    let mut connection = options.connect().await.map_err(|error| unusable(&error))?;
    let looked = looked(&mut connection, heads).await;
    connection.close().await.map_err(|error| unusable(&error))?;
    let (look, evidence) = looked.map_err(|error| match error {
        StoreError::Unusable(text) if !text.contains(STORE_FILE) => unusable(&text),
        error => error,
    })?;
    let is_first = look.store.is_none() && heads.is_empty();
    let evidence = evidence.or((is_first && behind.is_some()).then_some(Evidence::Log));
    Ok((look, evidence))
}

/// What is seen at one moment.
async fn looked(connection: &mut SqliteConnection, heads: &Pair) -> Result<(Look, Option<Evidence>)> {
    let mut transaction = connection.begin().await.map_err(|error| failure(&error))?;
    loss::look(&mut transaction, heads, Proof::Later).await
}

impl Losses {
    fn accept(self, loss: Loss, log: &Path) -> Result<Acceptance> {
        match self {
            Self::Refuse => Err(loss.into()),
            Self::Accept(last) if last != loss.last => Err(StoreError::Unusable(format!(
                "its database ends with revision {}, and not with revision {last}: nothing was changed",
                loss.last
            ))),
            Self::Accept(_) => {
                let copied = copy(log, &loss);
                let log = copied.map_err(|error| StoreError::Unusable(format!("{}: {error}", log.display())))?;
                Ok(Acceptance { loss, log })
            }
        }
    }
}

/// Copies the log before SQLite forgets what it does not read of it.
fn copy(log: &Path, loss: &Loss) -> io::Result<Option<PathBuf>> {
    if length(log) == 0 {
        return Ok(None);
    }
    let names = (1_u32..).map(|number| beside(log, &format!("-lost-{}-{number}", loss.last)));
    let Some(copy) = names.into_iter().find(|copy| !copy.exists()) else { return Ok(None) };
    fs::copy(log, &copy)?;
    fs::File::open(&copy)?.sync_all()?;
    Ok(Some(copy))
}

/// How long a file is; one that is not there is empty.
fn length(file: &Path) -> u64 {
    fs::metadata(file).map_or(0, |file| file.len())
}

/// The head could not be written or read.
pub(super) fn unkept(error: &io::Error) -> StoreError {
    StoreError::Unreachable(format!("the files with the last head: {error}"))
}

pub(super) async fn read(files: &HeadFiles) -> Result<Pair> {
    let files = files.clone();
    aside(move || files.read()).await.map_err(|error| unkept(&error))
}

/// What waits for a disk waits on another thread.
pub(super) async fn aside<T: Send + 'static>(work: impl FnOnce() -> io::Result<T> + Send + 'static) -> io::Result<T> {
    machine::aside(work).await.unwrap_or_else(|_| Err(io::Error::other("the thread that was at it stopped")))
}
