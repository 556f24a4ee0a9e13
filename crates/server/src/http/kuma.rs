//! The shapes of Kuma's own Inspect API, below `/meshes`.

use axum::Router;

use crate::app::Shared;

pub(super) fn router() -> Router<Shared> {
    Router::new()
}
