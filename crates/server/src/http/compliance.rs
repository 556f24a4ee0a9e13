//! `/v1/can`, `/v1/candidates`, `/v1/values`, `/v1/what-if`, `/v1/fix`, `/v1/waivers`: what may be done with related objects, and what would help.
//!
//! Callers with a role in the organisation ask as that; see [`upheld_answers::compliance::Organisation::asker`].

use axum::http::HeaderMap;
use axum::response::Response;
use serde::Deserialize;
use serde_json::json;
use upheld_answers::compliance::{ChangeRequest, Changes, FixQuestion, Organisation, WaiverQuestion};
use upheld_answers::{Refused, World};
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::asked::Asked;
use super::extract::{Query, RawBody};
use super::questions::{ask, read};
use super::stamp::answered;
use crate::app::Shared;
use crate::auth::Caller;
use crate::documents::format_of_question;
use crate::problem::Problem;

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

/// The organisation that is asked about, and as whom.
fn organisation<'w>(
    world: &World<'w>,
    asking: &Asking,
    caller: &Caller,
) -> Result<(Organisation<'w>, Option<String>), Refused> {
    let organisation = world.organisation(asking.policies.as_deref())?;
    let asker = organisation.asker(&caller.roles, asking.person.as_deref())?;
    Ok((organisation, asker))
}

/// May a change be made? `{"change": ["link", "project/a~landingZone/b"]}`, and so `unlink`, `tag`, `create` and `delete`.
#[utoipa::path(post, path = "/v1/can", params(Asking),
    request_body(content = Object, example = json!({"change": ["link", "project/a~landingZone/b"]})),
    responses((status = 200, body = Object), (status = 400, body = Problem), (status = 415, body = Problem), (status = 422, body = Problem)))]
async fn can(
    caller: Caller,
    Asked(view): Asked,
    Query(asking): Query<Asking>,
    headers: HeaderMap,
    RawBody(body): RawBody,
) -> Result<Response, Problem> {
    let request: ChangeRequest = read(&headers, &body)?;
    let said = ask(&view, move |world| {
        let asking = Asking { person: asking.person.or_else(|| request.person.clone()), ..asking };
        let (organisation, person) = organisation(world, &asking, &caller)?;
        let (ruled, _) = organisation.would(&ChangeRequest { person, ..request })?;
        Ok(json!(ruled))
    });
    Ok(answered(&view, said.await?))
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
async fn candidates(
    caller: Caller,
    Asked(view): Asked,
    Query(asking): Query<Asking>,
    headers: HeaderMap,
    RawBody(body): RawBody,
) -> Result<Response, Problem> {
    let choice: Choice = read(&headers, &body)?;
    let said = ask(&view, move |world| {
        let (organisation, person) = organisation(world, &asking, &caller)?;
        organisation.may_ask_about(&choice.object, person.as_deref())?;
        Ok(organisation.candidates(&choice.object, &choice.kind, choice.role.as_deref())?.json())
    });
    Ok(answered(&view, said.await?))
}

/// Values that a tag of an object could have.
#[utoipa::path(post, path = "/v1/values", params(Asking),
    request_body(content = Object, example = json!({"object": "project/a", "tag": "environment"})),
    responses((status = 200, body = Object), (status = 400, body = Problem), (status = 415, body = Problem), (status = 422, body = Problem)))]
async fn values(
    caller: Caller,
    Asked(view): Asked,
    Query(asking): Query<Asking>,
    headers: HeaderMap,
    RawBody(body): RawBody,
) -> Result<Response, Problem> {
    let choice: Choice = read(&headers, &body)?;
    let said = ask(&view, move |world| {
        let (organisation, person) = organisation(world, &asking, &caller)?;
        organisation.may_ask_about(&choice.object, person.as_deref())?;
        Ok(organisation.values(&choice.object, &choice.tag, person.as_deref())?.json())
    });
    Ok(answered(&view, said.await?))
}

/// What would changes do? The body is a list of changes, or `Changes` documents; nothing is changed.
#[utoipa::path(post, path = "/v1/what-if", params(Asking),
    request_body(content = Object, example = json!({"verb": "setTags", "object": "landingZone/b", "tags": {"environment": ["prod"]}})),
    responses((status = 200, body = Object), (status = 400, body = Problem), (status = 415, body = Problem), (status = 422, body = Problem)))]
async fn what_if(
    caller: Caller,
    Asked(view): Asked,
    Query(asking): Query<Asking>,
    headers: HeaderMap,
    RawBody(body): RawBody,
) -> Result<Response, Problem> {
    let format = format_of_question(&headers)?;
    let text = String::from_utf8(body.to_vec()).map_err(|_| Problem::bad_request("the body is not UTF-8 text"))?;
    let said = ask(&view, move |world| {
        let (organisation, person) = organisation(world, &asking, &caller)?;
        let (person, plan) = (person.as_deref(), asking.plan.as_deref());
        let answer = organisation.what_if(&Changes { name: "body", format, text, person, plan })?;
        Ok(json!({"kind": "Plan", "plan": answer.planned, "clean": answer.is_clean}))
    });
    Ok(answered(&view, said.await?))
}

/// Which edits would fix violations? Each was tried.
#[utoipa::path(post, path = "/v1/fix", params(Asking), request_body(content = Object, example = json!({"workspace": "shop"})),
    responses((status = 200, body = Object), (status = 400, body = Problem), (status = 415, body = Problem), (status = 422, body = Problem)))]
async fn fix(
    caller: Caller,
    Asked(view): Asked,
    Query(asking): Query<Asking>,
    headers: HeaderMap,
    RawBody(body): RawBody,
) -> Result<Response, Problem> {
    let question: FixQuestion = read(&headers, &body)?;
    let said = ask(&view, move |world| {
        let asking = Asking {
            person: asking.person.or_else(|| question.person.clone()),
            policies: asking.policies.or_else(|| question.policies.clone()),
            ..asking
        };
        let (organisation, person) = organisation(world, &asking, &caller)?;
        Ok(json!(organisation.fix_plan(&FixQuestion { person, ..question })?))
    });
    Ok(answered(&view, said.await?))
}

/// Which waivers cover something, and which are good for nothing any more?
#[utoipa::path(post, path = "/v1/waivers", params(Asking), request_body(content = Object, example = json!({"expiring": 30})),
    responses((status = 200, body = Object), (status = 400, body = Problem), (status = 415, body = Problem), (status = 422, body = Problem)))]
async fn waivers(
    caller: Caller,
    Asked(view): Asked,
    Query(asking): Query<Asking>,
    headers: HeaderMap,
    RawBody(body): RawBody,
) -> Result<Response, Problem> {
    let question: WaiverQuestion = read(&headers, &body)?;
    let said = ask(&view, move |world| {
        let (organisation, _) = organisation(world, &asking, &caller)?;
        let (lines, all) = organisation.waivers(&question);
        Ok(json!({"waivers": lines, "all": all}))
    });
    Ok(answered(&view, said.await?))
}
