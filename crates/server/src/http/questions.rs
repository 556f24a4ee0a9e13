//! `/v1/explain`, `/v1/resolve`, `/v1/reach`, `/v1/audit`, `/v1/test`, `/v1/graph`: the questions of the command line, asked over a network.

use std::ops::ControlFlow::{Break, Continue};
use std::sync::Arc;

use axum::Extension;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value as Json_, json};
use upheld_answers::compliance::AuditQuestion;
use upheld_answers::formats::audit::{Beside, Format, Listed};
use upheld_answers::report::Skipped;
use upheld_answers::testing::TestQuestion;
use upheld_answers::{MOST_DECISIONS, Options, ReachQuestion, Refused, Words, World};
use upheld_dialects::access::SCOPE;
use upheld_model::Timestamp;
use upheld_pages::{MOST_IN_A_FILE, audit_file};
use upheld_store::Revision;
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::analysis::visible_at;
use super::asked::{Asked, Visible};
use super::decide::now;
use super::extract::{Query, RawBody};
use super::paging::Page;
use super::stamp::{Editions, answered, stamped, written};
use crate::app::Shared;
use crate::auth::redaction::{anonymous, in_part, redact, redact_items, with_skipped};
use crate::auth::{Caller, Operation, Sort, Touched};
use crate::documents::{format_of_question, shaped};
use crate::limits::{at_length, heavy};
use crate::problem::Problem;
use crate::scratch::LITTLE;
use crate::telemetry::Observed;
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

/// Where names are looked for.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[serde(default)]
#[into_params(parameter_in = Query)]
pub(super) struct Within {
    /// Only this mesh, where several have things of one name.
    #[param(example = "default")]
    pub(super) mesh: Option<String>,
    /// So many of the policies that do not match are listed in each report, the nearest first, or `all`; 20 when left out. `leftOut`
    /// counts the others.
    #[param(value_type = Option<String>, example = "all")]
    pub(super) skipped: Option<Skipped>,
}

impl Within {
    /// The mesh, if one is named.
    pub(super) fn mesh(&self) -> Option<String> {
        self.mesh.as_ref().map(|mesh| mesh.trim().to_owned()).filter(|mesh| !mesh.is_empty())
    }
}

/// Why is the result what it is? Any question of the command line: a connection (`from`, `to`, `kind`), a proxy or route (`what`),
/// a request to a gateway (`host`, `path`), a request for a decision (`request`), two related objects (`what: a~b`).
#[utoipa::path(post, path = "/v1/explain", params(Within),
    request_body(content = Object, example = json!({"from": "web-1", "to": "backend-1"})),
    responses((status = 200, body = Object), (status = 400, body = Problem), (status = 415, body = Problem), (status = 422, body = Problem)))]
async fn explain(
    State(app): State<Shared>,
    observed: Observed,
    Asked(view): Asked,
    Query(within): Query<Within>,
    headers: HeaderMap,
    RawBody(body): RawBody,
) -> Result<Response, Problem> {
    let words: Words = read(&headers, &body).await?;
    if words.all_pairs {
        return at_length(explained(&app, &view, &observed, within, words)).await;
    }
    explained(&app, &view, &observed, within, words).await
}

/// An explanation as far as the caller may see it. What is not in their part is refused as if it was nowhere.
pub(super) async fn explained(
    app: &Shared,
    view: &Arc<View>,
    observed: &Observed,
    within: Within,
    words: Words,
) -> Result<Response, Problem> {
    let mesh = within.mesh();
    let part = app.parts.of(view, observed.access(), Operation::See).await?;
    // Both are asked at one moment, or they would be asked different things.
    let (own, moment) = (words.clone(), now());
    let skipped = within.skipped.unwrap_or_default();
    let is_whole = Arc::ptr_eq(&part, view);
    // What may not be seen is taken out of a part before anything is counted.
    let listed = if is_whole { skipped.clone() } else { Skipped::All };
    let of = Arc::clone(&part);
    let seen = ask_in(mesh.clone(), moment, &part, move |world| {
        let seen = told(world, &own, listed)?;
        // What says nothing comes to the same whatever is hidden.
        let is_empty = seen.get("answers").and_then(Json_::as_array).is_some_and(Vec::is_empty);
        Ok(if is_whole || is_empty { Break(answered(&of, seen)) } else { Continue(seen) })
    });
    let seen = match seen.await? {
        Break(answer) => return Ok(answer),
        Continue(seen) => seen,
    };
    let whole = ask_in(mesh, moment, view, move |world| told(world, &words, Skipped::AtMost(0))).await;
    let observed = observed.clone();
    let cut = move || {
        let mut answer = whole.ok().and_then(|whole| in_part(seen, &whole)).ok_or_else(depends)?;
        // A document that may be seen can have policies in it that may not.
        redact(&mut answer, &may_see(&part, &observed));
        with_skipped(&mut answer, &skipped);
        Ok(answered(&part, answer))
    };
    heavy(cut).await?
}

/// An explanation, with so many of the policies that do not match.
fn told(world: &World<'_>, words: &Words, skipped: Skipped) -> Result<Json_, Refused> {
    let options = Options { skipped, ..world.options().clone() };
    let world = World::new(world.snapshot(), &options);
    world.explain(&world.question(words)?)
}

/// Which policies the caller may see in an answer.
fn may_see<'a>(view: &'a View, observed: &'a Observed) -> impl Fn(&str, &str, &str) -> bool + 'a {
    move |kind, scope, name| {
        let touched = Touched { kind, scope, name };
        observed.access().is_some_and(|access| access.may_see(Sort::Policy, touched))
            || view.sort_of(kind) != Sort::Policy
    }
}

/// Lines of decisions name the snapshot that they are of.
fn with_digest(result: &mut Json_, digest: &str) {
    match result {
        Json_::Array(lines) => lines.iter_mut().for_each(|line| with_digest(line, digest)),
        Json_::Object(fields) => {
            if let Some(snapshot) = fields.get_mut("snapshot") {
                *snapshot = digest.into();
            }
        }
        _ => {}
    }
}

/// What nobody can be told without telling what they may not see.
fn depends() -> Problem {
    let detail = "the answer depends on documents that you may not see";
    Problem::new(StatusCode::FORBIDDEN, "forbidden", detail)
}

/// Just the result of such a question.
#[utoipa::path(post, path = "/v1/resolve", params(Within),
    request_body(content = Object, example = json!({"from": "web-1", "to": "backend-1", "kind": "TrafficPermission"})),
    responses((status = 200, body = Object), (status = 400, body = Problem), (status = 415, body = Problem), (status = 422, body = Problem)))]
async fn resolve(
    State(app): State<Shared>,
    observed: Observed,
    Asked(view): Asked,
    Query(within): Query<Within>,
    headers: HeaderMap,
    RawBody(body): RawBody,
) -> Result<Response, Problem> {
    let (words, mesh): (Words, _) = (read(&headers, &body).await?, within.mesh());
    let part = app.parts.of(&view, observed.access(), Operation::See).await?;
    let (own, moment, of) = (words.clone(), now(), Arc::clone(&part));
    let is_whole = Arc::ptr_eq(&part, &view);
    let resolved = move |world: &World<'_>| {
        let (result, stamp) = world.resolve(&world.question(&own)?)?.result()?;
        let answer = |result: Json_| json!({"kind": "Result", "result": result, "semantics": stamp.semantics});
        Ok(if is_whole { Break(answered(&of, answer(result))) } else { Continue(stamp) })
    };
    let stamp = match ask_in(mesh.clone(), moment, &part, resolved).await? {
        Break(answer) => return Ok(answer),
        Continue(stamp) => stamp,
    };
    let of = Arc::clone(&view);
    let resolved = move |world: &World<'_>| {
        let (mut result, _) = world.resolve(&world.question(&words)?)?.result()?;
        let (kind, seen) = (of.deciding_kind(), may_see(&of, &observed));
        anonymous(&mut result, &|name| seen(kind, SCOPE, name));
        with_digest(&mut result, part.digest());
        Ok(answered(&part, json!({"kind": "Result", "result": result, "semantics": stamp.semantics})))
    };
    ask_in(mesh, moment, &view, resolved).await.map_err(|_| depends())
}

/// Who may reach what? Which of all requests among the subjects, resources and actions of the directory are permitted, page by page. What is
/// left out is looked for; `subject` and `resource` may say only a type. `{"denied": true}` lists what is denied, too.
#[utoipa::path(post, path = "/v1/reach", params(Page),
    request_body(content = Object, example = json!({"subject": "user/ann", "action": "GET"})),
    responses((status = 200, body = Object), (status = 400, body = Problem), (status = 415, body = Problem), (status = 422, body = Problem)))]
async fn reach(
    observed: Observed,
    Asked(view): Asked,
    Query(page): Query<Page>,
    headers: HeaderMap,
    RawBody(body): RawBody,
) -> Result<Response, Problem> {
    let question: ReachQuestion = read(&headers, &body).await?;
    let (limit, decisions) = (Some(page.size()?), Some(MOST_DECISIONS));
    let question = ReachQuestion { limit, decisions, after: page.after, ..question };
    observed.access().ok_or_else(depends)?.need_to_see_objects()?;
    let held = Arc::clone(&view);
    let found = ask_for(&view, move |world| {
        let mut answer = world.reach(&question)?.document(world.snapshot());
        redact_items(&mut answer, &may_see(&held, &observed));
        Ok(answer)
    });
    found.await
}

/// Who violates which policy? `Accept` chooses JSON, SARIF, CSV, `JUnit` and others.
#[utoipa::path(post, path = "/v1/audit", request_body = Object,
    responses((status = 200, content((Object = "application/json"), (Object = "application/sarif+json"), (String = "text/csv"),
            (String = "application/xml"), (String = "text/markdown"), (String = "text/html"), (String = "application/yaml"), (String = "application/jsonl"))), (status = 400, body = Problem), (status = 406, body = Problem), (status = 415, body = Problem), (status = 422, body = Problem)))]
async fn audit(
    caller: Caller,
    Visible(view): Visible,
    headers: HeaderMap,
    RawBody(body): RawBody,
) -> Result<Response, Problem> {
    let question: AuditQuestion = read(&headers, &body).await?;
    let format = accepted(&headers)?;
    let held = Arc::clone(&view);
    let (editions, text) = ask(&view, move |world| {
        let organisation = world.organisation(question.policies.as_deref())?;
        let organisation = organisation.asked_by(&caller.roles, question.person.as_deref())?;
        let question = AuditQuestion { person: None, ..question };
        let audited = organisation.audit(&question)?.beside(held.loaded.warnings.as_slice(), world.snapshot().files());
        let passing = organisation.passing(&question)?;
        let listed = if question.list_passes { Listed::All } else { Listed::Violations };
        let beside = Beside { passing: &passing, listed, ..Beside::default() };
        let text = match format {
            Shape::Page => {
                let document = audited.audit.document_of(MOST_IN_A_FILE);
                audit_file(&serde_json::to_value(document).unwrap_or_default()).into_bytes()
            }
            Shape::Text(Format::Json) => {
                let document = serde_json::to_value(audited.audit.document()).unwrap_or_default();
                written(&stamped(&held, document))
            }
            Shape::Text(other) => other.text(&audited.audit, &beside).into_bytes(),
        };
        Ok((Editions::named(&audited.audit.semantics), text))
    })
    .await?;
    Ok((Extension(editions), Extension(Asked(view)), [(header::CONTENT_TYPE, format.media_type())], text)
        .into_response())
}

/// What tests are run against.
#[derive(Clone, Copy, Debug, Default, Deserialize, IntoParams)]
#[serde(default)]
#[into_params(parameter_in = Query)]
struct Since {
    /// The revision since which what invariants say stays `unchanged`; they are left out without it.
    since: Option<u64>,
}

/// Do policies decide as the tests beside them expect?
#[utoipa::path(post, path = "/v1/test", params(Since), request_body = Object,
    responses((status = 200, body = Object), (status = 400, body = Problem), (status = 404, body = Problem), (status = 410, body = Problem), (status = 415, body = Problem), (status = 422, body = Problem)))]
async fn test(
    State(app): State<Shared>,
    Visible(view): Visible,
    observed: Observed,
    Query(Since { since }): Query<Since>,
    headers: HeaderMap,
    RawBody(body): RawBody,
) -> Result<Response, Problem> {
    let question: TestQuestion = read(&headers, &body).await?;
    let before = match since {
        Some(since) => Some(visible_at(&app, &view, &observed, Revision(since)).await?),
        None => None,
    };
    let asked = move |world: &World<'_>| {
        let before = before.as_ref().map(|before| World::new(&before.loaded.snapshot, world.options()));
        let tested = match &before {
            Some(before) => world.test_since(before, &question, &())?,
            None => world.test(&question, &())?,
        };
        Ok(serde_json::to_value(tested).unwrap_or_default())
    };
    ask_for(&view, asked).await
}

/// Gateways, routes and backends with their policies. `Accept: image/svg+xml`, `text/vnd.graphviz` and `text/vnd.mermaid` draw it.
#[utoipa::path(get, path = "/v1/graph",
    responses((status = 200, content((Object = "application/json"), (String = "image/svg+xml"), (String = "text/vnd.graphviz"), (String = "text/vnd.mermaid"))), (status = 400, body = Problem), (status = 422, body = Problem)))]
async fn graph(Visible(view): Visible, headers: HeaderMap) -> Result<Response, Problem> {
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
    Ok((Extension(Asked(view)), [(header::CONTENT_TYPE, media)], text).into_response())
}

/// Reads a question; what it lacks is what is usual, what is misspelt is refused.
pub(super) async fn read<Q>(headers: &HeaderMap, body: &Bytes) -> Result<Q, Problem>
where
    Q: DeserializeOwned + Default + Send + 'static,
{
    format_of_question(headers)?;
    let (is_large, body) = (body.len() > LITTLE, body.clone());
    let read = move || {
        let is_empty = body.iter().all(u8::is_ascii_whitespace);
        if is_empty { Ok(Q::default()) } else { shaped(&body, "a valid question") }
    };
    if is_large { heavy(read).await? } else { read() }
}

/// Asks where others do not have to wait: an audit takes as long as there are objects.
pub(super) async fn ask<T: Send + 'static>(
    view: &Arc<View>,
    question: impl FnOnce(&World<'_>) -> Result<T, Refused> + Send + 'static,
) -> Result<T, Problem> {
    ask_in(None, now(), view, question).await
}

/// As [`ask`], with the answer as a response, which is written where it was found.
pub(super) async fn ask_for(
    view: &Arc<View>,
    question: impl FnOnce(&World<'_>) -> Result<Json_, Refused> + Send + 'static,
) -> Result<Response, Problem> {
    let of = Arc::clone(view);
    ask(view, move |world| Ok(answered(&of, question(world)?))).await
}

/// As [`ask`], in one mesh only and at a moment.
pub(super) async fn ask_in<T: Send + 'static>(
    mesh: Option<String>,
    moment: Timestamp,
    view: &Arc<View>,
    question: impl FnOnce(&World<'_>) -> Result<T, Refused> + Send + 'static,
) -> Result<T, Problem> {
    let view = Arc::clone(view);
    let asked = move || {
        let deciding_kind = Some(view.deciding_kind().to_owned());
        let semantics = view.semantics().to_vec();
        let options = Options { mesh, semantics, deciding_kind, ..Options::at(moment) };
        let world = World::new(&view.loaded.snapshot, &options);
        question(&world).map_err(|refused| {
            let files = refused.files(&view.loaded.snapshot);
            let detail = refused.diagnostics.first().map_or("the question cannot be answered", |first| &first.message);
            Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "no-answer", detail)
                .with_diagnostics(files, &refused.diagnostics)
        })
    };
    heavy(asked).await?
}

/// What an audit is wanted as.
#[derive(Clone, Copy, Debug)]
enum Shape {
    /// A page of one file.
    Page,
    /// A text for programs.
    Text(Format),
}

impl Shape {
    fn media_type(self) -> &'static str {
        match self {
            Self::Page => "text/html; charset=utf-8",
            Self::Text(format) => format.media_type(),
        }
    }
}

/// The format that an audit is wanted in.
fn accepted(headers: &HeaderMap) -> Result<Shape, Problem> {
    let wanted = headers.get(header::ACCEPT).map_or("*/*", |value: &HeaderValue| value.to_str().unwrap_or_default());
    for range in wanted.split(',').filter_map(|range| range.split(';').next()).map(str::trim) {
        let format = match range {
            "*/*" | "application/*" | "application/json" | "" => Format::Json,
            "application/sarif+json" => Format::Sarif,
            "text/csv" => Format::Csv,
            "application/xml" | "text/xml" => Format::Junit,
            "text/markdown" => Format::Markdown,
            "text/html" => return Ok(Shape::Page),
            "application/yaml" => Format::Yaml,
            "application/jsonl" | "application/x-ndjson" => Format::JsonLines,
            _ => continue,
        };
        return Ok(Shape::Text(format));
    }
    Err(Problem::new(StatusCode::NOT_ACCEPTABLE, "not-acceptable", format!("audits are not available as `{wanted}`")))
}
