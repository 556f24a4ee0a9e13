//! What operators see: logs, traces, metrics, and the log of decisions.

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::Response;

use crate::app::Shared;

/// Watches a request from its beginning to its end.
pub(crate) async fn observe(State(_app): State<Shared>, request: Request, next: Next) -> Response {
    next.run(request).await
}
