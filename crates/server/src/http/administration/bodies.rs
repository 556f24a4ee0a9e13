//! Errors in the shape of the seed, with diagnostics where there are some.

use axum::Json;
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use serde_json::{Map, Value as Json_, json};

use super::super::writing::{Told, refused};
use crate::problem::Problem;
use crate::view::View;
use crate::writer::{Condition, Refusal};

/// What the seed says of a policy that is none.
pub(super) const INVALID_POLICY: &str = "Invalid policy structure";

/// Why there is no answer. Large, so it is boxed.
#[derive(Debug)]
pub(super) struct Refused(Box<Parts>);

#[derive(Debug)]
struct Parts {
    status: StatusCode,
    error: String,
    /// What happened in our own words; its headers go along.
    problem: Option<Problem>,
}

impl Refused {
    /// A status with the seed's words for it.
    pub(super) fn new(status: StatusCode, error: &str) -> Self {
        Self(Box::new(Parts { status, error: error.to_owned(), problem: None }))
    }

    /// There is no policy of that id.
    pub(super) fn no_policy() -> Self {
        Self::new(StatusCode::NOT_FOUND, "Policy not found")
    }

    /// The policy is there, but it belongs to a file.
    pub(super) fn read_only(place: &str) -> Self {
        Self::new(StatusCode::CONFLICT, &format!("Policy is read-only: it is in {place}"))
    }

    /// The body is not a document.
    pub(super) fn unreadable(problem: Problem) -> Self {
        Self::with(StatusCode::BAD_REQUEST, "Invalid body", problem)
    }

    /// The policy is none.
    pub(super) fn invalid_policy(problem: Problem) -> Self {
        Self::with(StatusCode::BAD_REQUEST, INVALID_POLICY, problem)
    }

    /// The request that is to be decided is none.
    pub(super) fn invalid_context(problem: Problem) -> Self {
        Self::with(StatusCode::BAD_REQUEST, "Invalid evaluation context", problem)
    }

    /// Anything else, in our words.
    pub(super) fn problem(problem: Problem) -> Self {
        let status = StatusCode::from_u16(problem.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let error = problem.detail.clone();
        Self(Box::new(Parts { status, error, problem: Some(problem) }))
    }

    fn with(status: StatusCode, error: &str, problem: Problem) -> Self {
        Self(Box::new(Parts { status, error: error.to_owned(), problem: Some(problem) }))
    }
}

impl Refused {
    /// Why a write changed nothing, as far as its author may know.
    pub(super) fn of(refusal: Refusal, told: Told<'_>, view: &View) -> Self {
        match told.refusal(refusal, view) {
            Refusal::Broken(broken) => Self::invalid_policy(Problem::broken(&broken)),
            Refusal::Condition(Condition::Present(_), _) => Self::no_policy(),
            other => Self::problem(refused(other, told, view)),
        }
    }
}

impl IntoResponse for Refused {
    fn into_response(self) -> Response {
        let Parts { status, error, problem } = *self.0;
        let mut body = Map::new();
        body.insert("error".to_owned(), json!(error));
        let Some(problem) = problem else { return (status, Json(body)).into_response() };
        if problem.detail != error {
            body.insert("message".to_owned(), json!(problem.detail));
        }
        if !problem.diagnostics.is_empty() {
            body.insert("diagnostics".to_owned(), Json_::Array(problem.diagnostics.clone()));
        }
        // Such as when to try again.
        let mut headers = problem.into_response().headers().clone();
        headers.remove(CONTENT_TYPE);
        (status, headers, Json(body)).into_response()
    }
}
