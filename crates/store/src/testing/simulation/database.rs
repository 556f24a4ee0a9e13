//! A database on a simulated machine, and its connections to others: it crashes, is cut off, and is put back to what it was.

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;
use tokio::sync::{OwnedMutexGuard, oneshot};

use super::tables::{Row, Tables};
use super::{Machine, Random, lock};
use crate::log::{self, Database, End, Link, Value, Work};
use crate::machine::{self, Moment, Task};
use crate::{Contact, Entry, Result, Revision, Store, StoreError};

/// How often a server asks where the log ends.
const EVERY: Duration = Duration::from_millis(300);

/// How long a server waits for a database that does not answer.
const PATIENCE: Duration = Duration::from_secs(2);

/// When commits are on the disk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// Before they are acknowledged.
    #[default]
    Kept,
    /// Some time after: the fault that a test must find.
    Late,
}

/// A database. What it committed is there after a crash.
#[derive(Clone, Debug)]
pub struct SimulatedDatabase(Arc<Inner>);

struct Inner {
    /// Where it runs.
    place: Machine,
    durability: Durability,
    disk: Mutex<Disk>,
}

/// What a database has, on its disk and in its memory.
struct Disk {
    /// All that was on the disk, oldest first.
    kept: Vec<Arc<Tables>>,
    /// What its connections see.
    seen: Arc<Tables>,
    /// How often it was started: transactions of before are gone.
    starts: u64,
    is_up: bool,
    /// Held by the one that writes.
    writer: Arc<tokio::sync::Mutex<()>>,
}

impl fmt::Debug for Inner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Inner").field("durability", &self.durability).finish_non_exhaustive()
    }
}

impl Disk {
    fn last(&self) -> Arc<Tables> {
        self.kept.last().map(Arc::clone).unwrap_or_default()
    }

    /// Whether transactions of a start are there still.
    fn has_session_of(&self, starts: u64) -> bool {
        self.is_up && self.starts == starts
    }

    fn starts_again(&mut self) {
        self.seen = self.last();
        self.starts += 1;
        self.writer = Arc::default();
    }
}

impl SimulatedDatabase {
    /// An empty one on a machine of its own.
    pub fn new(outside: &Machine, durability: Durability) -> Self {
        let seen: Arc<Tables> = Arc::default();
        let disk = Disk { kept: vec![Arc::clone(&seen)], seen, starts: 0, is_up: true, writer: Arc::default() };
        Self(Arc::new(Inner { place: outside.another(), durability, disk: Mutex::new(disk) }))
    }

    /// Crashes: what is not on the disk is gone.
    pub fn crash(&self) {
        let mut disk = lock(&self.0.disk);
        disk.is_up = false;
        disk.starts_again();
    }

    /// Starts after a crash.
    pub fn start(&self) {
        lock(&self.0.disk).is_up = true;
    }

    /// Puts it back to an earlier state, as an old backup does. Returns up to which revision it is there then.
    pub fn put_back(&self, choose: &mut Random) -> Revision {
        let mut disk = lock(&self.0.disk);
        let stays = choose.below(disk.kept.len()) + 1;
        disk.kept.truncate(stays);
        disk.starts_again();
        Revision(u64::try_from(disk.seen.revision()).unwrap_or_default())
    }

    /// All entries that were on its disk, also those that were forgotten since.
    pub async fn log(&self) -> Result<Vec<Entry>> {
        let kept = lock(&self.0.disk).kept.clone();
        let mut all: Vec<Entry> = Vec::new();
        for tables in kept {
            let mut session = Session { way: None, tables: Tables::clone(&tables), turn: None };
            let last = all.last().map_or(Revision::ZERO, |entry| entry.revision);
            all.extend(log::entries(&mut session, last, usize::MAX).await?);
        }
        Ok(all)
    }

    /// The store in it, as a server sees it by a wire. To be called on the machine of the server.
    pub async fn open(&self, wire: &Wire) -> Result<Arc<dyn Store>> {
        let access = Access { database: self.clone(), wire: wire.clone() };
        let at = Moment::now();
        let mut session = access.begin(Kind::Reads).await?;
        let end = End::at(Contact { head: log::head(&mut *session).await?, at });
        let ask = move || {
            let access = access.clone();
            async move { log::head(&mut *access.begin(Kind::Reads).await?).await }
        };
        let access = Access { database: self.clone(), wire: wire.clone() };
        let following = machine::spawn(end.clone().follows(|| tokio::time::sleep(EVERY), ask));
        Ok(Arc::new(Simulated { access, end, following }))
    }
}

/// What is between a server and its database.
#[derive(Clone, Debug, Default)]
pub struct Wire(Arc<Mutex<Cut>>);

/// Whether anything gets through.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Cut {
    #[default]
    No,
    Yes,
}

impl Wire {
    /// Cuts it: nothing gets through.
    pub fn cut(&self) {
        *lock(&self.0) = Cut::Yes;
    }

    /// Mends it.
    pub fn mend(&self) {
        *lock(&self.0) = Cut::No;
    }

    /// Carries something, which takes a while.
    async fn carry(&self) -> Result<()> {
        if let Some(here) = Machine::here() {
            tokio::time::sleep(here.random(Random::pause)).await;
        }
        if *lock(&self.0) == Cut::No {
            return Ok(());
        }
        tokio::time::sleep(PATIENCE).await;
        Err(StoreError::Unreachable("the connection is cut".to_owned()))
    }
}

/// The store in a simulated database.
struct Simulated {
    access: Access,
    end: End,
    following: Task,
}

impl fmt::Debug for Simulated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Simulated").finish_non_exhaustive()
    }
}

impl Drop for Simulated {
    fn drop(&mut self) {
        self.following.end();
    }
}

/// A way to the database.
#[derive(Clone, Debug)]
struct Access {
    database: SimulatedDatabase,
    wire: Wire,
}

/// What a transaction may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Reads,
    Writes,
}

impl Access {
    /// Begins a transaction. One that writes waits for those before.
    async fn begin(&self, kind: Kind) -> Result<Transaction> {
        self.wire.carry().await?;
        let (writer, starts) = {
            let disk = lock(&self.database.0.disk);
            (Arc::clone(&disk.writer), disk.starts)
        };
        let turn = match kind {
            Kind::Reads => None,
            Kind::Writes => Some(writer.lock_owned().await),
        };
        let disk = lock(&self.database.0.disk);
        if !disk.has_session_of(starts) {
            return Err(gone());
        }
        let tables = Tables::clone(&disk.seen);
        drop(disk);
        Ok(Transaction(Session { way: Some((self.clone(), starts)), tables, turn }))
    }
}

fn gone() -> StoreError {
    StoreError::Unreachable("the database went away".to_owned())
}

/// A transaction: what it changes counts when it is committed.
#[derive(Debug)]
pub(crate) struct Transaction(Session);

impl Deref for Transaction {
    type Target = Session;

    fn deref(&self) -> &Session {
        &self.0
    }
}

impl DerefMut for Transaction {
    fn deref_mut(&mut self) -> &mut Session {
        &mut self.0
    }
}

/// What a transaction sees and changed.
#[derive(Debug)]
pub(crate) struct Session {
    /// How statements get there, and which start of the database began it; none where nothing is in between.
    way: Option<(Access, u64)>,
    tables: Tables,
    turn: Option<OwnedMutexGuard<()>>,
}

impl Session {
    /// Carries a statement to the database.
    async fn carry(&self) -> Result<()> {
        let Some((access, starts)) = &self.way else { return Ok(()) };
        access.wire.carry().await?;
        let disk = lock(&access.database.0.disk);
        if disk.has_session_of(*starts) { Ok(()) } else { Err(gone()) }
    }
}

impl Link for Session {
    type Row = Row;

    const LOCKED_HEAD: &'static str = log::LOCKED_HEAD;

    fn fetch<'a>(&'a mut self, statement: &'static str, values: &'a [Value<'a>]) -> BoxFuture<'a, Result<Vec<Row>>> {
        let fetching = async move {
            self.carry().await?;
            self.tables.select(statement, values)
        };
        fetching.boxed()
    }

    fn execute<'a>(&'a mut self, statement: &'static str, values: &'a [Value<'a>]) -> BoxFuture<'a, Result<()>> {
        // What is told comes along with what is asked next.
        async move { self.tables.change(statement, values) }.boxed()
    }
}

impl Database for Simulated {
    type Transaction = Transaction;

    const NAME: &'static str = "simulated";

    fn end(&self) -> &End {
        &self.end
    }

    async fn read(&self) -> Result<Transaction> {
        self.access.begin(Kind::Reads).await
    }

    async fn write(&self, _work: Work) -> Result<Transaction> {
        self.access.begin(Kind::Writes).await
    }

    /// The database commits what reached it, also if nobody waits for the answer any more.
    async fn commit(&self, transaction: Transaction, _reached: Option<Revision>) -> Result<()> {
        let Transaction(session) = transaction;
        if session.turn.is_none() {
            return Ok(());
        }
        session.carry().await?;
        let (answers, answer) = oneshot::channel();
        let database = self.access.database.clone();
        let place = database.0.place.clone();
        drop(place.spawn(async move { drop(answers.send(database.keep(session).await)) }));
        let kept = answer.await.unwrap_or_else(|_| Err(gone()));
        self.access.wire.carry().await?;
        kept
    }

    async fn close(&self) {
        self.following.end();
    }
}

impl SimulatedDatabase {
    /// Writes what a transaction changed to the disk; from then on others see it.
    async fn keep(&self, session: Session) -> Result<()> {
        let Session { way, tables, turn } = session;
        let (tables, starts) = (Arc::new(tables), way.map_or(0, |(_, starts)| starts));
        if self.0.durability == Durability::Kept {
            self.sync().await;
        }
        {
            let mut disk = lock(&self.0.disk);
            if !disk.has_session_of(starts) {
                return Err(gone());
            }
            disk.seen = Arc::clone(&tables);
            if self.0.durability == Durability::Kept {
                disk.kept.push(tables);
                return Ok(());
            }
        }
        drop(turn);
        let own = self.clone();
        drop(self.0.place.spawn(async move {
            tokio::time::sleep(PATIENCE).await;
            let mut disk = lock(&own.0.disk);
            if disk.has_session_of(starts) && tables.revision() >= disk.last().revision() {
                disk.kept.push(tables);
            }
        }));
        Ok(())
    }

    /// As long as a disk takes.
    async fn sync(&self) {
        tokio::time::sleep(self.0.place.random(Random::pause)).await;
    }
}
