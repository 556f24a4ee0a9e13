//! The processes around Envoy, each ended by whoever started it.

use std::io::Read;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use axum::Router;
use axum::http::{HeaderMap, Uri};
use serde_json::{Map, Value as Json};
use tempfile::TempDir;
use tokio::runtime::Runtime;

use crate::support::{Answer, installed};

/// Waits for something, but not for ever.
pub(super) fn until<T>(what: &str, mut attempt: impl FnMut() -> Option<T>) -> T {
    let end = Instant::now() + Duration::from_mins(1);
    loop {
        if let Some(found) = attempt() {
            return found;
        }
        assert!(Instant::now() < end, "waited in vain for {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Where `cargo xtask test` puts Envoy.
const BINARY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/envoy/envoy/_bin/envoy");

/// The program.
pub(super) fn binary() -> Option<PathBuf> {
    installed("Envoy", BINARY, Path::is_file)
}

/// A process that ends with the test.
struct Ended(std::process::Child);

impl Ended {
    fn start(command: &mut Command) -> Self {
        Self(command.spawn().unwrap_or_else(|error| panic!("{command:?}: {error}")))
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

/// What a server in a process of its own is told.
pub(super) struct Told {
    pub(super) listen: SocketAddr,
    pub(super) folder: PathBuf,
}

/// What this process is told, if it is a server.
pub(super) fn told() -> Option<Told> {
    let listen = std::env::var(LISTEN).ok()?.parse().unwrap();
    Some(Told { listen, folder: std::env::var_os(FOLDER)?.into() })
}

impl Told {
    /// Tells where the server listens. A reader sees all of it or nothing.
    pub(super) fn answer(&self, address: SocketAddr) {
        std::fs::write(self.folder.join("address.new"), address.to_string()).unwrap();
        std::fs::rename(self.folder.join("address.new"), self.folder.join("address")).unwrap();
    }
}

/// Whoever started this process holds the other end.
pub(super) fn wait_for_the_end() {
    std::io::stdin().read_to_end(&mut Vec::new()).ok();
}

/// A server that can be killed, and keeps what it is told.
pub(super) struct Child {
    process: Ended,
    folder: TempDir,
    pub(super) address: SocketAddr,
    revision: u64,
}

impl Child {
    pub(super) fn start() -> Self {
        let folder = TempDir::new().unwrap();
        let (process, address) = Self::run(folder.path(), "127.0.0.1:0");
        Self { process, folder, address, revision: 0 }
    }

    fn run(folder: &Path, listen: &str) -> (Ended, SocketAddr) {
        let told = folder.join("address");
        std::fs::remove_file(&told).ok();
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "envoy::server_of_its_own", "--nocapture"]).env(LISTEN, listen).env(FOLDER, folder);
        command.stdin(Stdio::piped()).stdout(Stdio::null());
        let process = Ended::start(&mut command);
        let address = until("the server", || std::fs::read_to_string(&told).ok());
        (process, address.parse().unwrap())
    }

    /// Ends it without a warning (SIGKILL).
    pub(super) fn kill(&mut self) {
        self.process.kill();
    }

    /// Starts it again where it was.
    pub(super) fn restart(&mut self) {
        (self.process, _) = Self::run(self.folder.path(), &self.address.to_string());
    }

    /// Stores policies.
    pub(super) fn put(&mut self, policies: &str) {
        let agent = agent();
        let url = format!("http://{}/v1/revisions", self.address);
        let answer = agent.post(&url).header("content-type", "application/yaml").send(policies).unwrap();
        assert_eq!(answer.status().as_u16(), 201);
        self.revision += 1;
        assert_eq!(answer.headers()["upheld-revision"], self.revision.to_string().as_str());
    }
}

/// A service that answers with the headers that it got.
pub(super) struct Upstream {
    pub(super) address: SocketAddr,
    paths: Arc<Mutex<Vec<String>>>,
    _runtime: Runtime,
}

impl Upstream {
    pub(super) fn start() -> Self {
        let paths: Arc<Mutex<Vec<String>>> = Arc::default();
        let runtime = Runtime::new().unwrap();
        let listener = runtime.block_on(tokio::net::TcpListener::bind("127.0.0.1:0")).unwrap();
        let address = listener.local_addr().unwrap();
        let seen = Arc::clone(&paths);
        let router = Router::new().fallback(move |uri: Uri, headers: HeaderMap| async move {
            seen.lock().unwrap().push(uri.path().to_owned());
            let text = |value: &axum::http::HeaderValue| Json::from(String::from_utf8_lossy(value.as_bytes()));
            let headers = headers.iter().map(|(name, value)| (name.to_string(), text(value)));
            axum::Json(Json::Object(headers.collect::<Map<String, Json>>()))
        });
        runtime.spawn(async { axum::serve(listener, router).await });
        Self { address, paths, _runtime: runtime }
    }

    /// Whether a path came that begins so.
    pub(super) fn saw(&self, prefix: &str) -> bool {
        self.paths.lock().unwrap().iter().any(|path| path.starts_with(prefix))
    }

    pub(super) fn forget(&self) {
        self.paths.lock().unwrap().clear();
    }
}

/// Envoy with a configuration out of the examples.
pub(super) struct Envoy {
    pub(super) address: SocketAddr,
    _process: Ended,
    _folder: TempDir,
}

impl Envoy {
    pub(super) fn start(binary: &Path, example: &str, server: SocketAddr, service: SocketAddr) -> Self {
        let folder = TempDir::new().unwrap();
        let (file, admin) = (folder.path().join("envoy.yaml"), folder.path().join("admin"));
        let port = |address: SocketAddr| format!("port_value: {}", address.port());
        let configuration = example
            .replace("port_value: 10000", "port_value: 0")
            .replace("port_value: 8181", &port(server))
            .replace("port_value: 8080", &port(service))
            // The machine may be busy; whether Envoy waits is not what is tested.
            .replace("timeout: 0.5s", "timeout: 20s");
        let own = "admin: {address: {socket_address: {address: 127.0.0.1, port_value: 0}}}\n";
        std::fs::write(&file, format!("{own}{configuration}")).unwrap();
        let mut command = Command::new(binary);
        command.arg("-c").arg(&file).arg("--admin-address-path").arg(&admin);
        command.args(["--use-dynamic-base-id", "--concurrency", "1", "--log-level", "error"]);
        let process = Ended::start(command.stdin(Stdio::null()).stdout(Stdio::null()));
        let admin = until("Envoy", || std::fs::read_to_string(&admin).ok().filter(|text| !text.is_empty()));
        let address = until("Envoy's listener", || {
            let mut answer = agent().get(format!("http://{}/listeners", admin.trim())).call().ok()?;
            let text = answer.body_mut().read_to_string().ok()?;
            text.lines().find_map(|line| line.strip_prefix("front::"))?.trim().parse().ok()
        });
        Self { address, _process: process, _folder: folder }
    }
}

fn agent() -> ureq::Agent {
    let config = ureq::Agent::config_builder().http_status_as_error(false);
    config.timeout_global(Some(Duration::from_mins(1))).build().into()
}

/// Somebody who asks through Envoy.
pub(super) struct Client {
    address: SocketAddr,
    agent: ureq::Agent,
}

impl Client {
    pub(super) fn new(address: SocketAddr) -> Self {
        Self { address, agent: agent() }
    }

    /// With a connection of their own.
    pub(super) fn another(&self) -> Self {
        Self::new(self.address)
    }

    pub(super) fn get(&self, path: &str, headers: &[(&str, &str)]) -> Answer {
        let mut request = self.agent.get(format!("http://{}{path}", self.address));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let mut response = request.call().unwrap();
        let headers = response.headers().iter();
        let headers = headers.map(|(name, value)| (name.to_string(), String::from_utf8_lossy(value.as_bytes()).into()));
        Answer {
            status: response.status().as_u16(),
            headers: headers.collect(),
            text: response.body_mut().read_to_string().unwrap(),
        }
    }
}
