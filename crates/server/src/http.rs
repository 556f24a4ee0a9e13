//! HTTP: one file for each group of endpoints.

mod administration;
mod asked;
mod authzen;
pub(crate) mod decide;
mod description;
mod documents;
mod events;
mod forward;
mod inventory;
mod kuma;
mod operations;
mod paging;
mod parts;
mod questions;
mod revisions;
mod stamp;
mod writing;

pub(crate) use self::administration::seed;

use std::net::SocketAddr;

use axum::Router;
use axum::extract::{DefaultBodyLimit, Request, State};
use axum::http::{Method, StatusCode};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::Response;
use axum::routing::get;
use tower_http::compression::CompressionLayer;
use tower_http::compression::predicate::{DefaultPredicate, Predicate, SizeAbove};
use utoipa::OpenApi;
use utoipa_axum::router::OpenApiRouter;

use self::description::{Group, complete, join};
use crate::app::Shared;
use crate::problem::Problem;
use crate::{auth, grpc, limits, telemetry};

/// Who is at the other end of the connection.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Peer {
    /// The address.
    pub(crate) address: SocketAddr,
}

/// Who is known to ask, as the log calls them.
#[derive(Clone, Debug)]
pub(crate) struct Actor(pub(crate) String);

/// What the description begins with; the paths come from the handlers.
#[derive(OpenApi)]
#[openapi(info(
    title = "upheld",
    description = "Which policies apply, which one stands, what is the effective result, and why."
))]
struct Description;

/// Bytes below which packing an answer takes longer than sending it.
const WORTH_IT: u64 = 1024;

/// All endpoints.
pub(crate) fn router(app: Shared) -> Router {
    let (api, description) = OpenApiRouter::with_openapi(Description::openapi())
        .merge(questions::router())
        .merge(decide::router())
        .merge(inventory::router())
        .merge(revisions::router())
        .merge(documents::router())
        .merge(events::router())
        .merge(authzen::router())
        .split_for_parts();
    let (operations, described) = operations::router().split_for_parts();
    let description = join(complete(&description, Group::Viewed), complete(&described, Group::Operations));
    let questions = api
        .merge(administration::router(&app))
        .merge(kuma::router())
        .layer(from_fn_with_state(Shared::clone(&app), asked::choose_view));
    let guarded = Router::new()
        .merge(questions)
        .merge(operations)
        // Its queries are those of other servers, and choose no view here.
        .merge(forward::router())
        .route("/openapi.json", get(move || async move { axum::Json(description) }))
        .fallback(grpc::not_found)
        .method_not_allowed_fallback(method_not_allowed)
        .with_state(Shared::clone(&app))
        .merge(grpc::router(&app))
        .layer(CompressionLayer::new().compress_when(DefaultPredicate::new().and(SizeAbove::new(WORTH_IT))))
        .layer(DefaultBodyLimit::max(app.config.limits.body));
    guarded.layer(from_fn_with_state(app, door))
}

/// The way in. What is outermost sees everything: also what is refused is counted, and bodies of those who may not are never
/// read. One layer, because each costs a few allocations a request.
async fn door(State(app): State<Shared>, request: Request, next: Next) -> Response {
    let app = &app;
    let within = |request| limits::whole_body(app, request, |request| next.run(request));
    let permitted = |request| auth::guard(app, request, within);
    let soon = |request| limits::in_time(app, request, permitted);
    telemetry::observe(app, request, soon).await
}

/// The endpoint is there, but it is asked in another way; which one, the router says in `Allow`.
async fn method_not_allowed(method: Method) -> Problem {
    let detail = format!("`{method}` cannot be done here: `Allow` says what can");
    Problem::new(StatusCode::METHOD_NOT_ALLOWED, "method-not-allowed", detail)
}
