//! How somebody is told that they are not let in.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::{Json, body::Body};
use serde_json::json;
use smol_str::SmolStr;
use upheld_dialects::natives;

use super::endpoint::Form;
use crate::problem::Problem;

/// Why a request is not let in.
#[derive(Clone, Debug)]
pub(crate) enum Refusal {
    /// We do not know who it is, or they say so wrongly.
    Unknown(String),
    /// They may not.
    Forbidden {
        /// In words.
        detail: String,
        /// The policy that says so.
        policy: Option<SmolStr>,
        /// Who they are.
        caller: String,
    },
    /// They believe to speak with somebody else.
    Misdirected(String),
    /// A page of somebody else asks in their name.
    Foreign(String),
    /// The documents are older than they may be.
    Stale(String),
    /// Not so fast.
    TooFast {
        /// Seconds to wait.
        seconds: u64,
    },
}

impl Refusal {
    /// Who was refused, if that is known.
    pub(crate) fn caller(&self) -> Option<&str> {
        match self {
            Self::Forbidden { caller, .. } => Some(caller),
            Self::Unknown(_) | Self::Misdirected(_) | Self::Foreign(_) | Self::Stale(_) | Self::TooFast { .. } => None,
        }
    }

    /// Why, in words.
    pub(crate) fn detail(&self) -> &str {
        match self {
            Self::Unknown(detail)
            | Self::Misdirected(detail)
            | Self::Foreign(detail)
            | Self::Stale(detail)
            | Self::Forbidden { detail, .. } => detail,
            Self::TooFast { .. } => "too many requests of one client",
        }
    }

    /// The answer, in the form of the endpoint.
    pub(crate) fn answer(self, form: Form) -> Response {
        let (status, sort, grpc) = match &self {
            Self::Unknown(_) => (StatusCode::UNAUTHORIZED, "unauthorized", "16"),
            Self::Forbidden { .. } => (StatusCode::FORBIDDEN, "forbidden", "7"),
            Self::Misdirected(_) => (StatusCode::MISDIRECTED_REQUEST, "unknown-host", "7"),
            Self::Foreign(_) => (StatusCode::FORBIDDEN, "foreign-origin", "7"),
            Self::Stale(_) => (StatusCode::SERVICE_UNAVAILABLE, "stale-snapshot", "14"),
            Self::TooFast { .. } => (StatusCode::TOO_MANY_REQUESTS, "too-many-requests", "8"),
        };
        let (detail, policy, seconds) = match self {
            Self::Unknown(detail) | Self::Misdirected(detail) | Self::Foreign(detail) => (detail, None, None),
            Self::Stale(detail) => (detail, None, Some(1)),
            Self::Forbidden { detail, policy, .. } => (detail, policy, None),
            Self::TooFast { seconds } => ("too many requests of one client".to_owned(), None, Some(seconds)),
        };
        let reason = status.canonical_reason().unwrap_or_default();
        let mut response = match form {
            Form::Problem => Problem::new(status, sort, detail).into_response(),
            Form::Text => (status, detail).into_response(),
            Form::Seed => {
                let body = match policy {
                    Some(policy) => json!({"error": reason, "reason": detail, "policy": policy.as_str()}),
                    None => json!({"error": reason, "reason": detail}),
                };
                (status, Json(body)).into_response()
            }
            Form::Native(place) => {
                let body = natives().nth(place).map(|native| native.problem(status.as_u16(), reason, &detail));
                (status, Json(body.unwrap_or_default())).into_response()
            }
            Form::Grpc => return status_of_grpc(grpc, &detail),
        };
        let headers = response.headers_mut();
        if status == StatusCode::UNAUTHORIZED {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer realm=\"upheld\""));
        }
        if let Some(seconds) = seconds {
            headers.insert(header::RETRY_AFTER, seconds.into());
        }
        response
    }
}

/// An answer without a message: all of it is in the head.
fn status_of_grpc(code: &'static str, detail: &str) -> Response {
    let plain = detail.bytes().map(|byte| match byte {
        b' '..=b'$' | b'&'..=b'~' => char::from(byte).to_string(),
        _ => format!("%{byte:02X}"),
    });
    let message: String = plain.collect();
    let mut response = Response::new(Body::empty());
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/grpc"));
    headers.insert("grpc-status", HeaderValue::from_static(code));
    headers.insert("grpc-message", HeaderValue::from_str(&message).unwrap_or(HeaderValue::from_static("")));
    response
}
