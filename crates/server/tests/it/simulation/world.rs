//! Servers on machines of their own, one database, clients, and what goes wrong.

use std::cell::{Cell, RefCell};
use std::fs;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::http::Request;
use futures::future::{abortable, join_all};
use jiff::SignedDuration;
use jiff::tz::TimeZone;
use sha2::{Digest, Sha256};
use tempfile::TempDir;
use tokio::time::{Instant, sleep, timeout};
use upheld_server::Config;
use upheld_server::config::{Security, StoreLocation};
use upheld_server::unlisted::Unlisted;
use upheld_store::Retention;
use upheld_store::testing::simulation::{Durability, Machine, Random, SimulatedDatabase, Wire, run};

use super::client::Client;
use super::history::{Answer, End, Exchange, Fault, History, Log, Question, Reader};

/// From this minute on guests may read `b`.
pub(super) const OPEN_FROM: i8 = 1;

const RIGHTS: &str = "
combiningAlgorithm: deny-overrides
defaultEffect: deny
policies:
- {id: admins, effect: permit, subjects: [{role: admin}], resources: [], actions: []}
- id: guests
  effect: permit
  subjects: [{role: guest}]
  resources: [{path: [/v1/documents, /v1/documents/AccessPolicy/access/a]}]
  actions: [{operation: read}]
- id: guests-later
  effect: permit
  subjects: [{role: guest}]
  resources: [{path: /v1/documents/AccessPolicy/access/b}]
  actions: [{operation: read}]
  conditions: [{type: time, after: '00:01', before: '23:59', timezone: UTC}]
";

/// Who may do what on every server.
pub(super) struct Rights {
    folder: TempDir,
}

impl Reader {
    const ALL: [Self; 2] = [Self::Admin, Self::Guest];

    fn role(self) -> &'static str {
        match self {
            Self::Admin => "admin",
            Self::Guest => "guest",
        }
    }

    fn token(self) -> String {
        format!("upheld_{}-0123456789abcdef0123456789abcdef", self.role())
    }
}

impl Rights {
    pub(super) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (tokens, rights) = (folder.path().join("tokens.yaml"), folder.path().join("rights.yaml"));
        let listed = Reader::ALL.map(|reader| {
            let (role, hash) = (reader.role(), Sha256::digest(reader.token().as_bytes()));
            format!("- {{name: {role}, roles: [{role}], sha256: '{hash:x}'}}\n")
        });
        fs::write(&tokens, format!("tokens:\n{}", listed.concat())).unwrap();
        fs::write(&rights, RIGHTS).unwrap();
        Self { folder }
    }

    fn security(&self) -> Security {
        let [tokens, rights] = ["tokens.yaml", "rights.yaml"].map(|file| Some(self.folder.path().join(file)));
        Security { tokens, rights, ..Security::default() }
    }
}

/// What happened under a seed.
pub(super) fn simulated(seed: u64, durability: Durability, rights: &Rights) -> History {
    run(seed, |outside| Box::pin(World::new(outside, durability, rights).lives()))
}

/// A place where servers run, one after the other.
struct Host {
    wire: Wire,
    running: RefCell<Option<Server>>,
    starts: Cell<usize>,
}

#[derive(Clone)]
struct Server {
    machine: Machine,
    unlisted: Arc<Unlisted>,
    start: usize,
}

pub(super) struct World {
    outside: Machine,
    database: SimulatedDatabase,
    hosts: Vec<Host>,
    config: Config,
    begun: Instant,
    moments: Cell<u64>,
    history: RefCell<History>,
}

/// How old answers may be where that is limited.
const MAX_STALE: Duration = Duration::from_secs(5);

/// How often one thing in so many goes wrong on the way between clients and servers.
const LOST: usize = 30;

impl World {
    fn new(outside: Machine, durability: Durability, rights: &Rights) -> Self {
        let hosts = outside.random(|random| random.below(3)) + 1;
        let forgets = outside.random(|random| random.one_in(4));
        let retention = Retention { keep_revisions: forgets.then_some(4), keep_for: None };
        let limited = outside.random(|random| random.one_in(3));
        let max_stale = limited.then_some(MAX_STALE);
        let host = || Host { wire: Wire::default(), running: RefCell::default(), starts: Cell::new(0) };
        Self {
            database: SimulatedDatabase::new(&outside, durability),
            hosts: (0..hosts).map(|_| host()).collect(),
            config: Config { retention, max_stale, security: rights.security(), ..Config::default() },
            outside,
            begun: Instant::now(),
            moments: Cell::new(0),
            history: RefCell::new(History { max_stale, ..History::default() }),
        }
    }

    async fn lives(self) -> History {
        for place in 0..self.hosts.len() {
            self.start(place).await;
        }
        let clients = self.random(|random| random.below(3)) + 2;
        let clients = join_all((0..clients).map(|number| Client::new(number).lives(&self)));
        tokio::join!(clients, self.suffers());
        self.mends().await;
        for place in 0..self.hosts.len() {
            let end = self.end_of(place).await;
            self.history.borrow_mut().ends.push(end);
        }
        self.keep_log().await;
        self.history.into_inner()
    }

    pub(super) fn random<T>(&self, choose: impl FnOnce(&mut Random) -> T) -> T {
        self.outside.random(choose)
    }

    pub(super) fn hosts(&self) -> usize {
        self.hosts.len()
    }

    /// Another moment than every one before.
    fn moment(&self) -> u64 {
        self.moments.set(self.moments.get() + 1);
        self.moments.get()
    }

    fn note(&self, fault: Fault) {
        let moment = self.moment();
        self.history.borrow_mut().faults.push((moment, fault));
    }

    /// Starts a server, as often as it takes.
    async fn start(&self, place: usize) {
        let host = &self.hosts[place];
        loop {
            let machine = self.outside.another();
            if self.random(|random| random.one_in(4)) {
                let by = self.random(|random| random.milliseconds(0, 60_000));
                machine.put_clock(SignedDuration::try_from(by).unwrap());
                self.note(Fault::ChangeClock(place));
            }
            let (database, wire, config) = (self.database.clone(), host.wire.clone(), self.config.clone());
            let started = machine.asked(Box::pin(async move {
                let store = database.open(&wire).await.map_err(|error| error.to_string())?;
                let config = Config { store: StoreLocation::Given(store), ..config };
                Unlisted::start(config).await.map_err(|error| error.to_string())
            }));
            if let Some(Ok(server)) = started.await {
                let start = host.starts.replace(host.starts.get() + 1);
                *host.running.borrow_mut() = Some(Server { machine, unlisted: Arc::new(server), start });
                return;
            }
            machine.crash();
            sleep(Duration::from_secs(1)).await;
        }
    }

    /// Ends a server where it is.
    fn crash(&self, place: usize) {
        let running = self.hosts[place].running.borrow_mut().take();
        if let Some(Server { machine, .. }) = running {
            machine.crash();
        }
    }

    async fn wait(&self, from: u64, to: u64) {
        sleep(self.random(|random| random.milliseconds(from, to))).await;
    }

    /// What goes wrong while clients ask.
    async fn suffers(&self) {
        let (times, may_put_back) = self.random(|random| (random.below(8), random.one_in(6)));
        let mut is_put_back = !may_put_back;
        for _ in 0..times {
            self.wait(100, 25_000).await;
            let place = self.random(|random| random.below(self.hosts.len()));
            match self.random(|random| random.below(9)) {
                0 | 1 => {
                    self.note(Fault::CrashServer(place));
                    self.crash(place);
                    self.wait(10, 5_000).await;
                    self.start(place).await;
                }
                2 => {
                    self.note(Fault::StopServer(place));
                    let running = self.hosts[place].running.borrow_mut().take();
                    self.wait(10, 3_000).await;
                    if let Some(Server { machine, .. }) = running {
                        machine.crash();
                    }
                    self.start(place).await;
                }
                3..=5 => {
                    self.note(Fault::CutWire(place));
                    self.hosts[place].wire.cut();
                    self.wait(10, 20_000).await;
                    self.hosts[place].wire.mend();
                }
                6 | 7 => {
                    self.note(Fault::CrashDatabase);
                    self.database.crash();
                    self.wait(10, 6_000).await;
                    self.database.start();
                }
                _ if !is_put_back => {
                    is_put_back = true;
                    self.keep_log().await;
                    let revision = self.random(|random| self.database.put_back(random));
                    self.note(Fault::PutBack(revision));
                }
                _ => {}
            }
        }
    }

    async fn keep_log(&self) {
        let entries = self.database.log().await.unwrap();
        let log = Log(entries.into_iter().map(|entry| (entry.revision.0, entry)).collect());
        self.history.borrow_mut().logs.push(log);
    }

    async fn mends(&self) {
        for (place, host) in self.hosts.iter().enumerate() {
            host.wire.mend();
            if host.running.borrow().is_none() {
                self.start(place).await;
            }
        }
        sleep(Duration::from_mins(1)).await;
    }

    async fn end_of(&self, place: usize) -> End {
        let Some(Server { machine, unlisted, .. }) = self.hosts[place].running.borrow().clone() else {
            return End { ready: 0, revision: None, digest: None };
        };
        let request = request("GET", "/readyz", Reader::Admin, &[], String::new());
        let answer = machine.asked(async move { unlisted.ask(request).await }).await.unwrap().unwrap();
        let body: serde_json::Value = serde_json::from_slice(&answer.body).unwrap();
        End {
            ready: answer.status.as_u16(),
            revision: body["revision"].as_u64(),
            digest: body["digest"].as_str().map(str::to_owned),
        }
    }

    /// Asks a server, over a network that may lose question or answer. Clients may go away before they are answered.
    pub(super) async fn ask(
        &self,
        client: usize,
        place: usize,
        question: &Question,
        request: Request<Body>,
    ) -> Option<Answer> {
        let (asked, begun) = (self.moment(), self.begun.elapsed());
        let (start, answer) = self.carried(place, request).await;
        let (answered, times) = (self.moment(), (begun, self.begun.elapsed()));
        let exchange = Exchange {
            client,
            server: place,
            start,
            question: question.clone(),
            asked,
            answered,
            times,
            answer: answer.clone(),
        };
        self.history.borrow_mut().asked.push(exchange);
        answer
    }

    async fn carried(&self, place: usize, request: Request<Body>) -> (usize, Option<Answer>) {
        let (there, back) = self.random(|random| (random.pause(), random.pause()));
        let (lost_there, lost_back) = self.random(|random| (random.one_in(LOST), random.one_in(LOST)));
        let patience = self.random(|random| if random.one_in(8) { random.milliseconds(0, 300) } else { PATIENCE });
        sleep(there).await;
        let running = self.hosts[place].running.borrow().clone();
        let Some(Server { machine, unlisted, start }) = running.filter(|_| !lost_there) else {
            sleep(Duration::from_secs(1)).await;
            return (usize::MAX, None);
        };
        let here = machine.clone();
        let (work, leaves) = abortable(async move {
            let before = minute(&here);
            let answer = unlisted.ask(request).await.ok()?;
            let revision = answer.headers.get("upheld-revision").and_then(|value| value.to_str().ok()?.parse().ok());
            let body = serde_json::from_slice(&answer.body).unwrap_or_default();
            Some(Answer { status: answer.status.as_u16(), revision, body, minutes: (before, minute(&here)) })
        });
        let answer = timeout(patience, machine.asked(work)).await;
        leaves.abort();
        sleep(back).await;
        let answer = answer.ok().flatten().and_then(Result::ok).flatten();
        (start, answer.filter(|_| !lost_back))
    }
}

/// How long clients wait for an answer.
const PATIENCE: Duration = Duration::from_secs(15);

fn minute(machine: &Machine) -> i8 {
    machine.now().to_zoned(TimeZone::UTC).minute()
}

/// A request with a token.
pub(super) fn request(
    method: &str,
    path: &str,
    reader: Reader,
    headers: &[(&str, String)],
    body: String,
) -> Request<Body> {
    let request = Request::builder().method(method).uri(path).header("host", "localhost");
    let request = request.header("authorization", format!("Bearer {}", reader.token()));
    let request = request.header("content-type", "application/json");
    let request = headers.iter().fold(request, |request, (name, value)| request.header(*name, value));
    request.body(Body::from(body)).unwrap()
}
