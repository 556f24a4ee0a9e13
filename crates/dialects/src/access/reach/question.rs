//! What people and programs ask.

use serde::Deserialize;
use serde_json::Value as Json;
use upheld_engine::decide::Request;
use upheld_model::{Diagnostic, Fault};

use crate::access::Edition;
use crate::access::questions::requests;
use crate::question::{Refused, Words, one_or_many};

/// Which of all known requests are permitted? Parts are written as those of any request; what is left out is looked for in the
/// directory.
#[derive(Clone, Debug, Default, Deserialize, PartialEq)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct ReachQuestion {
    /// Who, in words: `user/ann`, `role=admin`, or `type=user` for all of a type.
    #[serde(deserialize_with = "one_or_many")]
    pub subject: Vec<String>,
    /// What is to be done, in words: `GET`, `operation=read`.
    #[serde(deserialize_with = "one_or_many")]
    pub action: Vec<String>,
    /// With what, in words: `document/7`, `/api/users`, or `type=document` for all of a type.
    #[serde(deserialize_with = "one_or_many")]
    pub resource: Vec<String>,
    /// Under which circumstances, in words: `ip=192.0.2.7`.
    #[serde(deserialize_with = "one_or_many")]
    pub env: Vec<String>,
    /// The same as a document, in place of words.
    pub request: Option<Json>,
    /// The kind of policy, where several kinds decide.
    pub kind: Option<String>,
    /// Whether requests that are denied are listed, too.
    pub denied: bool,
    /// The same, read before: each is a request, of which there must be one.
    #[serde(skip)]
    pub given: Option<Vec<Request>>,
    /// The most items.
    #[serde(skip)]
    pub limit: Option<usize>,
    /// The most requests that are decided for a page; the next one goes on.
    #[serde(skip)]
    pub decisions: Option<usize>,
    /// The `next` of the page before.
    #[serde(skip)]
    pub after: Option<String>,
}

impl ReachQuestion {
    /// The request that all requests begin with. The original has no such question, so it is always read strictly.
    pub(in crate::access) fn read(&self) -> Result<Request, Refused> {
        let words = Words {
            subject: self.subject.clone(),
            action: self.action.clone(),
            resource: self.resource.clone(),
            env: self.env.clone(),
            request: self.request.clone(),
            ..Words::default()
        };
        let is_said = [&words.subject, &words.action, &words.resource].iter().any(|part| !part.is_empty());
        if self.request.is_some() && (is_said || !words.env.is_empty()) {
            let message = "a request is given as a document or in words, not both";
            return Err(Diagnostic::error(Fault::IncompleteQuestion, message).help("leave one of them out").into());
        }
        let found = match &self.given {
            Some(given) => given.clone(),
            None => requests(&words, Edition::Strict)?,
        };
        let mut found = found.into_iter();
        match (found.next(), found.next()) {
            (Some(request), None) if is_said || has_parts(&request) => Ok(request),
            (_, Some(_)) => Err(one_at_a_time().into()),
            _ => Err(incomplete().into()),
        }
    }
}

fn has_parts(request: &Request) -> bool {
    let Request { subject, action, resource, .. } = Request::default();
    request.subject != subject || request.action != action || request.resource != resource
}

fn incomplete() -> Diagnostic {
    let message = "who, or what, is the question about?";
    Diagnostic::error(Fault::IncompleteQuestion, message)
        .help("what a subject can reach: `--subject user/ann`; who can reach a resource: `--resource document/7`")
        .help("who can do something, and with what: `--action read`")
}

fn one_at_a_time() -> Diagnostic {
    Diagnostic::error(Fault::IncompleteQuestion, "there is more than one request").help("ask about one at a time")
}
