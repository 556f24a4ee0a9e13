//! From a configuration to a running server, and its orderly end.

mod connections;
mod copied;
mod health;
mod together;
mod watchdog;

use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use tokio::net::TcpListener;
use tokio::sync::watch;
use upheld_dialects::access::decider::DecidingKind;
use upheld_dialects::dialects;
use upheld_loader::load::{Broken, Choices};
use upheld_store::machine::{self, Task};
use upheld_store::{NotWhole, Revision, Store, StoreError};

use self::connections::Acceptor;
use crate::app::{App, Shared};
use crate::auth::{Auth, NewToken, Secret, SecurityError, end_user_lines};
use crate::config::{Anonymous, Config};
use crate::folders::Folders;
use crate::freshness::Freshness;
use crate::limits::Gate;
use crate::live::Live;
use crate::parts::Parts;
use crate::telemetry::{CountedStore, Decisions, Metrics};
use crate::tls::Tls;
use crate::view::View;
use crate::writer::Writer;
use crate::{follow, freshness, http, moves, tls};

pub(crate) use self::watchdog::blocked;

/// Why a server does not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The address is taken, or not ours.
    #[error("cannot listen on {0}: {1}")]
    Listen(SocketAddr, io::Error),
    /// The store cannot be opened.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The store is not what was written into it.
    #[error(
        "the store is damaged: {0}; `upheld verify` says more, and a backup or another server has what was written"
    )]
    Damaged(#[from] NotWhole),
    /// Whom to trust is not clear.
    #[error(transparent)]
    Security(#[from] SecurityError),
    /// The documents make no snapshot.
    #[error("the documents cannot be read")]
    Broken(Box<Broken>),
    /// The decision log cannot be written.
    #[error("the decision log cannot be opened: {0}")]
    DecisionLog(io::Error),
    /// Something inside stopped.
    #[error("the server was stopped while it started")]
    Stopped,
}

fn by_type(types: impl Iterator<Item = String>) -> BTreeMap<String, usize> {
    types.fold(BTreeMap::new(), |mut counts, name| {
        *counts.entry(name).or_default() += 1;
        counts
    })
}

/// How much a server answers from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Contents {
    /// Documents of the store.
    pub documents: usize,
    /// Files that are watched.
    pub files: usize,
    /// Policies in all of them, by type.
    pub policies: BTreeMap<String, usize>,
    /// Objects in all of them, by type.
    pub objects: BTreeMap<String, usize>,
}

/// A server that answers.
#[derive(Debug)]
pub struct Running {
    address: SocketAddr,
    health: Option<SocketAddr>,
    app: Shared,
    bootstrap: Option<Secret>,
    stop: watch::Sender<bool>,
    serving: Task,
    helpers: Vec<Task>,
}

impl Running {
    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Where else it says whether it lives.
    pub fn health(&self) -> Option<SocketAddr> {
        self.health
    }

    /// Where it listens, as a URL.
    pub fn url(&self) -> String {
        self.app.config.own_url()
    }

    /// Whom it believes what proxies pass on, in words.
    pub fn trusted(&self) -> Vec<String> {
        self.app.config.access.trust.lines()
    }

    /// Whose tokens of end users it verifies where proxies ask, in words.
    pub fn end_users(&self) -> Vec<String> {
        end_user_lines(&self.app.config.security.enforcement)
    }

    /// What those may do at most who do not say who they are.
    pub fn anonymous(&self) -> Anonymous {
        self.app.config.anonymous()
    }

    /// What kind of store it has.
    pub fn store(&self) -> &'static str {
        self.app.store.name()
    }

    /// How much it answers from.
    pub fn contents(&self) -> Contents {
        let view = self.app.live.view();
        let snapshot = &view.loaded.snapshot;
        let policies = snapshot.policies().iter().map(|(_, policy)| snapshot.text(policy.kind).to_owned());
        let objects = snapshot.objects().iter().map(|(_, object)| snapshot.text(object.kind).to_owned());
        let apart = dialects().flat_map(|dialect| dialect.objects(snapshot)).map(|object| object.kind);
        Contents {
            documents: view.state.len(),
            files: view.files.texts().count(),
            policies: by_type(policies),
            objects: by_type(objects.chain(apart)),
        }
    }

    /// The revision that it answers from.
    pub fn revision(&self) -> Revision {
        self.app.live.view().revision()
    }

    /// The token that may do everything, if it was made just now. It is said once: show it to whoever started the server.
    pub fn bootstrap_token(&self) -> Option<&str> {
        self.bootstrap.as_ref().map(Secret::reveal)
    }

    /// Reads the watched files again now, and those with tokens, rights, keys and certificates.
    pub async fn reload(&self) {
        self.app.reload().await;
    }

    /// Takes no more connections, answers what was asked, and ends.
    pub async fn stop(self) {
        self.stop.send_replace(true);
        self.app.ending.send_replace(true);
        self.serving.done().await;
        self.helpers.iter().for_each(Task::end);
        self.app.decisions.close().await;
        self.app.store.close().await;
    }
}

/// Opens the store, reads everything, and listens.
pub async fn start(config: Config) -> Result<Running, StartError> {
    // Whatever encrypts in this process does it in one way.
    tls::provider();
    ignore_file_size_limit();
    let opened = Opened::open(config).await?;
    let listen = opened.config.listen;
    let listener = TcpListener::bind(listen).await.map_err(|error| StartError::Listen(listen, error))?;
    let address = listener.local_addr().map_err(|error| StartError::Listen(listen, error))?;
    let Begun { app, bootstrap, helpers } = opened.begin(address).await?;
    let (stop, stopped) = watch::channel(false);
    let probed =
        app.config.health.map(|at| health::serve(at, stopped.clone()).map_err(|error| StartError::Listen(at, error)));
    let health = probed.transpose()?;
    let router = http::router(Arc::clone(&app));
    let acceptor = Acceptor::new(router, Arc::clone(&app), stopped);
    let serving = machine::spawn(acceptor.accept(listener));
    Ok(Running { address, health, app, bootstrap, stop, serving, helpers })
}

/// What a server is made of, before it has an address.
pub(crate) struct Opened {
    config: Config,
    auth: Auth,
    made: Option<NewToken>,
    tls: Option<Tls>,
    metrics: Arc<Metrics>,
    store: Arc<dyn Store>,
    folders: Arc<Folders>,
    live: Arc<Live>,
}

/// A server that nobody can reach yet, and what goes on beside requests.
#[derive(Debug)]
pub(crate) struct Begun {
    pub(crate) app: Shared,
    bootstrap: Option<Secret>,
    helpers: Vec<Task>,
}

impl Opened {
    /// Opens the store and reads everything.
    pub(crate) async fn open(config: Config) -> Result<Self, StartError> {
        let (auth, made) = Auth::open(&config).await?;
        let tls = config.security.tls.clone().map(Tls::open).transpose()?;
        let store = config.store.open().await?;
        let metrics = Arc::new(Metrics::new());
        let store: Arc<dyn Store> = Arc::new(CountedStore::new(store, Arc::clone(&metrics)));
        let folders = Arc::new(Folders::new(config.watch.clone()));
        let view = first_view(&config, store.as_ref(), &folders).await?;
        let live = Arc::new(Live::new(Arc::new(view)));
        Ok(Self { config, auth, made, tls, metrics, store, folders, live })
    }

    /// Puts the parts together, brings the store up to date, and begins what goes on beside requests.
    pub(crate) async fn begin(self, address: SocketAddr) -> Result<Begun, StartError> {
        let Self { config, auth, made, tls, metrics, store, folders, live } = self;
        let decisions =
            Decisions::open(config.operations.decision_log.as_ref(), &metrics).map_err(StartError::DecisionLog)?;
        let gate = Gate::new(&config.limits);
        let most_steps = config.limits.request_steps;
        let writer =
            Writer::new(Arc::clone(&live), Arc::clone(&store), Arc::clone(&folders), Arc::clone(&metrics), most_steps);
        let freshness = Freshness::of(store.as_ref(), config.max_stale);
        // From here on it is the port that was taken.
        let config = Config { listen: address, access: config.access.clone().with_plain_base(), ..config };
        let app = Arc::new(App {
            config,
            live,
            freshness,
            store,
            writer,
            folders,
            auth,
            parts: Parts::default(),
            gate,
            glance: http::Glance::default(),
            tls,
            metrics,
            decisions,
            ending: watch::Sender::new(false),
        });
        let bootstrap = made.map(|made| app.auth.keep(made)).transpose()?.flatten();
        moves::settle(&app).await;
        http::seed(&app).await;
        let trust = Arc::clone(&app);
        let mut helpers = vec![
            machine::spawn(follow::log(Arc::clone(&app))),
            machine::spawn(freshness::follow(Arc::clone(&app))),
            machine::spawn(async move { trust.auth.follow().await }),
            machine::spawn(follow::retention(Arc::clone(&app))),
        ];
        if !app.config.watch.is_empty() {
            helpers.push(machine::spawn(follow::files(Arc::clone(&app))));
        }
        Ok(Begun { app, bootstrap, helpers })
    }
}

/// Who writes beyond the limit of the size of files gets an error, and does not end.
fn ignore_file_size_limit() {
    #[cfg(unix)]
    {
        /// The same number everywhere that counts.
        const SIGXFSZ: i32 = 25;
        if let Err(error) = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::from_raw(SIGXFSZ)) {
            tracing::debug!(%error, "files that grow beyond their limit may end this process");
        }
    }
}

async fn first_view(config: &Config, store: &dyn Store, folders: &Arc<Folders>) -> Result<View, StartError> {
    upheld_store::verify(store).await.map_err(|problem| match problem {
        NotWhole::Store(error) => StartError::Store(error),
        damaged => StartError::Damaged(damaged),
    })?;
    let state = Arc::new(store.state(None).await?);
    let deciding = DecidingKind(config.access.kind.clone());
    let (semantics, settings) = (config.semantics.clone(), config.settings.clone().with(Arc::new(deciding)));
    let choices = Arc::new(Choices { semantics, settings });
    let folders = Arc::clone(folders);
    let build = move || View::build(state, folders.read()?, &choices);
    let built = machine::aside(build).await.map_err(|_| StartError::Stopped)?;
    built.map_err(StartError::Broken)
}
