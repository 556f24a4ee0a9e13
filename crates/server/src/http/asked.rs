//! Which view a request is about: the current one, one of the past, or one that must be waited for.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::{FromRequestParts, Query};
use axum::http::request::Parts;
use axum::http::{HeaderName, HeaderValue, Uri};
use axum::response::Response;
use serde::Deserialize;
use upheld_store::Revision;

use super::stamp::Editions;
use crate::app::Shared;
use crate::auth::Operation;
use crate::limits::{at_length, heavy};
use crate::problem::Problem;
use crate::telemetry::Observed;
use crate::view::View;

/// The view that a request is about, for handlers.
#[derive(Clone, Debug)]
pub(crate) struct Asked(pub(crate) Arc<View>);

/// Revisions beyond the last that somebody may wait for.
const FAR: u64 = 1000;

/// Beside an answer that is of a whole view and goes to somebody who may read a part: the digest of everything is not for them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Undigested;

/// What the caller may read of it.
#[derive(Clone, Debug)]
pub(crate) struct Readable(pub(crate) Arc<View>);

/// What answers may name to the caller of it.
#[derive(Clone, Debug)]
pub(crate) struct Visible(pub(crate) Arc<View>);

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Choice {
    at: Option<Revision>,
    min_revision: Option<Revision>,
    /// Editions of the rules, with commas between them.
    semantics: Option<String>,
}

const REVISION: HeaderName = HeaderName::from_static("upheld-revision");
const DIGEST: HeaderName = HeaderName::from_static("upheld-digest");
const SEMANTICS: HeaderName = HeaderName::from_static("upheld-semantics");
/// For how long the snapshot may be out of date, in seconds.
pub(super) const STALENESS: HeaderName = HeaderName::from_static("upheld-staleness");

/// Whole seconds, as a header.
pub(super) fn seconds(time: Duration) -> HeaderValue {
    // Nearly always, and without an allocation.
    if time < Duration::from_secs(1) { HeaderValue::from_static("0") } else { time.as_secs().into() }
}

impl Asked {
    /// Whether an answer says which view it is of.
    pub(super) fn is_of(response: &Response) -> bool {
        response.extensions().get::<Self>().is_some()
    }

    /// As [`Self::stamped`], for whoever may not know the digest of everything.
    pub(super) fn stamped_but_digest(self, response: Response) -> Response {
        let mut response = self.stamped(response);
        response.headers_mut().remove(DIGEST);
        response
    }

    /// The answer with the revision and digest of its view, and the editions that gave it; where no policy was asked, those in
    /// force.
    pub(super) fn stamped(self, mut response: Response) -> Response {
        // Who writes answers with the view after it.
        let Self(view) = response.extensions_mut().remove::<Self>().unwrap_or(self);
        let editions = response.extensions_mut().remove::<Editions>();
        let undigested = response.extensions_mut().remove::<Undigested>().is_some();
        let editions = editions.map_or_else(|| view.headers().semantics.clone(), |Editions(named)| named);
        let headers = response.headers_mut();
        headers.insert(REVISION, HeaderValue::from(view.revision().0));
        if !undigested {
            headers.insert(DIGEST, view.headers().digest.clone());
        }
        headers.insert(SEMANTICS, editions);
        response
    }
}

/// Finds the view that a request wants.
pub(super) async fn choose(app: &Shared, uri: &Uri, operation: Operation) -> Result<Asked, Problem> {
    let chooses = |query: &&str| ["at=", "minRevision=", "semantics="].iter().any(|word| query.contains(word));
    let Some(query) = uri.query().filter(chooses) else {
        return Ok(Asked(app.live.view()));
    };
    let Query(Choice { at, min_revision, semantics }) =
        Query::try_from_uri(uri).map_err(|error| Problem::bad_request(format!("`{query}`: {}", error.body_text())))?;
    let view = match (at, min_revision) {
        (Some(revision), _) => app.live.at(revision, app.store.as_ref()).await?,
        (None, Some(revision)) => {
            // The next ones may come soon; nobody waits for what is far away.
            let here = app.live.view().revision();
            if revision.0 > here.0.saturating_add(FAR)
                && revision.0 > app.store.head().await?.revision.0.saturating_add(FAR)
            {
                return Err(Problem::not_found(format!("revision {revision} was not written yet")));
            }
            app.live.at_least(revision, app.config.limits.wait).await?
        }
        (None, None) => app.live.view(),
    };
    match semantics.filter(|names| !names.trim().is_empty()) {
        // What is written is judged by the editions in force.
        Some(names) if operation != Operation::Write => under(view, &names).await,
        _ => Ok(Asked(view)),
    }
}

/// A view by other editions of the rules.
async fn under(view: Arc<View>, names: &str) -> Result<Asked, Problem> {
    by(view, names.split(',').map(|name| name.trim().to_owned()).collect()).await.map(Asked)
}

/// A view by some editions of the rules, which may be those that it has.
pub(super) async fn by(view: Arc<View>, named: Vec<String>) -> Result<Arc<View>, Problem> {
    if view.semantics() == named {
        return Ok(view);
    }
    let read = at_length(heavy(move || view.under(&named))).await?;
    read.map_err(|broken| {
        let problems = broken.diagnostics.as_slice();
        let detail = problems.first().map_or("the documents cannot be read by these editions", |first| &first.message);
        Problem::bad_request(detail).with_diagnostics(&broken.files, problems)
    })
}

impl<S: Sync> FromRequestParts<S> for Asked {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, Problem> {
        let asked = parts.extensions.get::<Self>().cloned();
        asked.ok_or_else(|| Problem::unavailable("there is no snapshot yet"))
    }
}

impl FromRequestParts<Shared> for Readable {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &Shared) -> Result<Self, Problem> {
        part(parts, app, Operation::Read).await.map(Self)
    }
}

impl FromRequestParts<Shared> for Visible {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &Shared) -> Result<Self, Problem> {
        part(parts, app, Operation::See).await.map(Self)
    }
}

async fn part(parts: &mut Parts, app: &Shared, operation: Operation) -> Result<Arc<View>, Problem> {
    let Asked(view) = Asked::from_request_parts(parts, app).await?;
    let observed = parts.extensions.get::<Observed>().cloned();
    app.parts.of(&view, observed.as_ref().and_then(Observed::access), operation).await
}

/// Makes an answer out of a view where nobody else has to wait for it. It says which view it is of.
pub(super) async fn aside(
    view: &Arc<View>,
    make: impl FnOnce(&View) -> Result<Response, Problem> + Send + 'static,
) -> Result<Response, Problem> {
    let of = Arc::clone(view);
    let mut response = heavy(move || make(&of)).await??;
    response.extensions_mut().insert(Asked(Arc::clone(view)));
    Ok(response)
}
