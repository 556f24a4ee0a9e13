//! Answers in the shape of the original system.

use serde_json::{Map, Value as Json, json};
use upheld_engine::EntryId;
use upheld_engine::decide::{Algorithm, By, Decide, Decided, Effect, Outcome};
use upheld_model::Files;
use upheld_model::tree::{Kind, Value};

use super::Edition;

/// `{effect, reason, matchedPolicy}`, each only if there is one. What is undecided is a denial, and says so.
pub fn decision(files: &Files, decide: &Decide, decided: &Decided, edition: Edition) -> Json {
    let mut answer = Map::new();
    let text = |entry: EntryId, field: &str| {
        let document = decide.rule(entry).and_then(|rule| files.value(rule.at));
        let value = document.and_then(|document| document.get(field)).filter(|value| value.kind() != Kind::Null);
        value.map(Value::text).map(str::to_owned)
    };
    let effect = match (decided.outcome, decided.by) {
        (Outcome::Foreign, By::Policy(entry)) => text(entry, "effect"),
        (Outcome::Foreign, _) => Some(default_text(files, decide)),
        (Outcome::Permit, _) => Some(Effect::Permit.word().to_owned()),
        (Outcome::Deny | Outcome::Undecided, _) => Some(Effect::Deny.word().to_owned()),
    };
    if let Some(effect) = effect {
        answer.insert("effect".to_owned(), json!(effect));
    }
    match decided.by {
        By::Policy(entry) => {
            if let Some(description) = text(entry, "description") {
                answer.insert("reason".to_owned(), json!(description));
            }
            let id = decide.rule(entry).map_or("", |rule| rule.name.as_str());
            answer.insert("matchedPolicy".to_owned(), json!(id));
        }
        By::Default => {
            answer.insert("reason".to_owned(), json!(nothing_applies(decide, decided, edition)));
        }
        By::Algorithm => {
            answer.insert("reason".to_owned(), json!(decide.algorithm().word()));
        }
        By::Nobody => {
            answer.insert("reason".to_owned(), json!("undecided: a fact is missing, or policies clash"));
        }
    }
    Json::Object(answer)
}

/// The original has two sentences; which one depends on the algorithm.
fn nothing_applies(decide: &Decide, decided: &Decided, edition: Edition) -> &'static str {
    let collects = decide.algorithm() != Algorithm::FirstApplicable;
    if edition == Edition::Compat && collects && decided.about {
        "No permit or deny decision"
    } else {
        "No applicable policy"
    }
}

fn default_text(files: &Files, decide: &Decide) -> String {
    let manifest = decide.sets().next().and_then(|root| root.at).and_then(|at| files.value(at));
    manifest.and_then(|manifest| manifest.get("defaultEffect")).map_or("", Value::text).to_owned()
}
