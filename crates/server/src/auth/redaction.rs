//! What somebody may see of an answer.

use serde_json::{Map, Value as Json, json};
use upheld_answers::report::{Skipped, names_others};

/// What stands in place of a name.
const HIDDEN: &str = "(hidden)";
/// What stands in place of a sentence.
const HIDDEN_SENTENCE: &str = "(hidden: it names a policy that you may not see)";

/// Takes out of an answer what must not be seen: lists of `candidates` lose hidden policies as if there were none, and their names
/// are gone from everything around them. What the answer is stays.
pub(crate) fn redact(answer: &mut Json, may_see: &impl Fn(&str, &str, &str) -> bool) {
    inside(answer, "", "", may_see);
}

/// An explanation for somebody who may see only a part of all documents: the one that the part gives, wherever it comes to what holds.
/// Where it does not, only what holds is said; the rest would be about what is hidden. `None` if the part asks about something
/// that is not in the whole.
pub(crate) fn in_part(mut seen: Json, whole: &Json) -> Option<Json> {
    let Some(reports) = seen.get_mut("answers").and_then(Json::as_array_mut) else {
        let without_digest = |answer: &Json| {
            let mut answer = answer.clone();
            answer.as_object_mut().map(|fields| fields.shift_remove("snapshot"));
            answer
        };
        return (without_digest(&seen) == without_digest(whole)).then_some(seen);
    };
    let others = whole.get("answers").and_then(Json::as_array)?;
    for report in reports {
        let same = |field: &str, other: &Json| report.get(field) == other.get(field);
        let found = others.iter().find(|other| ["kind", "about"].iter().all(|field| same(field, other)))?;
        if !["verdict", "outcome", "result"].iter().all(|field| same(field, found)) {
            *report = without_reasons(found);
        }
    }
    Some(seen)
}

/// With so many of the policies that do not match in each report, as [`upheld_answers::report::Report::with_skipped`] has them: what was
/// taken out is not counted.
pub(crate) fn with_skipped(answer: &mut Json, skipped: &Skipped) {
    let reports = answer.get_mut("answers").and_then(Json::as_array_mut).into_iter().flatten();
    for fields in reports.filter_map(Json::as_object_mut) {
        let Some(Json::Array(candidates)) = fields.get_mut("candidates") else { continue };
        let (before, mut listed) = (candidates.len(), 0);
        candidates.retain(|candidate| {
            let is_skipped = candidate.get("state").is_some_and(|state| state == "SKIP" || state == "OFF");
            listed += usize::from(is_skipped);
            !is_skipped || listed <= skipped.most()
        });
        let left_out = before - candidates.len();
        if left_out > 0 {
            fields.insert("leftOut".to_owned(), json!(left_out));
        }
    }
}

/// What a report comes to, without anything that says how.
fn without_reasons(report: &Json) -> Json {
    let mut cut = report.clone();
    let Some(fields) = cut.as_object_mut() else { return cut };
    fields.retain(|name, _| {
        ["family", "kind", "semantics", "about", "verdict", "outcome", "result"].contains(&name.as_str())
    });
    let hidden = json!({"code": "redacted", "text": HIDDEN_SENTENCE, "parameters": {}});
    fields.insert("headline".to_owned(), hidden);
    fields.insert("summary".to_owned(), json!(HIDDEN));
    for empty in ["policies", "fields", "candidates", "notes"] {
        fields.insert(empty.to_owned(), json!([]));
    }
    if let Some(result) = fields.get_mut("result") {
        anonymous(result, &|_| false);
    }
    cut
}

/// Takes the policy and its reason out of decisions, wherever they are in a value, unless it may be seen.
pub(crate) fn anonymous(value: &mut Json, may_see: &impl Fn(&str) -> bool) {
    match value {
        Json::Array(items) => items.iter_mut().for_each(|item| anonymous(item, may_see)),
        Json::Object(fields) => {
            let named = ["policy", "matchedPolicy", "from"].into_iter().filter_map(|name| fields.get(name)?.as_str());
            let is_hidden = named.into_iter().any(|name| !may_see(name));
            // Who cannot tell says because of whom.
            let is_open = fields.get("decision").is_some_and(|decision| decision == "undecided");
            if is_hidden || is_open {
                fields.retain(|name, _| {
                    !["policy", "matchedPolicy", "from", "reason", "missing", "dependsOn"].contains(&name.as_str())
                });
            }
            if is_about_others(fields) {
                fields.shift_remove("reason");
            }
            fields.values_mut().for_each(|field| anonymous(field, may_see));
        }
        _ => {}
    }
}

/// Whether a decision names policies that may apply, although none of them decided.
fn is_about_others(fields: &Map<String, Json>) -> bool {
    fields.get("reason").and_then(Json::as_str).is_some_and(names_others)
}

/// The same for a list of decisions: what hidden policies say is gone from every item.
pub(crate) fn redact_items(answer: &mut Json, may_see: &impl Fn(&str, &str, &str) -> bool) {
    let kind = answer.get("policyKind").and_then(Json::as_str).unwrap_or_default().to_owned();
    let seen = |name: &str| may_see(&kind, upheld_dialects::access::SCOPE, name);
    for item in answer.get_mut("items").and_then(Json::as_array_mut).into_iter().flatten() {
        let Some(fields) = item.as_object_mut() else { continue };
        // Who cannot tell says because of whom; if one of them is hidden, none of it is said.
        let unknown = fields.get("dependsOn").and_then(Json::as_array).into_iter().flatten().filter_map(Json::as_str);
        let hides_unknown = unknown.into_iter().any(|name| !seen(name));
        let hides_decider = fields.get("policy").and_then(Json::as_str).is_some_and(|name| !seen(name));
        if hides_unknown || hides_decider || is_about_others(fields) {
            fields.retain(|name, _| !["policy", "reason", "missing", "dependsOn"].contains(&name.as_str()));
        }
        for duties in ["obligations", "advice"] {
            fields.get_mut(duties).into_iter().for_each(|duties| anonymous(duties, &seen));
        }
    }
}

fn inside(value: &mut Json, kind: &str, scope: &str, may_see: &impl Fn(&str, &str, &str) -> bool) {
    match value {
        Json::Array(items) => items.iter_mut().for_each(|item| inside(item, kind, scope, may_see)),
        Json::Object(fields) => {
            let text = |names: &[&str], otherwise: &str| {
                let own = names.iter().find_map(|name| fields.get(*name).and_then(Json::as_str));
                own.unwrap_or(otherwise).to_owned()
            };
            let about = fields.get("about").and_then(|about| about.get("scope")).and_then(Json::as_str);
            let scope = about.map_or_else(|| text(&["mesh", "scope", "namespace"], scope), str::to_owned);
            let kind = text(&["kind"], kind);
            let mut hidden = Vec::new();
            if let Some(Json::Array(candidates)) = fields.get_mut("candidates") {
                candidates.retain(|candidate| match hidden_name(candidate, &kind, &scope, may_see) {
                    Some(name) => {
                        hidden.push(name);
                        false
                    }
                    None => true,
                });
            }
            if !hidden.is_empty() {
                hidden.sort_unstable();
                hidden.dedup();
                fields.values_mut().for_each(|field| forget(field, &hidden));
            }
            for (name, field) in fields.iter_mut() {
                if name != "candidates" {
                    inside(field, &kind, &scope, may_see);
                }
            }
        }
        _ => {}
    }
}

/// The name of a candidate whose policy must not be seen.
fn hidden_name(
    candidate: &Json,
    kind: &str,
    scope: &str,
    may_see: &impl Fn(&str, &str, &str) -> bool,
) -> Option<String> {
    let text = |names: &[&str], otherwise: &str| {
        let own = names.iter().find_map(|name| candidate.get(*name).and_then(Json::as_str));
        own.unwrap_or(otherwise).to_owned()
    };
    let (kind, scope) = (text(&["kind"], kind), text(&["mesh", "scope", "namespace"], scope));
    let full_name = text(&["policy", "name", "id"], "");
    // Answers about several namespaces say which one is meant: `shop/cart`.
    let name = full_name.strip_prefix(&format!("{scope}/")).unwrap_or(&full_name);
    let scope = if scope.is_empty() { upheld_dialects::access::SCOPE } else { &scope };
    (!may_see(&kind, scope, name)).then_some(full_name)
}

/// Takes names out of all texts.
pub(crate) fn forget(value: &mut Json, names: &[String]) {
    match value {
        Json::String(text) => {
            if names.iter().any(|name| name == text) {
                HIDDEN.clone_into(text);
            } else if names.iter().any(|name| mentions(text, name)) {
                HIDDEN_SENTENCE.clone_into(text);
            }
        }
        Json::Array(items) => items.iter_mut().for_each(|item| forget(item, names)),
        Json::Object(fields) => fields.values_mut().for_each(|field| forget(field, names)),
        Json::Null | Json::Bool(_) | Json::Number(_) => {}
    }
}

/// Whether a sentence has a name in it as a word of its own.
pub(crate) fn mentions(sentence: &str, name: &str) -> bool {
    let part = |character: char| character.is_alphanumeric() || character == '-' || character == '_';
    !name.is_empty()
        && sentence.match_indices(name).any(|(at, _)| {
            let before = sentence.get(..at).and_then(|before| before.chars().next_back());
            let after = sentence.get(at + name.len()..).and_then(|after| after.chars().next());
            !before.is_some_and(part) && !after.is_some_and(part)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer() -> Json {
        json!({
            "kind": "TrafficLog", "about": {"scope": "default"}, "outcome": "decided",
            "headline": {"code": "headline.chosen", "text": "secret-log wins over open-log"},
            "policies": ["secret-log"], "result": {"backend": "splunk"},
            "fields": [{"field": "backend", "value": "splunk", "from": [{"policy": "secret-log"}]}],
            "candidates": [
                {"state": "wins", "policy": "secret-log", "reason": {"text": "it is more specific"}, "at": {"file": "secret.yaml"}},
                {"state": "loses", "policy": "open-log", "reason": {"text": "secret-log is more specific"}},
                {"state": "skip", "policy": "secret-log-2", "reason": {"text": "no match"}},
            ],
        })
    }

    #[test]
    fn what_must_not_be_seen_is_gone_and_not_counted() {
        let mut given = json!({"answers": [answer()]});
        redact(&mut given, &|kind, scope, name| {
            assert_eq!((kind, scope), ("TrafficLog", "default"));
            name != "secret-log"
        });
        let answer = &given["answers"][0];
        assert_eq!((answer.get("redacted"), answer["candidates"].as_array().map(Vec::len)), (None, Some(2)));
        assert_eq!(answer["candidates"][0]["policy"], "open-log");
        assert_eq!(answer["candidates"][0]["reason"]["text"], HIDDEN_SENTENCE);
        assert_eq!(answer["candidates"][1]["policy"], "secret-log-2");
        assert_eq!(
            (&answer["policies"][0], &answer["fields"][0]["from"][0]["policy"]),
            (&json!(HIDDEN), &json!(HIDDEN))
        );
        assert_eq!(answer["result"]["backend"], "splunk");
        assert!(!given.to_string().replace("secret-log-2", "").contains("secret"), "{given}");
    }

    #[test]
    fn p8_what_must_not_be_seen_is_not_counted_among_those_that_are_not_listed() {
        let skipped = |name: &str| json!({"state": "SKIP", "policy": name, "reason": {"text": "no match"}});
        let all = ["secret-1", "open-1", "secret-2", "open-2", "open-3"].map(skipped);
        let mut given = json!({"answers": [{"kind": "TrafficLog", "about": {"scope": "default"}, "candidates": all}]});
        redact(&mut given, &|_, _, name| !name.starts_with("secret"));
        with_skipped(&mut given, &Skipped::AtMost(1));
        let answer = &given["answers"][0];
        assert_eq!((&answer["candidates"], &answer["leftOut"]), (&json!([skipped("open-1")]), &json!(2)));
    }

    #[test]
    fn an_explanation_of_a_part_is_that_of_the_part_wherever_it_holds() {
        let report = |result: &str, policy: &str| {
            json!({"kind": "TrafficLog", "about": {"scope": "default"}, "verdict": "set", "outcome": "decided",
            "result": result, "policies": [policy], "headline": {"text": policy}, "candidates": [{"policy": policy}]})
        };
        let answers = |reports: Vec<Json>| json!({"kind": "Explanation", "answers": reports});
        let seen = answers(vec![report("a", "open")]);
        let same = answers(vec![report("x", "secret"), report("a", "secret")]);
        let (mut other, mut two) = (report("a", "secret"), report("b", "secret"));
        (other["kind"], two["kind"]) = (json!("TrafficTrace"), json!("TrafficLog"));
        let differs = answers(vec![other, two]);
        assert_eq!(in_part(seen.clone(), &answers(vec![report("a", "secret")])), Some(seen.clone()));
        assert_eq!(in_part(seen.clone(), &answers(Vec::new())), None);
        for whole in [same, differs] {
            let cut = in_part(seen.clone(), &whole).unwrap();
            assert_eq!(cut["answers"].as_array().map(Vec::len), Some(1));
            assert!(!cut.to_string().contains("secret"), "{cut}");
        }
        let cut = in_part(seen, &answers(vec![report("b", "secret")])).unwrap();
        assert_eq!((&cut["answers"][0]["result"], &cut["answers"][0]["candidates"]), (&json!("b"), &json!([])));
    }

    #[test]
    fn what_may_be_seen_stays_as_it_is() {
        let mut given = answer();
        redact(&mut given, &|_, _, _| true);
        assert_eq!(given, answer());
    }

    #[test]
    fn lists_of_decisions_lose_what_hidden_policies_say() {
        let unknown = "undecided: a fact is missing, so it is not known whether `secret` applies";
        let mut given = json!({"policyKind": "AccessPolicy", "items": [
            {"decision": "permit", "policy": "open", "reason": "all may", "request": {"resource": {"id": "7"}}},
            {"decision": "permit", "policy": "secret", "reason": "for friends", "obligations": [{"id": "mfa", "from": "secret"}]},
            {"decision": "undecided", "policy": null, "reason": unknown, "dependsOn": ["secret", "open"],
                "missing": {"policy": "secret", "because": {"text": "level: wants friends"}}},
        ]});
        let seen = |kind: &str, scope: &str, name: &str| {
            assert_eq!((kind, scope), ("AccessPolicy", "access"));
            name != "secret"
        };
        redact_items(&mut given, &seen);
        let items = &given["items"];
        assert_eq!(items[0]["policy"], json!("open"));
        assert_eq!((items[1].get("policy"), &items[1]["decision"]), (None, &json!("permit")));
        assert_eq!(items[1]["obligations"], json!([{"id": "mfa"}]));
        assert_eq!(items[2].get("dependsOn"), None);
        assert!(!given.to_string().contains("secret") && !given.to_string().contains("friends"), "{given}");
    }

    #[test]
    fn access_policies_have_a_scope_of_their_own() {
        let mut given =
            json!({"kind": "AccessPolicy", "candidates": [{"state": "permit", "policy": "a"}, {"state": "deny"}]});
        let seen = |kind: &str, scope: &str, name: &str| (kind, scope, name) == ("AccessPolicy", "access", "a");
        redact(&mut given, &seen);
        assert_eq!(given["candidates"], json!([{"state": "permit", "policy": "a"}]));
    }
}
