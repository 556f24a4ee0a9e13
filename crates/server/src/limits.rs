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

mod alarms;
mod body;
mod rate;

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use http_body_util::BodyExt;
use tokio::sync::Semaphore;

pub(crate) use self::alarms::Alarms;
pub(crate) use self::body::whole_body;
use self::rate::Rate;
use crate::app::Shared;
use crate::auth::{Caller, Endpoint, Form};
use crate::config::Limits;
use crate::connection::{Connection, Peer};
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
    pub(crate) fn hurry(&self, path: &str, caller: Option<&Caller>, peer: Option<&Peer>) -> Result<(), u64> {
        match &self.rate {
            Some(rate) if path != ALWAYS => rate.check(caller, peer),
            _ => Ok(()),
        }
    }
}

/// What one request may take.
#[derive(Debug)]
pub(crate) struct Request<'a> {
    app: &'a Shared,
    form: Form,
    always: bool,
    connection: Option<Connection>,
}

impl<'a> Request<'a> {
    /// Of a request to an endpoint.
    pub(crate) fn of(app: &'a Shared, request: &axum::extract::Request, endpoint: Endpoint) -> Self {
        let connection = request.extensions().get::<Connection>().cloned();
        Self { app, form: endpoint.form, always: request.uri().path() == ALWAYS, connection }
    }

    /// Answers if there is a place, and ends what takes too long.
    pub(crate) async fn in_time(self, answering: impl Future<Output = Response>) -> Response {
        if self.always {
            return answering.await;
        }
        let Ok(place) = self.app.gate.running.try_acquire() else {
            return overloaded(self.form, "too many requests are being answered; try again in a moment");
        };
        let limit = self.app.config.limits.time;
        let Some(response) = within(self.connection.as_ref(), limit, answering).await else {
            let detail =
                format!("there was no answer within {} s; a write may have happened all the same", limit.as_secs_f32());
            return overloaded(self.form, &detail);
        };
        drop(place);
        if response
            .headers()
            .get(header::CONTENT_TYPE)
            .is_some_and(|sort| sort.as_bytes().starts_with(b"text/event-stream"))
        {
            return endless(self.app, response);
        }
        response
    }
}

/// What comes of a future, if it comes in time.
async fn within<F: Future>(connection: Option<&Connection>, limit: Duration, future: F) -> Option<F::Output> {
    match connection {
        Some(connection) => connection.alarms().within(limit, future).await,
        None => tokio::time::timeout(limit, future).await.ok(),
    }
}

fn overloaded(form: Form, detail: &str) -> Response {
    if form == Form::Grpc {
        // UNAVAILABLE
        let headers = [("content-type", "application/grpc"), ("grpc-status", "14"), ("grpc-message", "overloaded")];
        return (StatusCode::OK, headers).into_response();
    }
    Problem::unavailable(detail).into_response()
}

/// An answer without an end has a place as long as somebody listens.
fn endless(app: &Shared, response: Response) -> Response {
    let Ok(place) = Arc::clone(&app.gate.streams).try_acquire_owned() else {
        return overloaded(Form::Problem, "too many clients are following events; try again in a moment");
    };
    response.map(|body| {
        Body::new(body.map_frame(move |frame| {
            let _held: &tokio::sync::OwnedSemaphorePermit = &place;
            frame
        }))
    })
}
