//! The seed's enforcement point, asked by proxies: the HTTP service of Envoy's external authorization, `auth_request` of nginx,
//! forward authentication of Traefik.
//!
//! 200 lets a request go on, everything else stops it. What a request is about comes from the proxy, who asks and from where only from
//! those who are trusted with it. Queries here belong to the requests of others: they choose no view, so that
//! nobody asks for a decision of the past.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::extract::{Request, State};
use axum::http::header::WWW_AUTHENTICATE;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, Version};
use axum::response::{IntoResponse, Response};
use axum::routing::any;
use axum::{Extension, Json, Router};
use serde_json::{Value as Json_, json};
use upheld_answers::report::{Decision, Duty};
use upheld_dialects::access::enforce::{
    Enforced, EnforcementPoint, HttpRequest, Identity, Judged, Said, Unproven, Why,
};
use upheld_dialects::access::proxies::{Forwarded, Headers, Protocol};
use upheld_engine::decide::{Fact, Outcome};
use upheld_engine::work;

use super::asked::Asked;
use super::decide::now;
use super::stamp::Editions;
use crate::app::{App, Shared};
use crate::auth::{Brought, Names, Whose};
use crate::connection::Connection;
use crate::header_text::for_header;
use crate::scratch::{self, Expected};
use crate::telemetry::{DecisionEvent, Details, Line, Observed, Surface, outcome};
use crate::view::View;

/// Below which path proxies ask.
const PREFIX: &str = "/forward-auth";

pub(super) fn router() -> Router<Shared> {
    let all = any(enforce);
    Router::new()
        .route(PREFIX, all.clone())
        .route(&format!("{PREFIX}/"), all.clone())
        .route(&format!("{PREFIX}/{{*path}}"), all)
}

const DECISION: HeaderName = HeaderName::from_static("x-policy-decision");
const POLICY: HeaderName = HeaderName::from_static("x-policy");
const REASON: HeaderName = HeaderName::from_static("x-policy-reason");
const OBLIGATIONS: HeaderName = HeaderName::from_static("x-policy-obligations");
const ADVICE: HeaderName = HeaderName::from_static("x-policy-advice");
const IDENTITY: HeaderName = HeaderName::from_static("x-policy-identity");
/// What only we say.
static OURS: [HeaderName; 6] = [DECISION, POLICY, REASON, OBLIGATIONS, ADVICE, IDENTITY];
/// What clients are told whose token is not accepted.
pub(crate) const INVALID_TOKEN: &str = "Bearer error=\"invalid_token\"";
/// What Envoy takes out of the request before it goes on.
const REMOVED: HeaderName = HeaderName::from_static("x-envoy-auth-headers-to-remove");

async fn enforce(State(app): State<Shared>, observed: Observed, request: Request) -> Response {
    let view = app.live.view();
    let peer = request.extensions().get::<Connection>().map(|connection| connection.peer().ip);
    let trust = &app.config.access.trust;
    let mut headers = Headers::default();
    for (name, value) in request.headers() {
        headers.add(name.as_str(), value.as_bytes());
    }
    let forwarded = Forwarded {
        method: request.method().as_str(),
        below: request.uri().path().strip_prefix(PREFIX).unwrap_or_default(),
        protocol: if request.version() <= Version::HTTP_10 { Protocol::Http10 } else { Protocol::Later },
        headers,
        peer,
        now: now(),
    };
    let (response, line) = match forwarded.request(trust) {
        _ if let Some(stale) = app.freshness.stale() => undecided(&app, &view, &observed, &stale.detail()),
        Err(ambiguous) => {
            let problem = ambiguous.to_string();
            tracing::warn!(id = observed.id(), ?peer, problem, "a proxy sent a request that cannot be decided");
            undecided(&app, &view, &observed, &problem)
        }
        Ok(mut http) => {
            let said = http.identity.said(view.edition());
            let brought = Brought { headers: &forwarded.headers, authorization: Whose::ProxyOrEndUser, passed: None };
            app.auth.end_users().identify(&mut http, &said, &brought).await;
            let decider = view.decider(None);
            let expected = decider.map_or(Expected::Soon, |decider| Expected::of(decider, || length(&http)));
            let (mut response, line) = match expected.here(|| decided(&app, &view, &observed, &http)) {
                Some(decided) => decided,
                None => {
                    let (own, held, seen) = (Shared::clone(&app), Arc::clone(&view), observed.clone());
                    let made = scratch::aside(&app, &observed, move || decided(&own, &held, &seen, &http)).await;
                    made.unwrap_or_else(|undone| self::undecided(&app, &view, &observed, &undone.sentence()))
                }
            };
            report(&said, peer, &trust.identity_header, &mut response);
            (response, line)
        }
    };
    drop(request);
    app.write_down(line).await;
    Asked(view).stamped(response)
}

/// Tells proxy and operator what was not believed; what was not believed here must not be believed behind the proxy. Nor must what a client
/// says in our name, and not every proxy tells us whether it does.
fn report(said: &Said, peer: Option<IpAddr>, name: &str, response: &mut Response) {
    let word = match said {
        Said::Nobody | Said::Somebody => None,
        Said::Ignored => {
            tracing::warn!(?peer, header = name, "an identity was ignored: its sender is not a trusted peer");
            Some("ignored")
        }
        Said::Unreadable(problem) => {
            tracing::warn!(?peer, header = name, %problem, "an identity could not be read");
            Some("unreadable")
        }
    };
    let goes_on = response.status() == StatusCode::OK;
    let headers = response.headers_mut();
    let mut removed = Vec::new();
    if let Some(word) = word {
        headers.insert(IDENTITY, HeaderValue::from_static(word));
        removed.push(name);
    }
    if goes_on {
        removed.extend(OURS.iter().filter(|ours| !headers.contains_key(*ours)).map(HeaderName::as_str));
    }
    if !removed.is_empty()
        && let Ok(names) = HeaderValue::from_str(&removed.join(","))
    {
        headers.insert(REMOVED, names);
    }
}

/// Bytes that patterns may be held against.
pub(crate) fn length(http: &HttpRequest) -> usize {
    let length = |fact: &Fact| match fact {
        Fact::Text(text) => text.len(),
        _ => 0,
    };
    http.headers.iter().fold(http.path.len(), |bytes, (_, fact)| bytes.saturating_add(length(fact)))
}

/// What nobody can decide is stopped.
fn undecided(app: &App, view: &View, observed: &Observed, reason: &str) -> (Response, Option<Line>) {
    let (surface, outcome) = (Surface::Forward, Outcome::Undecided);
    let made = DecisionEvent { surface, outcome, observed, place: None, took: Duration::ZERO };
    let line = app.count(made, || Details::unknown(view.revision(), reason));
    (stopped(StatusCode::FORBIDDEN, "undecided", &json!({"error": "Forbidden", "reason": reason})), line)
}

fn decided(app: &App, view: &View, observed: &Observed, http: &HttpRequest) -> (Response, Option<Line>) {
    let decider = match view.decider(None) {
        Ok(decider) => decider,
        Err(problem) => return undecided(app, view, observed, &problem.message),
    };
    let point = EnforcementPoint { decider, understood: &app.config.access.fulfilled };
    let begun = Instant::now();
    let mut judged = point.judge(http, Some(now()));
    unproven(http, &judged, observed);
    let (surface, took) = (Surface::Forward, begun.elapsed());
    let made = DecisionEvent { surface, outcome: outcome(&judged), observed, place: None, took };
    let line = app.count(made, || Details::of_enforced(view, http, &judged));
    // What is counted is not made once more.
    match work::apart(|| Names::of(view, decider, observed).map(|names| names.cut_judged(&mut judged))) {
        Some(()) => {}
        None => return undecided(app, view, observed, "nobody knows who asks"),
    }
    let mut response = match &judged.enforced {
        Enforced::Continue(why) => {
            let word = match why {
                Why::Excluded => "excluded",
                Why::NoPolicies => "no-policies",
                Why::Permitted => "permit",
                Why::Foreign => "foreign",
            };
            (StatusCode::OK, [(DECISION, HeaderValue::from_static(word))]).into_response()
        }
        Enforced::Forbidden(body) => {
            // A permit with a duty that nobody here can do does not open either.
            let word = match judged.decision.as_ref().map(|decision| decision.outcome) {
                Some(Outcome::Permit) | None => Outcome::Deny.word(),
                Some(outcome) => outcome.word(),
            };
            stopped(StatusCode::FORBIDDEN, word, body)
        }
        Enforced::Unauthorized(body) => unauthorized(body),
    };
    if let Some(decision) = &judged.decision {
        describe(decision, response.headers_mut());
    }
    ((Extension(Editions::of(view, decider)), response).into_response(), line)
}

/// Who decided, why, and what is to be done along with it.
fn describe(decision: &Decision<'_>, headers: &mut HeaderMap) {
    let ids = |duties: &[Duty]| {
        let ids: Vec<&str> = duties.iter().map(|duty| duty.id.as_str()).collect();
        (!ids.is_empty()).then(|| ids.join(", "))
    };
    let texts = [
        (POLICY, decision.policy.map(str::to_owned)),
        (REASON, decision.reason.as_deref().map(str::to_owned)),
        (OBLIGATIONS, ids(&decision.obligations)),
        (ADVICE, ids(&decision.advice)),
    ];
    for (name, text) in texts.into_iter().filter_map(|(name, text): (_, Option<String>)| Some((name, text?))) {
        // What stopped the request is said already.
        if !headers.contains_key(&name)
            && let Ok(value) = HeaderValue::from_str(&for_header(&text))
        {
            headers.insert(name, value);
        }
    }
}

/// Says in headers that nothing was decided, and why.
pub(super) fn say_undecided(reason: &str, headers: &mut HeaderMap) {
    headers.insert(DECISION, HeaderValue::from_static(Outcome::Undecided.word()));
    if let Ok(reason) = HeaderValue::from_str(&for_header(reason)) {
        headers.insert(REASON, reason);
    }
}

/// Tells operators of a token that does not say who asks; never what it is.
pub(crate) fn unproven(http: &HttpRequest, judged: &Judged<'_>, observed: &Observed) {
    if let (Identity::Unproven(Unproven::Refused(because) | Unproven::Undecided(because)), Some(_)) =
        (&http.identity, &judged.decision)
    {
        tracing::info!(target: "upheld_server::security", id = observed.id(), because, "a token of an end user does not count");
    }
}

/// As OAuth has it: what is brought does not prove who asks.
fn unauthorized(body: &Json_) -> Response {
    let mut response = stopped(StatusCode::UNAUTHORIZED, Outcome::Deny.word(), body);
    response.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static(INVALID_TOKEN));
    response
}

fn stopped(status: StatusCode, word: &'static str, body: &Json_) -> Response {
    let mut response = (status, Json(body)).into_response();
    let headers = response.headers_mut();
    headers.insert(DECISION, HeaderValue::from_static(word));
    for (name, field) in [(POLICY, "policy"), (REASON, "reason")] {
        let value =
            body.get(field).and_then(Json_::as_str).and_then(|text| HeaderValue::from_str(&for_header(text)).ok());
        if let Some(value) = value {
            headers.insert(name, value);
        }
    }
    response
}
