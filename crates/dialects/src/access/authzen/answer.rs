//! Answers, and their shape in JSON.

use serde_json::{Map, Value as Json, json};
use smol_str::SmolStr;
use upheld_engine::Scratch;
use upheld_engine::decide::{Binding, By, Decide, Decided, Duty, Outcome, Request, Truth};
use upheld_model::Files;
use upheld_model::tree::{Kind, Value};

use super::AuthZen;
use super::bad_request::BadRequest;
use crate::access::{Edition, view};

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
    pub obligations: Vec<Obligation>,
    /// What may be done along with it.
    pub advice: Vec<Obligation>,
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

/// Something to do along with a decision.
#[derive(Clone, Debug, PartialEq)]
pub struct Obligation {
    /// Which one.
    pub id: SmolStr,
    /// What sort: `step-up`, `notification`, `session_termination`, `custom`.
    pub kind: String,
    /// What else is to be known.
    pub properties: Json,
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
                say(name, duties.iter().map(Obligation::json).collect());
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
    pub(super) fn of(authzen: AuthZen<'_>, request: &Request, decided: &Decided, scratch: &Scratch<Decide>) -> Self {
        let AuthZen { files, decide, .. } = authzen;
        let verdict = match decided.outcome {
            Outcome::Permit => Verdict::Permitted,
            Outcome::Deny => Verdict::Denied,
            Outcome::Undecided => Verdict::Failed(Failure::Undecided(undecided(decide, scratch))),
            // Only the exact word opens.
            Outcome::Foreign => {
                Verdict::Failed(Failure::Undecided("a policy has an effect that nobody knows".to_owned()))
            }
        };
        let shown = match decided.by {
            By::Nobody => Json::Null,
            _ => view::decision(files, decide, decided, Edition::Strict),
        };
        let text = |field: &str| shown.get(field).and_then(Json::as_str);
        let (reason, policy) = (text("reason").map(str::to_owned), text("matchedPolicy").map(SmolStr::new));
        let (mut obligations, mut advice) = (Vec::new(), Vec::new());
        for (duty, _) in decide.duties(request, scratch.hits()) {
            let list = if duty.binding == Binding::Obligation { &mut obligations } else { &mut advice };
            list.push(Obligation::of(files, duty));
        }
        Self { verdict, reason, policy, obligations, advice }
    }
}

impl Obligation {
    fn of(files: &Files, duty: &Duty) -> Self {
        let document = duty.at.and_then(|at| files.value(at));
        let get = |field: &str| document?.get(field).filter(|value| value.kind() != Kind::Null);
        let properties = get("properties").and_then(|value| serde_json::to_value(value).ok());
        Self {
            id: duty.id.clone(),
            kind: get("type").map_or("custom", Value::text).to_owned(),
            properties: properties.unwrap_or_else(|| json!({})),
        }
    }

    fn json(&self) -> Json {
        json!({"id": self.id.as_str(), "type": self.kind, "properties": self.properties})
    }
}

/// Which policies stand in the way of a decision.
fn undecided(decide: &Decide, scratch: &Scratch<Decide>) -> String {
    const MOST: usize = 3;
    let mut unknown: Vec<_> = (scratch.hits().iter())
        .filter(|hit| hit.measure.applies() == Truth::Error)
        .filter_map(|hit| Some((hit.entry, &decide.rule(hit.entry)?.name)))
        .collect();
    unknown.sort_unstable_by_key(|(entry, _)| *entry);
    let named: Vec<String> = unknown.iter().take(MOST).map(|(_, name)| format!("`{name}`")).collect();
    match unknown.len() {
        0 => "undecided: policies clash".to_owned(),
        count if count > MOST => format!(
            "undecided: a fact is missing or of another type, so it is not known whether {} and {} more apply",
            named.join(", "),
            count - MOST
        ),
        1 => format!(
            "undecided: a fact is missing or of another type, so it is not known whether {} applies",
            named.concat()
        ),
        _ => format!(
            "undecided: a fact is missing or of another type, so it is not known whether {} apply",
            named.join(", ")
        ),
    }
}
