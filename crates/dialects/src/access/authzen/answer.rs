//! Answers, and their shape in JSON.

use std::borrow::Cow;

use serde_json::{Map, Value as Json, json};
use smol_str::SmolStr;
use upheld_engine::decide::Outcome;
use upheld_report::{Decision, Duty};

use super::bad_request::BadRequest;

/// The answer to one request.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// What becomes of the request.
    pub verdict: Verdict,
    /// Why, in the words of the policy that decided.
    pub reason: Option<String>,
    /// The policy that decided.
    pub policy: Option<SmolStr>,
    /// What must be done along with it; whoever cannot must take the answer for a denial.
    pub obligations: Vec<Duty>,
    /// What may be done along with it.
    pub advice: Vec<Duty>,
}

/// What becomes of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It goes on.
    Permitted,
    /// It is stopped.
    Denied,
    /// It is stopped because there is no decision.
    Failed(Failure),
}

/// Why there is no decision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// One of several requests is broken.
    Broken(BadRequest),
    /// The policies cannot tell; the sentence says why.
    Undecided(String),
}

/// The answer to several requests.
#[derive(Clone, Debug, PartialEq)]
pub enum Batch {
    /// There was only one, outside the list.
    Single(Answer),
    /// One for each request, as far as the semantic went.
    Several(Vec<Answer>),
}

impl Batch {
    /// In the shape of the standard.
    pub fn json(&self) -> Json {
        match self {
            Self::Single(answer) => answer.json(),
            Self::Several(answers) => json!({"evaluations": answers.iter().map(Answer::json).collect::<Vec<_>>()}),
        }
    }
}

impl Answer {
    /// Whether the request goes on.
    pub fn decision(&self) -> bool {
        self.verdict == Verdict::Permitted
    }

    /// In the shape of the standard: `{decision, context}`, the context only if there is something to say.
    pub fn json(&self) -> Json {
        let mut context = Map::new();
        let mut say = |name: &str, value: Json| drop(context.insert(name.to_owned(), value));
        if let Some(reason) = &self.reason {
            say("reason", json!(reason));
        }
        if let Some(policy) = &self.policy {
            say("policy", json!(policy.as_str()));
        }
        for (name, duties) in [("obligations", &self.obligations), ("advice", &self.advice)] {
            if !duties.is_empty() {
                say(name, duties.iter().map(duty).collect());
            }
        }
        match &self.verdict {
            Verdict::Failed(Failure::Broken(bad)) => {
                say("error", json!({"code": "bad-request", "status": 400, "message": bad.to_string()}));
            }
            Verdict::Failed(Failure::Undecided(why)) => say("error", json!({"code": "undecided", "message": why})),
            Verdict::Permitted | Verdict::Denied => {}
        }
        let mut answer = Map::new();
        answer.insert("decision".to_owned(), json!(self.decision()));
        if !context.is_empty() {
            answer.insert("context".to_owned(), Json::Object(context));
        }
        Json::Object(answer)
    }

    /// To a request that is broken while others beside it are not.
    pub(super) fn broken(bad: BadRequest) -> Self {
        let verdict = Verdict::Failed(Failure::Broken(bad));
        Self { verdict, reason: None, policy: None, obligations: Vec::new(), advice: Vec::new() }
    }

    /// What was decided, with all that belongs to it.
    pub(super) fn of(decision: Decision<'_>) -> Self {
        let Decision { outcome, policy, reason, obligations, advice } = decision;
        let reason = reason.map(Cow::into_owned);
        let verdict = match outcome {
            Outcome::Permit => Verdict::Permitted,
            Outcome::Deny => Verdict::Denied,
            Outcome::Undecided => Verdict::Failed(Failure::Undecided(reason.clone().unwrap_or_default())),
            // Only the exact word opens.
            Outcome::Foreign => Verdict::Failed(Failure::Undecided("a policy has an unknown effect".to_owned())),
        };
        Self { verdict, reason, policy: policy.map(SmolStr::new), obligations, advice }
    }
}

/// As the standard has them: properties are always there.
fn duty(duty: &Duty) -> Json {
    let properties = if duty.properties.is_null() { json!({}) } else { duty.properties.clone() };
    json!({"id": duty.id, "type": duty.kind, "properties": properties})
}
