//! The Authorization API 1.0 of `AuthZEN`.

use utoipa_axum::router::OpenApiRouter;

use crate::app::Shared;

pub(super) fn router() -> OpenApiRouter<Shared> {
    OpenApiRouter::new()
}
