//! How much clients may ask for.
//!
//! | what | where | answer |
//! |---|---|---|
//! | connections | `serve` | 503, and closed |
//! | time and size of a head, handshakes | `serve` | closed, or 431 |
//! | requests at once | here | 503 |
//! | time of a request | here | 503 |
//! | requests of one client in a second | [`rate`], asked by `auth` | 429 |
//! | size and time of a body | [`body`] | 413, 408 |
//! | nesting and number of values, questions in a batch | readers, handlers | 400, 413 |

mod body;
mod rate;

use std::sync::Arc;

use axum::body::Body;
use axum::extract::Request;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use http_body_util::BodyExt;
use tokio::sync::Semaphore;

pub(crate) use self::body::whole_body;
use self::rate::Rate;
use crate::app::Shared;
use crate::auth::Caller;
use crate::config::Limits;
use crate::http::Peer;
use crate::problem::Problem;

/// What is being used just now.
#[derive(Debug)]
pub(crate) struct Gate {
    /// Free places for requests.
    running: Semaphore,
    /// Free places for answers without an end.
    streams: Arc<Semaphore>,
    /// Free places for connections.
    pub(crate) connections: Arc<Semaphore>,
    rate: Option<Rate>,
}

/// What is asked whether the server lives must be answered whatever else goes on.
const ALWAYS: &str = "/healthz";

impl Gate {
    /// Nothing is used yet.
    pub(crate) fn new(limits: &Limits) -> Self {
        let places = |wanted: usize| Semaphore::new(wanted.clamp(1, Semaphore::MAX_PERMITS));
        Self {
            running: places(limits.concurrency),
            streams: Arc::new(places(limits.concurrency)),
            connections: Arc::new(places(limits.connections)),
            rate: limits.rate.map(Rate::new),
        }
    }

    /// Whether somebody asks too fast: then, for how many seconds they should wait.
    pub(crate) fn hurry(&self, path: &str, caller: Option<&Caller>, peer: Option<Peer>) -> Result<(), u64> {
        match &self.rate {
            Some(rate) if path != ALWAYS => rate.check(caller, peer),
            _ => Ok(()),
        }
    }
}

/// Lets in as many requests as there are places, and ends those that take too long.
pub(crate) async fn in_time<F: Future<Output = Response>>(
    app: &Shared,
    request: Request,
    next: impl FnOnce(Request) -> F,
) -> Response {
    if request.uri().path() == ALWAYS {
        return next(request).await;
    }
    let grpc = is_grpc(request.headers());
    let Ok(place) = app.gate.running.try_acquire() else {
        return overloaded(grpc, "too many requests are being answered; try again in a moment");
    };
    let limit = app.config.limits.time;
    let Ok(response) = tokio::time::timeout(limit, next(request)).await else {
        let detail =
            format!("there was no answer within {} s; a write may have happened all the same", limit.as_secs_f32());
        return overloaded(grpc, &detail);
    };
    drop(place);
    if response
        .headers()
        .get(header::CONTENT_TYPE)
        .is_some_and(|sort| sort.as_bytes().starts_with(b"text/event-stream"))
    {
        return endless(app, response);
    }
    response
}

fn overloaded(grpc: bool, detail: &str) -> Response {
    if grpc {
        // UNAVAILABLE
        let headers = [("content-type", "application/grpc"), ("grpc-status", "14"), ("grpc-message", "overloaded")];
        return (StatusCode::OK, headers).into_response();
    }
    Problem::unavailable(detail).into_response()
}

/// An answer without an end has a place as long as somebody listens.
fn endless(app: &Shared, response: Response) -> Response {
    let Ok(place) = Arc::clone(&app.gate.streams).try_acquire_owned() else {
        return overloaded(false, "too many clients are following events; try again in a moment");
    };
    response.map(|body| {
        Body::new(body.map_frame(move |frame| {
            let _held: &tokio::sync::OwnedSemaphorePermit = &place;
            frame
        }))
    })
}

/// Whether errors must be said as gRPC does.
fn is_grpc(headers: &HeaderMap) -> bool {
    headers.get(header::CONTENT_TYPE).is_some_and(|sort| sort.as_bytes().starts_with(b"application/grpc"))
}
