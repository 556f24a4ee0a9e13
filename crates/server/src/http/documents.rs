//! `/v1/documents`: what the store holds, one by one; `/v1/snapshot`: everything that answers are made from.

use std::borrow::Cow;

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use serde::Deserialize;
use serde_json::{Value as Json_, json};
use upheld_engine::work;
use upheld_store::{Change, Key};
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::asked::{Asked, Readable, aside};
use super::extract::{Path, Query, RawBody};
use super::paging::Page;
use super::writing::{Intent, answer, refused, tag};
use crate::app::Shared;
use crate::documents::{Body, format};
use crate::problem::Problem;
use crate::telemetry::Observed;
use crate::writer::Condition;

pub(super) fn router() -> OpenApiRouter<Shared> {
    OpenApiRouter::new()
        .routes(routes!(list))
        .routes(routes!(show, put, delete))
        .route("/v1/documents/{kind}/{scope}/{name}/{*rest}", get(show).put(put).delete(delete))
        .routes(routes!(snapshot))
}

/// Which document.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Path)]
struct Named {
    /// The type, for example `AccessPolicy`.
    #[param(example = "AccessPolicy")]
    kind: String,
    /// The mesh, or what stands in its place: `access` for access policies.
    #[param(example = "access")]
    scope: String,
    /// The name or id; a slash in it is best written as `%2F`.
    #[param(example = "readers")]
    name: String,
    /// What comes after a slash in the name that was not written as `%2F`.
    #[param(ignore)]
    rest: Option<String>,
}

impl Named {
    fn key(&self) -> Result<Key, Problem> {
        let name = whole_name(&self.name, self.rest.as_deref());
        Key::new(&self.kind, &self.scope, &name).map_err(|error| Problem::bad_request(error.to_string()))
    }
}

/// Names may have slashes, and clients do not always encode them.
pub(super) fn whole_name<'n>(name: &'n str, rest: Option<&str>) -> Cow<'n, str> {
    match rest {
        Some(rest) => Cow::Owned(format!("{name}/{rest}")),
        None => Cow::Borrowed(name),
    }
}

/// What the store holds, by id.
#[utoipa::path(get, path = "/v1/documents", params(Page), responses((status = 200, body = Object), (status = 400, body = Problem)))]
async fn list(Readable(view): Readable, Query(page): Query<Page>) -> Result<Response, Problem> {
    aside(&view, move |view| {
        let listed = page.of(view, view.keys(), Key::as_str, |key| {
            let document = view.state.get(key)?;
            let text: Json_ = serde_json::from_str(&document.text).unwrap_or_default();
            Some(json!({"id": key, "changed": document.revision, "document": text}))
        })?;
        Ok(Json(listed).into_response())
    })
    .await
}

/// Everything that answers are made from, one text a line: documents of the store and files that are watched. Whoever reads
/// them gets the same digest and the same answers.
#[utoipa::path(get, path = "/v1/snapshot",
    responses((status = 200, content_type = "application/x-ndjson", body = String), (status = 400, body = Problem)))]
async fn snapshot(Readable(view): Readable) -> Result<Response, Problem> {
    aside(&view, |view| {
        let mut lines = String::new();
        for (key, document) in view.state.iter() {
            work::step();
            let line = json!({"name": format!("store:{key}"), "format": "json", "text": &*document.text});
            lines.push_str(&line.to_string());
            lines.push('\n');
        }
        for (name, text) in view.files.texts() {
            work::step();
            lines.push_str(&json!({"name": name, "text": text}).to_string());
            lines.push('\n');
        }
        Ok(([(header::CONTENT_TYPE, "application/x-ndjson")], lines).into_response())
    })
    .await
}

/// A stored document as it is, with its entity tag.
#[utoipa::path(get, path = "/v1/documents/{kind}/{scope}/{name}", params(Named),
    responses((status = 200, body = Object), (status = 400, body = Problem), (status = 404, body = Problem)))]
async fn show(Asked(view): Asked, observed: Observed, Path(named): Path<Named>) -> Result<Response, Problem> {
    let key = named.key()?;
    let may_read = |text: &str| {
        observed.access().is_some_and(|access| {
            access.may_read(&key, text) && view.role_limits(access).show_written(&key, Some(text))
        })
    };
    let Some(document) = view.state.get(&key).filter(|document| may_read(&document.text)) else {
        return Err(Problem::not_found(format!("there is no document `{key}` in the store")));
    };
    let body: Json_ = serde_json::from_str(&document.text).unwrap_or_default();
    Ok((
        [(header::ETAG, tag(document.revision))],
        Json(json!({"id": key, "changed": document.revision, "document": body})),
    )
        .into_response())
}

/// Puts a document in its place. `If-Match: "REV"` only if nobody changed it since; `If-None-Match: *` only if it is new.
#[utoipa::path(put, path = "/v1/documents/{kind}/{scope}/{name}", params(Named, ("dryRun" = Option<bool>, Query, description = "report what would happen, and change nothing"),
        ("message" = Option<String>, Query, description = "why, for the log")),
    request_body(content((Object = "application/json", example = json!({"id": "readers", "effect": "permit", "subjects": [{"role": "user"}], "resources": [{"path": "/orders/**"}], "actions": [{"method": "GET"}]})),
        (String = "application/yaml"))),
    responses((status = 200, body = Object), (status = 201, body = Object), (status = 400, body = Problem), (status = 404, body = Problem),
        (status = 412, body = Problem), (status = 415, body = Problem), (status = 422, body = Problem), (status = 503, body = Problem)))]
async fn put(
    State(app): State<Shared>,
    Path(named): Path<Named>,
    intent: Intent,
    headers: HeaderMap,
    RawBody(bytes): RawBody,
) -> Result<Response, Problem> {
    let key = named.key()?;
    let body = Body::read(&bytes, format(&headers)?)?;
    let document = body.named(&app.live.view().identities(), body.only()?)?;
    if document.key != key {
        let detail = format!("the document is `{}`, not `{key}`", document.key);
        return Err(Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "invalid-documents", detail));
    }
    let change = Change::Put { key: document.key, text: document.text };
    let conditions = intent.conditions(&key)?;
    let written = app.writer.write(intent.write(&bytes, intent.message(), vec![change], conditions)).await;
    let written = written.map_err(|refusal| refused(refusal, intent.told(), &app.live.view()))?;
    let mut response = answer(&written, intent.mode(), intent.told());
    if let Some(document) = written.view.state.get(&key)
        && let Ok(value) = tag(document.revision).parse()
    {
        response.headers_mut().insert(header::ETAG, value);
    }
    Ok(response)
}

/// Deletes a document.
#[utoipa::path(delete, path = "/v1/documents/{kind}/{scope}/{name}", params(Named, ("dryRun" = Option<bool>, Query, description = "report what would happen, and change nothing"),
        ("message" = Option<String>, Query, description = "why, for the log")),
    responses((status = 200, body = Object), (status = 201, body = Object), (status = 400, body = Problem), (status = 404, body = Problem),
        (status = 412, body = Problem), (status = 422, body = Problem), (status = 503, body = Problem)))]
async fn delete(State(app): State<Shared>, Path(named): Path<Named>, intent: Intent) -> Result<Response, Problem> {
    let key = named.key()?;
    let mut conditions = vec![Condition::Present(key.clone())];
    conditions.extend(intent.conditions(&key)?);
    let change = Change::Delete { key };
    let written = app.writer.write(intent.write(&[], intent.message(), vec![change], conditions)).await;
    let written = written.map_err(|refusal| refused(refusal, intent.told(), &app.live.view()))?;
    Ok(answer(&written, intent.mode(), intent.told()))
}
