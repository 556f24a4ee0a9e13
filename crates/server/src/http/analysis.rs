//! `/v1/lint`, `/v1/diff`, `/v1/prove`, `/v1/affected`, `/v1/why-not`, `/v1/survival`, `/v1/suppose`: what is wrong with policies, what changes between two
//! revisions, what depends on one of them, what stands in its way, and what would hold if documents were others. Callers get what they would get of a server that holds only what they may see.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use serde::Deserialize;
use serde_json::{Value as Json_, json};
use upheld_answers::formats::{Findings, FindingsBaseline};
use upheld_answers::replay::{Known, KnownRequests, Lines};
use upheld_answers::{LintWanted, Options, PolicyChange, Refused, Remade, Supposition, Words, World};
use upheld_model::{Diagnostic, Fault};
use upheld_store::Revision;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::asked::{Visible, by};
use super::decide::now;
use super::extract::{Query, RawBody};
use super::questions::{Within, ask_for, ask_in, read};
use super::stamp::answered;
use crate::app::Shared;
use crate::auth::Operation;
use crate::limits::heavy;
use crate::problem::Problem;
use crate::telemetry::Observed;
use crate::view::View;

pub(super) fn router() -> OpenApiRouter<Shared> {
    OpenApiRouter::new()
        .routes(routes!(lint))
        .routes(routes!(diff))
        .routes(routes!(prove))
        .routes(routes!(affected))
        .routes(routes!(why_not))
        .routes(routes!(survival))
        .routes(routes!(suppose))
}

/// Which findings are wanted.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
struct LintQuestion {
    /// Only these codes, or all that begin so.
    only: Vec<String>,
    /// Kinds whose policies have to reach everything that they could.
    require: Vec<String>,
    /// Whether every policy has to say whose it is.
    require_owner: bool,
    /// Requests that somebody made, each as a line of a log that `upheld replay` takes.
    requests: Vec<Json_>,
    /// An earlier answer: says of each finding whether it is new.
    baseline: Option<Json_>,
}

/// What is wrong with the policies themselves? `{"only": ["UP2"]}` asks for some codes; with an earlier answer as `baseline`, findings say
/// whether they are new; `require` and `requireOwner` ask for findings that not everybody wants; `requests` that somebody made show which of them only
/// the default decides, and which policies apply to none.
#[utoipa::path(post, path = "/v1/lint", request_body(content = Object, example = json!({})),
    responses((status = 200, body = Object), (status = 400, body = Problem), (status = 415, body = Problem), (status = 422, body = Problem)))]
async fn lint(Visible(view): Visible, headers: HeaderMap, RawBody(body): RawBody) -> Result<Response, Problem> {
    let LintQuestion { only, require, require_owner, requests, baseline } = read(&headers, &body).await?;
    let unreadable =
        |why: String| Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "no-answer", format!("`baseline`: {why}"));
    let earlier =
        baseline.map(|earlier| FindingsBaseline::read(&earlier.to_string())).transpose().map_err(unreadable)?;
    let wanted = LintWanted { only, require, require_owner, known: None, baseline: earlier };
    let held = Arc::clone(&view);
    let said = ask_for(&view, move |world| {
        let wanted = LintWanted { known: known(world, &requests)?, ..wanted };
        let linted = world.lint(held.loaded.warnings.as_slice(), &wanted)?;
        let snapshot = world.snapshot();
        Ok(Findings { files: snapshot.files(), linted: &linted }.document(snapshot.digest()))
    });
    said.await
}

/// What the policies do with requests that somebody made; nothing without any.
fn known(world: &World<'_>, requests: &[Json_]) -> Result<Option<KnownRequests>, Refused> {
    if requests.is_empty() {
        return Ok(None);
    }
    let lines: Vec<String> = requests.iter().map(Json_::to_string).collect();
    let mut known = Known::new(world)?;
    known.lines(Lines { file: "requests", first: 0, lines: &lines });
    let known = known.finish();
    match known.bad.first() {
        Some(bad) => {
            let message = format!("`requests[{}]`: {}", bad.line, bad.message);
            Err(Diagnostic::error(Fault::Unreadable, message).into())
        }
        None => Ok(Some(known)),
    }
}

/// Which revisions are held against each other.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
struct DiffQuestion {
    /// The first; the one before the other when left out.
    before: Option<Revision>,
    /// The second; the current one when left out.
    after: Option<Revision>,
    /// The `next` of the answer before, where that ended before the last place.
    from: usize,
    /// In place of the first: what if these policies were deleted and made again now?
    recreated: Vec<String>,
    /// The same of all policies at once, as after a restore from a backup.
    restored: bool,
    /// What if these policies had other names?
    renamed: BTreeMap<String, String>,
}

/// What changes from one revision to another, and for whom? `{"before": 3, "after": 5}`; left out, the current one and the one before it. What
/// documents would do that are not written yet, a write with `dryRun=true` says. Where there is more to compare than one answer may take, it ends
/// early: `verdict` is not `equal` then, `notes` say so, and the same question `from` its `next` goes on. `{"recreated": ["a"]}`,
/// `{"restored": true}` and `{"renamed": {"a": "b"}}` ask what would change if policies were made again, or were called otherwise.
#[utoipa::path(post, path = "/v1/diff", request_body(content = Object, example = json!({})),
    responses((status = 200, body = Object), (status = 400, body = Problem), (status = 404, body = Problem), (status = 410, body = Problem), (status = 415, body = Problem), (status = 422, body = Problem)))]
async fn diff(sides: Sides) -> Result<Response, Problem> {
    sides.compared(|compared| compared).await
}

/// Does every result stay as it is from one revision to another? `equal`, `differs` or `undecided`, with what speaks against it.
#[utoipa::path(post, path = "/v1/prove", request_body(content = Object, example = json!({})),
    responses((status = 200, body = Object), (status = 400, body = Problem), (status = 404, body = Problem), (status = 410, body = Problem), (status = 415, body = Problem), (status = 422, body = Problem)))]
async fn prove(sides: Sides) -> Result<Response, Problem> {
    let proof = |found: Json_| {
        let shifts = found.get("shifts").and_then(Json_::as_array);
        json!({
            "kind": "Proof", "verdict": found.get("verdict"), "headline": found.get("headline"),
            "counterexample": shifts.and_then(|shifts| shifts.first()), "notes": found.get("notes"),
            "snapshots": found.get("snapshots"), "next": found.get("next"),
        })
    };
    sides.compared(proof).await
}

/// Which policy.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
struct AffectedQuestion {
    /// `name`, `kind/name` or `kind/scope/name`.
    policy: String,
    /// What is supposed of it.
    #[serde(rename = "if")]
    supposed: SupposedQuestion,
}

/// What is supposed of a policy: `"deleted"`, `"disabled"`, or `{"edited": DOCUMENT}`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
enum SupposedQuestion {
    #[default]
    Deleted,
    Disabled,
    Edited(Json_),
}

impl From<SupposedQuestion> for PolicyChange {
    fn from(question: SupposedQuestion) -> Self {
        match question {
            SupposedQuestion::Deleted => Self::Deleted,
            SupposedQuestion::Disabled => Self::Disabled,
            SupposedQuestion::Edited(document) => Self::Edited(document),
        }
    }
}

/// Where a policy counts, what would change if it were deleted (`"if": "disabled"`, `"if": {"edited": DOCUMENT}`), and who takes over.
#[utoipa::path(post, path = "/v1/affected",
    request_body(content = Object, example = json!({"policy": "TrafficLog/default/web-to-backend"})),
    responses((status = 200, body = Object), (status = 400, body = Problem), (status = 415, body = Problem), (status = 422, body = Problem)))]
async fn affected(Visible(view): Visible, headers: HeaderMap, RawBody(body): RawBody) -> Result<Response, Problem> {
    let AffectedQuestion { policy, supposed } = read(&headers, &body).await?;
    let held = Arc::clone(&view);
    let said = ask_for(&view, move |world| {
        let affected = world.affected_if(&held.loaded, &policy, supposed.into())?;
        Ok(affected.document(world.snapshot().digest()))
    });
    said.await
}

/// A policy, and a question for which it does not count.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
struct WhyNotQuestion {
    /// `name`, `kind/name` or `kind/scope/name`.
    policy: String,
    /// As `/v1/explain` takes it.
    question: Words,
}

/// Why does a policy not count for a question, and which edits would let it? Each is tried, and told with all that it changes.
#[utoipa::path(post, path = "/v1/why-not",
    request_body(content = Object, example = json!({"policy": "catch-all", "question": {"from": "web-1", "to": "backend-1"}})),
    responses((status = 200, body = Object), (status = 400, body = Problem), (status = 415, body = Problem), (status = 422, body = Problem)))]
async fn why_not(Visible(view): Visible, headers: HeaderMap, RawBody(body): RawBody) -> Result<Response, Problem> {
    let WhyNotQuestion { policy, question } = read(&headers, &body).await?;
    let held = Arc::clone(&view);
    let said = ask_for(&view, move |world| {
        let why = world.why_not(&held.loaded, &policy, &world.question(&question)?)?;
        Ok(why.document(world.snapshot().digest()))
    });
    said.await
}

/// Which policy.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
struct SurvivalQuestion {
    /// `name`, `kind/name` or `kind/scope/name`.
    policy: String,
}

/// In how many results each field of a policy is what holds, and who goes before it in the others. Policies about requests and related objects have none.
#[utoipa::path(post, path = "/v1/survival",
    request_body(content = Object, example = json!({"policy": "TrafficLog/default/web-to-backend"})),
    responses((status = 200, body = Object), (status = 400, body = Problem), (status = 415, body = Problem), (status = 422, body = Problem)))]
async fn survival(Visible(view): Visible, headers: HeaderMap, RawBody(body): RawBody) -> Result<Response, Problem> {
    let SurvivalQuestion { policy } = read(&headers, &body).await?;
    let said = ask_for(&view, move |world| {
        let survival = world.survival(&policy)?;
        let digest = world.snapshot().digest();
        Ok(
            json!({"apiVersion": "upheld/v2", "kind": "Survival", "policy": policy, "survival": survival, "snapshot": digest}),
        )
    });
    said.await
}

/// What would hold if policies were not there (`without`), or documents said something else (`instead`)? The answer to a question then, and what
/// changes in it; with `everywhere`, in all others, too. `was` is another question to compare with. Nothing is written.
#[utoipa::path(post, path = "/v1/suppose", params(Within),
    request_body(content = Object, example = json!({"without": ["TrafficLog/default/web-to-backend"], "question": {"from": "web-1", "to": "backend-1"}})),
    responses((status = 200, body = Object), (status = 400, body = Problem), (status = 415, body = Problem), (status = 422, body = Problem)))]
async fn suppose(
    Visible(view): Visible,
    Query(within): Query<Within>,
    headers: HeaderMap,
    RawBody(body): RawBody,
) -> Result<Response, Problem> {
    let supposed: Supposition = read(&headers, &body).await?;
    let (held, of) = (Arc::clone(&view), Arc::clone(&view));
    let (mesh, skipped) = (within.mesh(), within.skipped.unwrap_or_default());
    let said = ask_in(mesh, now(), &view, move |world| {
        let options = Options { skipped, ..world.options().clone() };
        let found = World::new(world.snapshot(), &options).suppose(&held.loaded, &supposed)?;
        Ok(answered(&of, found.document(world.snapshot().digest())))
    });
    said.await
}

/// Two revisions, as far as the caller may see them.
struct Sides {
    before: Arc<View>,
    after: Arc<View>,
    /// What is supposed of the second, in place of the first.
    supposed: Option<Remade>,
    /// After how many questions about places they are compared.
    from: usize,
}

impl FromRequest<Shared> for Sides {
    type Rejection = Problem;

    async fn from_request(request: Request, app: &Shared) -> Result<Self, Problem> {
        let (mut parts, body) = request.into_parts();
        let Visible(view) = Visible::from_request_parts(&mut parts, app).await?;
        let Ok(observed) = Observed::from_request_parts(&mut parts, app).await;
        let headers = parts.headers.clone();
        let RawBody(body) = RawBody::from_request(Request::from_parts(parts, body), app).await?;
        let question: DiffQuestion = read(&headers, &body).await?;
        let now = Arc::clone(&view);
        let at = async |revision: Revision| visible_at(app, &now, &observed, revision).await;
        let after = match question.after {
            Some(revision) => at(revision).await?,
            None => view,
        };
        let DiffQuestion { before, from, recreated, restored, renamed, .. } = question;
        let supposed = Remade { recreated, restored, renamed };
        match (supposed.is_something(), before) {
            (true, Some(_)) => {
                let detail = "`before` and what is supposed of policies are two questions";
                Err(Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "no-answer", detail))
            }
            (true, None) => Ok(Self { before: Arc::clone(&after), after, supposed: Some(supposed), from: 0 }),
            (false, before) => {
                let before = before.unwrap_or(Revision(after.revision().0.saturating_sub(1)));
                Ok(Self { before: at(before).await?, after, supposed: None, from })
            }
        }
    }
}

/// What the caller may see of a revision, read by the editions of a view.
pub(super) async fn visible_at(
    app: &Shared,
    view: &View,
    observed: &Observed,
    revision: Revision,
) -> Result<Arc<View>, Problem> {
    let whole = by(app.live.at(revision, app.store.as_ref()).await?, view.semantics().to_vec()).await?;
    app.parts.of(&whole, observed.access(), Operation::See).await
}

impl Sides {
    /// What changes, as programs get it: all of it, or something made of it.
    async fn compared(self, told: fn(Json_) -> Json_) -> Result<Response, Problem> {
        let Self { before, after, supposed, from } = self;
        let of = Arc::clone(&after);
        if let Some(supposed) = supposed {
            let said = ask_for(&after, move |world| {
                let (after, shifts) = world.if_supposed(&of.loaded, &supposed, &())?;
                Ok(told(shifts.document(world.snapshot().digest(), after.snapshot.digest())))
            });
            return said.await;
        }
        let compared = move || {
            let shifts = before.shifts_to(&after, now(), from);
            answered(&of, told(shifts.document(before.digest(), after.digest())))
        };
        Ok(heavy(compared).await?)
    }
}
