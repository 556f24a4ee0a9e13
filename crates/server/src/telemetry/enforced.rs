//! What is written down where requests are decided.

use serde_json::{Value as Json, json};
use upheld_answers::report::{Decision, request_document};
use upheld_dialects::access::enforce::{Enforced, HttpRequest, Judged};
use upheld_engine::decide::Outcome;
use upheld_store::Revision;

use super::Details;
use crate::view::View;

/// The decision that counts: what becomes of the request. A permit whose obligations nobody can do is a denial.
pub(crate) fn outcome(judged: &Judged<'_>) -> Outcome {
    match (&judged.enforced, judged.decision.as_ref().map(|decision| decision.outcome)) {
        (Enforced::Continue(_), _) => Outcome::Permit,
        (Enforced::Forbidden(_), Some(Outcome::Undecided)) => Outcome::Undecided,
        (Enforced::Forbidden(_) | Enforced::Unauthorized(_), _) => Outcome::Deny,
    }
}

impl Details {
    /// Of a request that was decided.
    pub(crate) fn of_decision(decision: &Decision<'_>, view: &View, request: String) -> Self {
        Self {
            revision: view.revision(),
            request,
            policy: decision.policy.map(str::to_owned),
            reason: decision.reason.as_deref().map(str::to_owned),
        }
    }

    /// Of a request of HTTP that was judged.
    pub(crate) fn of_enforced(view: &View, http: &HttpRequest, judged: &Judged<'_>) -> Self {
        let said = match &judged.enforced {
            Enforced::Forbidden(body) | Enforced::Unauthorized(body) => body.get("reason").and_then(Json::as_str),
            Enforced::Continue(_) => None,
        };
        let decision = judged.decision.as_ref();
        Self {
            revision: view.revision(),
            request: asked(http, judged).to_string(),
            policy: decision.and_then(|decision| decision.policy).map(str::to_owned),
            reason: said.or_else(|| decision?.reason.as_deref()).map(str::to_owned),
        }
    }

    /// Of a request that could not be understood.
    pub(crate) fn unknown(revision: Revision, reason: &str) -> Self {
        Self { revision, request: "null".to_owned(), policy: None, reason: Some(reason.to_owned()) }
    }
}

/// A request of HTTP in the parts that every request has. Headers may have secrets in them.
fn asked(http: &HttpRequest, judged: &Judged<'_>) -> Json {
    let Some(request) = &judged.request else {
        return json!({"action": {"method": http.method}, "resource": {"path": http.path}});
    };
    let mut document = request_document(request);
    if let Some(resource) = document.get_mut("resource").and_then(Json::as_object_mut) {
        resource.shift_remove("headers");
    }
    document
}
