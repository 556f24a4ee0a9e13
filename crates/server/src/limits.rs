//! How much clients may ask for.
//!
//! | what | where | answer |
//! |---|---|---|
//! | connections, of all and of one address | [`clients`], asked by `serve` | 503, and closed; whether the server lives is answered |
//! | time and size of a head, handshakes | `serve` | closed, or 431 |
//! | time that somebody takes to read | [`patient`], [`paced`] | closed |
//! | bytes on their way, of all and of one address | [`paced`], [`body`] | 503 |
//! | requests at once, of each sort | [`rooms`] | 503 |
//! | time of a request | here | 503 |
//! | streams, of all and of one address | here | 503 |
//! | requests of one client in a second | [`rate`], asked by `auth` | 429 |
//! | refusals of one address in a second | [`rate`] | late, and closed |
//! | size and time of a body | [`body`] | 413, 408 |
//! | work that takes long, and its turn | [`heavy`](mod@heavy), [`lanes`] | waits; 503 |
//! | steps of a request | [`asking`] | 422 |
//! | nesting and number of values, questions in a batch | readers, handlers | 400, 413 |

mod alarms;
mod asking;
mod body;
mod clients;
mod heavy;
mod lanes;
mod paced;
mod patient;
mod rate;
mod rooms;

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::http::{StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use http_body_util::BodyExt;
use tokio::sync::Semaphore;

pub(crate) use self::alarms::Alarms;
pub(crate) use self::asking::{Asking, at_length};
pub(crate) use self::body::whole_body;
pub(crate) use self::clients::{Client, Clients, Silence, Whose};
pub(crate) use self::heavy::{Undone, heavy};
pub(crate) use self::lanes::Length;
pub(crate) use self::patient::Patient;
use self::rate::Rate;
pub(crate) use self::rooms::Place;
use self::rooms::Rooms;
use crate::app::Shared;
use crate::auth::{AuthMethod, Caller, Endpoint, Form, Standing};
use crate::config::Limits;
use crate::connection::{Connection, Peer};
use crate::problem::Problem;
use crate::telemetry::Observed;

/// What is being used just now.
#[derive(Debug)]
pub(crate) struct Gate {
    rooms: Rooms,
    /// Free places for answers without an end.
    streams: Arc<Semaphore>,
    /// Whoever is connected.
    pub(crate) clients: Arc<Clients>,
    rate: Option<Rate>,
    /// Of requests that are refused.
    refusals: Rate,
}

/// How long somebody waits for the next refusal who is refused too often.
const PAUSE: Duration = Duration::from_millis(250);

/// What is asked whether the server lives must be answered whatever else goes on.
pub(crate) const ALWAYS: &str = "/healthz";

impl Gate {
    /// Nothing is used yet.
    pub(crate) fn new(limits: &Limits) -> Self {
        Self {
            rooms: Rooms::new(limits),
            streams: Arc::new(Semaphore::new(limits.concurrency.clamp(1, Semaphore::MAX_PERMITS))),
            clients: Clients::new(limits),
            rate: limits.rate.map(Rate::new),
            refusals: Rate::new(limits.refusals),
        }
    }

    /// Whether somebody asks too fast: then, for how many seconds they should wait.
    pub(crate) fn hurry(&self, path: &str, caller: Option<&Caller>, peer: Option<&Peer>) -> Result<(), u64> {
        match &self.rate {
            Some(rate) if path != ALWAYS => rate.check(caller, peer),
            _ => Ok(()),
        }
    }

    /// Counts a refusal. Whoever is refused too often waits for it, and is told so: they cost others next to nothing then.
    pub(crate) async fn refused(&self, peer: Option<&Peer>) -> Pestered {
        if self.refusals.check(None, peer).is_ok() {
            return Pestered::No;
        }
        tokio::time::sleep(PAUSE).await;
        Pestered::Yes
    }
}

/// Whether somebody is refused too often.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pestered {
    /// They are: their connection should end.
    Yes,
    /// They are not.
    No,
}

impl Whose {
    /// Of a caller.
    pub(crate) fn of(caller: &Caller) -> Self {
        let is_stranger = caller.how == AuthMethod::Anonymous && caller.standing == Standing::Guarded;
        if is_stranger { Self::Stranger } else { Self::Known }
    }
}

/// What one request may take.
#[derive(Debug)]
pub(crate) struct Request<'a> {
    app: &'a Shared,
    endpoint: Endpoint,
    always: bool,
    connection: Option<Connection>,
    /// The page that asks, if one does.
    page: Option<Asking>,
}

impl<'a> Request<'a> {
    /// Of a request to an endpoint.
    pub(crate) fn of(app: &'a Shared, request: &axum::extract::Request, endpoint: Endpoint) -> Self {
        let connection = request.extensions().get::<Connection>().cloned();
        Self { app, endpoint, always: request.uri().path() == ALWAYS, connection, page: Asking::here() }
    }

    /// What it may take, for whoever works on it; nothing for decisions, which rarely need it.
    pub(crate) fn asking(&self, uri: &Uri, observed: &Observed) -> Option<Asking> {
        if let Some(page) = &self.page {
            return Some(page.clone());
        }
        if self.always {
            return None;
        }
        let chooses_view = || self.endpoint.has_view() && uri.query().is_some();
        (self.endpoint.sort != "decision" || chooses_view()).then(|| Asking::of(self.app, observed))
    }

    /// Answers, and ends what takes too long.
    pub(crate) async fn in_time<T>(&self, answering: impl Future<Output = T>) -> Result<T, Response> {
        if self.always || self.page.is_some() {
            return Ok(answering.await);
        }
        let limit = self.app.config.limits.time;
        within(self.connection.as_ref(), limit, answering).await.ok_or_else(|| {
            let detail =
                format!("there was no answer within {} s; a write may have happened all the same", limit.as_secs_f32());
            overloaded(self.endpoint.form, &detail)
        })
    }

    /// A place to be answered in, once it is known who asks. What a page asks has the place of the page.
    pub(crate) fn enter(&self, whose: Whose) -> Result<Option<Place<'a>>, Box<Response>> {
        if self.always || self.page.is_some() {
            return Ok(None);
        }
        let detail = "too many requests are being answered; try again in a moment";
        let place = self.app.gate.rooms.enter(self.endpoint, whose);
        place.map(Some).ok_or_else(|| Box::new(overloaded(self.endpoint.form, detail)))
    }

    /// The answer, if there is room for it until it is read.
    pub(crate) fn bounded(&self, whose: Whose, response: Response) -> Response {
        let Some(client) = self.connection.as_ref().map(Connection::client) else { return response };
        let sort = response.headers().get(header::CONTENT_TYPE);
        if sort.is_some_and(|sort| sort.as_bytes().starts_with(b"text/event-stream")) {
            // What a page passes on has its place already.
            let is_held = response.extensions().get::<Followed>().is_some();
            return if is_held { response } else { endless(self.app, client, response) };
        }
        if let Some(page) = &self.page {
            // A page keeps what it got until it is made.
            return match paced::counted(response.body(), client, whose) {
                Ok(held) => {
                    if let Some(held) = held {
                        page.keep(held);
                    }
                    response
                }
                Err(paced::TooMuch) => overloaded(self.endpoint.form, TOO_MUCH),
            };
        }
        let paced = paced::paced(response, client, whose, self.app.config.limits.write_time);
        paced.unwrap_or_else(|| overloaded(self.endpoint.form, TOO_MUCH))
    }
}

const TOO_MUCH: &str = "too many answers are on their way and not read yet; read those, or try again in a moment";

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

/// Beside an answer without an end: it has a place.
#[derive(Clone, Copy, Debug)]
struct Followed;

/// An answer without an end has a place as long as somebody listens.
fn endless(app: &Shared, client: &Arc<Client>, response: Response) -> Response {
    let place = Arc::clone(&app.gate.streams).try_acquire_owned().ok();
    let Some(held) = place.zip(client.stream()) else {
        return overloaded(Form::Problem, "too many clients are following events; try again in a moment");
    };
    let mut response = response;
    response.extensions_mut().insert(Followed);
    response.map(|body| {
        Body::new(body.map_frame(move |frame| {
            let _held: &(tokio::sync::OwnedSemaphorePermit, clients::Stream) = &held;
            frame
        }))
    })
}
