//! `Authorization/Check`: may this request go on?

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use smol_str::SmolStr;
use tonic::{Request, Response, Status};
use upheld_dialects::access::enforce::{EnforcementPoint, HttpRequest};
use upheld_dialects::access::manifest::Manifest;
use upheld_engine::decide::Outcome;

use super::answer::{Answer, denied};
use super::attributes::Attributes;
use super::identity::Who;
use super::proto::envoy::service::auth::v3::authorization_server::Authorization;
use super::proto::envoy::service::auth::v3::{CheckRequest, CheckResponse};
use crate::app::{App, Shared};
use crate::client_address::{client, is_trusted};
use crate::telemetry::{Details, Line, Made, Observed, Surface, outcome};

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
        let mut line = None;
        let mut counted = false;
        let response = closed(&observed, || {
            let (response, counted_line) = decide(&self.app, &check, &observed)?;
            (line, counted) = (counted_line, true);
            Ok(response)
        });
        if !counted {
            line = undecided(&self.app, &observed);
        }
        self.app.write_down(line).await;
        Ok(Response::new(response))
    }
}

/// What cannot be decided is denied, whatever the reason.
fn closed(observed: &Observed, decide: impl FnOnce() -> Result<CheckResponse, &'static str>) -> CheckResponse {
    match catch_unwind(AssertUnwindSafe(decide)) {
        Ok(Ok(response)) => response,
        Ok(Err(problem)) => {
            tracing::warn!(id = observed.id(), problem, "a proxy asked what cannot be decided");
            denied(problem)
        }
        Err(_) => {
            tracing::error!(id = observed.id(), "a decision failed");
            denied("UNKNOWN")
        }
    }
}

/// Counts what nobody could decide.
fn undecided(app: &App, observed: &Observed) -> Option<Line> {
    let (surface, outcome) = (Surface::Grpc, Outcome::Undecided);
    let made = Made { surface, outcome, observed, place: None, took: Duration::ZERO };
    app.count(made, || Details::unknown(app.live.view().revision()))
}

fn decide(app: &App, check: &CheckRequest, observed: &Observed) -> Result<(CheckResponse, Option<Line>), &'static str> {
    let attributes = Attributes::of(check).ok_or("this is no request of HTTP")?;
    let view = app.live.view();
    let decider =
        view.decider(attributes.extension("kind")).ok_or("no policy of the kind of the route decides here")?;
    let nothing = Manifest::default();
    let understood = attributes.extension("obligations").unwrap_or_default();
    let understood: Vec<SmolStr> = understood.split(',').map(|duty| SmolStr::new(duty.trim())).collect();
    let point = EnforcementPoint {
        files: decider.files,
        decide: decider.decide,
        manifest: decider.manifest.unwrap_or(&nothing),
        edition: view.edition(),
        understood: &understood,
    };

    let access = &app.config.access;
    let header = attributes.header(&access.identity_header.to_ascii_lowercase());
    let peer = attributes.peer();
    let trusted = peer.is_some_and(|peer| is_trusted(peer, &access.trusted_peers));
    let who = Who::of(&attributes, header.as_deref().filter(|_| trusted))?;
    let forwarded_for = attributes.header("x-forwarded-for");
    let hops = if trusted { access.trusted_hops } else { 0 };
    let address = peer.and_then(|peer| client(peer, forwarded_for.as_deref(), hops));
    let address = address.map(|address| address.to_string());
    let (called, real_ip) = (attributes.app(), attributes.header("x-real-ip"));
    let user_agent = attributes.header("user-agent");
    let http = HttpRequest {
        method: attributes.method(),
        path: attributes.path(),
        app: Some(&called),
        identity: who.identity(),
        forwarded_for: forwarded_for.as_deref(),
        real_ip: real_ip.as_deref(),
        peer: address.as_deref(),
        now: attributes.time().ok_or("the time of the request cannot be read")?,
        user_agent: user_agent.as_deref(),
    };
    let begun = Instant::now();
    let judged = point.judge(&http);
    let (surface, outcome, took) = (Surface::Grpc, outcome(&judged), begun.elapsed());
    let made = Made { surface, outcome, observed, place: None, took };
    let line = app.count(made, || Details::of_enforced(&view, decider, &http, &judged));
    let mut answer = Answer::new(&view, decider, &judged);
    if header.is_some() && !trusted {
        // Who stands behind the proxy would take it for true.
        answer.remove(&access.identity_header);
    }
    Ok((answer.response(attributes), line))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fails_inside_is_denied() {
        let observed = Observed::named("a");
        let response = closed(&observed, || panic!("on purpose"));
        assert_eq!(response.status.unwrap().code, 2);
        assert!(closed(&observed, || Err("no")).status.unwrap().code != 0);
    }
}
