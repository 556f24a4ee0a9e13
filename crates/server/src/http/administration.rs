//! The seed's administration API of access policies.

use axum::Router;

use crate::app::Shared;

pub(super) fn router(_app: &Shared) -> Router<Shared> {
    Router::new()
}
