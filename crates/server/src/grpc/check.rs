//! `Authorization/Check`: may this request go on?

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Instant;

use serde_json::json;
use smol_str::SmolStr;
use tonic::{Request, Response, Status};
use upheld_dialects::access::enforce::{Enforced, EnforcementPoint, HttpRequest};
use upheld_dialects::access::manifest::Manifest;
use upheld_engine::decide::Outcome;

use super::address::client;
use super::answer::{Answer, denied};
use super::attributes::Attributes;
use super::identity::Who;
use super::proto::envoy::service::auth::v3::authorization_server::Authorization;
use super::proto::envoy::service::auth::v3::{CheckRequest, CheckResponse};
use crate::app::{App, Shared};
use crate::telemetry::{Details, Made, Observed, Surface};
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
        let observed = request.extensions().get::<Observed>().cloned();
        let check = request.into_inner();
        let begun = Instant::now();
        let Decided { outcome, response, told } = closed(|| decide(&self.app, &check));
        if let (Some(observed), Some(told)) = (observed, told) {
            let made =
                Made { surface: Surface::Grpc, outcome, observed: &observed, place: None, took: begun.elapsed() };
            self.app.decided(made, || told.details(&check)).await;
        }
        Ok(Response::new(response))
    }
}

/// A decision, and what the log of decisions wants to know.
#[derive(Debug)]
struct Decided {
    outcome: Outcome,
    response: CheckResponse,
    told: Option<Told>,
}

/// What a decision was made of.
#[derive(Debug)]
struct Told {
    view: Arc<View>,
    who: Who,
    address: Option<String>,
    policy: Option<String>,
    reason: Option<String>,
}

impl Told {
    fn details(self, check: &CheckRequest) -> Details {
        let (method, app, path) = Attributes::of(check)
            .map_or_else(Default::default, |attributes| (attributes.method(), attributes.app(), attributes.path()));
        let request = json!({
            "subject": self.who.subject(), "action": {"method": method}, "resource": {"app": app, "path": path},
            "environment": {"ip": self.address},
        });
        let (policy, reason) = (self.policy, self.reason);
        Details { revision: self.view.revision(), request: request.to_string(), policy, reason }
    }
}

/// What cannot be decided is denied, whatever the reason.
fn closed(decide: impl FnOnce() -> Result<Decided, &'static str>) -> Decided {
    let undecided = |reason| Decided { outcome: Outcome::Undecided, response: denied(reason), told: None };
    match catch_unwind(AssertUnwindSafe(decide)) {
        Ok(Ok(decided)) => decided,
        Ok(Err(problem)) => {
            tracing::warn!(problem, "a proxy asked what cannot be decided");
            undecided(problem)
        }
        Err(_) => {
            tracing::error!("a decision failed");
            undecided("UNKNOWN")
        }
    }
}

fn decide(app: &App, check: &CheckRequest) -> Result<Decided, &'static str> {
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
    let trusted = peer.is_some_and(|peer| access.trusted_peers.iter().any(|network| network.contains(&peer)));
    let who = Who::of(&attributes, header.as_deref().filter(|_| trusted))?;
    let forwarded_for = attributes.header("x-forwarded-for");
    let hops = if trusted { access.trusted_hops } else { 0 };
    let address = peer.and_then(|peer| client(peer, forwarded_for.as_deref(), hops));
    let address = address.map(|address| address.to_string());
    let (app, real_ip) = (attributes.app(), attributes.header("x-real-ip"));
    let user_agent = attributes.header("user-agent");
    let http = HttpRequest {
        method: attributes.method(),
        path: attributes.path(),
        app: Some(&app),
        identity: who.identity(),
        forwarded_for: forwarded_for.as_deref(),
        real_ip: real_ip.as_deref(),
        peer: address.as_deref(),
        now: attributes.time().ok_or("the time of the request cannot be read")?,
        user_agent: user_agent.as_deref(),
    };
    let judged = point.judge(&http);
    let mut answer = Answer::new(&view, decider, &judged);
    if header.is_some() && !trusted {
        // Who stands behind the proxy would take it for true.
        answer.remove(&access.identity_header);
    }
    let outcome = match (&judged.enforced, judged.decided) {
        (Enforced::Continue(_), _) => Outcome::Permit,
        (Enforced::Forbidden(_), Some(decided)) if decided.outcome == Outcome::Undecided => Outcome::Undecided,
        (Enforced::Forbidden(_), _) => Outcome::Deny,
    };
    let (policy, reason) = (answer.text("policy"), answer.text("reason"));
    let response = answer.response(attributes);
    let told = Told { view: Arc::clone(&view), who, address, policy, reason };
    Ok(Decided { outcome, response, told: Some(told) })
}

#[cfg(test)]
mod tests {
    use super::{Decided, closed};

    #[test]
    fn what_fails_inside_is_denied() {
        let code = |decided: Decided| decided.response.status.unwrap().code;
        assert_eq!(code(closed(|| panic!("on purpose"))), 2);
        assert_eq!(code(closed(|| Err("no"))), 2);
    }
}
