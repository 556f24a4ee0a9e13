//! A request from its beginning to its end: its name, a line of the log, a span, and what is counted.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use axum::extract::{FromRequestParts, MatchedPath, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::response::Response;
use tracing::{Instrument, Span};

use super::metrics::{InFlight, method_name};
use super::traces;
use crate::app::Shared;
use crate::auth::{Access, Caller};

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// What is known of a request apart from what it asks. Handlers can take it; copies are the same.
#[derive(Clone, Debug)]
pub(crate) struct Observed(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    id: String,
    caller: OnceLock<(Caller, Access)>,
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
    pub(crate) fn caller(&self) -> Option<&Caller> {
        self.0.caller.get().map(|(caller, _)| caller)
    }

    /// What they may do with documents; nothing as long as nobody knows who asks.
    pub(crate) fn access(&self) -> Option<&Access> {
        self.0.caller.get().map(|(_, access)| access)
    }

    /// Notes who asks; whoever finds that out calls this. The first word counts.
    pub(crate) fn called_by(&self, caller: Caller, access: Access) {
        self.0.caller.set((caller, access)).ok();
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
    static NEXT: AtomicU32 = AtomicU32::new(1);
    static PROCESS: OnceLock<String> = OnceLock::new();
    let process = PROCESS.get_or_init(|| {
        let since = std::time::UNIX_EPOCH.elapsed().unwrap_or_default();
        let nanoseconds = u64::try_from(since.as_nanos()).unwrap_or_default();
        format!("{:016x}", nanoseconds ^ (u64::from(std::process::id()) << 40))
    });
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let mut id = String::with_capacity(24);
    id.push_str(process);
    // The general way of formatting takes ten times as long, for every request.
    id.extend((0..8).rev().filter_map(|place| char::from_digit((number >> (4 * place)) & 15, 16)));
    id
}

/// How requests are counted that no endpoint takes.
const UNMATCHED: &str = "unmatched";

/// A request that is being answered.
#[derive(Debug)]
pub(crate) struct ObservedRequest<'a> {
    app: &'a Shared,
    begun: Instant,
    observed: Observed,
    matched: Option<MatchedPath>,
    method: &'static str,
    trace: Span,
    working: InFlight,
}

impl<'a> ObservedRequest<'a> {
    /// From its beginning.
    pub(crate) fn begin(app: &'a Shared, request: &mut Request) -> Self {
        let begun = Instant::now();
        let observed = Observed::of(request.headers());
        let matched = request.extensions().get::<MatchedPath>().cloned();
        let method = method_name(request.method());
        let trace = traces::span(method, route(matched.as_ref()), request.headers());
        request.extensions_mut().insert(observed.clone());
        Self { app, begun, observed, matched, method, trace, working: app.metrics.working() }
    }

    /// What is known of it.
    pub(crate) fn observed(&self) -> &Observed {
        &self.observed
    }

    /// What is done for it, with its name beside everything that is logged on the way. Whoever wants that asks for more detail:
    /// most requests log nothing, and should not pay for it.
    pub(crate) fn spans<F: Future>(&self, answering: F) -> impl Future<Output = F::Output> + use<F> {
        let log = tracing::debug_span!(target: "upheld_server::request", "request", id = self.observed.id());
        answering.instrument(log).instrument(self.trace.clone())
    }

    /// To its end: the answer, with the name of the request.
    pub(crate) fn end(self, mut response: Response) -> Response {
        drop(self.working);
        let (route, status, took) = (route(self.matched.as_ref()), response.status(), self.begun.elapsed());
        self.app.metrics.answered(route, self.method, &response, took);
        finish(&self.trace, &self.observed, status);
        let trace = traces::trace_id(&self.trace);
        Line { route, method: self.method, observed: &self.observed, trace: trace.as_deref(), took }.log(status);
        if let Ok(id) = HeaderValue::from_str(self.observed.id()) {
            // A standard may want back what was sent, whatever it is.
            response.headers_mut().entry(REQUEST_ID).or_insert(id);
        }
        response
    }
}

fn route(matched: Option<&MatchedPath>) -> &str {
    matched.map_or(UNMATCHED, MatchedPath::as_str)
}

fn finish(trace: &Span, observed: &Observed, status: StatusCode) {
    if trace.is_disabled() {
        return;
    }
    trace.record("http.response.status_code", status.as_u16());
    trace.record("upheld.request_id", observed.id());
    if let Some(caller) = observed.caller() {
        trace.record("upheld.caller", tracing::field::display(caller));
    }
    if status.is_server_error() {
        trace.record("otel.status_code", "ERROR");
    }
}

/// The line of a request.
struct Line<'a> {
    route: &'a str,
    method: &'a str,
    observed: &'a Observed,
    trace: Option<&'a str>,
    took: Duration,
}

impl Line<'_> {
    /// Ten thousand good answers a second are for the metrics and the decision log; whoever wants a line for each asks for
    /// more detail.
    fn log(self, status: StatusCode) {
        macro_rules! line {
            ($level:ident, $message:literal) => {
                tracing::$level!(
                    target: "upheld_server::request",
                    id = self.observed.id(),
                    method = self.method,
                    route = self.route,
                    status = status.as_u16(),
                    microseconds = u64::try_from(self.took.as_micros()).unwrap_or(u64::MAX),
                    caller = self.observed.caller().map(tracing::field::display),
                    trace = self.trace,
                    $message
                )
            };
        }
        match status.as_u16() {
            500.. => line!(warn, "failed"),
            400.. => line!(info, "refused"),
            _ => line!(debug, "answered"),
        }
    }
}

#[cfg(test)]
mod tests;
