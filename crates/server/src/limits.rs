//! How much clients may ask for.

use axum::Router;
use axum::extract::DefaultBodyLimit;

use crate::app::Shared;

/// The same endpoints, within limits.
pub(crate) fn limited(router: Router, app: &Shared) -> Router {
    router.layer(DefaultBodyLimit::max(app.config.limits.body))
}
