//! Whether the server lives, and whether it should be asked.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use serde_json::json;

use crate::app::Shared;

pub(super) fn router() -> Router<Shared> {
    Router::new().route("/healthz", get(healthz)).route("/readyz", get(readyz))
}

/// It answers, so it lives.
async fn healthz() -> &'static str {
    "ok\n"
}

/// Whether the snapshot is what the store and the files say. A server that lost its store still answers, and says so.
async fn readyz(State(app): State<Shared>) -> Response {
    let view = app.live.view();
    let head = app.store.head().await;
    let problems: Vec<_> = (app.folders.problem().iter())
        .flat_map(|broken| {
            broken
                .diagnostics
                .as_slice()
                .iter()
                .map(|found| upheld_answers::diagnostic_json(&broken.files, found))
                .collect::<Vec<_>>()
        })
        .collect();
    let store = match &head {
        Ok(head) => json!({"kind": app.store.name(), "reachable": true, "revision": head.revision}),
        Err(error) => json!({"kind": app.store.name(), "reachable": false, "error": error.to_string()}),
    };
    let degraded = head.is_err() || !problems.is_empty();
    let status = if degraded { "degraded" } else { "ready" };
    let age = jiff::Timestamp::now().duration_since(view.built).as_secs();
    let body = json!({
        "status": status, "revision": view.revision(), "digest": view.digest(), "semantics": &view.semantics[..],
        "snapshotAgeSeconds": age, "store": store, "diagnostics": problems,
    });
    // Answers from the last snapshot are better than none.
    (StatusCode::OK, Json(body)).into_response()
}
