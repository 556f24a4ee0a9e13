//! `Authorization/Check`: may this request go on?

use std::panic::{AssertUnwindSafe, catch_unwind};

use smol_str::SmolStr;
use tonic::{Request, Response, Status};
use upheld_dialects::access::enforce::{EnforcementPoint, HttpRequest};
use upheld_dialects::access::manifest::Manifest;

use super::address::client;
use super::answer::{Answer, denied};
use super::attributes::Attributes;
use super::identity::Who;
use super::proto::envoy::service::auth::v3::authorization_server::Authorization;
use super::proto::envoy::service::auth::v3::{CheckRequest, CheckResponse};
use crate::app::{App, Shared};

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
        let check = request.into_inner();
        Ok(Response::new(closed(|| decide(&self.app, &check))))
    }
}

/// What cannot be decided is denied, whatever the reason.
fn closed(decide: impl FnOnce() -> Result<CheckResponse, &'static str>) -> CheckResponse {
    match catch_unwind(AssertUnwindSafe(decide)) {
        Ok(Ok(response)) => response,
        Ok(Err(problem)) => {
            tracing::warn!(problem, "a proxy asked what cannot be decided");
            denied(problem)
        }
        Err(_) => {
            tracing::error!("a decision failed");
            denied("UNKNOWN")
        }
    }
}

fn decide(app: &App, check: &CheckRequest) -> Result<CheckResponse, &'static str> {
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
    let address = peer.and_then(|peer| client(peer, forwarded_for.as_deref(), access.trusted_hops));
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
    Ok(answer.response(attributes))
}

#[cfg(test)]
mod tests {
    use super::closed;

    #[test]
    fn what_fails_inside_is_denied() {
        let response = closed(|| panic!("on purpose"));
        assert_eq!(response.status.unwrap().code, 2);
        assert!(closed(|| Err("no")).status.unwrap().code != 0);
    }
}
