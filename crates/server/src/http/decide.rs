//! `/v1/decide`: may this request go on?

use std::time::Instant;

use axum::Extension;
use axum::extract::State;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};
use upheld_dialects::access::{Edition, request};
use upheld_engine::decide::{By, Decided, Maybe, Request};
use upheld_input::json as json_text;
use upheld_model::tree::{Kind, Value};
use upheld_model::{Diagnostics, SourceId, Timestamp};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::asked::Asked;
use super::parts::{Asking, Query};
use super::stamp::{Editions, Stamp, stamped_text};
use crate::app::Shared;
use crate::documents::Body;
use crate::problem::Problem;
use crate::scratch;
use crate::telemetry::{Details, Made, Observed, Surface};
use crate::view::{Decider, View};

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
pub(crate) struct Decision<'v> {
    #[serde(rename = "decision")]
    /// `permit`, `deny`, `undecided` or, in the compatibility edition, `foreign`; only `permit` opens.
    word: &'static str,
    /// The policy that decided; the default has no name.
    #[serde(skip_serializing_if = "Option::is_none")]
    policy: Option<&'v str>,
    /// What the policy says about itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'v str>,
}

/// As `/v1/decide` answers: only for the description, since most of the stamp is written once for all answers of a view.
#[derive(Debug, Serialize, ToSchema)]
struct One<'v> {
    #[serde(flatten)]
    decision: Decision<'v>,
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
    decisions: Vec<Decision<'v>>,
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
    Asking(body): Asking,
) -> Result<Response, Problem> {
    let decider = decider(&view, wanted.kind.as_deref())?;
    let document = body.only()?;
    let request = read(&view, &body, document)?;
    let begun = Instant::now();
    let decided = scratch::decide(decider.decide, &request);
    let (surface, took) = (Surface::Http, begun.elapsed());
    let decision = Decision::of(decider, &decided);
    let made = Made { surface, outcome: decided.outcome, observed: &observed, place: None, took };
    app.decided(made, || decision.details(&view, document)).await;
    Ok(json(&view, decider, &decision))
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
    Asking(body): Asking,
) -> Result<Response, Problem> {
    let decider = decider(&view, wanted.kind.as_deref())?;
    let document = body.only()?;
    let documents = match document.get("requests") {
        Some(requests) if requests.kind() == Kind::List && document.entries().count() == 1 => requests,
        _ => return Err(Problem::bad_request("expected {\"requests\": […]} and nothing else")),
    };
    let most = app.config.limits.batch;
    if documents.items().count() > most {
        return Err(Problem::new(
            StatusCode::PAYLOAD_TOO_LARGE,
            "batch-too-large",
            format!("at most {most} requests at once"),
        ));
    }
    let requests: Vec<Request> =
        documents.items().map(|request| read(&view, &body, request)).collect::<Result<_, Problem>>()?;
    let mut answers = Vec::with_capacity(requests.len());
    for request in &requests {
        let begun = Instant::now();
        let decided = scratch::decide(decider.decide, request);
        answers.push((Decision::of(decider, &decided), decided.outcome, begun.elapsed()));
    }
    for (place, ((decision, outcome, took), document)) in answers.iter().zip(documents.items()).enumerate() {
        let (surface, outcome, took) = (Surface::Http, *outcome, *took);
        let made = Made { surface, outcome, observed: &observed, place: Some(place), took };
        app.decided(made, || decision.details(&view, document)).await;
    }
    let decisions = answers.into_iter().map(|(decision, ..)| decision).collect();
    Ok(json(&view, decider, &Decisions { decisions }))
}

fn decider<'v>(view: &'v View, kind: Option<&str>) -> Result<Decider<'v>, Problem> {
    view.decider(kind).ok_or_else(|| {
        Problem::not_found(format!("no policy of kind `{}` decides requests here", kind.unwrap_or_default()))
    })
}

/// The parts of a request.
const PARTS: [&str; 4] = ["subject", "action", "resource", "environment"];

/// Whoever does not say when asks now.
fn read(view: &View, body: &Body, document: Value<'_>) -> Result<Request, Problem> {
    let unknown = document.entries().map(|(key, _)| key.text()).find(|key| !PARTS.contains(key));
    if let Some(unknown) = unknown.filter(|_| view.edition() == Edition::Strict) {
        let detail = format!("a request has no field `{unknown}`; there are {}", PARTS.join(", "));
        return Err(Problem::bad_request(detail));
    }
    let mut found = Diagnostics::default();
    let request = request::read(SourceId::new(0), document, view.edition(), &mut found);
    let Some(mut request) = request else {
        let problem = Problem::new(StatusCode::BAD_REQUEST, "bad-request", "this is no request that can be decided");
        return Err(problem.with_diagnostics(body.files(), found.as_slice()));
    };
    if request.environment.time == Maybe::Absent {
        request.environment.time = Maybe::Is(now());
    }
    Ok(request)
}

/// The clock.
pub(crate) fn now() -> Timestamp {
    Timestamp(i64::try_from(jiff::Timestamp::now().as_nanosecond()).unwrap_or(i64::MAX))
}

impl<'v> Decision<'v> {
    /// Of what the engine said.
    pub(crate) fn of(decider: Decider<'v>, decided: &Decided) -> Self {
        let rule = match decided.by {
            By::Policy(entry) => decider.decide.rule(entry),
            By::Default | By::Algorithm | By::Nobody => None,
        };
        let document = rule.and_then(|rule| decider.files.value(rule.at));
        Self {
            word: decided.outcome.word(),
            policy: rule.map(|rule| rule.name.as_str()),
            reason: document.and_then(|document| document.get("description")).and_then(Value::as_text),
        }
    }

    /// What the log of decisions has of it.
    pub(crate) fn details(&self, view: &View, request: Value<'_>) -> Details {
        Details {
            revision: view.revision(),
            request: json_text::write(request),
            policy: self.policy.map(str::to_owned),
            reason: self.reason.map(str::to_owned),
        }
    }
}

fn json(view: &View, decider: Decider<'_>, answer: &impl Serialize) -> Response {
    let json = [(header::CONTENT_TYPE, HeaderValue::from_static("application/json"))];
    (Extension(Editions::of(view, decider)), json, stamped_text(view, decider, answer)).into_response()
}
