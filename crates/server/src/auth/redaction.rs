//! What somebody may see of an answer.

use serde_json::{Value as Json, json};

/// What stands in place of a name.
const HIDDEN: &str = "(hidden)";
/// What stands in place of a sentence.
const HIDDEN_SENTENCE: &str = "(hidden: it names a policy that you may not see)";

/// Takes out of an answer what must not be seen, and says how much: every list of `candidates` loses what its hidden policies
/// say, `redacted` stands beside it with their number, and their names are gone from everything around it. What the answer
/// is stays. Returns how many candidates were hidden.
pub(crate) fn redact(answer: &mut Json, may_see: &impl Fn(&str, &str, &str) -> bool) -> usize {
    inside(answer, "", "", may_see)
}

/// The same for a list of decisions: every item with `policy` or `dependsOn` loses what hidden policies say. Returns how many did.
pub(crate) fn redact_items(answer: &mut Json, may_see: &impl Fn(&str, &str, &str) -> bool) -> usize {
    let kind = answer.get("policyKind").and_then(Json::as_str).unwrap_or_default().to_owned();
    let is_hidden = |name: &&str| !may_see(&kind, upheld_dialects::access::SCOPE, name);
    let mut count = 0;
    for item in answer.get_mut("items").and_then(Json::as_array_mut).into_iter().flatten() {
        let decider = item.get("policy").and_then(Json::as_str).filter(is_hidden).map(str::to_owned);
        let duties = ["obligations", "advice"].into_iter().filter_map(|duties| item.get(duties)?.as_array());
        let from = duties.flatten().filter_map(|duty| duty.get("from"));
        let unknown = item.get("dependsOn").and_then(Json::as_array).into_iter().flatten();
        let others = from.chain(unknown).filter_map(Json::as_str).filter(is_hidden).map(str::to_owned);
        let mut hidden: Vec<String> = others.chain(decider.clone()).collect();
        hidden.sort_unstable();
        hidden.dedup();
        if hidden.is_empty() {
            continue;
        }
        count += 1;
        // What it says about itself, and what it asks for, need not name it.
        if decider.is_some()
            && let Some(reason) = item.get_mut("reason")
        {
            *reason = json!(HIDDEN_SENTENCE);
        }
        let asks = item.pointer("/missing/policy").and_then(Json::as_str);
        if asks.is_some_and(|policy| hidden.iter().any(|name| name == policy))
            && let Some(missing) = item.get_mut("missing")
        {
            *missing = json!({"policy": HIDDEN, "redacted": true});
        }
        if let Some(fields) = item.as_object_mut() {
            // Requests are the asker's own words, which may be the same as a name.
            let about = ["policy", "reason", "missing", "dependsOn", "obligations", "advice"];
            let about = fields.iter_mut().filter(|(name, _)| about.contains(&name.as_str()));
            about.for_each(|(_, field)| forget(field, &hidden));
            fields.insert("redacted".to_owned(), json!(true));
        }
    }
    count
}

fn inside(value: &mut Json, kind: &str, scope: &str, may_see: &impl Fn(&str, &str, &str) -> bool) -> usize {
    match value {
        Json::Array(items) => items.iter_mut().map(|item| inside(item, kind, scope, may_see)).sum(),
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
                for candidate in candidates {
                    hidden.extend(hide(candidate, &kind, &scope, may_see));
                }
            }
            let mut count = hidden.len();
            if count > 0 {
                hidden.sort_unstable();
                hidden.dedup();
                fields.values_mut().for_each(|field| forget(field, &hidden));
                fields.insert("redacted".to_owned(), json!(count));
            }
            for (name, field) in fields.iter_mut() {
                if name != "candidates" {
                    count += inside(field, &kind, &scope, may_see);
                }
            }
            count
        }
        _ => 0,
    }
}

/// Hides a candidate if its policy must not be seen. Its name comes back.
fn hide(candidate: &mut Json, kind: &str, scope: &str, may_see: &impl Fn(&str, &str, &str) -> bool) -> Option<String> {
    let text = |names: &[&str], otherwise: &str| {
        let own = names.iter().find_map(|name| candidate.get(*name).and_then(Json::as_str));
        own.unwrap_or(otherwise).to_owned()
    };
    let (kind, scope) = (text(&["kind"], kind), text(&["mesh", "scope", "namespace"], scope));
    let full_name = text(&["policy", "name", "id"], "");
    // Answers about several namespaces say which one is meant: `shop/cart`.
    let name = full_name.strip_prefix(&format!("{scope}/")).unwrap_or(&full_name);
    let scope = if scope.is_empty() { upheld_dialects::access::SCOPE } else { &scope };
    if may_see(&kind, scope, name) {
        return None;
    }
    let state = candidate.get("state").cloned().unwrap_or_default();
    *candidate = json!({"state": state, "redacted": true});
    Some(full_name)
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
fn mentions(sentence: &str, name: &str) -> bool {
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
    fn what_must_not_be_seen_is_gone_and_counted() {
        let mut given = json!({"answers": [answer()]});
        let hidden = redact(&mut given, &|kind, scope, name| {
            assert_eq!((kind, scope), ("TrafficLog", "default"));
            name != "secret-log"
        });
        assert_eq!(hidden, 1);
        let answer = &given["answers"][0];
        assert_eq!(answer["redacted"], 1);
        assert_eq!(answer["candidates"][0], json!({"state": "wins", "redacted": true}));
        assert_eq!(answer["candidates"][1]["policy"], "open-log");
        assert_eq!(answer["candidates"][1]["reason"]["text"], HIDDEN_SENTENCE);
        assert_eq!(answer["candidates"][2]["policy"], "secret-log-2");
        assert_eq!(
            (&answer["policies"][0], &answer["fields"][0]["from"][0]["policy"]),
            (&json!(HIDDEN), &json!(HIDDEN))
        );
        assert_eq!(answer["result"]["backend"], "splunk");
        assert!(!given.to_string().replace("secret-log-2", "").contains("secret"), "{given}");
    }

    #[test]
    fn what_may_be_seen_stays_as_it_is() {
        let mut given = answer();
        assert_eq!(redact(&mut given, &|_, _, _| true), 0);
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
        assert_eq!(redact_items(&mut given, &seen), 2);
        let items = &given["items"];
        assert_eq!((&items[0]["policy"], items[0].get("redacted")), (&json!("open"), None));
        assert_eq!((&items[1]["policy"], &items[1]["decision"]), (&json!(HIDDEN), &json!("permit")));
        assert_eq!((&items[2]["dependsOn"], &items[2]["redacted"]), (&json!([HIDDEN, "open"]), &json!(true)));
        assert!(!given.to_string().contains("secret") && !given.to_string().contains("friends"), "{given}");
    }

    #[test]
    fn access_policies_have_a_scope_of_their_own() {
        let mut given =
            json!({"kind": "AccessPolicy", "candidates": [{"state": "permit", "policy": "a"}, {"state": "deny"}]});
        let seen = |kind: &str, scope: &str, name: &str| (kind, scope, name) == ("AccessPolicy", "access", "a");
        assert_eq!(redact(&mut given, &seen), 1);
        assert_eq!(given["candidates"][1], json!({"state": "deny", "redacted": true}));
    }
}
