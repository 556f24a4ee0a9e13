//! `/v1/decide`: may this request go on?

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Instant;

use axum::Extension;
use axum::extract::State;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};
use upheld_answers::report::{Decision, Duty};
use upheld_dialects::access::decider::{BatchBudget, CompleteRequest, Decider};
use upheld_dialects::access::request;
use upheld_engine::work;
use upheld_model::tree::{Kind, Value};
use upheld_model::{Diagnostics, SourceId, Timestamp};
use upheld_store::machine;
use upheld_syntax::json as json_text;
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::asked::Asked;
use super::extract::{Query, QuestionBody};
use super::stamp::{Editions, Stamp, stamped_text};
use crate::app::{App, Shared};
use crate::auth::Names;
use crate::documents::Body;
use crate::problem::Problem;
use crate::scratch::{self, Expected};
use crate::telemetry::{DecisionEvent, Details, Line, Observed, Surface};
use crate::view::View;

pub(super) fn router() -> OpenApiRouter<Shared> {
    OpenApiRouter::new().routes(routes!(decide)).routes(routes!(decide_batch))
}

/// Who decides.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct Wanted {
    /// The kind of the policies, where several kinds decide.
    kind: Option<String>,
}

/// A decision.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct Answer<'v> {
    #[serde(rename = "decision")]
    /// `permit`, `deny`, `undecided` or, in the compatibility edition, `foreign`; only `permit` opens.
    word: &'static str,
    /// The policy that decided; the default has no name.
    #[serde(skip_serializing_if = "Option::is_none")]
    policy: Option<&'v str>,
    /// What the policy says about itself, or why there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<Cow<'v, str>>,
    /// What must be done along with it: whoever cannot must not let the request through.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(value_type = Vec<Object>)]
    obligations: Vec<Duty>,
    /// What may be done along with it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(value_type = Vec<Object>)]
    advice: Vec<Duty>,
}

/// As `/v1/decide` answers: only for the description, since most of the stamp is written once for all answers of a view.
#[derive(Debug, Serialize, ToSchema)]
struct One<'v> {
    #[serde(flatten)]
    decision: Answer<'v>,
    #[serde(flatten)]
    stamp: Stamp<'v>,
}

/// As `/v1/decide:batch` answers, only for the description too.
#[derive(Debug, Serialize, ToSchema)]
struct Many<'v> {
    #[serde(flatten)]
    decisions: Decisions<'v>,
    #[serde(flatten)]
    stamp: Stamp<'v>,
}

/// Decisions in the order of their requests.
#[derive(Debug, Serialize, ToSchema)]
struct Decisions<'v> {
    decisions: Vec<Answer<'v>>,
}

/// Decides one request.
#[utoipa::path(post, path = "/v1/decide",
    request_body(content = Object, example = json!({"subject": {"roles": ["user"]}, "action": {"method": "GET"}, "resource": {"path": "/api/orders"}})),
    params(Wanted),
    responses((status = 200, body = One<'static>), (status = 400, body = Problem), (status = 404, body = Problem), (status = 415, body = Problem)))]
async fn decide(
    State(app): State<Shared>,
    Asked(view): Asked,
    observed: Observed,
    Query(wanted): Query<Wanted>,
    QuestionBody(body): QuestionBody,
) -> Result<Response, Problem> {
    let decider = decider(&view, wanted.kind.as_deref())?;
    let request = read(decider, &body, body.only()?)?;
    let deciding = Deciding { app: &app, view: &view, observed: &observed };
    let document = body.only()?;
    let made = Expected::of(decider, || length(document)).here(|| deciding.one(decider, &body, &request));
    let (answer, line) = match made {
        Some(made) => made?,
        None => {
            let (own, view, seen) = (Shared::clone(&app), Arc::clone(&view), observed.clone());
            let one = move || {
                let decider = self::decider(&view, wanted.kind.as_deref())?;
                Deciding { app: &own, view: &view, observed: &seen }.one(decider, &body, &request)
            };
            scratch::aside(&app, &observed, one).await??
        }
    };
    app.write_down(line).await;
    Ok(answer)
}

/// Who decides for whom.
#[derive(Clone, Copy)]
struct Deciding<'a> {
    app: &'a App,
    view: &'a View,
    observed: &'a Observed,
}

impl Deciding<'_> {
    /// The answer to one request, and what is to be written down of it.
    fn one(
        self,
        decider: Decider<'_>,
        body: &Body,
        request: &CompleteRequest,
    ) -> Result<(Response, Option<Line>), Problem> {
        let Self { app, view, observed } = self;
        let document = body.only()?;
        let begun = Instant::now();
        let mut decision = scratch::decide(decider, request);
        let (surface, took) = (Surface::Http, begun.elapsed());
        let made = DecisionEvent { surface, outcome: decision.outcome, observed, place: None, took };
        let line = app.count(made, || details(&decision, view, document));
        // What is counted is not made once more.
        work::apart(|| names(view, decider, observed).map(|names| names.cut(&mut decision)))?;
        Ok((json(view, decider, &Answer::of(decision)), line))
    }

    /// The answer to several, and what is to be written down of each.
    fn several(
        self,
        decider: Decider<'_>,
        body: &Body,
        documents: Value<'_>,
    ) -> Result<(Response, Vec<Line>), Problem> {
        let Self { app, view, observed } = self;
        let requests: Vec<CompleteRequest> =
            documents.items().map(|request| read(decider, body, request)).collect::<Result<_, Problem>>()?;
        let names = names(view, decider, observed)?;
        let mut budget = BatchBudget::default();
        // All of them before anything is counted: who gives up has decided nothing.
        let decide = |request: &CompleteRequest| {
            let begun = Instant::now();
            let decision = scratch::decide_within(decider, request, &mut budget);
            (decision, begun.elapsed())
        };
        let answers: Vec<_> = requests.iter().map(decide).collect();
        let mut lines = Vec::new();
        let mut decisions = Vec::with_capacity(answers.len());
        for (place, ((mut decision, took), document)) in answers.into_iter().zip(documents.items()).enumerate() {
            let (surface, outcome) = (Surface::Http, decision.outcome);
            let made = DecisionEvent { surface, outcome, observed, place: Some(place), took };
            lines.extend(app.count(made, || details(&decision, view, document)));
            work::apart(|| names.cut(&mut decision));
            decisions.push(Answer::of(decision));
        }
        Ok((json(view, decider, &Decisions { decisions }), lines))
    }
}

/// Decides many requests at once: `{"requests": […]}`.
#[utoipa::path(post, path = "/v1/decide:batch",
    request_body(content = Object, example = json!({"requests": [{"subject": {"roles": ["user"]}, "action": {"method": "GET"}, "resource": {"path": "/api/orders"}}]})),
    params(Wanted),
    responses((status = 200, body = Many<'static>), (status = 400, body = Problem), (status = 404, body = Problem), (status = 413, body = Problem),
        (status = 415, body = Problem)))]
async fn decide_batch(
    State(app): State<Shared>,
    Asked(view): Asked,
    observed: Observed,
    Query(wanted): Query<Wanted>,
    QuestionBody(body): QuestionBody,
) -> Result<Response, Problem> {
    let decider = decider(&view, wanted.kind.as_deref())?;
    let documents = requests(&body)?;
    let (count, most) = (documents.items().count(), app.config.limits.batch);
    if count > most {
        return Err(Problem::new(
            StatusCode::PAYLOAD_TOO_LARGE,
            "batch-too-large",
            format!("at most {most} requests at once"),
        ));
    }
    let deciding = Deciding { app: &app, view: &view, observed: &observed };
    let expected = Expected::of_batch(decider, length(documents), count);
    let (answer, lines) = match expected.here(|| deciding.several(decider, &body, documents)) {
        Some(made) => made?,
        None => {
            let (own, view, seen) = (Shared::clone(&app), Arc::clone(&view), observed.clone());
            let several = move || {
                let decider = self::decider(&view, wanted.kind.as_deref())?;
                Deciding { app: &own, view: &view, observed: &seen }.several(decider, &body, requests(&body)?)
            };
            scratch::aside(&app, &observed, several).await??
        }
    };
    for line in lines {
        app.write_down(Some(line)).await;
    }
    Ok(answer)
}

/// The requests of a batch.
fn requests(body: &Body) -> Result<Value<'_>, Problem> {
    let document = body.only()?;
    match document.get("requests") {
        Some(requests) if requests.kind() == Kind::List && document.entries().count() == 1 => Ok(requests),
        _ => Err(Problem::bad_request("expected {\"requests\": […]} and nothing else")),
    }
}

/// Bytes of what is asked.
fn length(document: Value<'_>) -> usize {
    let span = document.span();
    (span.end.saturating_sub(span.start)) as usize
}

fn decider<'v>(view: &'v View, kind: Option<&str>) -> Result<Decider<'v>, Problem> {
    view.decider(kind).map_err(|problem| Problem::not_found(problem.message))
}

/// Whom of those who decide the caller may know.
fn names<'v>(view: &'v View, decider: Decider<'v>, observed: &'v Observed) -> Result<Names<'v>, Problem> {
    Names::of(view, decider, observed).ok_or_else(|| Problem::unavailable("nobody knows who asks"))
}

/// Whoever does not say when asks now.
fn read(decider: Decider<'_>, body: &Body, document: Value<'_>) -> Result<CompleteRequest, Problem> {
    let mut found = Diagnostics::default();
    let request = request::read(SourceId::new(0), document, decider.edition, &mut found);
    let Some(request) = request else {
        let problem = Problem::new(StatusCode::BAD_REQUEST, "bad-request", "this is not a valid request");
        return Err(problem.with_diagnostics(body.files(), found.as_slice()));
    };
    Ok(decider.complete(request, Some(now())))
}

/// The clock.
pub(crate) fn now() -> Timestamp {
    Timestamp(i64::try_from(machine::now().as_nanosecond()).unwrap_or(i64::MAX))
}

impl<'v> Answer<'v> {
    fn of(decision: Decision<'v>) -> Self {
        let Decision { outcome, policy, reason, obligations, advice } = decision;
        Self { word: outcome.word(), policy, reason, obligations, advice }
    }
}

/// What the decision log has of it.
fn details(decision: &Decision<'_>, view: &View, request: Value<'_>) -> Details {
    Details::of_decision(decision, view, json_text::write(request))
}

fn json(view: &View, decider: Decider<'_>, answer: &impl Serialize) -> Response {
    let json = [(header::CONTENT_TYPE, HeaderValue::from_static("application/json"))];
    (Extension(Editions::of(view, decider)), json, stamped_text(view, decider, answer)).into_response()
}
