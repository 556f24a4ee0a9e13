//! `/v1/check` and `/v1/admission-review`: what other systems ask before they write something themselves. Nothing is written here.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::{Value as Json_, json};
use smol_str::SmolStr;
use upheld_answers::World;
use upheld_loader::Format;
use upheld_store::Change;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::asked::Asked;
use super::compliance::Asking;
use super::extract::{Query, RawBody};
use super::questions::ask;
use super::revisions::{Batch, batch_of};
use super::writing::{Told, answer, refused};
use crate::app::Shared;
use crate::auth::{Caller, Operation as Right};
use crate::documents::{Body, format_of_question, shaped};
use crate::problem::Problem;
use crate::telemetry::Observed;
use crate::view::View;
use crate::writer::{Author, Condition, Mode, Refusal, Write};

pub(super) fn router() -> OpenApiRouter<Shared> {
    OpenApiRouter::new().routes(routes!(check)).routes(routes!(review))
}

/// Whether a write would be accepted, as `POST /v1/revisions` takes it: for systems that keep their objects themselves and ask before they finalize a
/// change. `as` says for whom they ask. Nothing is written.
#[utoipa::path(post, path = "/v1/check", params(Asking),
    request_body(content((Object = "application/json", example = json!({"put": [{"a": "project/a", "b": "landingZone/b"}]})), (String = "application/yaml"))),
    responses((status = 200, body = Object), (status = 400, body = Problem), (status = 403, body = Problem), (status = 409, body = Problem),
        (status = 412, body = Problem), (status = 413, body = Problem), (status = 415, body = Problem), (status = 422, body = Problem), (status = 503, body = Problem)))]
async fn check(
    State(app): State<Shared>,
    caller: Caller,
    observed: Observed,
    Asked(view): Asked,
    Query(asking): Query<Asking>,
    headers: HeaderMap,
    RawBody(bytes): RawBody,
) -> Result<Response, Problem> {
    let format = format_of_question(&headers)?;
    let body = Body::read(&bytes, format)?;
    let Batch { changes, conditions, .. } = batch_of(&view, &body, format, app.config.limits.batch)?;
    let asker = asker(&view, caller, asking).await?;
    let told = Told::of(&observed);
    let written = app.writer.write(asked_by(asker, &observed, changes, conditions)?).await;
    let written = written.map_err(|refusal| refused(refusal, told, &view))?;
    Ok(answer(&written, Mode::DryRun, told))
}

/// A write that is only asked about. What would become of a document says whether it is there, so it takes the right to see it.
fn asked_by(
    caller: Caller,
    observed: &Observed,
    changes: Vec<Change>,
    conditions: Vec<Condition>,
) -> Result<Write, Problem> {
    let access = observed.access().cloned().ok_or_else(|| Problem::unavailable("nobody knows who asks"))?;
    let author = Author::Caller { caller, access, right: Right::See };
    Ok(Write { author, message: None, changes, conditions, idempotency: None, mode: Mode::DryRun })
}

/// The caller, as whom they ask.
async fn asker(view: &Arc<View>, caller: Caller, asking: Asking) -> Result<Caller, Problem> {
    let own = caller.clone();
    let person = ask(view, move |world| {
        let organisation = match world.organisation(asking.policies.as_deref()) {
            Ok(organisation) => organisation,
            // Whoever asks as themselves needs no organisation to be found; a role that somebody claims does.
            Err(_) if asking.person.is_none() => return Ok(None),
            Err(refused) => return Err(refused),
        };
        Ok(organisation.roles_for(&own.roles, asking.person.as_deref())?.map(SmolStr::new))
    })
    .await?;
    let roles = person.map(|role| Arc::from([role]));
    Ok(Caller { roles: roles.unwrap_or_else(|| Arc::clone(&caller.roles)), ..caller })
}

/// The same in the shape that Kubernetes asks in: `AdmissionReview` of `admission.k8s.io/v1`. The groups of the user are roles.
#[utoipa::path(post, path = "/v1/admission-review",
    request_body(content = Object, example = json!({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": {"uid": "1", "operation": "CREATE",
        "userInfo": {"username": "mia", "groups": ["workspaceManager@workspace/shop"]}, "object": {"a": "project/a", "b": "landingZone/b"}}})),
    responses((status = 200, body = Object), (status = 400, body = Problem), (status = 415, body = Problem), (status = 422, body = Problem)))]
async fn review(
    State(app): State<Shared>,
    caller: Caller,
    observed: Observed,
    Asked(view): Asked,
    headers: HeaderMap,
    RawBody(bytes): RawBody,
) -> Result<Response, Problem> {
    format_of_question(&headers)?;
    let review: Review = shaped(&bytes, "an AdmissionReview")?;
    let Review { request: Reviewed { uid, operation, object, old_object, user_info } } = review;
    let roles: Vec<SmolStr> = user_info.groups.iter().map(SmolStr::new).collect();
    // Whoever is bound to a role cannot ask for others.
    let roles = if is_bound(&view, &caller).await? { Arc::clone(&caller.roles) } else { roles.into() };
    let writer = Caller { name: SmolStr::new(&user_info.username), roles, ..caller };
    let document = if operation == Operation::Delete { old_object } else { object };
    let body = Body::read(document.to_string().as_bytes(), Format::Json)?;
    let named = body.named(&view.identities(), body.only()?)?;
    let change = match operation {
        Operation::Delete => Change::Delete { key: named.key },
        Operation::Create | Operation::Update => Change::Put { key: named.key, text: named.text },
    };
    let write = asked_by(writer, &observed, vec![change], Vec::new())?;
    let response = match app.writer.write(write).await {
        Ok(written) => {
            let ruled = written.ruled.iter().filter(|_| Told::of(&observed).everything());
            let warnings: Vec<&str> =
                ruled.flat_map(|ruled| &ruled.violations).map(|check| check.message.as_str()).collect();
            json!({"uid": uid, "allowed": true, "warnings": warnings})
        }
        // What is wrong here says nothing of the document.
        Err(Refusal::Store(error)) => return Err(error.into()),
        Err(Refusal::NotPermitted(problem)) => return Err(*problem),
        Err(Refusal::Undone(undone)) => return Err(undone.into()),
        Err(refusal) => {
            let problem = refused(refusal, Told::of(&observed), &view);
            json!({"uid": uid, "allowed": false, "status": {"code": problem.status, "reason": problem.title, "message": problem.detail}})
        }
    };
    let review = json!({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": response});
    Ok(Json(review).into_response())
}

/// Whether a caller has a role that binds them; so does not to know which organisation is meant.
async fn is_bound(view: &Arc<View>, caller: &Caller) -> Result<bool, Problem> {
    let roles = Arc::clone(&caller.roles);
    let bound = move |world: &World<'_>| {
        Ok(world.organisation(None).map_or(true, |organisation| organisation.is_bound(&roles)))
    };
    ask(view, bound).await
}

#[derive(Debug, Deserialize)]
struct Review {
    request: Reviewed,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Reviewed {
    uid: String,
    operation: Operation,
    #[serde(default)]
    object: Json_,
    #[serde(default)]
    old_object: Json_,
    #[serde(default)]
    user_info: UserInfo,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "UPPERCASE")]
enum Operation {
    Create,
    Update,
    Delete,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct UserInfo {
    username: String,
    groups: Vec<String>,
}
