//! `/v1/policies`, `/v1/objects`, `/v1/kinds`, `/v1/codes`, `/v1/lessons`: what there is.

use std::sync::Arc;

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Extension, Json};
use serde::Deserialize;
use serde_json::{Value as Json_, json};
use upheld_answers::inventory::Row;
use upheld_answers::{Words, codes, lessons as taught};
use upheld_dialects::Identity;
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::asked::{Asked, Readable, aside};
use super::documents::whole_name;
use super::extract::{Path, Query};
use super::paging::Page;
use super::questions::{Within, ask, ask_for, explained};
use crate::app::Shared;
use crate::auth::{Access, Operation, Touched};
use crate::problem::Problem;
use crate::telemetry::Observed;
use crate::view::{RowSort, Rows, View, WhichRows};

pub(super) fn router() -> OpenApiRouter<Shared> {
    OpenApiRouter::new()
        .routes(routes!(policies))
        .routes(routes!(policy))
        .route("/v1/policies/{kind}/{scope}/{name}/{*rest}", get(policy))
        .routes(routes!(objects))
        .routes(routes!(object))
        .route("/v1/objects/{kind}/{scope}/{name}/{*rest}", get(object))
        .routes(routes!(effective))
        .routes(routes!(kinds))
        .routes(routes!(kind))
        .routes(routes!(all_codes))
        .routes(routes!(code))
        .routes(routes!(lessons))
        .routes(routes!(lesson))
}

/// What is listed.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct Wanted {
    /// Only this type.
    kind: Option<String>,
}

/// Which policy or object.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Path)]
struct Named {
    /// The type, for example `Dataplane`.
    #[param(example = "Dataplane")]
    kind: String,
    /// The mesh, or what stands in its place.
    #[param(example = "default")]
    scope: String,
    /// The name or id; a slash in it is best written as `%2F`.
    #[param(example = "web-1")]
    name: String,
    /// What comes after a slash in the name that was not written as `%2F`.
    #[param(ignore)]
    rest: Option<String>,
}

impl Named {
    fn identity(&self) -> Identity {
        Identity::new(&self.kind, &self.scope, whole_name(&self.name, self.rest.as_deref()))
    }
}

/// All policies, wherever they come from.
#[utoipa::path(get, path = "/v1/policies", params(Wanted, Page),
    responses((status = 200, body = Object), (status = 400, body = Problem), (status = 422, body = Problem)))]
async fn policies(
    Readable(view): Readable,
    observed: Observed,
    Query(wanted): Query<Wanted>,
    Query(page): Query<Page>,
) -> Result<Response, Problem> {
    listed(&view, &observed, page, WhichRows { what: RowSort::Policies, kind: wanted.kind }).await
}

/// All objects: proxies, services, gateways, related objects.
#[utoipa::path(get, path = "/v1/objects", params(Wanted, Page),
    responses((status = 200, body = Object), (status = 400, body = Problem), (status = 422, body = Problem)))]
async fn objects(
    Readable(view): Readable,
    observed: Observed,
    Query(wanted): Query<Wanted>,
    Query(page): Query<Page>,
) -> Result<Response, Problem> {
    listed(&view, &observed, page, WhichRows { what: RowSort::Objects, kind: wanted.kind }).await
}

async fn listed(view: &Arc<View>, observed: &Observed, page: Page, which: WhichRows) -> Result<Response, Problem> {
    let access = observed.access().cloned();
    let rows = rows(view, which).await?;
    aside(view, move |view| {
        let may_read = readable(access);
        let listed = page.of(
            view,
            &rows,
            |(id, _)| id,
            |(id, row)| {
                let mut item = may_read(row).then(|| row.json())?;
                if let Some(fields) = item.as_object_mut() {
                    fields.insert("id".to_owned(), json!(id));
                }
                Some(item)
            },
        )?;
        Ok(Json(listed).into_response())
    })
    .await
}

/// Rows of a view by their ids.
pub(super) async fn rows(view: &Arc<View>, which: WhichRows) -> Result<Rows, Problem> {
    let held = Arc::clone(view);
    ask(view, move |world| {
        held.rows(&which, || match which.what {
            RowSort::Policies => world.policies(which.kind.as_deref()),
            RowSort::Objects => world.objects(which.kind.as_deref()),
        })
    })
    .await
}

/// Which rows somebody may read: a document that may be read can have things in it that may not.
pub(super) fn readable(access: Option<Access>) -> impl Fn(&Row) -> bool {
    let parts = access.filter(|access| !access.may_all(Operation::Read));
    move |row| {
        let touched = Touched { kind: &row.kind, scope: &row.mesh, name: &row.name };
        parts.as_ref().is_none_or(|access| access.may(Operation::Read, touched))
    }
}

/// One policy: what it says, where it applies, where it stands.
#[utoipa::path(get, path = "/v1/policies/{kind}/{scope}/{name}", params(Named),
    responses((status = 200, body = Object), (status = 404, body = Problem)))]
async fn policy(Readable(view): Readable, observed: Observed, Path(named): Path<Named>) -> Result<Response, Problem> {
    shown(&view, &observed, named.identity()).await
}

/// One object.
#[utoipa::path(get, path = "/v1/objects/{kind}/{scope}/{name}", params(Named),
    responses((status = 200, body = Object), (status = 404, body = Problem)))]
async fn object(Readable(view): Readable, observed: Observed, Path(named): Path<Named>) -> Result<Response, Problem> {
    shown(&view, &observed, named.identity()).await
}

/// Whatever a list has, by its id.
async fn shown(view: &Arc<View>, observed: &Observed, identity: Identity) -> Result<Response, Problem> {
    if !observed.access().is_some_and(|access| access.may(Operation::Read, (&identity).into())) {
        return Err(Problem::not_found(format!("there is no `{identity}`")));
    }
    // What is not found by its name costs a search for names that are like it, so objects that are kept apart come first.
    let shown = ask_for(view, move |world| match world.show_listed(&identity) {
        Some(shown) => Ok(shown),
        None => Ok(world.show(&identity.to_string())?.json(world.snapshot())),
    });
    shown.await.map_err(|problem| Problem::not_found(problem.detail))
}

/// What holds for an object, of all kinds of policies.
#[utoipa::path(get, path = "/v1/objects/{kind}/{scope}/{name}/effective", params(Named),
    responses((status = 200, body = Object), (status = 422, body = Problem)))]
async fn effective(
    State(app): State<Shared>,
    Asked(view): Asked,
    observed: Observed,
    Path(named): Path<Named>,
) -> Result<Response, Problem> {
    let Identity { kind, scope, name } = named.identity();
    let what = format!("{}/{name}", kind.to_lowercase());
    let words = Words { what: Some(what), ..Words::default() };
    let within = Within { mesh: Some(scope), ..Within::default() };
    explained(&app, &view, &observed, within, words).await
}

/// The kinds of policies: how each matches, ranks and resolves.
#[utoipa::path(get, path = "/v1/kinds", params(Page), responses((status = 200, body = Object), (status = 400, body = Problem)))]
async fn kinds(Readable(view): Readable, Query(page): Query<Page>) -> Result<Response, Problem> {
    let documents = ask(&view, |world| Ok(world.kinds())).await?;
    let name = |document: &Json_| {
        document
            .pointer("/metadata/name")
            .or_else(|| document.get("name"))
            .and_then(Json_::as_str)
            .unwrap_or_default()
            .to_owned()
    };
    let mut named: Vec<(String, Json_)> = documents.into_iter().map(|document| (name(&document), document)).collect();
    named.sort_by(|(a, _), (b, _)| a.cmp(b));
    let listed = page.of(&view, &named, |(name, _)| name, |(_, document)| Some(document.clone()))?;
    Ok((Extension(Asked(view)), Json(listed)).into_response())
}

/// The document of one kind.
#[utoipa::path(get, path = "/v1/kinds/{name}", params(("name" = String, Path, example = "TrafficRoute")),
    responses((status = 200, body = Object), (status = 404, body = Problem)))]
async fn kind(Readable(view): Readable, Path(name): Path<String>) -> Result<Response, Problem> {
    let document = ask(&view, move |world| world.kind_document(&name)).await;
    let document = document.map_err(|problem| Problem::not_found(problem.detail))?;
    Ok((Extension(Asked(view)), Json(document)).into_response())
}

/// All codes with their meanings.
#[utoipa::path(get, path = "/v1/codes", params(Page), responses((status = 200, body = Object), (status = 400, body = Problem)))]
async fn all_codes(Readable(view): Readable, Query(page): Query<Page>) -> Result<Response, Problem> {
    let mut all: Vec<_> = codes::all().collect();
    all.sort_by_key(|meaning| meaning.code);
    let listed = page.of(&view, &all, |meaning| meaning.code, |meaning| Some(json!(meaning)))?;
    Ok((Extension(Asked(view)), Json(listed)).into_response())
}

/// What a code means.
#[utoipa::path(get, path = "/v1/codes/{code}", params(("code" = String, Path, example = "UP014")),
    responses((status = 200, body = Object), (status = 404, body = Problem)))]
async fn code(Path(code): Path<String>) -> Result<Json<Json_>, Problem> {
    let known = codes::all().find(|meaning| meaning.code.eq_ignore_ascii_case(&code));
    known
        .map(|meaning| Json(json!(meaning)))
        .ok_or_else(|| Problem::not_found(format!("there is no code `{code}`: /v1/codes has all of them")))
}

/// All lessons: how each family resolves, on examples of their own.
#[utoipa::path(get, path = "/v1/lessons", responses((status = 200, body = Object)))]
async fn lessons() -> Json<Json_> {
    Json(json!({"kind": "Lessons", "items": taught::all().iter().map(taught::Lesson::json).collect::<Vec<_>>()}))
}

/// How far a lesson went.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(default)]
#[into_params(parameter_in = Query)]
struct Reached {
    /// The step; the first when left out.
    #[param(minimum = 1, maximum = 100)]
    step: Option<usize>,
}

/// A lesson after a step: the policies that are there, the ladder, and the answer.
#[utoipa::path(get, path = "/v1/lessons/{lesson}", params(("lesson" = String, Path, example = "select"), Reached),
    responses((status = 200, body = Object), (status = 400, body = Problem), (status = 404, body = Problem)))]
async fn lesson(
    Readable(view): Readable,
    Path(name): Path<String>,
    Query(reached): Query<Reached>,
) -> Result<Response, Problem> {
    aside(&view, move |_| {
        let lesson = taught::named(&name).map_err(|unknown| Problem::not_found(unknown.message))?;
        let refused = |refused: upheld_answers::Refused| {
            Problem::not_found(refused.diagnostics.first().map(|one| one.message.clone()).unwrap_or_default())
        };
        let reached = lesson.document(reached.step.unwrap_or(1)).map_err(refused)?;
        Ok(Json(&*reached).into_response())
    })
    .await
}
