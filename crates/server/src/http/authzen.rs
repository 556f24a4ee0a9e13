//! The Authorization API 1.0 of `AuthZEN`.
//!
//! A denial is an answer like any other; what cannot be answered gets a status and a sentence as text. The discovery document names this
//! server as its operator does, never as a request does: who asks could otherwise send others elsewhere.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::body::Bytes;
use axum::extract::{Request, State};
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, HeaderName, StatusCode};
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use serde_json::{Value as Json_, json};
use upheld_dialects::access::authzen::{Answer, AuthZen, BadRequest, Batch, Failure, Verdict};
use upheld_dialects::access::decider::Decider;
use upheld_engine::decide::Outcome;
use upheld_engine::work;
use upheld_loader::Format;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::asked::Asked;
use super::decide::now;
use super::extract::RawBody;
use super::stamp::Editions;
use crate::app::{App, Shared};
use crate::auth::{Names, UNTOLD};
use crate::documents::Body;
use crate::limits::{Undone, at_length, heavy};
use crate::problem::Problem;
use crate::scratch::{self, Expected};
use crate::telemetry::{DecisionEvent, Details, Line, Observed, Surface};
use crate::view::View;

pub(super) fn router() -> OpenApiRouter<Shared> {
    OpenApiRouter::new()
        .routes(routes!(evaluation))
        .routes(routes!(evaluations))
        .routes(routes!(search_subject))
        .routes(routes!(search_resource))
        .routes(routes!(search_action))
        .routes(routes!(configuration))
        .layer(from_fn(with_request_id))
}

const EVALUATION: &str = "/access/v1/evaluation";
const EVALUATIONS: &str = "/access/v1/evaluations";
const SEARCH_SUBJECT: &str = "/access/v1/search/subject";
const SEARCH_RESOURCE: &str = "/access/v1/search/resource";
const SEARCH_ACTION: &str = "/access/v1/search/action";

/// Objects that an ordinary evaluation has: itself, who, what and on what.
const PARTS: usize = 4;

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// Whoever names a request finds the name at its answer.
async fn with_request_id(request: Request, next: Next) -> Response {
    let id = request.headers().get(REQUEST_ID).cloned();
    let mut response = next.run(request).await;
    if let Some(id) = id {
        response.headers_mut().insert(REQUEST_ID, id);
    }
    response
}

/// Why there is no answer, in a sentence.
#[derive(Debug)]
struct Refused(StatusCode, String);

impl Refused {
    fn bad(reason: impl Into<String>) -> Self {
        Self(StatusCode::BAD_REQUEST, reason.into())
    }
}

impl From<Undone> for Refused {
    fn from(undone: Undone) -> Self {
        let Problem { status, detail, .. } = undone.into();
        Self(StatusCode::from_u16(status).unwrap_or(StatusCode::SERVICE_UNAVAILABLE), detail)
    }
}

impl From<BadRequest> for Refused {
    fn from(bad: BadRequest) -> Self {
        Self::bad(bad.to_string())
    }
}

impl IntoResponse for Refused {
    fn into_response(self) -> Response {
        (self.0, self.1).into_response()
    }
}

type Answered = Result<(Extension<Editions>, Json<Json_>), Refused>;

/// May this subject do this action on this resource?
#[utoipa::path(post, path = EVALUATION, tag = "AuthZEN",
    request_body(content = Object, example = json!({"subject": {"type": "user", "id": "ann"}, "action": {"name": "read"}, "resource": {"type": "document", "id": "7"}})),
    params(("X-Request-ID" = Option<String>, Header, description = "comes back with the answer")),
    responses((status = 200, body = Object), (status = 400, body = String, content_type = "text/plain")))]
async fn evaluation(
    State(app): State<Shared>,
    Asked(view): Asked,
    observed: Observed,
    headers: HeaderMap,
    RawBody(bytes): RawBody,
) -> Answered {
    let expected = Expected::of_batch(decider(&view)?, bytes.len(), 1);
    evaluated(&app, view, observed, expected, move |deciding| {
        let request = read(&headers, &bytes)?;
        deciding.one(&request)
    })
    .await
}

/// Who decides for whom.
#[derive(Clone, Copy)]
struct Deciding<'a> {
    app: &'a App,
    view: &'a View,
    observed: &'a Observed,
}

/// An answer, and what is to be written down of each decision.
type Evaluated = Result<(Json_, Vec<Line>), Refused>;

/// Decides here, if that is over soon, and otherwise where others do not wait for it.
async fn evaluated(
    app: &Shared,
    view: Arc<View>,
    observed: Observed,
    expected: Expected,
    decide: impl Fn(Deciding<'_>) -> Evaluated + Send + 'static,
) -> Answered {
    let editions = editions(&view)?;
    let made = match expected.here(|| decide(Deciding { app, view: &view, observed: &observed })) {
        Some(made) => made,
        None => {
            let (own, seen) = (Shared::clone(app), observed.clone());
            let decide = move || decide(Deciding { app: &own, view: &view, observed: &seen });
            scratch::aside(app, &observed, decide).await.map_err(Refused::from)?
        }
    };
    let (answer, lines) = made?;
    for line in lines {
        app.write_down(Some(line)).await;
    }
    Ok((editions, Json(answer)))
}

impl Deciding<'_> {
    fn one(self, request: &Json_) -> Evaluated {
        let Self { app, view, observed } = self;
        let begun = Instant::now();
        let mut answer = asked(view)?.evaluation(request)?;
        let made = made(&answer, observed, None, begun.elapsed());
        let line = app.count(made, || details(view, &answer, request.to_string()));
        // What is counted is not made once more.
        work::apart(|| names(view, observed).map(|names| cut(&mut answer, &names)))?;
        Ok((answer.json(), line.into_iter().collect()))
    }

    fn several(self, request: &Json_) -> Evaluated {
        let Self { app, view, observed } = self;
        let begun = Instant::now();
        let mut batch = asked(view)?.evaluations(request)?;
        let took = begun.elapsed();
        let answers = match &mut batch {
            Batch::Single(answer) => std::slice::from_mut(answer),
            Batch::Several(answers) => answers.as_mut_slice(),
        };
        let each = took / u32::try_from(answers.len().max(1)).unwrap_or(u32::MAX);
        let names = names(view, observed)?;
        let mut lines = Vec::new();
        for (place, answer) in answers.iter_mut().enumerate() {
            let made = made(answer, observed, Some(place), each);
            lines.extend(app.count(made, || details(view, answer, one_of(request, place).to_string())));
            work::apart(|| cut(answer, &names));
        }
        Ok((batch.json(), lines))
    }
}

/// Several requests at once, with defaults for what each leaves out; `options.evaluations_semantic` says how far they are answered.
#[utoipa::path(post, path = EVALUATIONS, tag = "AuthZEN",
    request_body(content = Object, example = json!({"subject": {"type": "user", "id": "ann"}, "action": {"name": "read"}, "evaluations": [{"resource": {"type": "document", "id": "7"}}]})),
    params(("X-Request-ID" = Option<String>, Header, description = "comes back with the answer")),
    responses((status = 200, body = Object), (status = 400, body = String, content_type = "text/plain")))]
async fn evaluations(
    State(app): State<Shared>,
    Asked(view): Asked,
    observed: Observed,
    headers: HeaderMap,
    RawBody(bytes): RawBody,
) -> Answered {
    let most = app.config.limits.batch;
    // How many there are is not known before they are read, but each is an object, and most have others in them.
    let objects = memchr::memchr_iter(b'{', &bytes).count();
    let expected = Expected::of_batch(decider(&view)?, bytes.len(), objects / PARTS);
    evaluated(&app, view, observed, expected, move |deciding| {
        let request = read(&headers, &bytes)?;
        let count = request.get("evaluations").and_then(Json_::as_array).map_or(0, Vec::len);
        if count > most {
            return Err(Refused::bad(format!("`evaluations` has more than {most} items")));
        }
        deciding.several(&request)
    })
    .await
}

/// Which subjects of a type may do this action on this resource? `context.complete` says whether all of them could be decided.
#[utoipa::path(post, path = SEARCH_SUBJECT, tag = "AuthZEN",
    request_body(content = Object, example = json!({"subject": {"type": "user"}, "action": {"name": "read"}, "resource": {"type": "document", "id": "7"}})),
    params(("X-Request-ID" = Option<String>, Header, description = "comes back with the answer")),
    responses((status = 200, body = Object), (status = 400, body = String, content_type = "text/plain")))]
async fn search_subject(
    Asked(view): Asked,
    observed: Observed,
    headers: HeaderMap,
    RawBody(bytes): RawBody,
) -> Answered {
    search(view, &observed, (headers, bytes), |authzen, request| Ok(authzen.search_subject(request)?.json())).await
}

/// On which resources of a type may this subject do this action? `context.complete` says whether all of them could be decided.
#[utoipa::path(post, path = SEARCH_RESOURCE, tag = "AuthZEN",
    request_body(content = Object, example = json!({"subject": {"type": "user", "id": "ann"}, "action": {"name": "read"}, "resource": {"type": "document"}})),
    params(("X-Request-ID" = Option<String>, Header, description = "comes back with the answer")),
    responses((status = 200, body = Object), (status = 400, body = String, content_type = "text/plain")))]
async fn search_resource(
    Asked(view): Asked,
    observed: Observed,
    headers: HeaderMap,
    RawBody(bytes): RawBody,
) -> Answered {
    search(view, &observed, (headers, bytes), |authzen, request| Ok(authzen.search_resource(request)?.json())).await
}

/// Which actions may this subject do on this resource? `context.complete` says whether all of them could be decided.
#[utoipa::path(post, path = SEARCH_ACTION, tag = "AuthZEN",
    request_body(content = Object, example = json!({"subject": {"type": "user", "id": "ann"}, "resource": {"type": "document", "id": "7"}})),
    params(("X-Request-ID" = Option<String>, Header, description = "comes back with the answer")),
    responses((status = 200, body = Object), (status = 400, body = String, content_type = "text/plain")))]
async fn search_action(
    Asked(view): Asked,
    observed: Observed,
    headers: HeaderMap,
    RawBody(bytes): RawBody,
) -> Answered {
    search(view, &observed, (headers, bytes), |authzen, request| Ok(authzen.search_action(request)?.json())).await
}

/// Where everything is.
#[utoipa::path(get, path = "/.well-known/authzen-configuration", tag = "AuthZEN", responses((status = 200, body = Object)))]
async fn configuration(State(app): State<Shared>) -> Json<Json_> {
    let base = app.config.base_url();
    let at = |path: &str| format!("{base}{path}");
    Json(json!({
        "policy_decision_point": base,
        "access_evaluation_endpoint": at(EVALUATION),
        "access_evaluations_endpoint": at(EVALUATIONS),
        "search_subject_endpoint": at(SEARCH_SUBJECT),
        "search_resource_endpoint": at(SEARCH_RESOURCE),
        "search_action_endpoint": at(SEARCH_ACTION),
    }))
}

fn made<'o>(answer: &Answer, observed: &'o Observed, place: Option<usize>, took: Duration) -> DecisionEvent<'o> {
    let outcome = match answer.verdict {
        Verdict::Permitted => Outcome::Permit,
        Verdict::Denied => Outcome::Deny,
        Verdict::Failed(_) => Outcome::Undecided,
    };
    DecisionEvent { surface: Surface::Authzen, outcome, observed, place, took }
}

fn details(view: &View, answer: &Answer, request: String) -> Details {
    let (policy, reason) = (answer.policy.as_ref().map(ToString::to_string), answer.reason.clone());
    Details { revision: view.revision(), request, policy, reason }
}

/// One of several requests, with what it leaves out.
fn one_of(request: &Json_, place: usize) -> Json_ {
    let mut whole = request.as_object().cloned().unwrap_or_default();
    let items = whole.shift_remove("evaluations");
    whole.shift_remove("options");
    let own = items.as_ref().and_then(|items| items.get(place)).and_then(Json_::as_object);
    whole.extend(own.into_iter().flatten().map(|(name, part)| (name.clone(), part.clone())));
    Json_::Object(whole)
}

type Search = fn(AuthZen<'_>, &Json_) -> Result<Json_, BadRequest>;

/// A search decides about everybody who is known, which may take a while.
async fn search(view: Arc<View>, observed: &Observed, (headers, bytes): (HeaderMap, Bytes), how: Search) -> Answered {
    let unknown = || Refused(StatusCode::SERVICE_UNAVAILABLE, "nobody knows who asks".to_owned());
    let needed = observed.access().ok_or_else(unknown)?.need_to_see_objects();
    needed.map_err(|problem| Refused(StatusCode::FORBIDDEN, problem.detail))?;
    let editions = editions(&view)?;
    let found = at_length(heavy(move || Ok::<Json_, Refused>(how(asked(&view)?, &read(&headers, &bytes)?)?))).await;
    Ok((editions, Json(found.map_err(Refused::from)??)))
}

fn decider(view: &View) -> Result<Decider<'_>, Refused> {
    view.decider(None).map_err(|problem| Refused(StatusCode::INTERNAL_SERVER_ERROR, problem.message))
}

/// An answer without the names that the caller may not know.
fn cut(answer: &mut Answer, names: &Names<'_>) {
    if names.are_all() {
        return;
    }
    if let Verdict::Failed(Failure::Undecided(why)) = &mut answer.verdict {
        UNTOLD.clone_into(why);
        (answer.policy, answer.reason) = (None, None);
    }
    if !names.may_tell(answer.policy.as_deref(), answer.reason.as_deref()) {
        (answer.policy, answer.reason) = (None, None);
    }
    names.cut_duties(&mut answer.obligations);
    names.cut_duties(&mut answer.advice);
}

/// Whom of those who decide the caller may know.
fn names<'v>(view: &'v View, observed: &'v Observed) -> Result<Names<'v>, Refused> {
    let unknown = || Refused(StatusCode::SERVICE_UNAVAILABLE, "nobody knows who asks".to_owned());
    Names::of(view, decider(view)?, observed).ok_or_else(unknown)
}

fn editions(view: &View) -> Result<Extension<Editions>, Refused> {
    Ok(Extension(Editions::of(view, decider(view)?)))
}

fn asked(view: &View) -> Result<AuthZen<'_>, Refused> {
    Ok(AuthZen::new(decider(view)?, Some(now())))
}

/// The body as JSON. What is said twice in it could be understood in two ways, and is refused.
fn read(headers: &HeaderMap, bytes: &[u8]) -> Result<Json_, Refused> {
    let content = headers.get(CONTENT_TYPE).and_then(|content| content.to_str().ok()).unwrap_or_default();
    let essence = content.split(';').next().unwrap_or_default().trim();
    if !essence.eq_ignore_ascii_case("application/json") {
        return Err(Refused::bad(format!("the Content-Type must be application/json, not `{essence}`")));
    }
    let body = Body::read(bytes, Format::Json).map_err(|problem| {
        let first = problem.diagnostics.first().and_then(|first| first.get("message")).and_then(Json_::as_str);
        Refused::bad(first.unwrap_or(&problem.detail))
    })?;
    let document = body.only().map_err(|problem| Refused::bad(problem.detail))?;
    serde_json::to_value(document).map_err(|error| Refused::bad(error.to_string()))
}
