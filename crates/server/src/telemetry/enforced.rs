//! What is written down where requests are stopped or go on: Envoy's authorization and the enforcement point over HTTP.

use serde_json::{Value as Json, json};
use upheld_dialects::access::enforce::{Enforced, HttpRequest, Identity, Judged};
use upheld_engine::decide::{By, Outcome};
use upheld_input::json as json_text;
use upheld_store::Revision;

use super::Details;
use crate::view::{Decider, View};

/// The decision that counts: what becomes of the request. A permit whose obligations nobody can do is a denial.
pub(crate) fn outcome(judged: &Judged<'_>) -> Outcome {
    match (&judged.enforced, judged.decided.map(|decided| decided.outcome)) {
        (Enforced::Continue(_), _) => Outcome::Permit,
        (Enforced::Forbidden(_), Some(Outcome::Undecided)) => Outcome::Undecided,
        (Enforced::Forbidden(_), _) => Outcome::Deny,
    }
}

impl Details {
    /// Of a request of HTTP that was judged. The query of its path is left out: it may have secrets in it.
    pub(crate) fn of_enforced(view: &View, decider: Decider<'_>, http: &HttpRequest<'_>, judged: &Judged<'_>) -> Self {
        let rule = match judged.decided.map(|decided| decided.by) {
            Some(By::Policy(entry)) => decider.decide.rule(entry),
            _ => None,
        };
        let said = match &judged.enforced {
            Enforced::Forbidden(body) => body.get("reason").and_then(Json::as_str),
            Enforced::Continue(_) => None,
        };
        let described = || rule.and_then(|rule| decider.files.value(rule.at)?.get("description")?.as_text());
        Self {
            revision: view.revision(),
            request: asked(http).to_string(),
            policy: rule.map(|rule| rule.name.to_string()),
            reason: said.or_else(described).map(str::to_owned),
        }
    }

    /// Of a request that could not be understood.
    pub(crate) fn unknown(revision: Revision) -> Self {
        Self { revision, request: "null".to_owned(), policy: None, reason: None }
    }
}

/// A request of HTTP in the parts that every request has.
fn asked(http: &HttpRequest<'_>) -> Json {
    let subject = match http.identity {
        Identity::Known(identity) => serde_json::from_str(&json_text::write(identity)).unwrap_or_default(),
        Identity::Absent | Identity::Unreadable => Json::Null,
    };
    let path = http.path.split(['?', '#']).next();
    json!({
        "subject": subject,
        "action": {"method": http.method},
        "resource": {"app": http.app, "path": path},
        "environment": {"ip": http.peer, "userAgent": http.user_agent},
    })
}
