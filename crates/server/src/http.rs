//! HTTP: one file for each group of endpoints.

mod administration;
mod analysis;
mod asked;
mod authzen;
mod checks;
mod compliance;
mod contents;
pub(crate) mod decide;
mod description;
mod documents;
mod events;
mod extract;
pub(crate) mod forward;
mod inventory;
mod middleware;
mod misdirected;
mod native;
mod operations;
mod pages;
mod paging;
mod questions;
mod readers;
mod revisions;
pub(crate) mod stamp;
mod writing;

pub(crate) use self::administration::seed;
pub(crate) use self::operations::Glance;

use axum::Router;
use axum::body::Bytes;
use axum::http::{Method, StatusCode, header};
use axum::routing::get;
use utoipa::OpenApi;
use utoipa_axum::router::OpenApiRouter;

use self::description::{Group, complete, join};
use self::middleware::Middleware;
use crate::app::Shared;
use crate::grpc;
use crate::problem::Problem;

/// What the description begins with; the paths come from the handlers.
#[derive(OpenApi)]
#[openapi(info(
    title = "upheld",
    description = "Which policies apply, which one wins, what is the effective result, and why."
))]
struct Description;

/// All endpoints.
pub(crate) fn router(app: Shared) -> Router {
    let (api, description) = OpenApiRouter::with_openapi(Description::openapi())
        .merge(questions::router())
        .merge(compliance::router())
        .merge(analysis::router())
        .merge(checks::router())
        .merge(decide::router())
        .merge(inventory::router())
        .merge(contents::router())
        .merge(revisions::router())
        .merge(documents::router())
        .merge(events::router())
        .merge(authzen::router())
        .split_for_parts();
    let (operations, described) = operations::router().split_for_parts();
    let described = [
        (serde_json::to_value(&description), Group::Viewed),
        (Ok(administration::description(&app)), Group::Viewed),
        (Ok(native::description()), Group::Viewed),
        (serde_json::to_value(&described), Group::Operations),
    ];
    let base = &app.config.access.base;
    let described = described.into_iter().map(|(part, group)| complete(part.unwrap_or_default(), group, base));
    // It never changes, so nobody waits until it is written once more.
    let description = Bytes::from(described.reduce(join).unwrap_or_default().to_string());
    let api = Router::new()
        .merge(api)
        .merge(administration::router(&app))
        .merge(native::router())
        .merge(operations)
        // Its queries are those of other servers, and choose no view here.
        .merge(forward::router())
        .route("/openapi.json", get(move || async move { ([(header::CONTENT_TYPE, "application/json")], description) }))
        .fallback(grpc::not_found)
        .method_not_allowed_fallback(method_not_allowed)
        .with_state(Shared::clone(&app))
        .merge(grpc::router(&app))
        .layer(Middleware(Shared::clone(&app)));
    // Pages ask what programs ask, by the same way in.
    let way_in = axum::middleware::from_fn_with_state(Shared::clone(&app), readers::enter);
    let pages = pages::router(app, api.clone()).layer(way_in);
    api.merge(pages)
}

/// The endpoint is there, but it is asked in another way; which one, the router says in `Allow`.
async fn method_not_allowed(method: Method) -> Problem {
    let detail = format!("{method} is not allowed here; see the `Allow` header");
    Problem::new(StatusCode::METHOD_NOT_ALLOWED, "method-not-allowed", detail)
}
