//! `/v1/can`, `/v1/candidates`, `/v1/values`, `/v1/what-if`, `/v1/fix`, `/v1/waivers`: what may be done with related objects, and what would help.
//!
//! Callers with a role in the organisation ask as that; see [`upheld_answers::compliance::Organisation::asked_by`].

use std::sync::Arc;

use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::http::HeaderMap;
use axum::response::Response;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value as Json_, json};
use upheld_answers::Refused;
use upheld_answers::compliance::{ChangeRequest, Changes, FixQuestion, Organisation, WaiverQuestion, WhatIf};
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::asked::Visible;
use super::extract::{Query, RawBody};
use super::questions::{ask_for, read};
use crate::app::Shared;
use crate::auth::Caller;
use crate::documents::format_of_question;
use crate::problem::Problem;
use crate::view::View;

pub(super) fn router() -> OpenApiRouter<Shared> {
    OpenApiRouter::new()
        .routes(routes!(can))
        .routes(routes!(candidates))
        .routes(routes!(values))
        .routes(routes!(what_if))
        .routes(routes!(fix))
        .routes(routes!(waivers))
}

/// Which organisation is asked about, and as whom.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[into_params(parameter_in = Query)]
pub(super) struct Asking {
    /// The kind of policy, if there are several whose objects must agree.
    pub(super) policies: Option<String>,
    /// Who asks: `user`, `admin`, or a role; with `@workspace/ID` where it holds there only.
    #[serde(rename = "as")]
    pub(super) person: Option<String>,
    /// What a plan must be called, if somebody looked at it before.
    plan: Option<String>,
}

/// A question as it comes in: who asks what, and of which view.
struct Incoming<Q> {
    caller: Caller,
    view: Arc<View>,
    asking: Asking,
    question: Q,
}

impl<Q: DeserializeOwned + Default + Send + 'static> FromRequest<Shared> for Incoming<Q> {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &Shared) -> Result<Self, Problem> {
        let (mut parts, body) = request.into_parts();
        let caller = Caller::of(&parts);
        let Visible(view) = Visible::from_request_parts(&mut parts, state).await?;
        let Query(asking) = Query::from_request_parts(&mut parts, state).await?;
        let headers = parts.headers.clone();
        let RawBody(body) = RawBody::from_request(Request::from_parts(parts, body), state).await?;
        let question = read(&headers, &body).await?;
        Ok(Self { caller, view, asking, question })
    }
}

impl<Q: Send + 'static> Incoming<Q> {
    /// Answers as the organisation does that is asked about, to whom the caller is there.
    async fn answered(
        self,
        answer: impl FnOnce(Organisation<'_>, Q) -> Result<Json_, Refused> + Send + 'static,
    ) -> Result<Response, Problem> {
        let Self { caller, view, asking, question } = self;
        let said = ask_for(&view, move |world| {
            let organisation = world.organisation(asking.policies.as_deref())?;
            answer(organisation.asked_by(&caller.roles, asking.person.as_deref())?, question)
        });
        said.await
    }
}

/// May a change be made? `{"change": ["link", "project/a~landingZone/b"]}`, and so `unlink`, `tag`, `create` and `delete`.
#[utoipa::path(post, path = "/v1/can", params(Asking),
    request_body(content = Object, example = json!({"change": ["link", "project/a~landingZone/b"]})),
    responses((status = 200, body = Object), (status = 400, body = Problem), (status = 415, body = Problem), (status = 422, body = Problem)))]
async fn can(mut incoming: Incoming<ChangeRequest>) -> Result<Response, Problem> {
    incoming.asking.person = incoming.asking.person.or_else(|| incoming.question.person.take());
    incoming
        .answered(|organisation, request| Ok(json!(organisation.would(&ChangeRequest { person: None, ..request })?.0)))
        .await
}

/// What could be chosen for an object.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
struct Choice {
    /// The object.
    object: String,
    /// The kind of the objects that could be related to it.
    kind: String,
    /// The role that would qualify the relationship.
    role: Option<String>,
    /// The tag whose values could be chosen.
    tag: String,
}

/// Objects of a kind that could be related to one without breaking a policy.
#[utoipa::path(post, path = "/v1/candidates", params(Asking),
    request_body(content = Object, example = json!({"object": "project/a", "kind": "landingZone"})),
    responses((status = 200, body = Object), (status = 400, body = Problem), (status = 415, body = Problem), (status = 422, body = Problem)))]
async fn candidates(incoming: Incoming<Choice>) -> Result<Response, Problem> {
    incoming
        .answered(|organisation, Choice { object, kind, role, .. }| {
            organisation.may_ask_about(&object)?;
            Ok(json!(organisation.candidates(&object, &kind, role.as_deref(), None)?))
        })
        .await
}

/// Values that a tag of an object could have.
#[utoipa::path(post, path = "/v1/values", params(Asking),
    request_body(content = Object, example = json!({"object": "project/a", "tag": "environment"})),
    responses((status = 200, body = Object), (status = 400, body = Problem), (status = 415, body = Problem), (status = 422, body = Problem)))]
async fn values(incoming: Incoming<Choice>) -> Result<Response, Problem> {
    incoming
        .answered(|organisation, Choice { object, tag, .. }| {
            organisation.may_ask_about(&object)?;
            Ok(json!(organisation.values(&object, &tag, None)?))
        })
        .await
}

/// What would changes do? The body is a list of changes, or `Changes` documents; nothing is changed.
#[utoipa::path(post, path = "/v1/what-if", params(Asking),
    request_body(content = Object, example = json!({"verb": "setTags", "object": "landingZone/b", "tags": {"environment": ["prod"]}})),
    responses((status = 200, body = Object), (status = 400, body = Problem), (status = 415, body = Problem), (status = 422, body = Problem)))]
async fn what_if(
    caller: Caller,
    Visible(view): Visible,
    Query(asking): Query<Asking>,
    headers: HeaderMap,
    RawBody(body): RawBody,
) -> Result<Response, Problem> {
    let format = format_of_question(&headers)?;
    let text = String::from_utf8(body.to_vec()).map_err(|_| Problem::bad_request("the body is not UTF-8 text"))?;
    let plan = asking.plan.clone();
    let incoming = Incoming { caller, view, asking, question: text };
    incoming
        .answered(move |organisation, text| {
            let plan = plan.as_deref();
            let answer = organisation.what_if(&Changes { name: "body", format, text, person: None, plan })?;
            let WhatIf { plan, clean } = answer;
            Ok(json!({"kind": "Plan", "plan": plan, "clean": clean}))
        })
        .await
}

/// Which edits would fix violations? Each was tried.
#[utoipa::path(post, path = "/v1/fix", params(Asking), request_body(content = Object, example = json!({"workspace": "shop"})),
    responses((status = 200, body = Object), (status = 400, body = Problem), (status = 415, body = Problem), (status = 422, body = Problem)))]
async fn fix(mut incoming: Incoming<FixQuestion>) -> Result<Response, Problem> {
    let Incoming { asking, question, .. } = &mut incoming;
    asking.person = asking.person.take().or_else(|| question.person.take());
    asking.policies = asking.policies.take().or_else(|| question.policies.take());
    incoming
        .answered(|organisation, question| {
            Ok(json!(organisation.fix_plan(&FixQuestion { person: None, ..question }, &mut |_, _| {})?))
        })
        .await
}

/// Which waivers cover something, and which are good for nothing any more?
#[utoipa::path(post, path = "/v1/waivers", params(Asking), request_body(content = Object, example = json!({"expiring": 30})),
    responses((status = 200, body = Object), (status = 400, body = Problem), (status = 415, body = Problem), (status = 422, body = Problem)))]
async fn waivers(incoming: Incoming<WaiverQuestion>) -> Result<Response, Problem> {
    incoming.answered(|organisation, question| Ok(json!(organisation.waivers(&question)))).await
}
