//! `Authorization/Check`: may this request go on?

use std::panic::AssertUnwindSafe;
use std::time::{Duration, Instant};

use futures::FutureExt;
use prost::Message as _;
use serde_json::Value as Json;
use tonic::{Request, Response, Status};
use upheld_dialects::access::enforce::{EnforcementPoint, Said};
use upheld_engine::decide::Outcome;

use super::answer::{Answer, denied};
use super::attributes::read;
use super::proto::envoy::service::auth::v3::authorization_server::Authorization;
use super::proto::envoy::service::auth::v3::{CheckRequest, CheckResponse};
use crate::app::{App, Shared};
use crate::auth::{Brought, Names, Whose};
use crate::http::decide::now;
use crate::http::forward::unproven;
use crate::scratch;
use crate::telemetry::{DecisionEvent, Details, Line, Observed, Surface, outcome};

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

async fn decide(
    app: &App,
    check: &CheckRequest,
    observed: &Observed,
) -> Result<(CheckResponse, Option<Line>), &'static str> {
    if app.freshness.stale().is_some() {
        return Err("the snapshot is older than `--max-stale` permits");
    }
    let attributes = read(check)?;
    let view = app.live.view();
    let decider = view.decider(attributes.extension("kind"));
    let decider = decider.map_err(|_| "no policy of the kind of the route decides here")?;
    let trust = &app.config.access.trust;
    let mut http = attributes.request(trust)?;
    let said = trust.identity(&attributes.headers, attributes.peer).said(view.edition());
    let passed = attributes.token()?.and_then(Json::as_object);
    let brought = Brought { headers: &attributes.headers, authorization: Whose::EndUser, passed };
    app.auth.end_users().identify(&mut http, &said, &brought).await;
    let understood = attributes.fulfilled();
    let point = EnforcementPoint { decider, understood: &understood };
    let bytes = if decider.decide.weight() == 0 { 0 } else { check.encoded_len() };
    scratch::after_others(decider, bytes).await;
    let begun = Instant::now();
    let mut judged = scratch::aside(decider, bytes, || point.judge(&http, Some(now())));
    unproven(&http, &judged, observed);
    let (surface, outcome, took) = (Surface::Grpc, outcome(&judged), begun.elapsed());
    let made = DecisionEvent { surface, outcome, observed, place: None, took };
    let line = app.count(made, || Details::of_enforced(&view, &http, &judged));
    Names::of(&view, decider, observed).ok_or("nobody knows who asks")?.cut_judged(&mut judged);
    let mut answer = Answer::new(&view, app.freshness.staleness(), decider, &judged);
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
