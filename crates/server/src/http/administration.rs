//! The seed's administration API of access policies, with its own bodies.
//!
//! | call, below the base | answer |
//! |---|---|
//! | `GET /api/policies` | all policies: stored ones in the order of the store, then those of files |
//! | `GET /api/policies/:id` | one |
//! | `POST /api/policies` | 201 and the body as it came, also when it replaces a policy |
//! | `DELETE /api/policies/:id` | `{"success": true}` |
//! | `POST /api/evaluate` | a decision |
//! | `POST /api/explain` | the context, the decision, and what policies there are |
//!
//! What the seed accepts and then fails on is refused here, with 400.

mod bodies;
mod context;
mod policy_list;
mod seeding;

use std::sync::Arc;
use std::time::Instant;

use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Extension, Json, Router};
use serde::Deserialize;
use serde_json::{Value as Json_, json};
use upheld_dialects::access::{POLICY, SCOPE};
use upheld_loader::Format;
use upheld_store::{Change, Key};
use utoipa::{IntoParams, OpenApi};

pub(crate) use self::seeding::seed;

use self::bodies::Refused;
use self::context::{Context, Decided};
use self::policy_list::PolicyList;
use super::asked::{Asked, Readable, aside};
use super::extract::{Path, Query, RawBody};
use super::stamp::Editions;
use super::writing::{Intent, answer, of_view, tag};
use crate::app::Shared;
use crate::auth::{Access, Operation, Sort, Touched};
use crate::documents::{Body, format};
use crate::problem::Problem;
use crate::scratch;
use crate::telemetry::{DecisionEvent, Details, Observed, Surface};
use crate::view::View;
use crate::writer::{Condition, Mode};

pub(super) fn router(app: &Shared) -> Router<Shared> {
    let base = &app.config.access.base;
    Router::new()
        .route(&format!("{base}/api/policies"), get(list).post(create).fallback(no_such_route))
        .route(&format!("{base}/api/policies/{{id}}"), get(show).delete(delete).fallback(no_such_route))
        .route(&format!("{base}/api/evaluate"), post(evaluate).fallback(no_such_route))
        .route(&format!("{base}/api/explain"), post(explain).fallback(no_such_route))
}

/// The endpoints in the words of `OpenAPI`, below a base.
#[derive(OpenApi)]
#[openapi(paths(list, create, show, delete, evaluate, explain))]
struct Description;

pub(super) fn description(app: &Shared) -> Json_ {
    let mut description = serde_json::to_value(Description::openapi()).unwrap_or_default();
    let base = &app.config.access.base;
    if let Some(paths) = description.get_mut("paths").and_then(Json_::as_object_mut) {
        *paths = std::mem::take(paths).into_iter().map(|(path, item)| (format!("{base}{path}"), item)).collect();
    }
    description
}

/// The seed knows no other methods, and says so as for any path. `TRACE` is refused as everywhere else: it is never about a document.
async fn no_such_route(method: Method) -> Response {
    if method == Method::TRACE {
        return Refused::new(StatusCode::METHOD_NOT_ALLOWED, "Method not allowed").into_response();
    }
    Refused::new(StatusCode::NOT_FOUND, "Not found").into_response()
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct Page {
    /// How many to leave out.
    offset: Option<usize>,
    /// How many to list.
    limit: Option<usize>,
}

/// All policies: stored ones in the order of the store, then those of files.
#[utoipa::path(get, path = "/api/policies", tag = "Administration", params(Page),
    responses((status = 200, body = Vec<Object>)))]
async fn list(
    view: Result<Readable, Problem>,
    observed: Observed,
    page: Result<Query<Page>, Problem>,
) -> Result<Response, Refused> {
    let Readable(view) = view.map_err(Refused::problem)?;
    let Query(page) = page.map_err(Refused::problem)?;
    let answer = aside(&view, move |view| {
        let access = observed.access().filter(|access| !access.may_all(Operation::Read));
        let may_read = |policy: &&policy_list::Policy<'_>| access.is_none_or(|access| reads(access, policy.id()));
        let (offset, limit) = (page.offset.unwrap_or(0), page.limit.unwrap_or(usize::MAX));
        let listed = PolicyList::of(view);
        let page = listed.iter().filter(may_read).skip(offset).take(limit);
        Ok(Json(page.map(policy_list::Policy::json).collect::<Vec<_>>()).into_response())
    });
    answer.await.map_err(Refused::problem)
}

/// Whether a policy may be read.
fn reads(access: &Access, id: &str) -> bool {
    access.may(Operation::Read, Touched { kind: POLICY, scope: SCOPE, name: id })
}

/// One policy.
#[utoipa::path(get, path = "/api/policies/{id}", tag = "Administration",
    params(("id" = String, Path, description = "which policy")), responses((status = 200, body = Object)))]
async fn show(
    view: Result<Readable, Problem>,
    observed: Observed,
    id: Result<Path<String>, Problem>,
) -> Result<Response, Refused> {
    let Readable(view) = view.map_err(Refused::problem)?;
    let Path(id) = id.map_err(Refused::problem)?;
    let listed = PolicyList::of(&view);
    let may_read = observed.access().is_some_and(|access| reads(access, &id));
    let policy = listed.get(&id).filter(|_| may_read).ok_or_else(Refused::no_policy)?;
    let mut response = Json(policy.json()).into_response();
    set_tag(&mut response, &view, &key(&id)?);
    Ok(response)
}

/// Puts a policy into the store, also in the place of one with its id.
#[utoipa::path(post, path = "/api/policies", tag = "Administration",
    params(("dryRun" = Option<bool>, Query, description = "report what would happen, and change nothing")),
    request_body(content((Object = "application/json", example = json!({"id": "readers", "effect": "permit", "subjects": [{"role": "user"}], "resources": [{"path": "/orders/**"}], "actions": [{"method": "GET"}]})),
        (String = "application/yaml"))),
    responses((status = 200, body = Object), (status = 201, body = Object), (status = 409), (status = 412), (status = 415)))]
async fn create(
    State(app): State<Shared>,
    intent: Intent,
    headers: HeaderMap,
    RawBody(bytes): RawBody,
) -> Result<Response, Refused> {
    let format = format(&headers).map_err(Refused::problem)?;
    let body = Body::read(&bytes, format).map_err(Refused::unreadable)?;
    let policy = body.only().map_err(Refused::unreadable)?;
    context::has_all(policy, &["id", "effect", "subjects", "resources", "actions"])?;
    let named = body.named(&app.live.view().identities(), policy).map_err(Refused::invalid_policy)?;
    if named.key.kind() != POLICY {
        return Err(Refused::new(StatusCode::BAD_REQUEST, bodies::INVALID_POLICY));
    }
    let (key, text) = (named.key, named.text);
    let conditions = intent.conditions(&key).map_err(Refused::problem)?;
    let change = Change::Put { key: key.clone(), text: text.clone() };
    let written = app.writer.write(intent.write(&bytes, None, vec![change], conditions)).await;
    let written = written.map_err(|refusal| Refused::of(refusal, intent.told(), &app.live.view()))?;
    if intent.mode() == Mode::DryRun {
        return Ok(answer(&written, Mode::DryRun, intent.told()));
    }
    let received = if format == Format::Json { bytes } else { Bytes::from(text.as_bytes().to_vec()) };
    let content = [(header::CONTENT_TYPE, "application/json")];
    let mut response = (StatusCode::CREATED, content, received).into_response();
    set_tag(&mut response, &written.view, &key);
    of_view(&mut response, written.view, intent.told());
    Ok(response)
}

/// Takes a policy out of the store.
#[utoipa::path(delete, path = "/api/policies/{id}", tag = "Administration",
    params(("id" = String, Path, description = "which policy"), ("dryRun" = Option<bool>, Query, description = "report what would happen, and change nothing")),
    responses((status = 200, body = Object), (status = 409), (status = 412)))]
async fn delete(
    State(app): State<Shared>,
    Asked(view): Asked,
    observed: Observed,
    id: Result<Path<String>, Problem>,
    intent: Intent,
) -> Result<Response, Refused> {
    let Path(id) = id.map_err(Refused::problem)?;
    let key = key(&id)?;
    if view.state.get(&key).is_none()
        && observed.access().is_some_and(|access| reads(access, &id))
        && let Some(policy) = PolicyList::of(&view).get(&id)
    {
        return Err(Refused::read_only(policy.place()));
    }
    let mut conditions = vec![Condition::Present(key.clone())];
    conditions.extend(intent.conditions(&key).map_err(Refused::problem)?);
    let change = Change::Delete { key };
    let written = app.writer.write(intent.write(&[], None, vec![change], conditions)).await;
    let written = written.map_err(|refusal| Refused::of(refusal, intent.told(), &app.live.view()))?;
    if intent.mode() == Mode::DryRun {
        return Ok(answer(&written, Mode::DryRun, intent.told()));
    }
    let mut response = Json(json!({"success": true})).into_response();
    of_view(&mut response, written.view, intent.told());
    Ok(response)
}

/// A decision.
#[utoipa::path(post, path = "/api/evaluate", tag = "Administration",
    request_body(content = Object, example = json!(context::example())),
    responses((status = 200, body = Object), (status = 415)))]
async fn evaluate(
    State(app): State<Shared>,
    Asked(view): Asked,
    observed: Observed,
    headers: HeaderMap,
    RawBody(bytes): RawBody,
) -> Result<Response, Refused> {
    let context = Context::read(&view, &headers, &bytes)?;
    let begun = Instant::now();
    let (context, decided) = match context.expected(&view).here(|| context.decision(&view, &observed)) {
        Some(decided) => (context, decided),
        None => {
            let (held, seen) = (Arc::clone(&view), observed.clone());
            let decide = move || {
                let decided = context.decision(&held, &seen);
                (context, decided)
            };
            scratch::aside(&app, &observed, decide).await.map_err(|undone| Refused::problem(undone.into()))?
        }
    };
    let Decided { shown, outcome, policy, reason } = decided;
    let (surface, took) = (Surface::Seed, begun.elapsed());
    let made = DecisionEvent { surface, outcome, observed: &observed, place: None, took };
    let details = || Details { revision: view.revision(), request: context.json().to_string(), policy, reason };
    app.decided(made, details).await;
    Ok((editions(&view), Json(shown)).into_response())
}

/// The context as it was understood, the decision, and what policies there are.
#[utoipa::path(post, path = "/api/explain", tag = "Administration",
    request_body(content = Object, example = json!(context::example())),
    responses((status = 200, body = Object), (status = 415)))]
async fn explain(
    Asked(view): Asked,
    observed: Observed,
    headers: HeaderMap,
    RawBody(bytes): RawBody,
) -> Result<Response, Refused> {
    let context = Context::read(&view, &headers, &bytes)?;
    let answer = aside(&view, move |view| {
        let access = observed.access().filter(|access| !access.may_all(Operation::See));
        let sees =
            |access: &Access, name: &str| access.may_see(Sort::Policy, Touched { kind: POLICY, scope: SCOPE, name });
        let may_see = |name: &str| access.is_none_or(|access| sees(access, name));
        let listed = PolicyList::of(view);
        let seen = listed.iter().filter(|policy| may_see(policy.id()));
        let policies: Vec<Json_> = seen.map(policy_list::Policy::summary).collect();
        let decision = context.decision(view, &observed).shown;
        let body = json!({"context": context.json(), "decision": decision, "policies": policies});
        Ok((editions(view), Json(body)).into_response())
    });
    answer.await.map_err(Refused::problem)
}

/// The edition of the policies that decide.
fn editions(view: &View) -> Option<Extension<Editions>> {
    policy_list::decider(view).map(|decider| Extension(Editions::of(view, decider)))
}

fn key(id: &str) -> Result<Key, Refused> {
    Key::new(POLICY, SCOPE, id).map_err(|_| Refused::no_policy())
}

/// What `If-Match` of the next write is held against.
fn set_tag(response: &mut Response, view: &View, key: &Key) {
    let changed = view.state.get(key).map(|document| tag(document.revision));
    if let Some(value) = changed.and_then(|tag| HeaderValue::try_from(tag).ok()) {
        response.headers_mut().insert(header::ETAG, value);
    }
}
