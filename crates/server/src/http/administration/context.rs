//! The request that is to be decided: `EvaluationContext` of the seed.

use axum::http::{HeaderMap, StatusCode};
use serde_json::{Value as Json_, json};
use upheld_dialects::access::decider::CompleteRequest;
use upheld_dialects::access::{request, view as seed};
use upheld_engine::decide::Outcome;
use upheld_model::tree::{Kind, Value};
use upheld_model::{Diagnostic, Diagnostics, Fault, SourceId};

use super::bodies::{INVALID_POLICY, Refused};
use super::policy_list::decider;
use crate::auth::Names;
use crate::documents::{Body, format_of_question};
use crate::http::decide::now;
use crate::problem::Problem;
use crate::scratch::{self, Expected};
use crate::telemetry::Observed;
use crate::view::View;

/// A context, and what it asks.
#[derive(Debug)]
pub(super) struct Context {
    received: Json_,
    /// Nothing where there are no policies.
    request: Option<CompleteRequest>,
    /// How long it is.
    bytes: usize,
}

/// One with everything in it, for those who read the description.
pub(super) fn example() -> Json_ {
    json!({
        "subject": {"id": "ann", "roles": ["user"], "groups": [], "claims": {}},
        "resource": {"app": "shop", "path": "/orders/7"},
        "action": {"method": "GET"},
        "environment": {"ip": "10.0.0.1", "time": "2026-01-05T10:00:00Z", "userAgent": "curl"},
    })
}

/// What the seed fails on when it is missing, and what it must be.
const NEEDED: [(&[&str], Kind, &str); 7] = [
    (&["subject"], Kind::Map, "an object"),
    (&["subject", "roles"], Kind::List, "a list"),
    (&["subject", "groups"], Kind::List, "a list"),
    (&["subject", "claims"], Kind::Map, "an object"),
    (&["resource"], Kind::Map, "an object"),
    (&["action"], Kind::Map, "an object"),
    (&["action", "method"], Kind::Text, "text"),
];

impl Context {
    /// Reads a body. A context that is not complete could be decided wrongly, and is refused.
    pub(super) fn read(view: &View, headers: &HeaderMap, bytes: &[u8]) -> Result<Self, Refused> {
        let format = format_of_question(headers).map_err(Refused::problem)?;
        let body = Body::read(bytes, format).map_err(Refused::unreadable)?;
        let document = body.only().map_err(Refused::unreadable)?;
        let mut found = Diagnostics::default();
        let source = SourceId::new(0);
        for (path, kind, expected) in NEEDED {
            let value = document.at_path(path).filter(|value| value.kind() == kind);
            if document.kind() == Kind::Map && value.is_none() {
                let message = format!("`{}` must be {expected}", path.join("."));
                found.push(Diagnostic::error(Fault::WrongType, message).at_value(source, document, "in this context"));
            }
        }
        let request = request::read(source, document, view.edition(), &mut found);
        let Some(request) = request.filter(|_| found.errors() == 0) else {
            let detail = found.as_slice().first().map_or_else(String::new, |first| first.message.clone());
            let problem = Problem::new(StatusCode::BAD_REQUEST, "bad-request", detail);
            return Err(Refused::invalid_context(problem.with_diagnostics(body.files(), found.as_slice())));
        };
        let request = decider(view).map(|decider| decider.complete(request, Some(now())));
        let received = serde_json::to_value(document).unwrap_or_default();
        Ok(Self { received, request, bytes: bytes.len() })
    }

    /// As it came.
    pub(super) fn json(&self) -> &Json_ {
        &self.received
    }

    /// How long that will take.
    pub(super) fn expected(&self, view: &View) -> Expected {
        decider(view).map_or(Expected::Soon, |decider| Expected::of(decider, || self.bytes))
    }

    /// What is decided, as far as the caller may see it.
    pub(super) fn decision(&self, view: &View, observed: &Observed) -> Decided {
        let (Some(decider), Some(request)) = (decider(view), &self.request) else { return Decided::default() };
        let Some(names) = Names::of(view, decider, observed) else { return Decided::default() };
        let mut decision = scratch::decide(decider, request);
        let (outcome, policy) = (decision.outcome, decision.policy.map(str::to_owned));
        let reason = decision.reason.as_deref().map(str::to_owned);
        names.cut(&mut decision);
        let shown = seed::decision(decider.files, decider.decide, &decision);
        Decided { shown, outcome, policy, reason }
    }
}

/// What was decided.
#[derive(Debug)]
pub(super) struct Decided {
    /// `{effect, reason, matchedPolicy}`.
    pub(super) shown: Json_,
    /// What it means.
    pub(super) outcome: Outcome,
    /// Who decided, for the log.
    pub(super) policy: Option<String>,
    /// Why, for the log.
    pub(super) reason: Option<String>,
}

impl Default for Decided {
    fn default() -> Self {
        Self { shown: Json_::Null, outcome: Outcome::Undecided, policy: None, reason: None }
    }
}

/// The check that the seed makes of a policy: these fields are there and say something.
pub(super) fn has_all(policy: Value<'_>, fields: &[&str]) -> Result<(), Refused> {
    let says_something = |value: Value<'_>| match value.kind() {
        Kind::Null => false,
        Kind::Bool => value.as_bool() == Some(true),
        Kind::Integer | Kind::Float => value.as_number() != Some(0.0),
        Kind::Text => !value.text().is_empty(),
        Kind::List | Kind::Map => true,
    };
    let all = fields.iter().all(|field| policy.get(field).is_some_and(says_something));
    if all { Ok(()) } else { Err(Refused::new(StatusCode::BAD_REQUEST, INVALID_POLICY)) }
}
