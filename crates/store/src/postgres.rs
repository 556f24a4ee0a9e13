//! The log in PostgreSQL.

mod failure;
mod follow;

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use sqlx::postgres::{PgConnectOptions, PgPoolOptions, PgRow};
use sqlx::{ConnectOptions, Connection, PgConnection, PgPool, Transaction};
use tokio::sync::Notify;

use crate::log::{self, Database, End, Work};
use crate::machine::{self, Moment, Task};
use crate::{Contact, Result, Revision, StoreError};
use failure::failure;

/// How long to wait for a connection: after this the database counts as gone.
const CONNECT: Duration = Duration::from_secs(2);

/// How long a whole call may take; a little more than one statement may, so that the database ends it first.
const CALL: Duration = Duration::from_secs(35);

/// How long it may take to say where the log ends. Nothing newer is heard meanwhile, so that is much shorter.
const ASK: Duration = Duration::from_secs(5);

/// How long it may take to forget much, or to take over a whole history.
const LONG_CALL: Duration = Duration::from_mins(10);

/// What the database is asked to end by itself, statements that take too long and transactions of those who are gone, and to plan
/// each statement anew: a plan that was made for an empty table would be kept for the full one.
///
/// What is acknowledged is on the disk, whatever the database does for others.
const SETTINGS: [(&str, &str); 4] = [
    ("statement_timeout", "30s"),
    ("idle_in_transaction_session_timeout", "10s"),
    ("plan_cache_mode", "force_custom_plan"),
    ("synchronous_commit", "on"),
];

/// At most how many connections are open, one of them for news.
const CONNECTIONS: u32 = 10;

/// How its URLs begin.
const SCHEMES: [&str; 2] = ["postgres://", "postgresql://"];

/// On which channel servers tell each other that the log went on.
const CHANNEL: &str = "upheld";

/// Keeps the log in a PostgreSQL database, for any number of servers.
pub struct Postgres {
    pool: PgPool,
    end: End,
    following: [Task; 2],
}

log::implement_link!(PgConnection, PgRow, log::LOCKED_HEAD, failure);

impl Postgres {
    /// Connects to a database by its URL: `postgres://user:password@host:port/database`.
    pub async fn connect(url: &str) -> Result<Self> {
        // Without these the driver takes almost anything for a path to a database on this machine.
        if !SCHEMES.iter().any(|scheme| url.starts_with(scheme)) {
            return Err(failure::bad_url());
        }
        let options = PgConnectOptions::from_str(url)
            .map_err(|error| failure(&error))?
            .application_name("upheld")
            .options(SETTINGS)
            .disable_statement_logging();
        migrate(&options).await?;
        let pool = PgPoolOptions::new()
            .max_connections(CONNECTIONS)
            .acquire_timeout(CONNECT)
            .after_release(|connection, _| Box::pin(still_answers(connection)))
            .connect_lazy_with(options);
        let at = Moment::now();
        let head = bounded(CALL, async { log::head(&mut *read(&pool).await?).await }).await?;
        let end = End::at(Contact { head, at });
        let news = Arc::new(Notify::new());
        let listening = machine::spawn(follow::listen(pool.clone(), Arc::clone(&news)));
        let polling = machine::spawn(follow::poll(pool.clone(), news, end.clone()));
        let following = [listening, polling];
        Ok(Self { pool, end, following })
    }
}

/// Brings the schema up to date over a connection of its own: the lock of the migrator goes with it, also when it fails.
async fn migrate(options: &PgConnectOptions) -> Result<()> {
    let connected = tokio::time::timeout(CONNECT, options.connect()).await;
    let connected = connected.unwrap_or(Err(sqlx::Error::PoolTimedOut));
    let mut connection = connected.map_err(|error| failure(&error))?;
    let migrated = bounded(CALL, async {
        log::migrate(&mut connection).await.map_err(|error| failure::of_schema(&error))?;
        let mut transaction = connection.begin().await.map_err(|error| failure(&error))?;
        log::complete(&mut *transaction).await?;
        transaction.commit().await.map_err(|error| failure(&error))
    });
    let migrated = migrated.await;
    connection.close().await.map_err(|error| failure(&error))?;
    migrated
}

/// A view that stands still.
async fn read(pool: &PgPool) -> Result<Transaction<'static, sqlx::Postgres>> {
    let begun = pool.begin_with("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY").await;
    begun.map_err(|error| failure(&error))
}

/// Whether a connection that comes back can be used again. The pool itself would wait for as long as the network keeps silent, and call by
/// call all of its connections would hang.
async fn still_answers(connection: &mut PgConnection) -> sqlx::Result<bool> {
    let answered = tokio::time::timeout(CONNECT, connection.ping()).await;
    answered.unwrap_or(Err(sqlx::Error::PoolTimedOut)).map(|()| true)
}

/// Ends what the network would let hang.
async fn bounded<T>(limit: Duration, call: impl Future<Output = Result<T>> + Send) -> Result<T> {
    let timeout = || StoreError::Unreachable(format!("no answer within {} seconds", limit.as_secs()));
    tokio::time::timeout(limit, call).await.unwrap_or_else(|_| Err(timeout()))
}

impl fmt::Debug for Postgres {
    /// Without the options of the pool, which have the password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Postgres").finish_non_exhaustive()
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        self.following.iter().for_each(Task::end);
    }
}

impl Database for Postgres {
    type Transaction = Transaction<'static, sqlx::Postgres>;

    const NAME: &'static str = "postgres";

    fn end(&self) -> &End {
        &self.end
    }

    async fn read(&self) -> Result<Self::Transaction> {
        read(&self.pool).await
    }

    /// Each statement sees what others committed before it; the lock on the head makes that enough.
    async fn write(&self, work: Work) -> Result<Self::Transaction> {
        let begun = self.pool.begin_with("BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE").await;
        let mut transaction = begun.map_err(|error| failure(&error))?;
        if work == Work::Long {
            let longer = sqlx::query("SET LOCAL statement_timeout = '9min'").execute(&mut *transaction).await;
            longer.map_err(|error| failure(&error))?;
        }
        Ok(transaction)
    }

    /// Whoever follows is told in the same transaction.
    async fn commit(&self, mut transaction: Self::Transaction, reached: Option<Revision>) -> Result<()> {
        if let Some(revision) = reached {
            let tell = sqlx::query("SELECT pg_notify($1, $2)").bind(CHANNEL).bind(revision.to_string());
            tell.execute(&mut *transaction).await.map_err(|error| failure(&error))?;
        }
        transaction.commit().await.map_err(|error| failure(&error))
    }

    async fn in_time<T: Send>(&self, work: Work, call: impl Future<Output = Result<T>> + Send) -> Result<T> {
        let limit = match work {
            Work::Short => CALL,
            Work::Long => LONG_CALL,
        };
        bounded(limit, call).await
    }
}
