//! The processes around a proxy, each ended by whoever started it.

use std::io::Read;
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use axum::Router;
use axum::http::{HeaderMap, Uri};
use serde_json::{Map, Value as Json};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpSocket;
use tokio::runtime::Runtime;

use crate::support::Answer;

/// Waits for something, but not for ever.
pub(crate) fn until<T>(what: &str, mut attempt: impl FnMut() -> Option<T>) -> T {
    let end = Instant::now() + Duration::from_mins(1);
    loop {
        if let Some(found) = attempt() {
            return found;
        }
        assert!(Instant::now() < end, "waited in vain for {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// A process that ends with the test.
pub(super) struct Ended(std::process::Child);

impl Ended {
    pub(super) fn start(command: &mut Command) -> Self {
        Self(command.spawn().unwrap_or_else(|error| panic!("{command:?}: {error}")))
    }

    /// Whether it has ended by itself.
    pub(super) fn is_over(&mut self) -> bool {
        self.0.try_wait().is_ok_and(|status| status.is_some())
    }

    fn kill(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

impl Drop for Ended {
    fn drop(&mut self) {
        self.kill();
    }
}

const LISTEN: &str = "UPHELD_TEST_LISTEN";
const FOLDER: &str = "UPHELD_TEST_FOLDER";
const TRUST: &str = "UPHELD_TEST_TRUST";

/// What a server in a process of its own is reported.
pub(crate) struct Told {
    pub(crate) listen: SocketAddr,
    pub(crate) folder: PathBuf,
    pub(crate) trust: Vec<String>,
}

/// What this process is reported, if it is a server.
pub(crate) fn told() -> Option<Told> {
    let listen = std::env::var(LISTEN).ok()?.parse().unwrap();
    let trust = std::env::var(TRUST).ok()?.split_whitespace().map(str::to_owned).collect();
    Some(Told { listen, folder: std::env::var_os(FOLDER)?.into(), trust })
}

impl Told {
    /// Tells where the server listens. A reader sees all of it or nothing.
    pub(crate) fn answer(&self, address: SocketAddr) {
        std::fs::write(self.folder.join("address.new"), address.to_string()).unwrap();
        std::fs::rename(self.folder.join("address.new"), self.folder.join("address")).unwrap();
    }
}

/// Whoever started this process holds the other end.
pub(crate) fn wait_for_the_end() {
    std::io::stdin().read_to_end(&mut Vec::new()).ok();
}

/// A server that can be killed, and keeps what it is reported.
pub(crate) struct Child {
    process: Ended,
    folder: TempDir,
    pub(crate) address: SocketAddr,
    revision: u64,
    trust: String,
}

impl Child {
    /// One that believes as much as these settings say.
    pub(crate) fn start(trust: &[&str]) -> Self {
        let (folder, trust) = (TempDir::new().unwrap(), trust.join(" "));
        let (process, address) = Self::run(folder.path(), "127.0.0.1:0", &trust);
        Self { process, folder, address, revision: 0, trust }
    }

    fn run(folder: &Path, listen: &str, trust: &str) -> (Ended, SocketAddr) {
        let told = folder.join("address");
        std::fs::remove_file(&told).ok();
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "proxies::server_of_its_own", "--nocapture"]);
        command.env(LISTEN, listen).env(FOLDER, folder).env(TRUST, trust);
        command.stdin(Stdio::piped()).stdout(Stdio::null());
        let process = Ended::start(&mut command);
        let address = until("the server", || std::fs::read_to_string(&told).ok());
        (process, address.parse().unwrap())
    }

    /// Ends it without a warning (SIGKILL).
    pub(crate) fn kill(&mut self) {
        self.process.kill();
    }

    /// Starts it again where it was.
    pub(crate) fn restart(&mut self) {
        (self.process, _) = Self::run(self.folder.path(), &self.address.to_string(), &self.trust);
    }

    /// Stores policies.
    pub(crate) fn put(&mut self, policies: &str) {
        let agent = agent();
        let url = format!("http://{}/v1/revisions", self.address);
        let answer = agent.post(&url).header("content-type", "application/yaml").send(policies).unwrap();
        assert_eq!(answer.status().as_u16(), 201);
        self.revision += 1;
        assert_eq!(answer.headers()["upheld-revision"], self.revision.to_string().as_str());
    }
}

/// What came through.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub(crate) path: String,
    pub(crate) headers: Vec<(String, String)>,
}

/// A service that answers with the headers that it got.
pub(crate) struct Upstream {
    pub(crate) address: SocketAddr,
    seen: Arc<Mutex<Vec<Seen>>>,
    _runtime: Runtime,
}

impl Upstream {
    pub(crate) fn start() -> Self {
        let all: Arc<Mutex<Vec<Seen>>> = Arc::default();
        let runtime = Runtime::new().unwrap();
        let listener = runtime.block_on(tokio::net::TcpListener::bind("127.0.0.1:0")).unwrap();
        let address = listener.local_addr().unwrap();
        let seen = Arc::clone(&all);
        let router = Router::new().fallback(move |uri: Uri, headers: HeaderMap| async move {
            let text = |value: &axum::http::HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
            let headers: Vec<_> = headers.iter().map(|(name, value)| (name.to_string(), text(value))).collect();
            seen.lock().unwrap().push(Seen { path: uri.path().to_owned(), headers: headers.clone() });
            let headers = headers.into_iter().map(|(name, value)| (name, Json::from(value)));
            axum::Json(Json::Object(headers.collect::<Map<String, Json>>()))
        });
        runtime.spawn(async { axum::serve(listener, router).await });
        Self { address, seen: all, _runtime: runtime }
    }

    /// Whether a path came that begins so.
    pub(crate) fn saw(&self, prefix: &str) -> bool {
        self.seen.lock().unwrap().iter().any(|seen| seen.path.starts_with(prefix))
    }

    /// Everything that came since this was asked last.
    pub(crate) fn take(&self) -> Vec<Seen> {
        std::mem::take(&mut self.seen.lock().unwrap())
    }
}

pub(super) fn agent() -> ureq::Agent {
    let config = ureq::Agent::config_builder().http_status_as_error(false);
    config.timeout_global(Some(Duration::from_mins(1))).build().into()
}

/// Somebody who asks through a proxy.
pub(crate) struct Client {
    address: SocketAddr,
    agent: ureq::Agent,
}

impl Client {
    pub(crate) fn new(address: SocketAddr) -> Self {
        Self { address, agent: agent() }
    }

    /// With a connection of their own.
    pub(crate) fn another(&self) -> Self {
        Self::new(self.address)
    }

    pub(crate) fn get(&self, path: &str, headers: &[(&str, &str)]) -> Answer {
        let mut request = self.agent.get(format!("http://{}{path}", self.address));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        Answer::of(request.call().unwrap())
    }
}

/// Sends bytes as they are from an address of this machine, and reads what comes back until the proxy closes.
pub(crate) fn send(from: IpAddr, to: SocketAddr, bytes: &[u8]) -> String {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let read = async {
        let socket = TcpSocket::new_v4().unwrap();
        socket.bind((from, 0).into()).unwrap();
        let mut stream = socket.connect(to).await.unwrap();
        // Whoever refuses what it has not read to the end may close early.
        stream.write_all(bytes).await.ok();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).await.ok();
        String::from_utf8_lossy(&answer).into_owned()
    };
    runtime.block_on(async { tokio::time::timeout(Duration::from_mins(1), read).await }).expect("an answer")
}
