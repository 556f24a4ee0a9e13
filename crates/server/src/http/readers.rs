//! The way in for readers of pages: the limits are those of programs.
//!
//! ```text
//! in time ⊃ who reads ─▶ a place ─▶ whole body ─▶ page ─▶ bounded ─▶ packed
//!                                                  └─▶ endpoints, as parts of the same request
//! ```
//!
//! Pages are made on threads of their own. However long that takes, only other pages wait.

use std::convert::Infallible;
use std::sync::LazyLock;

use axum::body::{Body, HttpBody};
use axum::extract::{Request, State};
use axum::http::header::{AUTHORIZATION, CONNECTION};
use axum::http::request::Parts;
use axum::http::{HeaderValue, Method, StatusCode, Version};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinHandle;
use upheld_store::machine;

use super::middleware::packed;
use super::{misdirected, pages};
use crate::app::Shared;
use crate::auth::{Caller, Endpoint, reader};
use crate::config::Anonymous;
use crate::connection::Connection;
use crate::limits::{self, Asking, Length, Whose};
use crate::problem::Problem;

/// Threads on which pages are made.
const THREADS: usize = 2;

static PAGES: LazyLock<Option<Runtime>> = LazyLock::new(|| {
    let runtime = Builder::new_multi_thread().worker_threads(THREADS).thread_name("upheld-pages").enable_all().build();
    runtime.inspect_err(|error| tracing::error!(%error, "pages are made where requests are answered")).ok()
});

/// Bytes of a form of somebody who may change nothing yet: a token, and where to go from there.
const FORM: usize = 64 * 1024;
/// Bytes of a form of somebody who may: a document, as forms write it.
const DOCUMENT: usize = 2 * 1024 * 1024;

/// Lets a reader in.
pub(super) async fn enter(State(app): State<Shared>, request: Request, next: Next) -> Response {
    if let Some(refusal) = misdirected::refusal(request.headers()) {
        return refusal;
    }
    let page = Endpoint::of(&Method::GET, request.uri().path(), &app.config.access.base);
    let limits = limits::Request::of(&app, &request, page);
    let may_close = request.version() <= Version::HTTP_11 && !request.body().is_end_stream();
    let answering = Box::pin(answer(&app, request, page, &limits, next));
    let (mut response, body) = match limits.in_time(answering).await {
        Ok(answered) => answered,
        Err(late) => (late, WasBody::Left),
    };
    if may_close && body == WasBody::Left {
        // What is left of the body stands before the next request.
        response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    }
    response
}

/// What became of the body of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WasBody {
    Read,
    Left,
}

async fn answer(
    app: &Shared,
    request: Request,
    page: Endpoint,
    limits: &limits::Request<'_>,
    next: Next,
) -> (Response, WasBody) {
    let (parts, body) = request.into_parts();
    let caller = who(app, &parts).await;
    let whose = caller.as_ref().map_or(Whose::Stranger, Whose::of);
    let _place = match limits.enter(whose) {
        Ok(place) => place,
        Err(full) => return (*full, WasBody::Left),
    };
    let may_write = whose == Whose::Known || app.config.anonymous() == Anonymous::Rights;
    let is_form = pages::session::is_about_sessions(parts.uri.path());
    let most = if may_write && !is_form { DOCUMENT } else { FORM };
    let (body, _held) = match limits::whole_body(app, &parts, body, page, (whose, most)).await {
        Ok(body) => body,
        Err(problem) => return (problem.into_response(), WasBody::Left),
    };
    let address = parts.extensions.get::<Connection>().map(|connection| connection.peer().ip);
    let asking = Asking::of_reader(app, caller.as_ref(), address);
    let page = tower::service_fn(move |request| made(asking.clone(), request, next.clone()));
    let bounded = |response| limits.bounded(whose, response);
    (packed(Request::from_parts(parts, body), page, bounded).await, WasBody::Read)
}

/// Who reads, by what a browser keeps or a program sends. The endpoints find out themselves what they may.
async fn who(app: &Shared, parts: &Parts) -> Option<Caller> {
    let mut headers = parts.headers.clone();
    if !headers.contains_key(AUTHORIZATION)
        && let Some(session) = pages::session::session_of(&app.config, app.auth.sessions(), &parts.headers)
    {
        headers.insert(AUTHORIZATION, HeaderValue::from_str(&format!("Bearer {}", session.token().reveal())).ok()?);
    }
    reader(app, &headers, parts.extensions.get()).await
}

/// Makes a page where only other pages wait. When its reader leaves, it ends.
async fn made(asking: Asking, request: Request<Body>, next: Next) -> Result<Response, Infallible> {
    let page = asking.during(Length::Short, next.run(request));
    // Simulated machines have threads of their own.
    let Some(runtime) = PAGES.as_ref().filter(|_| !machine::is_simulated()) else { return Ok(page.await) };
    let mut task = Aborted(runtime.spawn(page));
    Ok((&mut task.0).await.unwrap_or_else(|_| {
        let detail = "the page was not finished";
        Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", detail).into_response()
    }))
}

/// A task that ends when nobody waits for it.
struct Aborted(JoinHandle<Response>);

impl Drop for Aborted {
    fn drop(&mut self) {
        self.0.abort();
    }
}
