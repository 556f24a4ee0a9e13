//! For tests. PostgreSQL: a server of one's own, in a temporary folder, on a port that nobody else has. SQLite: a disk that fails when it is
//! told to.

mod faults;
mod killed;
mod programs;
mod relay;
pub mod simulation;

pub use faults::{Fault, Faults};
pub use killed::kill_after;
pub use relay::Relay;

use std::fs::File;
use std::io::{self, Write};
use std::net::{Ipv4Addr, TcpListener};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use sqlx::{AssertSqlSafe, Connection, PgConnection};
use tempfile::TempDir;

use programs::Programs;

/// Set when PostgreSQL may be missing: tests that need it say so, and pass.
pub const WITHOUT: &str = "UPHELD_WITHOUT_POSTGRES";

/// The file in which tests count what they did without.
const LEFT_OUT: &str = "UPHELD_LEFT_OUT";

/// Counts that a test went without something, for those who asked for the number.
pub fn left_out(what: &str) {
    let Some(file) = std::env::var_os(LEFT_OUT) else { return };
    // One write of one line, so that lines of several tests do not mix; a number that is too low fails nothing.
    drop(
        File::options()
            .create(true)
            .append(true)
            .open(file)
            .and_then(|mut file| file.write_all(format!("{what}\n").as_bytes())),
    );
}

const USER: &str = "upheld";

/// How long a server may take to start or to stop.
const PATIENCE: Duration = Duration::from_mins(1);

const EVERY: Duration = Duration::from_millis(50);

/// How many ports are tried: another program can take one before the server does.
const ATTEMPTS: usize = 5;

/// A server that is stopped when this is dropped. What it acknowledged is on the disk, as with any other.
#[derive(Debug)]
pub struct Database {
    folder: TempDir,
    programs: Programs,
    port: u16,
    server: Option<Child>,
    schemas: AtomicU32,
}

impl Database {
    /// The password of its user, for tests that look whether it leaks.
    pub const PASSWORD: &'static str = "open-sesame-7";

    /// Starts a server. There is none if PostgreSQL is not installed and that is allowed.
    ///
    /// # Panics
    ///
    /// If there is none and that is not allowed, or if it does not start.
    #[expect(clippy::panic, reason = "a test cannot go on without, and this is the message that its reader needs")]
    pub fn start() -> Option<Self> {
        let Some(programs) = Programs::find() else {
            let missing = "PostgreSQL is not installed (no `initdb` in PATH or /usr/lib/postgresql/*/bin)";
            if std::env::var_os(WITHOUT).is_some() {
                println!("note: {missing}; {WITHOUT} is set, so this test passes without");
                left_out("PostgreSQL");
                return None;
            }
            panic!("{missing}; install it, or set {WITHOUT}=1 to do without the tests that need it");
        };
        match Self::make(programs) {
            Ok(database) => Some(database),
            Err(error) => panic!("cannot start PostgreSQL: {error}"),
        }
    }

    fn make(programs: Programs) -> io::Result<Self> {
        let folder = tempfile::Builder::new().prefix("upheld-postgres-").tempdir()?;
        programs.give(folder.path())?;
        let password = folder.path().join("password");
        std::fs::write(&password, Self::PASSWORD)?;
        programs.give(&password)?;
        let mut database = Self { folder, programs, port: 0, server: None, schemas: AtomicU32::new(0) };
        let mut initdb = database.command("initdb");
        initdb.arg("--pgdata").arg(database.data()).arg("--pwfile").arg(&password);
        initdb.args(["--username", USER, "--auth", "scram-sha-256", "--encoding", "UTF8", "--no-locale", "--no-sync"]);
        succeed(initdb)?;
        let mut outcome = Ok(());
        for _ in 0..ATTEMPTS {
            database.port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port();
            outcome = database.run();
            if outcome.is_ok() {
                break;
            }
        }
        outcome.map(|()| database)
    }

    /// How it is reached: the database that every cluster has.
    pub fn url(&self) -> String {
        format!("postgres://{USER}:{}@127.0.0.1:{}/postgres", Self::PASSWORD, self.port)
    }

    /// The address of a place in it without tables: a schema of its own.
    pub async fn fresh(&self) -> sqlx::Result<String> {
        let name = format!("fresh_{}", self.schemas.fetch_add(1, Ordering::Relaxed));
        let mut connection = PgConnection::connect(&self.url()).await?;
        sqlx::query(AssertSqlSafe(format!("CREATE SCHEMA {name}"))).execute(&mut connection).await?;
        connection.close().await?;
        Ok(format!("{}?options[search_path]={name}", self.url()))
    }

    /// Puts a log back to one of its earlier revisions, as an old backup or a failover with losses does.
    pub async fn put_back(url: &str, revision: u64) -> sqlx::Result<()> {
        let mut connection = PgConnection::connect(url).await?;
        let revision = i64::try_from(revision).unwrap_or(i64::MAX);
        for statement in [
            "DELETE FROM change WHERE revision > $1",
            "DELETE FROM idempotency WHERE revision > $1",
            "DELETE FROM entry WHERE revision > $1",
            "UPDATE head SET revision = $1, chain_revision = $1, digest = (SELECT digest FROM entry WHERE revision = $1), \
             chain = (SELECT chain FROM entry WHERE revision = $1)",
        ] {
            sqlx::query(statement).bind(revision).execute(&mut connection).await?;
        }
        connection.close().await
    }

    /// Stops it as an operator would: connections are cut, nothing is lost.
    pub fn stop(&mut self) -> io::Result<()> {
        self.end("fast")
    }

    /// Starts it again on the same port.
    pub fn start_again(&mut self) -> io::Result<()> {
        self.run()
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    fn command(&self, program: &str) -> Command {
        let mut command = self.programs.command(program);
        command.current_dir(self.folder.path()).stdin(Stdio::null());
        command
    }

    fn run(&mut self) -> io::Result<()> {
        let log = self.folder.path().join("log");
        let mut command = self.command("postgres");
        command.arg("-D").arg(self.data()).arg("-p").arg(self.port.to_string());
        command.args(["-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories="]);
        command.stdout(Stdio::null()).stderr(std::fs::File::create(&log)?);
        let mut server = command.spawn()?;
        let mut waited = Duration::ZERO;
        loop {
            let mut ready = self.command("pg_isready");
            ready.args(["--quiet", "--host", "127.0.0.1", "--port"]).arg(self.port.to_string());
            if server.try_wait()?.is_some() {
                return Err(io::Error::other(std::fs::read_to_string(&log)?));
            }
            if ready.status()?.success() {
                break;
            }
            if waited > PATIENCE {
                server.kill()?;
                server.wait()?;
                return Err(io::Error::other("it does not get ready"));
            }
            std::thread::sleep(EVERY);
            waited += EVERY;
        }
        self.server = Some(server);
        Ok(())
    }

    fn end(&mut self, mode: &str) -> io::Result<()> {
        let Some(mut server) = self.server.take() else { return Ok(()) };
        let mut stop = self.command("pg_ctl");
        stop.arg("stop").arg("--pgdata").arg(self.data()).args(["--mode", mode, "--silent", "--timeout"]);
        stop.arg(PATIENCE.as_secs().to_string());
        let stopped = succeed(stop);
        if stopped.is_err() {
            server.kill()?;
        }
        server.wait()?;
        stopped
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        if let Err(error) = self.end("immediate") {
            println!("note: PostgreSQL did not stop as asked: {error}");
        }
    }
}

fn succeed(mut command: Command) -> io::Result<()> {
    let output = command.output()?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(io::Error::other(format!("{} failed: {said}", command.get_program().display())))
}
