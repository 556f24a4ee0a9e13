//! `/v1/policies`, `/v1/objects`, `/v1/kinds`, `/v1/codes`: what there is.

use axum::Json;
use axum::response::Response;
use axum::routing::get;
use serde::Deserialize;
use serde_json::{Value as Json_, json};
use upheld_answers::inventory::Row;
use upheld_answers::{Words, codes};
use upheld_dialects::Identity;
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::asked::Asked;
use super::documents::whole_name;
use super::extract::{Path, Query};
use super::paging::Page;
use super::questions::{ask, ask_in};
use super::stamp::{answered, stamped};
use crate::app::Shared;
use crate::problem::Problem;
use crate::view::View;

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
    Asked(view): Asked,
    Query(wanted): Query<Wanted>,
    Query(page): Query<Page>,
) -> Result<Json<Json_>, Problem> {
    let rows = ask(&view, move |world| world.policies(wanted.kind.as_deref())).await?;
    listed(&view, &page, &rows)
}

/// All objects: proxies, services, gateways, related objects.
#[utoipa::path(get, path = "/v1/objects", params(Wanted, Page),
    responses((status = 200, body = Object), (status = 400, body = Problem), (status = 422, body = Problem)))]
async fn objects(
    Asked(view): Asked,
    Query(wanted): Query<Wanted>,
    Query(page): Query<Page>,
) -> Result<Json<Json_>, Problem> {
    let rows = ask(&view, move |world| world.objects(wanted.kind.as_deref())).await?;
    listed(&view, &page, &rows)
}

fn listed(view: &View, page: &Page, rows: &[Row]) -> Result<Json<Json_>, Problem> {
    let mut rows: Vec<(String, &Row)> = rows.iter().map(|row| (row.id(), row)).collect();
    rows.sort_by(|(a, _), (b, _)| a.cmp(b));
    let items = rows.iter().map(|(id, row)| {
        let mut item = row.json();
        if let Some(fields) = item.as_object_mut() {
            fields.insert("id".to_owned(), json!(id));
        }
        (id.as_str(), item)
    });
    page.of(view, items).map(Json)
}

/// One policy: what it says, where it applies, where it stands.
#[utoipa::path(get, path = "/v1/policies/{kind}/{scope}/{name}", params(Named),
    responses((status = 200, body = Object), (status = 404, body = Problem)))]
async fn policy(Asked(view): Asked, Path(named): Path<Named>) -> Result<Json<Json_>, Problem> {
    shown(&view, named.identity()).await
}

/// One object.
#[utoipa::path(get, path = "/v1/objects/{kind}/{scope}/{name}", params(Named),
    responses((status = 200, body = Object), (status = 404, body = Problem)))]
async fn object(Asked(view): Asked, Path(named): Path<Named>) -> Result<Json<Json_>, Problem> {
    shown(&view, named.identity()).await
}

/// Whatever a list has, by its id.
async fn shown(view: &std::sync::Arc<View>, identity: Identity) -> Result<Json<Json_>, Problem> {
    let shown = ask(view, move |world| match world.show(&identity.to_string()) {
        Ok(shown) => Ok(shown.json(world.snapshot())),
        Err(refused) => world.show_listed(&identity).ok_or(refused),
    });
    match shown.await {
        Ok(shown) => Ok(Json(stamped(view, shown))),
        Err(problem) => Err(Problem::not_found(problem.detail)),
    }
}

/// What holds for an object, of all kinds of policies.
#[utoipa::path(get, path = "/v1/objects/{kind}/{scope}/{name}/effective", params(Named),
    responses((status = 200, body = Object), (status = 422, body = Problem)))]
async fn effective(Asked(view): Asked, Path(named): Path<Named>) -> Result<Response, Problem> {
    let Identity { kind, scope, name } = named.identity();
    let what = format!("{}/{name}", kind.to_lowercase());
    let words = Words { what: Some(what), ..Words::default() };
    let answer = ask_in(Some(scope), &view, move |world| world.explain(&world.question(&words)?)).await?;
    Ok(answered(&view, answer))
}

/// The kinds of policies: how each matches, ranks and resolves.
#[utoipa::path(get, path = "/v1/kinds", params(Page), responses((status = 200, body = Object), (status = 400, body = Problem)))]
async fn kinds(Asked(view): Asked, Query(page): Query<Page>) -> Result<Json<Json_>, Problem> {
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
    page.of(&view, named.iter().map(|(name, document)| (name.as_str(), document.clone()))).map(Json)
}

/// The document of one kind.
#[utoipa::path(get, path = "/v1/kinds/{name}", params(("name" = String, Path, example = "TrafficRoute")),
    responses((status = 200, body = Object), (status = 404, body = Problem)))]
async fn kind(Asked(view): Asked, Path(name): Path<String>) -> Result<Json<Json_>, Problem> {
    let document = ask(&view, move |world| world.kind_document(&name)).await;
    document.map(Json).map_err(|problem| Problem::not_found(problem.detail))
}

/// All codes with their meanings.
#[utoipa::path(get, path = "/v1/codes", params(Page), responses((status = 200, body = Object), (status = 400, body = Problem)))]
async fn all_codes(Asked(view): Asked, Query(page): Query<Page>) -> Result<Json<Json_>, Problem> {
    let mut all: Vec<_> = codes::all().collect();
    all.sort_by_key(|meaning| meaning.code);
    page.of(&view, all.iter().map(|meaning| (meaning.code, json!(meaning)))).map(Json)
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
