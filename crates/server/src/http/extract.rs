//! Queries, paths and bodies of requests: what cannot be read is reported as every other problem.

use axum::body::Bytes;
use axum::extract::{self, FromRequest, FromRequestParts, Request};
use axum::http::request::Parts;
use http_body_util::BodyExt;
use serde::de::DeserializeOwned;

use crate::app::Shared;
use crate::documents::{Body, format_of_question};
use crate::problem::Problem;
use crate::scratch::{LITTLE, aside};
use crate::telemetry::Observed;

/// What a query says.
#[derive(Debug)]
pub(super) struct Query<T>(pub(super) T);

impl<T: DeserializeOwned, S: Sync> FromRequestParts<S> for Query<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, Problem> {
        let read = extract::Query::try_from_uri(&parts.uri);
        read.map(|extract::Query(said)| Self(said)).map_err(|error| Problem::bad_request(error.body_text()))
    }
}

/// What a path says.
#[derive(Debug)]
pub(super) struct Path<T>(pub(super) T);

impl<T: DeserializeOwned + Send, S: Send + Sync> FromRequestParts<S> for Path<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let read = extract::Path::from_request_parts(parts, state).await;
        read.map(|extract::Path(said)| Self(said)).map_err(|error| Problem::bad_request(error.body_text()))
    }
}

/// The body, which the middleware has read.
#[derive(Debug)]
pub(super) struct RawBody(pub(super) Bytes);

impl<S: Sync> FromRequest<S> for RawBody {
    type Rejection = Problem;

    async fn from_request(request: Request, _state: &S) -> Result<Self, Problem> {
        let collected = request.into_body().collect().await;
        collected.map(|body| Self(body.to_bytes())).map_err(|_| Problem::bad_request("the body ended early"))
    }
}

/// The body of a question, read as its head says.
#[derive(Debug)]
pub(super) struct QuestionBody(pub(super) Body);

impl FromRequest<Shared> for QuestionBody {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &Shared) -> Result<Self, Problem> {
        let format = format_of_question(request.headers())?;
        let observed = request.extensions().get::<Observed>().cloned();
        let RawBody(bytes) = RawBody::from_request(request, state).await?;
        match observed.filter(|_| bytes.len() > LITTLE) {
            None => Body::read(&bytes, format).map(Self),
            Some(observed) => aside(state, &observed, move || Body::read(&bytes, format)).await?.map(Self),
        }
    }
}
