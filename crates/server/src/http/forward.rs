//! The seed's enforcement point, and Envoy's HTTP authorization: any path and method below a prefix.

use axum::Router;

use crate::app::Shared;

pub(super) fn router(_app: &Shared) -> Router<Shared> {
    Router::new()
}
