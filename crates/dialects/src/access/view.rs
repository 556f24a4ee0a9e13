//! Answers in the shape of the original system.

use serde_json::{Map, Value as Json, json};
use upheld_engine::decide::{Decide, Effect, Outcome};
use upheld_model::Files;
use upheld_model::tree::{Kind, Value};
use upheld_report::Decision;

/// `{effect, reason, matchedPolicy, obligations, advice}`, each only if there is one. What is undecided is a denial, and says so.
pub fn decision(files: &Files, decide: &Decide, decided: &Decision<'_>) -> Json {
    let mut answer = Map::new();
    let effect = match (decided.outcome, decided.policy) {
        (Outcome::Foreign, Some(policy)) => {
            let rule = decide.rules().into_iter().find(|rule| rule.name == policy);
            let word = rule.and_then(|rule| files.value(rule.at)?.get("effect"));
            word.filter(|word| word.kind() != Kind::Null).map(|word| word.text().to_owned())
        }
        (Outcome::Foreign, None) => Some(default_text(files, decide)),
        (Outcome::Permit, _) => Some(Effect::Permit.word().to_owned()),
        (Outcome::Deny | Outcome::Undecided, _) => Some(Effect::Deny.word().to_owned()),
    };
    let texts =
        [("effect", effect.as_deref()), ("reason", decided.reason.as_deref()), ("matchedPolicy", decided.policy)];
    for (name, text) in texts.into_iter().filter_map(|(name, text)| Some((name, text?))) {
        answer.insert(name.to_owned(), json!(text));
    }
    for (name, duties) in [("obligations", &decided.obligations), ("advice", &decided.advice)] {
        if !duties.is_empty() {
            answer.insert(name.to_owned(), json!(duties));
        }
    }
    Json::Object(answer)
}

fn default_text(files: &Files, decide: &Decide) -> String {
    let manifest = decide.sets().next().and_then(|root| root.at).and_then(|at| files.value(at));
    manifest.and_then(|manifest| manifest.get("defaultEffect")).map_or("", Value::text).to_owned()
}
