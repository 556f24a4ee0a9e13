//! An earlier run that a later one is compared with: as SARIF, or as the JSON that the same command prints.

use std::collections::BTreeMap;

use serde_json::Value as Json;

use crate::report::compliance::{Absent, BaselineState, Compared};

/// What makes something that was found another thing than it was; how runs write it down.
pub(super) trait Content: PartialEq + Sized {
    /// What such a run is called, for people.
    const CALLED: &'static str;
    /// The kind of the JSON document.
    const KIND: &'static str;
    /// The field of the JSON document that lists what was found.
    const LIST: &'static str;
    /// The field of each that says what rule it is of.
    const RULE: &'static str;
    /// What the fingerprint is called in SARIF. The number changes if ever the fingerprint is made differently.
    const FINGERPRINT: &'static str;

    /// As a result of SARIF has it.
    fn of_result(result: &Json) -> Option<Self>;

    /// As an item of the JSON document has it.
    fn of_item(item: &Json) -> Option<Self>;
}

/// What an earlier run found, by fingerprint.
#[derive(Clone, Debug)]
pub(super) struct Earlier<C> {
    known: BTreeMap<String, Known<C>>,
}

/// Something as it was.
#[derive(Clone, Debug)]
struct Known<C> {
    content: C,
    rule: String,
    message: String,
    /// All that SARIF had of it.
    result: Option<Json>,
}

impl<C> Default for Earlier<C> {
    fn default() -> Self {
        Self { known: BTreeMap::new() }
    }
}

impl<C: Content> Earlier<C> {
    /// Reads what an earlier run printed. What was gone by then is no part of it.
    pub(super) fn read(text: &str) -> Result<Self, String> {
        let report: Json = serde_json::from_str(text).map_err(|error| format!("this is not JSON: {error}"))?;
        let known = match (report.get("runs").and_then(Json::as_array), text_at(&report, "kind")) {
            (Some(runs), _) => {
                let results = runs.iter().filter_map(|run| run.get("results")?.as_array()).flatten();
                let there = |result: &&Json| text_at(result, "baselineState") != "absent";
                results.filter(there).filter_map(of_result).collect()
            }
            (None, kind) if kind == C::KIND => {
                let items = report.get(C::LIST).and_then(Json::as_array);
                items.into_iter().flatten().filter_map(of_item).collect()
            }
            (None, _) => {
                let (called, kind) = (C::CALLED, C::KIND);
                return Err(format!("this is no {called}: it has neither `runs` nor the kind `{kind}`"));
            }
        };
        Ok(Self { known })
    }

    /// Says of everything that was found now whether it was there before, in this order, and what is gone.
    pub(super) fn beside<'f>(&self, found: impl Iterator<Item = (&'f str, C)>) -> (Vec<BaselineState>, Compared) {
        let mut compared = Compared::default();
        let mut gone: BTreeMap<&str, &Known<C>> = self.known.iter().map(|(id, known)| (id.as_str(), known)).collect();
        let mut states = Vec::new();
        for (id, content) in found {
            let (state, count) = match gone.remove(id) {
                None => (BaselineState::New, &mut compared.new),
                Some(before) if before.content == content => (BaselineState::Unchanged, &mut compared.unchanged),
                Some(_) => (BaselineState::Updated, &mut compared.updated),
            };
            *count += 1;
            states.push(state);
        }
        let absent = gone.into_iter().map(|(id, Known { rule, message, result, .. })| Absent {
            id: id.to_owned(),
            policy: rule.clone(),
            message: message.clone(),
            result: result.clone(),
        });
        compared.absent = absent.collect();
        (states, compared)
    }
}

fn of_result<C: Content>(result: &Json) -> Option<(String, Known<C>)> {
    let id = result.get("partialFingerprints")?.get(C::FINGERPRINT)?.as_str()?.to_owned();
    let message = result.get("message").map_or("", |message| text_at(message, "text")).to_owned();
    let rule = text_at(result, "ruleId").to_owned();
    Some((id, Known { content: C::of_result(result)?, rule, message, result: Some(result.clone()) }))
}

fn of_item<C: Content>(item: &Json) -> Option<(String, Known<C>)> {
    let id = item.get("id")?.as_str()?.to_owned();
    let (rule, message) = (text_at(item, C::RULE).to_owned(), text_at(item, "message").to_owned());
    Some((id, Known { content: C::of_item(item)?, rule, message, result: None }))
}

/// A result of SARIF for something of the earlier run that is gone.
pub(super) fn absent(gone: &Absent, fingerprint: &str) -> Json {
    let mut result = gone.result.clone().unwrap_or_else(|| {
        serde_json::json!({
            "ruleId": gone.policy, "message": {"text": gone.message}, "partialFingerprints": {fingerprint: gone.id},
        })
    });
    if let Some(fields) = result.as_object_mut() {
        // Rules have other numbers in every run, and a rule may be gone as well.
        fields.shift_remove("ruleIndex");
        fields.insert("baselineState".to_owned(), "absent".into());
    }
    result
}

/// A text, or nothing.
pub(super) fn text_at<'j>(value: &'j Json, name: &str) -> &'j str {
    value.get(name).and_then(Json::as_str).unwrap_or_default()
}
