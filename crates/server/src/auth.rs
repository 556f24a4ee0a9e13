//! Who asks, and whether they may.

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::Response;

use crate::app::Shared;

/// Lets a request in, or answers it.
pub(crate) async fn guard(State(_app): State<Shared>, request: Request, next: Next) -> Response {
    next.run(request).await
}
