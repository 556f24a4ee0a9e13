//! The seed's enforcement point, asked by proxies: the HTTP service of Envoy's external authorization, `auth_request` of nginx,
//! forward authentication of Traefik.
//!
//! 200 lets a request go on, everything else stops it. What a request is about comes from the proxy (`original`), who asks and from where
//! only from those who are trusted with it (`trust`). Queries here belong to the requests of others: they choose no view, so that
//! nobody asks for a decision of the past.

mod original;
mod trust;

use std::time::{Duration, Instant};

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use axum::routing::any;
use axum::{Extension, Json, Router};
use serde_json::{Value as Json_, json};
use upheld_dialects::access::Edition;
use upheld_dialects::access::enforce::{Enforced, EnforcementPoint, HttpRequest, Why};
use upheld_dialects::access::manifest::Manifest;
use upheld_engine::decide::Outcome;

use self::original::Original;
use self::trust::{Identified, address};
use super::asked::Asked;
use super::decide::now;
use super::stamp::Editions;
use crate::app::{App, Shared};
use crate::client_address::is_trusted;
use crate::connection::Connection;
use crate::telemetry::{Details, Line, Made, Observed, Surface, outcome};
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
const IDENTITY: HeaderName = HeaderName::from_static("x-policy-identity");
/// What Envoy takes out of the request before it goes on.
const REMOVED: HeaderName = HeaderName::from_static("x-envoy-auth-headers-to-remove");

async fn enforce(State(app): State<Shared>, observed: Observed, request: Request) -> Response {
    let view = app.live.view();
    let peer = request.extensions().get::<Connection>().map(|connection| connection.peer().ip);
    let access = &app.config.access;
    let trusted = peer.is_some_and(|peer| is_trusted(peer, &access.trusted_peers));
    let headers = request.headers();
    let (response, line) = match Original::of(PREFIX, request.method(), request.uri(), headers) {
        Err(ambiguous) => undecided(&app, &view, &observed, ambiguous.reason()),
        Ok(original) => {
            let identified = Identified::of(headers, &access.identity_header, trusted);
            let address = address(headers, peer, trusted, access.trusted_hops).map(|address| address.to_string());
            let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
            let host = host(&view, request.uri(), headers, trusted);
            let http = HttpRequest {
                method: original.method,
                path: original.path,
                app: text(&access.app_header).filter(|_| trusted).or(host.as_deref()),
                identity: identified.identity(),
                forwarded_for: text("x-forwarded-for"),
                real_ip: text("x-real-ip"),
                peer: address.as_deref(),
                now: now(),
                user_agent: text(header::USER_AGENT.as_str()),
            };
            let (mut response, line) = decided(&app, &view, &observed, &http);
            identified.report(peer, &access.identity_header, response.headers_mut());
            (response, line)
        }
    };
    drop(request);
    app.write_down(line).await;
    Asked(view).stamped(response)
}

/// The host stands for the application where nobody names one: without its port, and in the one way of many in which it can be written.
/// The original has none then.
fn host(view: &View, uri: &Uri, headers: &HeaderMap, trusted: bool) -> Option<String> {
    if view.edition() == Edition::Compat {
        return None;
    }
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let forwarded = text("x-forwarded-host").filter(|_| trusted);
    // HTTP/2 has it in the place of the header.
    let host = forwarded.or_else(|| text(header::HOST.as_str())).or(uri.host())?;
    let is_port = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let host = host.rsplit_once(':').filter(|(_, port)| is_port(port)).map_or(host, |(host, _)| host);
    Some(host.trim_end_matches('.').to_ascii_lowercase())
}

/// What nobody can decide is stopped.
fn undecided(app: &App, view: &View, observed: &Observed, reason: &str) -> (Response, Option<Line>) {
    let (surface, outcome) = (Surface::Forward, Outcome::Undecided);
    let made = Made { surface, outcome, observed, place: None, took: Duration::ZERO };
    let line = app.count(made, || Details::unknown(view.revision()));
    (forbidden("undecided", &json!({"error": "Forbidden", "reason": reason})), line)
}

fn decided(app: &App, view: &View, observed: &Observed, http: &HttpRequest<'_>) -> (Response, Option<Line>) {
    let Some(decider) = view.decider(None) else {
        return undecided(app, view, observed, "no policies decide requests here");
    };
    let nothing = Manifest::default();
    let point = EnforcementPoint {
        files: decider.files,
        decide: decider.decide,
        manifest: decider.manifest.unwrap_or(&nothing),
        edition: view.edition(),
        understood: &[],
    };
    let begun = Instant::now();
    let judged = point.judge(http);
    let (surface, took) = (Surface::Forward, begun.elapsed());
    let made = Made { surface, outcome: outcome(&judged), observed, place: None, took };
    let line = app.count(made, || Details::of_enforced(view, decider, http, &judged));
    let response = match &judged.enforced {
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
            let word = match judged.decided.map(|decided| decided.outcome) {
                Some(Outcome::Permit) | None => Outcome::Deny.word(),
                Some(outcome) => outcome.word(),
            };
            forbidden(word, body)
        }
    };
    ((Extension(Editions::of(view, decider)), response).into_response(), line)
}

fn forbidden(word: &'static str, body: &Json_) -> Response {
    let mut response = (StatusCode::FORBIDDEN, Json(body)).into_response();
    let headers = response.headers_mut();
    headers.insert(DECISION, HeaderValue::from_static(word));
    for (name, field) in [(POLICY, "policy"), (REASON, "reason")] {
        let value = body.get(field).and_then(Json_::as_str).and_then(|text| HeaderValue::from_str(text).ok());
        if let Some(value) = value {
            headers.insert(name, value);
        }
    }
    response
}
