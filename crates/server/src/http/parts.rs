//! Queries and paths of requests: what cannot be read is told as every other problem.

use axum::extract::{self, FromRequestParts};
use axum::http::request::Parts;
use serde::de::DeserializeOwned;

use crate::problem::Problem;

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
