//! What a server is reported before it starts.

mod operations;
mod security;

pub use operations::{DecisionLog, DecisionLogTo, LogFormat, Operations, WhenFull};
pub use security::{
    Admission, Anonymous, Clients, EndUserJwt, Enforcement, GivenSecret, Issuer, Jwt, KeysLocation, Known, Need,
    Security, Tls,
};

use std::fmt;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

pub use ipnet::IpNet;
use smol_str::SmolStr;
use upheld_dialects::access::POLICY;
pub use upheld_dialects::access::proxies::Trust;
pub use upheld_dialects::access::token_claims::{Attributes, ClaimPath, TokenClaims};
use upheld_dialects::default_editions;
use upheld_engine::Companions;
use upheld_store::{Memory, Postgres, Retention, Sqlite, Store};

/// Everything that can be chosen.
#[derive(Clone, Debug)]
pub struct Config {
    /// Where to listen; port zero takes a free one.
    pub listen: SocketAddr,
    /// Where else to listen, for whether the server lives and nothing else.
    pub health: Option<SocketAddr>,
    /// Where revisions are kept.
    pub store: StoreLocation,
    /// For how long a server answers that does not hear from its store; `None` for as long as it lives.
    pub max_stale: Option<Duration>,
    /// How much of the past is kept.
    pub retention: Retention,
    /// Files and folders that are read and watched, and never written.
    pub watch: Vec<PathBuf>,
    /// The editions in force; what is not named is the default.
    pub semantics: Vec<String>,
    /// What dialects are reported besides the documents, found by its type.
    pub settings: Companions,
    /// The seed's administration API and enforcement point.
    pub access: AccessApi,
    /// The public URL of this server, for documents that name it. Never taken from a request.
    pub public_url: Option<String>,
    /// How much a request may ask for.
    pub limits: Limits,
    /// Who may connect, and who may do what.
    pub security: Security,
    /// What operators see.
    pub operations: Operations,
}

/// Where revisions are kept.
#[derive(Clone)]
pub enum StoreLocation {
    /// Nowhere: they end with the process.
    Ephemeral,
    /// In a file in this folder.
    Folder(PathBuf),
    /// In the PostgreSQL database of this URL.
    Postgres(String),
    /// In one that is open already.
    Given(Arc<dyn Store>),
}

impl fmt::Debug for StoreLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ephemeral => f.write_str("Ephemeral"),
            Self::Folder(folder) => f.debug_tuple("Folder").field(folder).finish(),
            // The URL has a password.
            Self::Postgres(_) => f.write_str("Postgres"),
            Self::Given(store) => f.debug_tuple("Given").field(store).finish(),
        }
    }
}

impl StoreLocation {
    /// Opens it; what is not there is made.
    pub async fn open(&self) -> upheld_store::Result<Arc<dyn Store>> {
        Ok(match self {
            Self::Ephemeral => Arc::new(Memory::new()),
            Self::Folder(folder) => Arc::new(Sqlite::open(folder).await?),
            Self::Postgres(url) => Arc::new(Postgres::connect(url).await?),
            Self::Given(store) => Arc::clone(store),
        })
    }
}

/// The administration API of access policies and the enforcement point, as the seed has them.
#[derive(Clone, Debug)]
pub struct AccessApi {
    /// Below which path.
    pub base: String,
    /// Which environment it is, for policies that are seeded in some environments only.
    pub environment: String,
    /// Whom to believe what proxies pass on.
    pub trust: Trust,
    /// The kind of policies that decides requests where nobody names another. What is enforced does not depend on which documents are
    /// there.
    pub kind: String,
    /// The obligations that whoever asks below `/forward-auth` fulfils; with any other one, a permit does not open.
    pub fulfilled: Vec<SmolStr>,
}

impl AccessApi {
    /// With the base as a path that ends in no slash; what could be mistaken for a pattern is left out.
    pub(crate) fn with_plain_base(self) -> Self {
        let plain = |character: &char| character.is_ascii_alphanumeric() || "/-_.~".contains(*character);
        let path: String = self.base.chars().filter(plain).collect();
        let segments = path.split('/').filter(|segment| !segment.is_empty());
        Self { base: segments.fold(String::new(), |path, segment| format!("{path}/{segment}")), ..self }
    }
}

/// How much a request may ask for.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Bytes of a body.
    pub body: usize,
    /// Questions in one batch.
    pub batch: usize,
    /// Decisions that are worked on at once, and streams of events that there are at once.
    pub concurrency: usize,
    /// Requests that read or ask for explanations and are worked on at once.
    pub reading: usize,
    /// Requests that write or administer and are worked on at once.
    pub administration: usize,
    /// Steps that one request may take under policies that are written; `None` for as many as there are.
    pub request_steps: Option<usize>,
    /// Steps that one request may take, whatever it asks.
    pub steps: u64,
    /// Until a request must be answered.
    pub time: Duration,
    /// How long a request may wait for a revision.
    pub wait: Duration,
    /// Requests that one client may make in a second; `None` for as many as they like.
    pub rate: Option<u32>,
    /// Refusals of one address in a second; who is refused more often waits for it, and is cut off.
    pub refusals: u32,
    /// Connections at once.
    pub connections: usize,
    /// Connections of one address at once.
    pub connections_of_one: usize,
    /// Streams of events of one address at once.
    pub streams_of_one: usize,
    /// Bytes of large bodies and answers that are on their way at once; strangers have half of them.
    pub bytes: usize,
    /// As many of strangers of one address.
    pub bytes_of_one: usize,
    /// How long a client may take nothing, or next to nothing, of an answer.
    pub write_time: Duration,
    /// How long a client may take for a handshake, and for the head of a request.
    pub head_time: Duration,
    /// How long a client may take for a body.
    pub body_time: Duration,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, DEFAULT_PORT)),
            health: None,
            store: StoreLocation::Ephemeral,
            max_stale: None,
            retention: Retention::default(),
            watch: Vec::new(),
            semantics: default_editions().map(str::to_owned).collect(),
            settings: Companions::default(),
            access: AccessApi::default(),
            public_url: None,
            limits: Limits::default(),
            security: Security::default(),
            operations: Operations::default(),
        }
    }
}

impl Config {
    /// The address where it listens, as a URL.
    pub(crate) fn own_url(&self) -> String {
        let scheme = if self.security.tls.is_some() { "https" } else { "http" };
        format!("{scheme}://{}", self.listen)
    }

    /// What those may do at most who do not say who they are. Where nobody said it, it is safe: on a machine by itself whoever is on it may
    /// read; as soon as there is another way to say who one is, or another address, anonymous callers may do nothing; rights of one's own
    /// say it themselves.
    pub fn anonymous(&self) -> Anonymous {
        let Security { anonymous, rights, tls, .. } = &self.security;
        let by_itself = self.listen.ip().is_loopback() && tls.is_none() && !self.security.authenticates();
        anonymous.unwrap_or(match rights {
            Some(_) => Anonymous::Rights,
            None if by_itself => Anonymous::Read,
            None => Anonymous::None,
        })
    }

    /// How the world calls this server: as configured, or by the address where it listens.
    pub(crate) fn base_url(&self) -> String {
        match &self.public_url {
            Some(url) => url.trim_end_matches('/').to_owned(),
            None => self.own_url(),
        }
    }
}

/// The port when nobody names one.
pub const DEFAULT_PORT: u16 = 8181;

impl Default for AccessApi {
    fn default() -> Self {
        Self {
            base: "/authz".to_owned(),
            environment: "development".to_owned(),
            trust: Trust::default(),
            kind: POLICY.to_owned(),
            fulfilled: Vec::new(),
        }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            body: 1 << 20,
            batch: 1000,
            concurrency: 1024,
            reading: 256,
            administration: 64,
            request_steps: None,
            steps: 1 << 28,
            time: Duration::from_secs(10),
            wait: Duration::from_secs(5),
            rate: None,
            refusals: 100,
            connections: 4096,
            connections_of_one: 1024,
            streams_of_one: 128,
            bytes: 512 << 20,
            bytes_of_one: 64 << 20,
            write_time: Duration::from_secs(20),
            head_time: Duration::from_secs(10),
            body_time: Duration::from_secs(5),
        }
    }
}
