//! Errors as problem details (RFC 9457).

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use serde_json::Value as Json;
use upheld_governance::Outcome;
use upheld_loader::load::Broken;
use upheld_model::{Diagnostic, Files};
use upheld_store::StoreError;
use utoipa::ToSchema;

use crate::auth::SecurityError;
use crate::live::NoView;
use crate::writer::NotAdmitted;

/// What went wrong, for programs and for people.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct Problem {
    /// Which sort of problem it is; the same text for the same sort.
    #[serde(rename = "type")]
    pub(crate) sort: String,
    /// The sort in words.
    pub(crate) title: String,
    /// The status code of the answer.
    pub(crate) status: u16,
    /// This one in words.
    pub(crate) detail: String,
    /// What is wrong with documents, each with its place.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(value_type = Vec<Object>)]
    pub(crate) diagnostics: Vec<Json>,
    /// What refuses a write: violations with values and fixes.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub(crate) admission: Option<Box<Json>>,
    /// Seconds to wait before another try.
    #[serde(skip)]
    retry_after: Option<u32>,
}

impl Problem {
    /// A problem of a sort; the sort is a few words with dashes.
    pub(crate) fn new(status: StatusCode, sort: &str, detail: impl Into<String>) -> Self {
        let mut title = sort.replace('-', " ");
        if let Some(first) = title.get_mut(..1) {
            first.make_ascii_uppercase();
        }
        Self {
            sort: format!("/problems/{sort}"),
            title,
            status: status.as_u16(),
            detail: detail.into(),
            diagnostics: Vec::new(),
            admission: None,
            retry_after: None,
        }
    }

    /// The request cannot be understood.
    pub(crate) fn bad_request(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "bad-request", detail)
    }

    /// There is nothing of that name.
    pub(crate) fn not_found(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, "not-found", detail)
    }

    /// Nobody can do it now.
    pub(crate) fn unavailable(detail: impl Into<String>) -> Self {
        let problem = Self::new(StatusCode::SERVICE_UNAVAILABLE, "unavailable", detail);
        Self { retry_after: Some(1), ..problem }
    }

    /// With what is wrong with documents.
    #[must_use]
    pub(crate) fn with_diagnostics(self, files: &Files, diagnostics: &[Diagnostic]) -> Self {
        let diagnostics = diagnostics.iter().map(|diagnostic| upheld_answers::diagnostic_json(files, diagnostic));
        Self { diagnostics: diagnostics.collect(), ..self }
    }

    /// Files with tokens, rights, keys or certificates that cannot be used; what they said before goes on to count.
    pub(crate) fn broken_security(broken: &[SecurityError]) -> Self {
        let all: Vec<String> = broken.iter().map(ToString::to_string).collect();
        let detail = format!("{}; what was read before stays in use", all.join("; "));
        let problem = Self::new(StatusCode::UNPROCESSABLE_ENTITY, "invalid-security", detail);
        let rights = broken.iter().find_map(|error| match error {
            SecurityError::Rights { broken, .. } => Some(broken),
            _ => None,
        });
        match rights {
            Some(broken) => problem.with_diagnostics(&broken.files, broken.diagnostics.as_slice()),
            None => problem,
        }
    }

    /// Documents that cannot be accepted.
    pub(crate) fn broken(broken: &Broken) -> Self {
        let count = broken.diagnostics.errors();
        let noun = if count == 1 { "problem" } else { "problems" };
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, "invalid-documents", format!("{count} {noun}; nothing was changed"))
            .with_diagnostics(&broken.files, broken.diagnostics.as_slice())
    }
}

impl Problem {
    /// Documents that may not be written.
    pub(crate) fn not_admitted(refused: &NotAdmitted) -> Self {
        let (status, sort) = match refused.outcome {
            Outcome::Forbidden => (StatusCode::FORBIDDEN, "not-permitted"),
            Outcome::Invalid => (StatusCode::UNPROCESSABLE_ENTITY, "invalid-change"),
            Outcome::Allowed | Outcome::Soft | Outcome::Blocked => (StatusCode::CONFLICT, "violates-policies"),
        };
        let problem = Self::new(status, sort, format!("{} Nothing was written.", refused.ruled.answer));
        Self { admission: serde_json::to_value(&refused.ruled).ok().map(Box::new), ..problem }
    }
}

impl Problem {
    /// The same for somebody who may not see all of what speaks against it.
    pub(crate) fn without_reasons(self) -> Self {
        let detail = "policies are against it, some of which you may not see; nothing was written".to_owned();
        Self { detail, admission: None, diagnostics: Vec::new(), ..self }
    }
}

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        let detail = error.to_string();
        match error {
            StoreError::Conflict(_) => Self::new(StatusCode::PRECONDITION_FAILED, "conflict", detail),
            StoreError::KeyReused(_) => Self::new(StatusCode::UNPROCESSABLE_ENTITY, "idempotency-key-reused", detail),
            StoreError::Refused(_) => Self::new(StatusCode::UNPROCESSABLE_ENTITY, "refused", detail),
            StoreError::Diverged { .. } | StoreError::Replaced { .. } => Self::new(
                StatusCode::SERVICE_UNAVAILABLE,
                "store-diverged",
                format!("{detail}; restart this server to follow the store as it is now"),
            ),
            StoreError::Compacted { .. } => Self::new(StatusCode::GONE, "compacted", detail),
            StoreError::Future { .. } => Self::not_found(detail),
            StoreError::Unreachable(_) | StoreError::Unusable(_) | StoreError::Lost(_) => {
                tracing::error!(error = detail, "the store failed");
                Self::unavailable("the store does not answer; reads go on from the last snapshot")
            }
        }
    }
}

impl From<NoView> for Problem {
    fn from(no_view: NoView) -> Self {
        match no_view {
            NoView::NotYet { wanted, current } => {
                Self::unavailable(format!("revision {wanted} has not arrived here; this server is at {current}"))
            }
            NoView::Store(error) => error.into(),
            NoView::Undone(undone) => undone.into(),
            NoView::Unreadable => Self::new(
                StatusCode::UNPROCESSABLE_ENTITY,
                "unreadable-revision",
                "the documents of that revision cannot be read with the semantics in use now",
            ),
        }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let body = serde_json::to_vec(&self).unwrap_or_default();
        let mut response = (status, body).into_response();
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        if let Some(seconds) = self.retry_after {
            headers.insert(header::RETRY_AFTER, seconds.into());
        }
        if status == StatusCode::UNAUTHORIZED {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer realm=\"upheld\""));
        }
        response
    }
}
