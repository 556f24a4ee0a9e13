//! `Authorization/Check`: may this request go on?

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::FutureExt;
use serde_json::Value as Json;
use tonic::{Request, Response, Status};
use upheld_dialects::access::enforce::{EnforcementPoint, HttpRequest, Said};
use upheld_engine::decide::Outcome;
use upheld_engine::work;

use super::answer::{Answer, denied};
use super::attributes::read;
use super::proto::envoy::service::auth::v3::authorization_server::Authorization;
use super::proto::envoy::service::auth::v3::{CheckRequest, CheckResponse};
use crate::app::{App, Shared};
use crate::auth::{Brought, Names, Whose};
use crate::http::decide::now;
use crate::http::forward::{length, unproven};
use crate::limits::Undone;
use crate::scratch::{self, Expected};
use crate::telemetry::{DecisionEvent, Details, Line, Observed, Surface, outcome};
use crate::view::View;

/// Decides what proxies ask.
#[derive(Debug)]
pub(crate) struct Check {
    app: Shared,
}

impl Check {
    /// With the policies of a server.
    pub(crate) fn new(app: Shared) -> Self {
        Self { app }
    }
}

#[tonic::async_trait]
impl Authorization for Check {
    async fn check(&self, request: Request<CheckRequest>) -> Result<Response<CheckResponse>, Status> {
        let observed = Observed::of_call(&request);
        let check = request.into_inner();
        let decided = AssertUnwindSafe(decide(&self.app, &check, &observed)).catch_unwind().await;
        // What cannot be decided is denied, whatever the reason.
        let undecided = |reason| (denied(reason), undecided(&self.app, &observed, reason));
        let (response, line) = decided_or(&observed, decided).unwrap_or_else(undecided);
        self.app.write_down(line).await;
        Ok(Response::new(response))
    }
}

/// What was decided, or why nothing was.
fn decided_or<T>(
    observed: &Observed,
    decided: std::thread::Result<Result<T, &'static str>>,
) -> Result<T, &'static str> {
    match decided {
        Ok(Ok(decided)) => Ok(decided),
        Ok(Err(problem)) => {
            tracing::warn!(id = observed.id(), problem, "a request of a proxy cannot be decided");
            Err(problem)
        }
        Err(_) => {
            tracing::error!(id = observed.id(), "a decision failed");
            Err("UNKNOWN")
        }
    }
}

/// Counts what nobody could decide.
fn undecided(app: &App, observed: &Observed, reason: &str) -> Option<Line> {
    let (surface, outcome) = (Surface::Grpc, Outcome::Undecided);
    let made = DecisionEvent { surface, outcome, observed, place: None, took: Duration::ZERO };
    app.count(made, || Details::unknown(app.live.view().revision(), reason))
}

/// No policy of the kind of a route decides.
const NO_POLICY: &str = "no policy of the kind of the route decides here";

fn undone(undone: Undone) -> &'static str {
    match undone {
        Undone::Failed => "the decision failed",
        Undone::Ending => "the server ends",
        Undone::Full => "too many decisions are waiting",
        Undone::OutOfSteps(_) => "the decision takes more steps than one request may (`--max-steps`)",
    }
}

/// The answer, and what is to be written down of it.
fn judged(
    app: &App,
    view: &View,
    observed: &Observed,
    point: &EnforcementPoint<'_>,
    http: &HttpRequest,
) -> Result<(Answer, Option<Line>), &'static str> {
    let begun = Instant::now();
    let mut judged = point.judge(http, Some(now()));
    unproven(http, &judged, observed);
    let (surface, outcome, took) = (Surface::Grpc, outcome(&judged), begun.elapsed());
    let made = DecisionEvent { surface, outcome, observed, place: None, took };
    let line = app.count(made, || Details::of_enforced(view, http, &judged));
    // What is counted is not made once more.
    let cut = || Names::of(view, point.decider, observed).map(|names| names.cut_judged(&mut judged));
    work::apart(cut).ok_or("nobody knows who asks")?;
    Ok((Answer::new(view, app.freshness.staleness(), point.decider, &judged), line))
}

async fn decide(
    app: &Shared,
    check: &CheckRequest,
    observed: &Observed,
) -> Result<(CheckResponse, Option<Line>), &'static str> {
    if app.freshness.stale().is_some() {
        return Err("the snapshot is older than `--max-stale` permits");
    }
    let attributes = read(check)?;
    let view = app.live.view();
    let decider = view.decider(attributes.extension("kind"));
    let decider = decider.map_err(|_| NO_POLICY)?;
    let trust = &app.config.access.trust;
    let mut http = attributes.request(trust)?;
    let said = trust.identity(&attributes.headers, attributes.peer).said(view.edition());
    let passed = attributes.token()?.and_then(Json::as_object);
    let brought = Brought { headers: &attributes.headers, authorization: Whose::EndUser, passed };
    app.auth.end_users().identify(&mut http, &said, &brought).await;
    let understood = attributes.fulfilled();
    let expected = Expected::of(decider, || length(&http));
    let here = || judged(app, &view, observed, &EnforcementPoint { decider, understood: &understood }, &http);
    let (mut answer, line) = match expected.here(here) {
        Some(judged) => judged?,
        None => {
            let (own, held, seen) = (Shared::clone(app), Arc::clone(&view), observed.clone());
            let kind = attributes.extension("kind").map(str::to_owned);
            let aside = move || {
                let decider = held.decider(kind.as_deref()).map_err(|_| NO_POLICY)?;
                let point = EnforcementPoint { decider, understood: &understood };
                judged(&own, &held, &seen, &point, &http)
            };
            scratch::aside(app, observed, aside).await.map_err(undone)??
        }
    };
    if let Said::Unreadable(problem) = &said {
        tracing::warn!(id = observed.id(), header = trust.identity_header, %problem, "an identity could not be read");
    }
    if matches!(said, Said::Ignored | Said::Unreadable(_)) {
        // Who stands behind the proxy would take it for true.
        answer.remove(&trust.identity_header);
    }
    Ok((answer.response(&attributes.headers), line))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_fails_inside_is_denied() {
        let observed = Observed::named("a");
        let failed = AssertUnwindSafe(async { panic!("on purpose") }).catch_unwind().await;
        assert_eq!(decided_or::<()>(&observed, failed), Err("UNKNOWN"));
        assert_eq!(decided_or::<()>(&observed, Ok(Err("no"))), Err("no"));
        assert_eq!(decided_or(&observed, Ok(Ok(7))), Ok(7));
        assert_eq!(denied("no").status.unwrap().code, 2);
    }
}
