//! gRPC: Envoy's external authorization, health and reflection, on the same port as HTTP.

mod answer;
mod attributes;
mod check;
pub(crate) mod proto;
mod structs;

use axum::Router;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use futures::FutureExt;
use tonic::service::Routes;
use tonic_reflection::server::Builder;

use crate::app::Shared;
use crate::problem::Problem;
use check::Check;
use proto::envoy::service::auth::v3::authorization_server::AuthorizationServer;

/// All services. What none of them knows is left to [`not_found`].
pub(crate) fn router(app: &Shared) -> Router {
    let check = AuthorizationServer::new(Check::new(Shared::clone(app)));
    let (reporter, health) = tonic_health::server::health_reporter();
    // Nobody else holds the lock that it waits for.
    reporter.set_serving::<AuthorizationServer<Check>>().now_or_never();
    let mut routes = Routes::new(check.max_decoding_message_size(app.config.limits.body)).add_service(health);
    match reflection().build_v1() {
        Ok(service) => routes = routes.add_service(service),
        Err(error) => tracing::error!(%error, "there is no reflection"),
    }
    match reflection().build_v1alpha() {
        Ok(service) => routes = routes.add_service(service),
        Err(error) => tracing::error!(%error, "there is no reflection for older clients"),
    }
    routes.into_axum_router().reset_fallback()
}

fn reflection() -> Builder<'static> {
    Builder::configure()
        .register_encoded_file_descriptor_set(proto::DESCRIPTORS)
        .register_encoded_file_descriptor_set(tonic_health::pb::FILE_DESCRIPTOR_SET)
}

/// The answer to whoever asks for something that is not there, in their own protocol.
pub(crate) async fn not_found(headers: HeaderMap) -> Response {
    let kind = headers.get(header::CONTENT_TYPE).map_or(&[][..], |kind| kind.as_bytes());
    if kind.starts_with(b"application/grpc") {
        return tonic::Status::unimplemented("there is no such service").into_http::<axum::body::Body>();
    }
    Problem::not_found("there is no such endpoint: /openapi.json has all of them").into_response()
}
