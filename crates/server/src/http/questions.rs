//! `/v1/explain`, `/v1/resolve`, `/v1/reach`, `/v1/audit`, `/v1/test`, `/v1/graph`: the questions of the command line, asked over a network.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use serde::de::DeserializeOwned;
use serde_json::Value as Json_;
use upheld_answers::compliance::AuditQuestion;
use upheld_answers::formats::audit::{Beside, Format};
use upheld_answers::testing::TestQuestion;
use upheld_answers::{MOST_DECISIONS, Options, ReachQuestion, Refused, Words, World};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::asked::Asked;
use super::decide::now;
use super::extract::{Query, RawBody};
use super::paging::Page;
use super::stamp::{Editions, answered, stamped};
use crate::app::Shared;
use crate::auth::Caller;
use crate::auth::redaction::{redact, redact_items};
use crate::connection::Connection;
use crate::documents::format_of_question;
use crate::problem::Problem;
use crate::view::View;

pub(super) fn router() -> OpenApiRouter<Shared> {
    OpenApiRouter::new()
        .routes(routes!(explain))
        .routes(routes!(resolve))
        .routes(routes!(reach))
        .routes(routes!(audit))
        .routes(routes!(test))
        .routes(routes!(graph))
}

/// Why is the result what it is? Any question of the command line: a connection (`from`, `to`, `kind`), a proxy or route (`what`),
/// a request to a gateway (`host`, `path`), a request for a decision (`request`), two related objects (`what: a~b`).
#[utoipa::path(post, path = "/v1/explain",
    request_body(content = Object, example = json!({"from": "web-1", "to": "backend-1"})),
    responses((status = 200, body = Object), (status = 400, body = Problem), (status = 415, body = Problem), (status = 422, body = Problem)))]
async fn explain(
    State(app): State<Shared>,
    caller: Caller,
    connection: Option<Extension<Connection>>,
    Asked(view): Asked,
    headers: HeaderMap,
    RawBody(body): RawBody,
) -> Result<Response, Problem> {
    let words: Words = read(&headers, &body)?;
    let mut answer = ask(&view, move |world| world.explain(&world.question(&words)?)).await?;
    redact(
        &mut answer,
        &app.auth.visibility(&caller, connection.as_ref().map(|Extension(connection)| connection.peer())),
    );
    Ok(answered(&view, answer))
}

/// Just the result of such a question.
#[utoipa::path(post, path = "/v1/resolve",
    request_body(content = Object, example = json!({"from": "web-1", "to": "backend-1", "kind": "TrafficPermission"})),
    responses((status = 200, body = Object), (status = 400, body = Problem), (status = 415, body = Problem), (status = 422, body = Problem)))]
async fn resolve(Asked(view): Asked, headers: HeaderMap, RawBody(body): RawBody) -> Result<Response, Problem> {
    let words: Words = read(&headers, &body)?;
    let (result, stamp) = ask(&view, move |world| world.resolve(&world.question(&words)?)?.result()).await?;
    let answer = serde_json::json!({"kind": "Result", "result": result, "semantics": stamp.semantics});
    Ok(answered(&view, answer))
}

/// Who may reach what? Which of all requests among the subjects, resources and actions of the directory are permitted, page by page. What is
/// left out is looked for; `subject` and `resource` may say only a type. `{"denied": true}` lists what is denied, too.
#[utoipa::path(post, path = "/v1/reach", params(Page),
    request_body(content = Object, example = json!({"subject": "user/ann", "action": "GET"})),
    responses((status = 200, body = Object), (status = 400, body = Problem), (status = 415, body = Problem), (status = 422, body = Problem)))]
async fn reach(
    State(app): State<Shared>,
    caller: Caller,
    connection: Option<Extension<Connection>>,
    Asked(view): Asked,
    Query(page): Query<Page>,
    headers: HeaderMap,
    RawBody(body): RawBody,
) -> Result<Response, Problem> {
    let question: ReachQuestion = read(&headers, &body)?;
    let (limit, decisions) = (Some(page.size()?), Some(MOST_DECISIONS));
    let question = ReachQuestion { limit, decisions, after: page.after, ..question };
    let mut answer = ask(&view, move |world| Ok(world.reach(&question)?.document(world.snapshot()))).await?;
    let peer = connection.as_ref().map(|Extension(connection)| connection.peer());
    redact_items(&mut answer, &app.auth.visibility(&caller, peer));
    Ok(answered(&view, answer))
}

/// Who violates which policy? `Accept` chooses JSON, SARIF, CSV, `JUnit` and others.
#[utoipa::path(post, path = "/v1/audit", request_body = Object,
    responses((status = 200, content((Object = "application/json"), (Object = "application/sarif+json"), (String = "text/csv"),
            (String = "application/xml"), (String = "text/markdown"), (String = "text/html"), (String = "application/yaml"), (String = "application/jsonl"))), (status = 400, body = Problem), (status = 406, body = Problem), (status = 415, body = Problem), (status = 422, body = Problem)))]
async fn audit(
    caller: Caller,
    Asked(view): Asked,
    headers: HeaderMap,
    RawBody(body): RawBody,
) -> Result<Response, Problem> {
    let question: AuditQuestion = read(&headers, &body)?;
    let format = accepted(&headers)?;
    let question = AuditQuestion { list_passes: question.list_passes || format.lists_passes(), ..question };
    let held = Arc::clone(&view);
    let (editions, text) = ask(&view, move |world| {
        let organisation = world.organisation(question.policies.as_deref())?;
        let person = organisation.asker(&caller.roles, question.person.as_deref())?;
        let audited = world.audit(&AuditQuestion { person, ..question })?;
        let beside = Beside::default();
        let text = match format {
            Format::Json => {
                let document = serde_json::to_value(audited.audit.document()).unwrap_or_default();
                stamped(&held, document).to_string()
            }
            other => other.text(&audited.audit, &beside),
        };
        Ok((Editions::named(&audited.audit.semantics), text))
    })
    .await?;
    Ok((Extension(editions), [(header::CONTENT_TYPE, format.media_type())], text).into_response())
}

/// Do policies decide as the tests beside them expect?
#[utoipa::path(post, path = "/v1/test", request_body = Object,
    responses((status = 200, body = Object), (status = 400, body = Problem), (status = 415, body = Problem), (status = 422, body = Problem)))]
async fn test(Asked(view): Asked, headers: HeaderMap, RawBody(body): RawBody) -> Result<Json<Json_>, Problem> {
    let question: TestQuestion = read(&headers, &body)?;
    let report =
        ask(&view, move |world| Ok(serde_json::to_value(world.test(&question, &())?).unwrap_or_default())).await?;
    Ok(Json(stamped(&view, report)))
}

/// Gateways, routes and backends with their policies. `Accept: image/svg+xml`, `text/vnd.graphviz` and `text/vnd.mermaid` draw it.
#[utoipa::path(get, path = "/v1/graph",
    responses((status = 200, content((Object = "application/json"), (String = "image/svg+xml"), (String = "text/vnd.graphviz"), (String = "text/vnd.mermaid"))), (status = 400, body = Problem), (status = 422, body = Problem)))]
async fn graph(Asked(view): Asked, headers: HeaderMap) -> Result<Response, Problem> {
    let accept = headers.get(header::ACCEPT).and_then(|value| value.to_str().ok()).unwrap_or_default().to_owned();
    let held = Arc::clone(&view);
    let (media, text) = ask(&view, move |world| {
        let drawn = world.graph()?;
        Ok(if accept.contains("image/svg+xml") {
            ("image/svg+xml", drawn.svg())
        } else if accept.contains("text/vnd.graphviz") {
            ("text/vnd.graphviz", drawn.dot())
        } else if accept.contains("text/vnd.mermaid") {
            ("text/vnd.mermaid", drawn.mermaid())
        } else {
            ("application/json", stamped(&held, drawn.json()).to_string())
        })
    })
    .await?;
    Ok(([(header::CONTENT_TYPE, media)], text).into_response())
}

/// Reads a question; what it lacks is what is usual, what is misspelt is refused.
pub(super) fn read<Q: DeserializeOwned + Default>(headers: &HeaderMap, body: &[u8]) -> Result<Q, Problem> {
    format_of_question(headers)?;
    if body.iter().all(u8::is_ascii_whitespace) {
        return Ok(Q::default());
    }
    serde_json::from_slice(body).map_err(|error| Problem::bad_request(format!("this is not a valid question: {error}")))
}

/// Asks where others do not have to wait: an audit takes as long as there are objects.
pub(super) async fn ask<T: Send + 'static>(
    view: &Arc<View>,
    question: impl FnOnce(&World<'_>) -> Result<T, Refused> + Send + 'static,
) -> Result<T, Problem> {
    ask_in(None, view, question).await
}

/// As [`ask`], in one mesh only.
pub(super) async fn ask_in<T: Send + 'static>(
    mesh: Option<String>,
    view: &Arc<View>,
    question: impl FnOnce(&World<'_>) -> Result<T, Refused> + Send + 'static,
) -> Result<T, Problem> {
    let view = Arc::clone(view);
    let asked = move || {
        let deciding_kind = Some(view.deciding_kind().to_owned());
        let semantics = view.semantics().to_vec();
        let options = Options { mesh, semantics, deciding_kind, ..Options::at(now()) };
        let world = World::new(&view.loaded.snapshot, &options);
        question(&world).map_err(|refused| {
            let files = refused.files(&view.loaded.snapshot);
            let detail = refused.diagnostics.first().map_or("the question cannot be answered", |first| &first.message);
            Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "no-answer", detail)
                .with_diagnostics(files, &refused.diagnostics)
        })
    };
    let done = tokio::task::spawn_blocking(asked).await;
    done.unwrap_or_else(|_| {
        Err(Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", "the question was not answered"))
    })
}

/// The format that an audit is wanted in.
fn accepted(headers: &HeaderMap) -> Result<Format, Problem> {
    let wanted = headers.get(header::ACCEPT).map_or("*/*", |value: &HeaderValue| value.to_str().unwrap_or_default());
    for range in wanted.split(',').filter_map(|range| range.split(';').next()).map(str::trim) {
        match range {
            "*/*" | "application/*" | "application/json" | "" => return Ok(Format::Json),
            "application/sarif+json" => return Ok(Format::Sarif),
            "text/csv" => return Ok(Format::Csv),
            "application/xml" | "text/xml" => return Ok(Format::Junit),
            "text/markdown" => return Ok(Format::Markdown),
            "text/html" => return Ok(Format::Html),
            "application/yaml" => return Ok(Format::Yaml),
            "application/jsonl" | "application/x-ndjson" => return Ok(Format::JsonLines),
            _ => {}
        }
    }
    Err(Problem::new(StatusCode::NOT_ACCEPTABLE, "not-acceptable", format!("audits are not available as `{wanted}`")))
}
