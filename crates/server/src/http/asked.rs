//! Which view a request is about: the current one, one of the past, or one that must be waited for.

use std::sync::Arc;

use axum::extract::{FromRequestParts, Query, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Uri};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use upheld_store::Revision;

use crate::app::Shared;
use crate::problem::Problem;
use crate::view::View;

/// The view that a request is about, for handlers.
#[derive(Clone, Debug)]
pub(crate) struct Asked(pub(crate) Arc<View>);

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Choice {
    at: Option<Revision>,
    min_revision: Option<Revision>,
}

const REVISION: HeaderName = HeaderName::from_static("upheld-revision");
const DIGEST: HeaderName = HeaderName::from_static("upheld-digest");
const SEMANTICS: HeaderName = HeaderName::from_static("upheld-semantics");

/// Finds the view, and stamps the answer with its revision, digest and semantics.
pub(crate) async fn choose_view(State(app): State<Shared>, mut request: Request, next: Next) -> Response {
    let view = match choose(&app, request.uri().clone()).await {
        Ok(view) => view,
        Err(problem) => return problem.into_response(),
    };
    request.extensions_mut().insert(Asked(Arc::clone(&view)));
    let mut response = next.run(request).await;
    // Who writes answers with the view after it.
    let view = response.extensions_mut().remove::<Asked>().map_or(view, |Asked(after)| after);
    stamp(response.headers_mut(), &view);
    response
}

/// Says of which view an answer is.
pub(super) fn stamp(headers: &mut HeaderMap, view: &View) {
    headers.insert(REVISION, HeaderValue::from(view.revision().0));
    headers.insert(DIGEST, HeaderValue::from_str(view.digest()).unwrap_or(HeaderValue::from_static("")));
    headers.insert(SEMANTICS, view.semantics_header().clone());
}

async fn choose(app: &Shared, uri: Uri) -> Result<Arc<View>, Problem> {
    let Some(query) = uri.query().filter(|query| query.contains("at=") || query.contains("minRevision=")) else {
        return Ok(app.live.view());
    };
    let Query(Choice { at, min_revision }) =
        Query::try_from_uri(&uri).map_err(|error| Problem::bad_request(format!("`{query}`: {}", error.body_text())))?;
    match (at, min_revision) {
        (Some(revision), _) => Ok(app.live.at(revision, app.store.as_ref()).await?),
        (None, Some(revision)) => Ok(app.live.at_least(revision, app.config.limits.wait).await?),
        (None, None) => Ok(app.live.view()),
    }
}

impl<S: Sync> FromRequestParts<S> for Asked {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, Problem> {
        let asked = parts.extensions.get::<Self>().cloned();
        asked.ok_or_else(|| Problem::unavailable("there is no snapshot yet"))
    }
}
