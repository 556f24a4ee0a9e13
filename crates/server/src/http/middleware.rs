//! The way in, the same for every endpoint.
//!
//! ```text
//! observed ⊃ in time ⊃ let in ─▶ a place ─▶ whole body ─▶ of a view ─▶ handler ─▶ bounded ─▶ packed
//! ```
//!
//! What is outermost sees everything: also what is refused is counted, and bodies of those who may not are never read. One
//! layer, because each costs allocations for every request.

use std::convert::Infallible;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use axum::body::{Body, HttpBody};
use axum::extract::Request;
use axum::http::header::{ACCEPT_ENCODING, CONNECTION};
use axum::http::request::Parts;
use axum::http::{HeaderValue, Version};
use axum::response::{IntoResponse, Response};
use futures::future::BoxFuture;
use tower::{Layer, Service};
use tower_http::compression::Compression;
use tower_http::compression::predicate::{DefaultPredicate, Predicate, SizeAbove};

use super::asked::{self, Asked};
use super::misdirected;
use crate::app::Shared;
use crate::auth::{Endpoint, Operation, Refusal};
use crate::connection::Connection;
use crate::limits::{Pestered, Whose};
use crate::telemetry::{Observed, ObservedRequest};
use crate::{auth, limits};

/// Bytes below which packing an answer takes longer than sending it.
const WORTH_IT: u64 = 1024;

/// Puts the way in before handlers.
#[derive(Clone, Debug)]
pub(super) struct Middleware(pub(super) Shared);

impl<S> Layer<S> for Middleware {
    type Service = Guarded<S>;

    fn layer(&self, handler: S) -> Guarded<S> {
        Guarded { app: Shared::clone(&self.0), handler }
    }
}

/// A handler behind it.
#[derive(Clone, Debug)]
pub(super) struct Guarded<S> {
    app: Shared,
    handler: S,
}

/// What answers, however it fails: with an answer.
pub(super) trait Handler:
    Service<Request, Response = Response, Error = Infallible, Future: Send> + Send
{
}

impl<S: Service<Request, Response = Response, Error = Infallible, Future: Send> + Send> Handler for S {}

impl<S: Handler + Clone + 'static> Service<Request> for Guarded<S> {
    type Response = Response;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Response, Infallible>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.handler.poll_ready(context)
    }

    fn call(&mut self, request: Request) -> Self::Future {
        // The one that said that it is ready must be the one that is called.
        let next = self.handler.clone();
        let ready = std::mem::replace(&mut self.handler, next);
        Box::pin(enter(Shared::clone(&self.app), request, ready))
    }
}

async fn enter(app: Shared, mut request: Request, handler: impl Handler) -> Result<Response, Infallible> {
    let app = &app;
    let endpoint = Endpoint::of(request.method(), request.uri().path(), &app.config.access.base);
    if request.version() == Version::HTTP_2 && !endpoint.is_of_proxies() {
        // Those who ask by the same connection need not wait for it.
        tokio::task::yield_now().await;
    }
    let watched = ObservedRequest::begin(app, &mut request);
    let limits = limits::Request::of(app, &request, endpoint);
    let unread = AtomicBool::new(request.version() <= Version::HTTP_11 && !request.body().is_end_stream());
    let mut response = {
        // In a box, so that what is around it stays small: futures are moved, and large ones are moved slowly.
        let answering = Box::pin(answer(app, request, endpoint, watched.observed(), &unread, &limits, handler));
        watched.spans(limits.in_time(answering)).await.unwrap_or_else(|late| late)
    };
    if endpoint.sort != "server" && watched.observed().caller().is_some() {
        response.headers_mut().insert(asked::STALENESS, asked::seconds(app.freshness.staleness()));
    }
    if unread.into_inner() {
        // What is left of the body stands before the next request. Who knows that does not ask again by this connection.
        response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    }
    Ok(watched.end(response))
}

async fn answer(
    app: &Shared,
    request: Request,
    endpoint: Endpoint,
    observed: &Observed,
    unread: &AtomicBool,
    limits: &limits::Request<'_>,
    handler: impl Handler,
) -> Response {
    let (parts, body) = request.into_parts();
    if !endpoint.is_about_waiting_requests()
        && let Some(refusal) = misdirected::refusal(&parts.headers)
    {
        return refusal;
    }
    let whose = match auth::admit(app, &parts, endpoint).await {
        Ok((caller, access)) => {
            let whose = Whose::of(&caller);
            observed.called_by(caller, access);
            whose
        }
        Err(refusal) => {
            refused(&parts, &refusal, observed);
            let peer = parts.extensions.get::<Connection>().map(Connection::peer);
            if app.gate.refused(peer).await == Pestered::Yes && parts.version <= Version::HTTP_11 {
                // Whatever they sent beside it is not read.
                unread.store(true, Ordering::Relaxed);
            }
            return refusal.answer(endpoint.form);
        }
    };
    if endpoint.answers_from_view()
        && let Some(stale) = app.freshness.stale()
    {
        return Refusal::Stale(stale.detail()).answer(endpoint.form);
    }
    let _place = match limits.enter(whose) {
        Ok(place) => place,
        Err(full) => return *full,
    };
    let (body, _held) = match limits::whole_body(app, &parts, body, endpoint, (whose, app.config.limits.body)).await {
        Ok(body) => body,
        Err(problem) => return problem.into_response(),
    };
    unread.store(false, Ordering::Relaxed);
    let bounded = |response| limits.bounded(whose, response);
    match limits.asking(&parts.uri, observed) {
        // Decisions find out themselves whether they take long; then they say who asks.
        None => viewed(app, (parts, body), endpoint, observed, handler, bounded).await,
        Some(asking) => {
            let answering = viewed(app, (parts, body), endpoint, observed, handler, bounded);
            asking.during(endpoint.length, answering).await
        }
    }
}

/// The answer of a handler, from a view where it needs one.
async fn viewed(
    app: &Shared,
    (mut parts, body): (Parts, Body),
    endpoint: Endpoint,
    observed: &Observed,
    handler: impl Handler,
    bounded: impl Fn(Response) -> Response + Send,
) -> Response {
    if !endpoint.has_view() {
        return packed(Request::from_parts(parts, body), handler, bounded).await;
    }
    let view = match asked::choose(app, &parts.uri, endpoint.operation).await {
        Ok(view) => view,
        Err(problem) => return problem.into_response(),
    };
    parts.extensions.insert(view.clone());
    let response = packed(Request::from_parts(parts, body), handler, bounded).await;
    // The digest goes over all documents. Whoever may not read all of them gets the one of what the answer is made of, or none.
    let reads_all = || observed.access().is_some_and(|access| view.0.is_whole_to(access, Operation::Read));
    if endpoint.sort == "decision" || Asked::is_of(&response) || reads_all() {
        return view.stamped(response);
    }
    view.stamped_but_digest(response)
}

/// The line of a request that is not let in, for whoever looks for attacks: who it was, from where, and why.
fn refused(parts: &Parts, refusal: &Refusal, observed: &Observed) {
    let peer = parts.extensions.get::<Connection>().map(|connection| connection.peer().ip);
    tracing::info!(
        target: "upheld_server::security",
        id = observed.id(),
        address = peer.map(tracing::field::display),
        caller = refusal.caller().map(tracing::field::display),
        method = parts.method.as_str(),
        // Escaped: whoever asks chooses it, and must not be able to write lines of the log.
        path = parts.uri.path().escape_debug().to_string(),
        because = refusal.detail().escape_debug().to_string(),
        "not let in"
    );
}

/// The answer of a handler, counted as long as it is kept, and made smaller for those who can unpack it.
pub(super) async fn packed(
    request: Request,
    mut handler: impl Handler,
    bounded: impl Fn(Response) -> Response + Send,
) -> Response {
    let accepts = request.headers().contains_key(ACCEPT_ENCODING).then(|| request.headers().clone());
    let Ok(response) = handler.call(request).await;
    let response = bounded(response);
    let Some(headers) = accepts else { return response };
    // What packs wants to see what the client can unpack, and somebody to ask.
    let mut asks = Request::new(Body::empty());
    *asks.headers_mut() = headers;
    let mut ready = Some(response);
    let answered = tower::service_fn(move |_: Request| {
        let response = ready.take().unwrap_or_default();
        async move { Ok::<_, Infallible>(response) }
    });
    let large = DefaultPredicate::new().and(SizeAbove::new(WORTH_IT));
    let Ok(response) = Compression::new(answered).compress_when(large).call(asks).await;
    response.map(Body::new)
}
