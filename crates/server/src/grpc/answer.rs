//! What a proxy is reported.

use std::time::Duration;

use serde_json::{Map, Value as Json, json};
use tonic::Code;
use upheld_answers::report::Duty;
use upheld_dialects::access::decider::Decider;
use upheld_dialects::access::enforce::{Enforced, Judged, Why};
use upheld_dialects::access::proxies::Headers;

use super::proto::envoy::config::core::v3::header_value_option::HeaderAppendAction;
use super::proto::envoy::config::core::v3::{HeaderValue, HeaderValueOption};
use super::proto::envoy::service::auth::v3::check_response::HttpResponse;
use super::proto::envoy::service::auth::v3::{CheckResponse, DeniedHttpResponse, OkHttpResponse};
use super::proto::envoy::r#type::v3::{HttpStatus, StatusCode};
use super::proto::google::rpc::Status;
use super::structs::struct_of;
use crate::header_text::for_header;
use crate::http::forward::INVALID_TOKEN;
use crate::http::stamp::edition;
use crate::view::View;

const DECISION: &str = "x-policy-decision";
const POLICY: &str = "x-policy";
const REASON: &str = "x-policy-reason";
const OBLIGATIONS: &str = "x-policy-obligations";
const ADVICE: &str = "x-policy-advice";
const AUTHENTICATE: &str = "www-authenticate";
const REVISION: &str = "upheld-revision";
const STALENESS: &str = "upheld-staleness";
/// All headers that mean something when they come from here.
const OURS: [&str; 7] = [DECISION, POLICY, REASON, OBLIGATIONS, ADVICE, REVISION, STALENESS];

/// An answer while it is being written.
#[derive(Debug)]
pub(super) struct Answer {
    /// The body of a denial.
    forbidden: Option<(StatusCode, Json)>,
    headers: Vec<(&'static str, String)>,
    remove: Vec<String>,
    metadata: Map<String, Json>,
}

impl Answer {
    /// Says what was judged.
    pub(super) fn new(view: &View, staleness: Duration, decider: Decider<'_>, judged: &Judged<'_>) -> Self {
        let (word, forbidden) = match &judged.enforced {
            Enforced::Continue(_) => ("permit", None),
            Enforced::Forbidden(body) => ("deny", Some((StatusCode::Forbidden, body.clone()))),
            Enforced::Unauthorized(body) => ("deny", Some((StatusCode::Unauthorized, body.clone()))),
        };
        let decision = judged.decision.as_ref();
        let policy = decision.and_then(|decision| decision.policy);
        let said = forbidden.as_ref().and_then(|(_, body)| body.get("reason")).and_then(Json::as_str);
        let reason = said.or_else(|| decision?.reason.as_deref()).map(str::to_owned);

        let mut answer = Self { forbidden, headers: Vec::new(), remove: Vec::new(), metadata: Map::new() };
        answer.say(DECISION, "decision", word);
        if let Some(policy) = policy {
            answer.say(POLICY, "policy", policy);
        }
        if let Some(reason) = reason {
            answer.say(REASON, "reason", &reason);
        }
        if let Some(decision) = decision {
            answer.duties(OBLIGATIONS, "obligations", &decision.obligations);
            answer.duties(ADVICE, "advice", &decision.advice);
        }
        if judged.enforced == Enforced::Continue(Why::Excluded) {
            answer.metadata.insert("excluded".to_owned(), json!(true));
        }
        answer.headers.push((REVISION, view.revision().0.to_string()));
        answer.headers.push((STALENESS, staleness.as_secs().to_string()));
        answer.metadata.insert("staleness".to_owned(), json!(staleness.as_secs()));
        answer.metadata.insert("revision".to_owned(), json!(view.revision().0));
        answer.metadata.insert("digest".to_owned(), json!(view.digest()));
        answer.metadata.insert("semantics".to_owned(), json!(edition(view, decider).as_slice()));
        answer
    }

    fn say(&mut self, header: &'static str, name: &str, text: &str) {
        self.headers.push((header, for_header(text)));
        self.metadata.insert(name.to_owned(), json!(text));
    }

    fn duties(&mut self, header: &'static str, name: &str, duties: &[Duty]) {
        if duties.is_empty() {
            return;
        }
        let ids: Vec<&str> = duties.iter().map(|duty| duty.id.as_str()).collect();
        self.headers.push((header, for_header(&ids.join(", "))));
        self.metadata.insert(name.to_owned(), json!(duties));
    }

    /// Takes a header out of the request that goes on.
    pub(super) fn remove(&mut self, header: &str) {
        self.remove.push(header.to_ascii_lowercase());
    }

    /// As the proxy gets it.
    pub(super) fn response(mut self, client: &Headers) -> CheckResponse {
        let dynamic_metadata = Some(struct_of(self.metadata));
        let (code, response) = match self.forbidden {
            Some((StatusCode::Unauthorized, body)) => {
                self.headers.push((AUTHENTICATE, INVALID_TOKEN.to_owned()));
                (Code::Unauthenticated, stopped(StatusCode::Unauthorized, &body, self.headers))
            }
            Some((status, body)) => (Code::PermissionDenied, stopped(status, &body, self.headers)),
            None => {
                // What a client says in our name is not what we say.
                let is_said = |name: &str| self.headers.iter().any(|(said, _)| *said == name);
                let pretended = OURS.iter().filter(|name| !is_said(name) && client.has(name));
                self.remove.extend(pretended.map(|name| (*name).to_owned()));
                let headers = self.headers.into_iter().map(|(name, value)| header(name, value)).collect();
                let ok =
                    OkHttpResponse { headers, headers_to_remove: self.remove, response_headers_to_add: Vec::new() };
                (Code::Ok, HttpResponse::OkResponse(ok))
            }
        };
        CheckResponse { status: Some(status(code)), http_response: Some(response), dynamic_metadata }
    }
}

/// The answer when there is no decision.
pub(super) fn denied(reason: &str) -> CheckResponse {
    let headers = vec![(DECISION, "deny".to_owned()), (REASON, for_header(reason))];
    let body = json!({"error": "Forbidden", "reason": reason});
    let Json::Object(metadata) = json!({"decision": "deny", "reason": reason}) else { return CheckResponse::default() };
    CheckResponse {
        status: Some(status(Code::Unknown)),
        http_response: Some(stopped(StatusCode::Forbidden, &body, headers)),
        dynamic_metadata: Some(struct_of(metadata)),
    }
}

fn status(code: Code) -> Status {
    Status { code: code.into(), message: String::new() }
}

fn stopped(status: StatusCode, body: &Json, headers: Vec<(&'static str, String)>) -> HttpResponse {
    let kind = ("content-type", "application/json".to_owned());
    HttpResponse::DeniedResponse(DeniedHttpResponse {
        status: Some(HttpStatus { code: status.into() }),
        headers: headers.into_iter().chain([kind]).map(|(name, value)| header(name, value)).collect(),
        body: body.to_string(),
    })
}

fn header(name: &str, value: String) -> HeaderValueOption {
    HeaderValueOption {
        header: Some(HeaderValue { key: name.to_owned(), value, raw_value: Vec::new() }),
        append_action: HeaderAppendAction::OverwriteIfExistsOrAdd.into(),
    }
}
