//! A request from its beginning to its end: its name, a line of the log, a span, and what is counted.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use axum::extract::{FromRequestParts, MatchedPath, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::response::Response;
use tracing::{Instrument, Span};

use super::metrics::method_name;
use super::traces;
use crate::app::Shared;

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// What is known of a request apart from what it asks. Handlers can take it; copies are the same.
#[derive(Clone, Debug)]
pub(crate) struct Observed(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    id: String,
    caller: OnceLock<String>,
}

impl Observed {
    /// Of a request: whoever gave it a name keeps that, if it is one that a log can show.
    fn of(headers: &HeaderMap) -> Self {
        let given = headers.get(&REQUEST_ID).and_then(|value| value.to_str().ok()).filter(|given| is_name(given));
        let id = given.map_or_else(new_id, str::to_owned);
        Self(Arc::new(Inner { id, caller: OnceLock::new() }))
    }

    /// Of a call of gRPC, which has the extensions of its request.
    pub(crate) fn of_call<T>(call: &tonic::Request<T>) -> Self {
        call.extensions().get::<Self>().cloned().unwrap_or_else(|| Self::of(&HeaderMap::new()))
    }

    /// With this name.
    #[cfg(test)]
    pub(crate) fn named(id: &str) -> Self {
        Self(Arc::new(Inner { id: id.to_owned(), caller: OnceLock::new() }))
    }

    /// The name of the request.
    pub(crate) fn id(&self) -> &str {
        &self.0.id
    }

    /// Who asks, once that is known.
    pub(crate) fn caller(&self) -> Option<&str> {
        self.0.caller.get().map(String::as_str)
    }

    /// Notes who asks; whoever finds that out calls this. The first word counts.
    pub(crate) fn called_by(&self, caller: impl Into<String>) {
        self.0.caller.set(caller.into()).ok();
    }
}

impl<S: Sync> FromRequestParts<S> for Observed {
    type Rejection = std::convert::Infallible;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, Self::Rejection> {
        Ok(parts.extensions.get::<Self>().cloned().unwrap_or_else(|| Self::of(&parts.headers)))
    }
}

/// Short, and without anything that could break a line.
fn is_name(given: &str) -> bool {
    (1..=128).contains(&given.len())
        && given.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.:/+=".contains(&byte))
}

/// A name that nobody else has: when this process began, and a number.
fn new_id() -> String {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    static PROCESS: OnceLock<u64> = OnceLock::new();
    let process = PROCESS.get_or_init(|| {
        let since = std::time::UNIX_EPOCH.elapsed().unwrap_or_default();
        let nanoseconds = u64::try_from(since.as_nanos()).unwrap_or_default();
        nanoseconds ^ (u64::from(std::process::id()) << 40)
    });
    format!("{process:016x}{:08x}", NEXT.fetch_add(1, Ordering::Relaxed))
}

/// How requests are counted that no endpoint takes.
const UNMATCHED: &str = "unmatched";

/// Watches a request from its beginning to its end.
pub(crate) async fn observe<F: Future<Output = Response>>(
    app: &Shared,
    mut request: Request,
    next: impl FnOnce(Request) -> F,
) -> Response {
    let begun = Instant::now();
    let observed = Observed::of(request.headers());
    let matched = request.extensions().get::<MatchedPath>().cloned();
    let route = matched.as_ref().map_or(UNMATCHED, MatchedPath::as_str);
    let method = method_name(request.method());
    let trace = traces::span(method, route, request.headers());
    let log = log_span(&trace, method, route, &observed);
    request.extensions_mut().insert(observed.clone());
    let working = app.metrics.working();
    let mut response = next(request).instrument(log.clone()).instrument(trace.clone()).await;
    drop(working);
    let took = begun.elapsed();
    app.metrics.answered(route, method, &response, took);
    finish(&trace, &observed, response.status());
    log.in_scope(|| line(&observed, response.status(), took));
    if let Ok(id) = HeaderValue::from_str(observed.id()) {
        // A standard may want back what was sent, whatever it is.
        response.headers_mut().entry(REQUEST_ID).or_insert(id);
    }
    response
}

/// What stands beside everything that is logged on the way.
fn log_span(trace: &Span, method: &str, route: &str, observed: &Observed) -> Span {
    let span = tracing::info_span!(
        target: "upheld_server::request",
        "request",
        method,
        route,
        id = observed.id(),
        trace = tracing::field::Empty
    );
    if let Some(id) = traces::trace_id(trace) {
        span.record("trace", id);
    }
    span
}

fn finish(trace: &Span, observed: &Observed, status: StatusCode) {
    trace.record("http.response.status_code", status.as_u16());
    trace.record("upheld.request_id", observed.id());
    if let Some(caller) = observed.caller() {
        trace.record("upheld.caller", caller);
    }
    if status.is_server_error() {
        trace.record("otel.status_code", "ERROR");
    }
}

/// The line of a request. Ten thousand good answers a second are for the metrics and the log of decisions; whoever wants a line for
/// each asks for more detail.
fn line(observed: &Observed, status: StatusCode, took: Duration) {
    let (status, caller) = (status.as_u16(), observed.caller());
    let microseconds = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
    match status {
        500.. => {
            tracing::warn!(target: "upheld_server::request", status, microseconds, caller, "failed");
        }
        400.. => {
            tracing::info!(target: "upheld_server::request", status, microseconds, caller, "refused");
        }
        _ => {
            tracing::debug!(target: "upheld_server::request", status, microseconds, caller, "answered");
        }
    }
}

#[cfg(test)]
mod tests;
