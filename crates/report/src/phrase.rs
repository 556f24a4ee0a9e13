//! A piece of an explanation: a code with parameters for programs, and the same in words.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json, json};
use upheld_engine::words::Words;
use upheld_model::{Code, Fault, Lookup, Param, Reason, Side, State};

use super::{Gap, Holding, Mutated, Reaching, Sentence, Shifting};

/// Something that a report says.
#[derive(Clone, Debug, Default, Serialize, Deserialize, PartialEq)]
pub struct Phrase {
    /// What it says, for programs: `select.more-tags`. `upheld codes` explains each.
    pub code: Cow<'static, str>,
    /// The names and numbers that it is said with.
    pub parameters: Map<String, Json>,
    /// The same in words.
    pub text: String,
}

impl Phrase {
    /// Why a policy ended as it did.
    pub fn because(words: &Words<'_>, state: State, reason: &Reason) -> Self {
        let phrase = Self::of_reason(reason, words.lookup, words.because(state, reason));
        // The sentence names the end that lacks a tag.
        match phrase.parameters.get("side").and_then(Json::as_str) {
            Some(side) if side == Side::Destination.word() => phrase.with("end", words.ends.destination),
            Some(_) => phrase.with("end", words.ends.source),
            None => phrase,
        }
    }

    /// Why a policy won, as a clause of a headline.
    pub fn won_by(words: &Words<'_>, reason: &Reason) -> Self {
        Self::of_reason(reason, words.lookup, words.won_by(reason))
    }

    /// What the engine gives as a reason, with the words that were made of it.
    pub fn of_reason(reason: &Reason, lookup: &Lookup<'_>, text: String) -> Self {
        let Reason { code, params } = reason;
        Self { code: code.text().into(), parameters: parameters(*code, params, lookup), text }
    }

    /// A remark under the code of a fault.
    pub fn of_fault(fault: Fault, parameters: Map<String, Json>, text: String) -> Self {
        Self { code: fault.code().into(), parameters, text }
    }

    /// The words of a headline or of how ranking went, made once more of code and parameters alone; none for other phrases.
    pub fn again(&self) -> Option<String> {
        let mut fields = Map::from_iter([("code".to_owned(), json!(self.code))]);
        // What has no parameters is written without them.
        if !self.parameters.is_empty() {
            fields.insert("parameters".to_owned(), Json::Object(self.parameters.clone()));
        }
        let fields = Json::Object(fields);
        let of_mutation = || serde_json::from_value(fields.clone()).map(|mutated: Mutated| mutated.text());
        let of_reach = || serde_json::from_value(fields.clone()).map(|reaching: Reaching| reaching.text());
        let of_gap = || serde_json::from_value(fields.clone()).map(|gap: Gap| gap.text());
        let of_shift = || serde_json::from_value(fields.clone()).map(|shifting: Shifting| shifting.text());
        let of_invariant = || serde_json::from_value(fields.clone()).map(|holding: Holding| holding.text());
        let sentence = serde_json::from_value(fields.clone()).map(|sentence: Sentence| sentence.text());
        let others = |_| of_mutation().or_else(|_| of_reach()).or_else(|_| of_gap()).or_else(|_| of_shift());
        sentence.or_else(others).or_else(|_| of_invariant()).ok()
    }

    /// With one more parameter.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<Json>) -> Self {
        self.parameters.insert(name.to_owned(), value.into());
        self
    }
}

/// The parameters of a reason by name.
fn parameters(code: Code, params: &[Param; 4], lookup: &Lookup<'_>) -> Map<String, Json> {
    let value = |param: &Param| match param {
        Param::Number(number) => json!(number),
        Param::Text(symbol) => json!(lookup.text(*symbol)),
        Param::Side(side) => json!(side.word()),
        Param::Time(Some(timestamp)) => json!(timestamp.to_string()),
        // Lists of values are known to the family that was asked, which is another one here.
        Param::Nothing | Param::Time(None) | Param::Values(_) => Json::Null,
    };
    code.parameters().iter().zip(params).map(|(name, param)| ((*name).to_owned(), value(param))).collect()
}
