//! gRPC: Envoy's external authorization, health and reflection, on the same port as HTTP.

use axum::Router;

use crate::app::Shared;

/// All services.
pub(crate) fn router(_app: &Shared) -> Router {
    Router::new()
}
