//! Connections: taken as long as there is a place, and each served until it ends.

use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tower::Service;

use super::copied::Copied;
use super::together::{Asked, LONG, Together};
use super::watchdog::Watched;
use crate::app::Shared;
use crate::auth::Certificate;
use crate::connection::Connection;
use crate::limits::{ALWAYS, Client, Patient, Silence};

/// How long answers may take once the server is told to stop.
const LAST_ANSWERS: Duration = Duration::from_secs(20);

/// What every connection is served with.
#[derive(Clone)]
pub(super) struct Acceptor {
    router: Router,
    app: Shared,
    stopped: watch::Receiver<bool>,
    /// Places for those who come when there is no place: they hear whether the server lives, and nothing else.
    beyond: Arc<Semaphore>,
}

/// How many of those there are at once, and how long each may take.
const BEYOND: usize = 256;
const BEYOND_TIME: Duration = Duration::from_secs(1);

/// After a connection that could not be taken.
pub(super) const PAUSE: Duration = Duration::from_millis(50);

impl Acceptor {
    pub(super) fn new(router: Router, app: Shared, stopped: watch::Receiver<bool>) -> Self {
        Self { router, app, stopped, beyond: Arc::new(Semaphore::new(BEYOND)) }
    }

    pub(super) async fn accept(mut self, listener: TcpListener) {
        let graceful = GracefulShutdown::new();
        loop {
            let stream = tokio::select! {
                accepted = listener.accept() => accepted,
                _ = self.stopped.wait_for(|stop| *stop) => break,
            };
            match stream {
                Ok((stream, peer)) => match self.app.gate.clients.connect(peer.ip()) {
                    Some(client) => {
                        let served = self.clone().serve(stream, peer, client, graceful.watcher());
                        tokio::spawn(Watched::new(Box::pin(served)));
                    }
                    None => self.turn_away(stream),
                },
                // Out of files, mostly: trying again at once would not help.
                Err(error) => {
                    tracing::warn!(%error, "a connection could not be accepted");
                    tokio::time::sleep(PAUSE).await;
                }
            }
        }
        drop(listener);
        if tokio::time::timeout(LAST_ANSWERS, graceful.shutdown()).await.is_err() {
            tracing::warn!("some clients were still waiting when the server ended");
        }
    }

    /// There is no place. Whoever asks whether the server lives is told all the same.
    fn turn_away(&self, stream: TcpStream) {
        tracing::debug!("there are too many connections");
        let Ok(place) = Arc::clone(&self.beyond).try_acquire_owned() else { return };
        only_a_while(beyond(self.app.clone(), stream, place));
    }

    async fn serve(mut self, stream: TcpStream, peer: SocketAddr, client: Client, watcher: Watcher) {
        // Answers are small, and are wanted now.
        drop(stream.set_nodelay(true));
        let limits = &self.app.config.limits;
        let stream = Patient::new(stream, limits.write_time);
        let silence = client.silence();
        let Some(tls) = &self.app.tls else {
            return self.speak(stream, Connection::new(peer, None, client), silence, watcher).await;
        };
        let handshake = tokio::time::timeout(limits.head_time, tls.acceptor().accept(stream));
        let shaken = tokio::select! {
            shaken = handshake => shaken,
            () = silence.gives_way() => return,
            _ = self.stopped.wait_for(|stop| *stop) => return,
        };
        match shaken {
            Ok(Ok(stream)) => {
                let certificates = stream.get_ref().1.peer_certificates();
                let certificate = certificates.and_then(|all| all.first()).and_then(|der| Certificate::read(der));
                self.speak(stream, Connection::new(peer, certificate, client), silence, watcher).await;
            }
            Ok(Err(error)) => tracing::debug!(%error, %peer, "a handshake failed"),
            Err(_) => tracing::debug!(%peer, "a handshake took too long"),
        }
    }

    /// Serves until the other side ends, or no request comes; whoever stops the server waits for what was asked before.
    async fn speak<S>(mut self, stream: S, connection: Connection, silence: Arc<Silence>, watcher: Watcher)
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let head_time = self.app.config.limits.head_time;
        let (router, begun, peer) = (self.router, Arc::clone(&silence), connection.peer().ip);
        let has_certificate = connection.certificate().is_some();
        let mut reloads = self.app.auth.follow_reloads();
        let service = hyper::service::service_fn(move |mut request: hyper::Request<hyper::body::Incoming>| {
            begun.end();
            request.extensions_mut().insert(connection.clone());
            router.clone().call(request)
        });
        let requests = Asked::default();
        let protocols = protocols(requests.clone(), head_time);
        let served = protocols.serve_connection(TokioIo::new(Copied(stream)), service).into_owned();
        let mut served = Together::new(served, requests, LONG);
        // Until the protocol is known, nobody else looks at the clock.
        let overdue = async {
            tokio::time::sleep(head_time).await;
            if silence.has_ended() {
                std::future::pending::<()>().await;
            }
        };
        let mut overdue = pin!(overdue);
        let mut gives_way = pin!(silence.gives_way());
        // A certificate may be revoked by what was read again: whoever has one shows it again.
        let ends = async {
            tokio::select! {
                _ = self.stopped.wait_for(|stop| *stop) => {}
                _ = reloads.changed(), if has_certificate => {}
            }
        };
        let mut ends = pin!(ends);
        let mut is_ending = false;
        loop {
            tokio::select! {
                ended = &mut served => {
                    if let Err(error) = ended {
                        tracing::debug!(error, %peer, "a connection ended early");
                    }
                    break;
                }
                () = gives_way.as_mut() => {
                    tracing::debug!(%peer, "a connection without a request gave way to another");
                    break;
                }
                () = overdue.as_mut() => {
                    tracing::debug!(%peer, "no request came");
                    break;
                }
                () = ends.as_mut(), if !is_ending => {
                    is_ending = true;
                    served.connection().graceful_shutdown();
                }
            }
        }
        // As long as this is here, whoever stops the server waits.
        drop(watcher);
    }
}

/// Answers one request of somebody for whom there is no place: whether the server lives.
async fn beyond(app: Shared, stream: TcpStream, place: OwnedSemaphorePermit) {
    match &app.tls {
        None => answer_one(stream, FULL).await,
        Some(tls) => {
            if let Ok(stream) = tls.acceptor().accept(stream).await {
                answer_one(stream, FULL).await;
            }
        }
    }
    drop(place);
}

/// Answers somebody who may not take long.
pub(super) fn only_a_while(answering: impl Future<Output = ()> + Send + 'static) {
    tokio::spawn(tokio::time::timeout(BEYOND_TIME, answering));
}

const FULL: &[u8] =
    b"HTTP/1.1 503 Service Unavailable\r\nretry-after: 1\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";

/// Answers one request: whether the server lives, or this.
pub(super) async fn answer_one(mut stream: impl AsyncRead + AsyncWrite + Unpin, otherwise: &[u8]) {
    const ALIVE: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-type: text/plain; charset=utf-8\r\ncontent-length: 3\r\nconnection: close\r\n\r\nok\n";
    let mut head = Vec::new();
    let mut piece = [0; 512];
    // All of the head, so that the answer is not lost with what was not read.
    while !head.windows(4).any(|end| end == b"\r\n\r\n") && head.len() < 8 * piece.len() {
        match stream.read(&mut piece).await {
            Ok(count) if count > 0 => head.extend_from_slice(piece.get(..count).unwrap_or_default()),
            _ => return,
        }
    }
    let line = format!("GET {ALWAYS} HTTP/1.");
    let answer = if head.starts_with(line.as_bytes()) { ALIVE } else { otherwise };
    if stream.write_all(answer).await.is_ok() {
        stream.shutdown().await.ok();
    }
}

/// Bytes of a connection of HTTP/2 that are not read yet: as many as the standard says.
const UNREAD: u32 = 65_535;

/// Bytes of the head of a request.
const HEAD: usize = 64 * 1024;

fn protocols(requests: Asked, head_time: Duration) -> Builder<Asked> {
    let mut builder = Builder::new(requests);
    // Answers of HTTP/1 come one by one: there is nothing to put together.
    builder.http1().timer(TokioTimer::new()).header_read_timeout(head_time).max_buf_size(HEAD).writev(true);
    builder
        .http2()
        .timer(TokioTimer::new())
        .keep_alive_interval(Duration::from_secs(30))
        // What was sent and is not read yet is kept here, whoever sent it.
        .initial_connection_window_size(UNREAD)
        .initial_stream_window_size(UNREAD)
        .max_concurrent_streams(256)
        .max_send_buf_size(HEAD)
        .max_header_list_size(u32::try_from(HEAD).unwrap_or(u32::MAX))
        // Who opens streams only to cancel them is cut off.
        .max_pending_accept_reset_streams(20)
        .max_local_error_reset_streams(256);
    builder
}
