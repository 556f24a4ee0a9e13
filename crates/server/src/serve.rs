//! From a configuration to a running server, and its orderly end.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use hyper_util::server::graceful::GracefulShutdown;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tower::Service;
use upheld_input::load::Broken;
use upheld_store::{Revision, Store, StoreError};

use crate::app::{App, Shared};
use crate::config::Config;
use crate::folders::Folders;
use crate::live::Live;
use crate::view::View;
use crate::writer::Writer;
use crate::{follow, http};

/// Why a server does not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The address is taken, or not ours.
    #[error("cannot listen on {0}: {1}")]
    Listen(SocketAddr, io::Error),
    /// The store cannot be opened.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The documents make no snapshot.
    #[error("the documents cannot be read")]
    Broken(Box<Broken>),
    /// Something inside stopped.
    #[error("the server stopped while it started")]
    Stopped,
}

/// A server that answers.
#[derive(Debug)]
pub struct Running {
    address: SocketAddr,
    app: Shared,
    stop: watch::Sender<bool>,
    serving: JoinHandle<()>,
    helpers: Vec<JoinHandle<()>>,
}

impl Running {
    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// What kind of store it has.
    pub fn store(&self) -> &'static str {
        self.app.store.name()
    }

    /// The revision that it answers from.
    pub fn revision(&self) -> Revision {
        self.app.live.view().revision()
    }

    /// Reads the watched files again now.
    pub async fn reload(&self) {
        self.app.writer.reload().await;
    }

    /// Takes no more connections, answers what was asked, and ends.
    pub async fn stop(self) {
        self.stop.send_replace(true);
        drop(self.serving.await);
        for helper in self.helpers {
            helper.abort();
        }
    }
}

/// Opens the store, reads everything, and listens.
pub async fn start(config: Config) -> Result<Running, StartError> {
    let store = config.store.open().await?;
    let folders = Arc::new(Folders::new(config.watch.clone()));
    let view = first_view(&config, store.as_ref(), &folders).await?;
    let live = Arc::new(Live::new(Arc::new(view)));
    let writer = Writer::new(Arc::clone(&live), Arc::clone(&store), Arc::clone(&folders));
    let listener = TcpListener::bind(config.listen).await.map_err(|error| StartError::Listen(config.listen, error))?;
    let address = listener.local_addr().map_err(|error| StartError::Listen(config.listen, error))?;
    let app = Arc::new(App { config, live, store, writer, folders });
    let helpers = vec![
        tokio::spawn(follow::log(Arc::clone(&app))),
        tokio::spawn(follow::files(Arc::clone(&app))),
        tokio::spawn(follow::retention(Arc::clone(&app))),
    ];
    let (stop, stopped) = watch::channel(false);
    let router = http::router(Arc::clone(&app));
    let serving = tokio::spawn(accept(listener, router, stopped));
    Ok(Running { address, app, stop, serving, helpers })
}

async fn first_view(config: &Config, store: &dyn Store, folders: &Arc<Folders>) -> Result<View, StartError> {
    let state = Arc::new(store.state(None).await?);
    let semantics: Arc<[String]> = config.semantics.clone().into();
    let folders = Arc::clone(folders);
    let build = move || View::build(state, folders.read()?, &semantics);
    let built = tokio::task::spawn_blocking(build).await.map_err(|_| StartError::Stopped)?;
    built.map_err(StartError::Broken)
}

/// How long a client may take for the head of a request.
const HEAD: Duration = Duration::from_secs(10);
/// How long answers may take once the server is told to stop.
const LAST_ANSWERS: Duration = Duration::from_secs(20);

async fn accept(listener: TcpListener, router: Router, mut stopped: watch::Receiver<bool>) {
    let graceful = GracefulShutdown::new();
    loop {
        let stream = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = stopped.wait_for(|stop| *stop) => break,
        };
        match stream {
            Ok((stream, peer)) => serve_one(stream, peer, router.clone(), &graceful),
            // Out of files, mostly: trying again at once would not help.
            Err(error) => {
                tracing::warn!(%error, "a connection could not be taken");
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        }
    }
    drop(listener);
    if tokio::time::timeout(LAST_ANSWERS, graceful.shutdown()).await.is_err() {
        tracing::warn!("some clients were still being answered when the server ended");
    }
}

fn serve_one(stream: TcpStream, peer: SocketAddr, router: Router, graceful: &GracefulShutdown) {
    // Answers are small, and are wanted now.
    drop(stream.set_nodelay(true));
    let service = hyper::service::service_fn(move |mut request: hyper::Request<hyper::body::Incoming>| {
        request.extensions_mut().insert(http::Peer { address: peer });
        router.clone().call(request)
    });
    let mut builder = Builder::new(TokioExecutor::new());
    builder.http1().timer(TokioTimer::new()).header_read_timeout(HEAD);
    builder.http2().timer(TokioTimer::new()).keep_alive_interval(Duration::from_secs(30)).max_concurrent_streams(256);
    let connection = builder.serve_connection(TokioIo::new(stream), service).into_owned();
    let connection = graceful.watch(connection);
    tokio::spawn(async move {
        if let Err(error) = connection.await {
            tracing::debug!(error, %peer, "a connection ended early");
        }
    });
}
