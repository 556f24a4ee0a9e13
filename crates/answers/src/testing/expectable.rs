//! A report in the words in which tests state what they expect: everything about the question and everything that is special
//! to a family stands beside the rest.

use serde_json::{Map, Value as Json, json};

use crate::report::{Family, Field, Overridden, Report, decision_of};

/// What a test can expect of a report.
pub(super) fn expectable(report: &Report) -> Json {
    let Json::Object(mut whole) = json!(report) else { return Json::Null };
    for part in ["about", "detail"] {
        if let Some(Json::Object(fields)) = whole.remove(part) {
            whole.extend(fields);
        }
    }
    let mut state = |name: &str, value: Json| whole.insert(name.to_owned(), value);
    state("answer", json!(report.headline.text));
    state("granted", json!(report.verdict.granted()));
    state("mesh", json!(report.about.scope));
    if report.family == Family::Decide {
        let (decision, policy) = decision_of(report);
        state("decision", json!(decision));
        state("policy", json!(policy));
        state("reason", json!(report.decision().and_then(|detail| detail.reason.as_deref())));
    }
    if report.family == Family::Hierarchy {
        let overridden = report.fields.iter().flat_map(|field| field.over.iter().map(move |over| lost(field, over)));
        let held = report.fields.iter().filter(|field| field.value.is_some());
        let (overridden, held): (Vec<Json>, Vec<Json>) =
            (overridden.collect(), held.map(|field| json!(field)).collect());
        state("fields", json!(held));
        state("overridden", json!(overridden));
        state("target", json!(report.about.what));
        state("ways", json!(report.about.holds_for));
        let problems = report.notes.iter().filter(|note| note.code == upheld_model::Fault::BrokenPolicy.code());
        state("broken", json!(problems.map(|note| note.text.as_str()).collect::<Vec<_>>()));
    }
    if let Some(Json::Array(candidates)) = whole.get_mut("candidates") {
        candidates.iter_mut().for_each(flatten);
    }
    if let Some(default) = whole.get_mut("default") {
        flatten(default);
    }
    Json::Object(whole)
}

fn lost(field: &Field, over: &Overridden) -> Json {
    let mut lost = json!(over);
    if let Some(lost) = lost.as_object_mut() {
        lost.insert("field".to_owned(), json!(field.path));
    }
    flatten(&mut lost);
    lost
}

/// Reasons and facts beside the rest: `because`, `code`, `tags`, `effect`.
fn flatten(row: &mut Json) {
    let Some(row) = row.as_object_mut() else { return };
    if let Some(reason) = row.get("reason").and_then(Json::as_object).cloned() {
        for (name, part) in [("because", "text"), ("code", "code"), ("parameters", "parameters")] {
            row.insert(name.to_owned(), reason.get(part).cloned().unwrap_or_default());
        }
    }
    let facts: Map<String, Json> = (row.get("facts").and_then(Json::as_array).into_iter().flatten())
        .filter_map(|fact| Some((fact.get("name")?.as_str()?.to_owned(), fact.get("value")?.clone())))
        .collect();
    row.extend(facts);
    if let Some(means) = row.get("means").cloned() {
        row.entry("effect").or_insert(means);
    }
}
