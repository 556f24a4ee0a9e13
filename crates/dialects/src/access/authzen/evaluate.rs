//! One decision, or several at once.

use serde_json::Value as Json;
use upheld_engine::Scratch;
use upheld_engine::decide::{Decide, Request};
use upheld_model::Timestamp;
use upheld_report::Decision;

use super::answer::{Answer, Batch};
use super::bad_request::{BadRequest, Problem};
use super::parts::{self, Parts};
use super::{AuthZen, mapping};
use crate::access::decider::{BATCH_IS_OVER, BatchBudget, CompleteRequest};

/// The most requests that are answered at once.
pub const MOST_EVALUATIONS: usize = 10_000;

/// How far several requests are answered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Semantic {
    /// All of them.
    #[default]
    ExecuteAll,
    /// Up to the first that is denied.
    DenyOnFirstDeny,
    /// Up to the first that is permitted.
    PermitOnFirstPermit,
}

impl Semantic {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::ExecuteAll, Self::DenyOnFirstDeny, Self::PermitOnFirstPermit];

    /// The word of the standard.
    pub fn word(self) -> &'static str {
        match self {
            Self::ExecuteAll => "execute_all",
            Self::DenyOnFirstDeny => "deny_on_first_deny",
            Self::PermitOnFirstPermit => "permit_on_first_permit",
        }
    }

    /// The semantic of a word.
    pub fn of(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|semantic| semantic.word() == word)
    }

    /// Whether nothing is answered after an answer.
    fn ends_with(self, answer: &Answer) -> bool {
        match self {
            Self::ExecuteAll => false,
            Self::DenyOnFirstDeny => !answer.decision(),
            Self::PermitOnFirstPermit => answer.decision(),
        }
    }
}

impl AuthZen<'_> {
    /// Access Evaluation: may this subject do this action on this resource?
    pub fn evaluation(self, request: &Json) -> Result<Answer, BadRequest> {
        self.answer(Parts::of(parts::fields(request)?), &mut Scratch::default(), &mut BatchBudget::default())
    }

    /// Access Evaluations: several requests with defaults for what each leaves out. A default is taken whole or not at all. Without a
    /// list, the defaults are the request.
    pub fn evaluations(self, request: &Json) -> Result<Batch, BadRequest> {
        let fields = parts::fields(request)?;
        let semantic = semantic(fields.get("options"))?;
        let items = parts::optional(fields.get("evaluations"), "evaluations", "a list", Json::as_array)?;
        let defaults = Parts::of(fields);
        let (mut scratch, mut budget) = (Scratch::default(), BatchBudget::default());
        let Some(items) = items.filter(|items| !items.is_empty()) else {
            return self.answer(defaults, &mut scratch, &mut budget).map(Batch::Single);
        };
        if items.len() > MOST_EVALUATIONS {
            return Err(BadRequest::new("evaluations", Problem::TooMany));
        }
        defaults.are_objects()?;
        let mut answers = Vec::with_capacity(items.len());
        for (index, item) in items.iter().enumerate() {
            let answer = match item.as_object() {
                Some(item) => self.answer(Parts::of(item).or(defaults), &mut scratch, &mut budget),
                None => Err(BadRequest::wrong_type(format!("evaluations[{index}]"), "an object", item)),
            };
            let answer = answer.unwrap_or_else(Answer::broken);
            let last = semantic.ends_with(&answer);
            answers.push(answer);
            if last {
                break;
            }
        }
        Ok(Batch::Several(answers))
    }

    /// The request that policies are asked about.
    pub fn request(self, request: &Json) -> Result<CompleteRequest, BadRequest> {
        self.asked(Parts::of(parts::fields(request)?))
    }

    fn answer(
        self,
        parts: Parts<'_>,
        scratch: &mut Scratch<Decide>,
        budget: &mut BatchBudget,
    ) -> Result<Answer, BadRequest> {
        if budget.is_over() {
            return Ok(Answer::of(Decision::undecided(BATCH_IS_OVER)));
        }
        Ok(Answer::of(self.decider.decision_within(&self.asked(parts)?, scratch, budget)))
    }

    fn asked(self, parts: Parts<'_>) -> Result<CompleteRequest, BadRequest> {
        Ok(self.decider.complete(mapped(parts, self.now)?, self.now))
    }
}

/// A request of the standard, without what anybody knows besides.
pub fn read(request: &Json) -> Result<Request, BadRequest> {
    mapped(Parts::of(parts::fields(request)?), None)
}

fn mapped(parts: Parts<'_>, now: Option<Timestamp>) -> Result<Request, BadRequest> {
    let (subject, action) = (parts.subject()?, parts.action()?);
    let (resource, context) = (parts.resource()?, parts.context()?);
    Ok(Request {
        subject: mapping::subject(subject),
        action: mapping::action(action.name, mapping::facts(action.properties)),
        resource: mapping::resource(resource),
        environment: mapping::environment(context, now),
    })
}

fn semantic(options: Option<&Json>) -> Result<Semantic, BadRequest> {
    const AT: &str = "options.evaluations_semantic";
    let options = parts::optional(options, "options", "an object", Json::as_object)?;
    let word = options.and_then(|options| options.get("evaluations_semantic"));
    match parts::optional(word, AT, "text", Json::as_str)? {
        Some(word) => Semantic::of(word).ok_or_else(|| BadRequest::new(AT, Problem::UnknownSemantic(word.to_owned()))),
        None => Ok(Semantic::default()),
    }
}
