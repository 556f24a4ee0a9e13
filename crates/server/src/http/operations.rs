//! Whether the server lives, whether it should be asked, how it does, and a nudge to read its files.

use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::sync::Mutex;
use tokio::time::{Instant, timeout_at};
use upheld_store::TransferError;
use upheld_store::machine::{self, Moment};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::extract::Query;
use super::stamp::Stamp;
use crate::app::{App, Shared};
use crate::auth::Operation;
use crate::problem::Problem;
use crate::telemetry::{Observed, Reloaded, Sizes};
use crate::view::View;

pub(super) fn router() -> OpenApiRouter<Shared> {
    OpenApiRouter::new()
        .routes(routes!(healthz))
        .routes(routes!(readyz))
        .routes(routes!(metrics))
        .routes(routes!(reload))
        .routes(routes!(history))
}

/// Whether the server lives. It answers, so it does.
#[utoipa::path(get, path = "/healthz", responses((status = 200, content_type = "text/plain", body = String)))]
async fn healthz() -> &'static str {
    "ok\n"
}

#[derive(Debug, Default, Deserialize)]
struct AuthMethod {
    /// Whether a server that is not quite well should say that it is not ready.
    #[serde(default)]
    strict: bool,
}

/// How a server is.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct Readiness<'v> {
    /// `ready`; `degraded`: answers come from the last good snapshot; `stale`: that is older than it may be, and nothing is answered from it.
    status: &'static str,
    #[serde(flatten)]
    stamp: Stamp<'v>,
    /// Since the snapshot was built.
    snapshot_age_seconds: i64,
    /// Since the store last confirmed that the snapshot is the newest.
    staleness_seconds: u64,
    /// The kind of the store, whether it answers, and its revision or what is wrong.
    #[schema(value_type = Object)]
    store: Value,
    /// What keeps the last change of files out of the snapshot.
    #[schema(value_type = Vec<Object>)]
    diagnostics: Vec<Value>,
}

/// How long the store may take until it counts as away: who looks after servers does not wait long.
const PATIENCE: Duration = Duration::from_millis(1500);

/// What is found when the store and the files are looked at.
struct Look {
    condition: Condition,
    /// The kind of the store, whether it answers, and its revision or what is wrong.
    store: Value,
}

/// How the server is, in short.
#[derive(Clone, Copy, Debug)]
struct Condition {
    diverged: bool,
    degraded: bool,
}

impl Condition {
    /// Answers from the last snapshot are better than none, unless somebody else has better ones.
    fn answer(self, app: &App, how: &AuthMethod) -> (StatusCode, &'static str) {
        let stale = app.freshness.stale().is_some();
        let word = match (stale, self.degraded) {
            (true, _) => "stale",
            (false, true) => "degraded",
            (false, false) => "ready",
        };
        let is_unready = stale || self.diverged || (self.degraded && how.strict);
        (if is_unready { StatusCode::SERVICE_UNAVAILABLE } else { StatusCode::OK }, word)
    }
}

/// How the server was a moment ago: those who may know nothing else do not make it ask its store more often than that.
#[derive(Debug, Default)]
pub(crate) struct Glance(Mutex<Option<(Moment, Condition)>>);

impl Glance {
    /// How old it may be.
    const MOST: Duration = Duration::from_millis(500);

    async fn condition(&self, app: &App) -> Condition {
        let mut last = self.0.lock().await;
        if let Some((at, condition)) = *last
            && at.elapsed() < Self::MOST
        {
            return condition;
        }
        let Look { condition, .. } = look(app, &app.live.view()).await;
        *last = Some((Moment::now(), condition));
        condition
    }
}

/// Looks at the store and the files.
async fn look(app: &App, view: &View) -> Look {
    let kind = app.store.name();
    // All that is asked of the store together.
    let end = Instant::now() + PATIENCE;
    let (reachable, mut store) = match timeout_at(end, app.store.head()).await {
        Ok(Ok(head)) => {
            let same = timeout_at(end, app.writer.is_same_log(&view.state)).await;
            let diverged = matches!(same, Ok(Err(error)) if error.is_other_store());
            (!diverged, json!({"kind": kind, "reachable": true, "revision": head.revision, "diverged": diverged}))
        }
        Ok(Err(error)) if error.is_other_store() => {
            (false, json!({"kind": kind, "reachable": true, "diverged": true, "error": error.to_string()}))
        }
        Ok(Err(error)) => (false, json!({"kind": kind, "reachable": false, "error": error.to_string()})),
        Err(_) => (false, json!({"kind": kind, "reachable": false, "error": "the store does not answer in time"})),
    };
    let diverged = store.get("diverged") == Some(&Value::Bool(true));
    let unwritable = if reachable { timeout_at(end, app.writer.problem()).await.ok().flatten() } else { None };
    if let (Some(error), Some(fields)) = (&unwritable, store.as_object_mut()) {
        fields.insert("writable".to_owned(), json!(false));
        fields.insert("error".to_owned(), json!(error.to_string()));
    }
    let degraded = !reachable || unwritable.is_some() || app.folders.problem().is_some();
    Look { condition: Condition { diverged, degraded }, store }
}

/// Whether the snapshot is what the store and the files say. A server that lost its store still answers, and says so; with
/// `strict=true` it is not ready then. Whoever may not read the state of the server gets `status` alone.
#[utoipa::path(get, path = "/readyz",
    params(("strict" = Option<bool>, Query, description = "503 instead of 200 when degraded")),
    responses((status = 200, body = Readiness<'static>), (status = 400, body = Problem), (status = 503, body = Readiness<'static>)))]
async fn readyz(State(app): State<Shared>, observed: Observed, Query(how): Query<AuthMethod>) -> Response {
    if !observed.access().is_some_and(|access| access.may_examine_server(READYZ)) {
        let (code, status) = app.glance.condition(&app).await.answer(&app, &how);
        return (code, Json(json!({"status": status}))).into_response();
    }
    let view = app.live.view();
    let Look { condition, store } = look(&app, &view).await;
    let (code, status) = condition.answer(&app, &how);
    let readiness = Readiness {
        status,
        stamp: Stamp::of(&view),
        snapshot_age_seconds: machine::now().duration_since(view.built).as_secs(),
        staleness_seconds: app.freshness.staleness().as_secs(),
        store,
        diagnostics: if reads_all(&view, &observed) { problems(&app) } else { Vec::new() },
    };
    (code, Json(undigested(&readiness, &view, &observed))).into_response()
}

const READYZ: &str = "/readyz";

/// Whether the caller may read whatever there is.
fn reads_all(view: &View, observed: &Observed) -> bool {
    observed.access().is_some_and(|access| view.is_whole_to(access, Operation::Read))
}

/// An answer, without the digest of everything for those who may not read everything.
fn undigested(answer: &impl Serialize, view: &View, observed: &Observed) -> Value {
    let mut answer = serde_json::to_value(answer).unwrap_or_default();
    if let (false, Some(fields)) = (reads_all(view, observed), answer.as_object_mut()) {
        fields.shift_remove("digest");
    }
    answer
}

/// What is wrong with the files.
fn problems(app: &App) -> Vec<Value> {
    let Some(broken) = app.folders.problem() else { return Vec::new() };
    broken.diagnostics.as_slice().iter().map(|found| upheld_answers::diagnostic_json(&broken.files, found)).collect()
}

/// Numbers for Prometheus.
#[utoipa::path(get, path = "/metrics",
    responses((status = 200, content_type = "application/openmetrics-text", body = String)))]
async fn metrics(State(app): State<Shared>, observed: Observed) -> Response {
    const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    let sizes = if reads_all(&app.live.view(), &observed) { Sizes::Told } else { Sizes::Hidden };
    ([(header::CONTENT_TYPE, OPEN_METRICS)], app.numbers(sizes)).into_response()
}

/// What came of reading the files again.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct Read<'v> {
    /// `changed` or `unchanged`.
    result: &'static str,
    #[serde(flatten)]
    stamp: Stamp<'v>,
    /// What is odd about the documents, but does not keep them from counting.
    #[schema(value_type = Vec<Object>)]
    diagnostics: Vec<Value>,
}

/// Reads the watched files now. When they are broken, what they said before goes on to count.
#[utoipa::path(post, path = "/v1/reload",
    responses((status = 200, body = Read<'static>), (status = 422, body = Problem), (status = 503, body = Problem)))]
async fn reload(State(app): State<Shared>, observed: Observed) -> Result<Response, Problem> {
    let (result, broken) = app.reload().await;
    if !broken.is_empty() {
        return Err(Problem::broken_security(&broken));
    }
    if result == Reloaded::Broken {
        let broken = app.folders.problem();
        let broken = broken.filter(|_| reads_all(&app.live.view(), &observed));
        return Err(broken
            .map_or_else(|| Problem::unavailable("the files could not be read"), |broken| Problem::broken(&broken)));
    }
    let view = app.live.view();
    let files = view.loaded.snapshot.files();
    let warnings =
        view.loaded.warnings.as_slice().iter().map(|warning| upheld_answers::diagnostic_json(files, warning));
    let diagnostics = warnings.filter(|_| reads_all(&view, &observed)).collect();
    let read = Read { result: result.word(), stamp: Stamp::of(&view), diagnostics };
    Ok(Json(undigested(&read, &view, &observed)).into_response())
}

/// The whole history, as `upheld export` writes it: whoever has it can check every digest and the chain. One that contradicts itself is
/// not handed out.
#[utoipa::path(get, path = "/v1/history",
    responses((status = 200, content_type = "application/x-ndjson", body = String), (status = 403, body = Problem),
        (status = 500, body = Problem), (status = 503, body = Problem)))]
async fn history(State(app): State<Shared>, observed: Observed) -> Result<Response, Problem> {
    if !reads_all(&app.live.view(), &observed) {
        let detail = "the history has all documents, and this caller may not read all of them";
        return Err(Problem::new(StatusCode::FORBIDDEN, "forbidden", detail));
    }
    let mut lines = Vec::new();
    match upheld_store::export(app.store.as_ref(), &mut lines, None).await {
        Ok(_) => Ok(([(header::CONTENT_TYPE, "application/x-ndjson")], lines).into_response()),
        Err(TransferError::Store(error)) => Err(error.into()),
        Err(problem) => Err(Problem::new(StatusCode::INTERNAL_SERVER_ERROR, DAMAGED_HISTORY, problem.to_string())),
    }
}

/// What is said of a history that contradicts itself.
const DAMAGED_HISTORY: &str = "damaged-history";

#[cfg(test)]
mod tests;
