//! An answer held against what was expected: every part that is stated must be there.

use serde_json::{Map, Value as Json, json};

use crate::report::Difference;

/// Compares all answers to a question with one map for all of them, or with a list that has one for each.
pub(super) fn of_answers(expected: &Json, answers: &[Json]) -> Vec<Difference> {
    let mut found = Vec::new();
    match (expected, answers) {
        (Json::Object(_), [one]) => compare("", expected, Some(one), &mut found),
        (Json::Array(list), _) if list.len() == answers.len() => {
            for (number, (expected, answer)) in list.iter().zip(answers).enumerate() {
                compare(&format!("answers[{number}]"), expected, Some(answer), &mut found);
            }
        }
        (Json::Array(list), _) => {
            let (expected, actual) = (json!(list.len()), json!(answers.len()));
            found.push(Difference { path: "number of answers".to_owned(), expected, actual });
        }
        (_, []) => {
            found.push(Difference { path: "number of answers".to_owned(), expected: json!(1), actual: json!(0) });
        }
        (_, several) => {
            for (number, answer) in several.iter().enumerate() {
                compare(&format!("answers[{number}]"), expected, Some(answer), &mut found);
            }
        }
    }
    found
}

/// Compares one answer.
pub(super) fn of_answer(expected: &Json, answer: &Json) -> Vec<Difference> {
    let mut found = Vec::new();
    compare("", expected, Some(answer), &mut found);
    found
}

fn compare(path: &str, expected: &Json, actual: Option<&Json>, found: &mut Vec<Difference>) {
    let differs = |actual: Json| Difference { path: path.to_owned(), expected: expected.clone(), actual };
    match (expected, actual) {
        (Json::Null, None | Some(Json::Null)) => {}
        (Json::Object(stated), Some(Json::Object(whole))) => {
            for (name, part) in stated {
                compare(&step(path, name), part, whole.get(name), found);
            }
        }
        (Json::Object(stated), Some(Json::Array(items))) => {
            for (name, part) in stated {
                by_name(path, name, part, items, found);
            }
        }
        (Json::Array(stated), Some(Json::Array(items))) => {
            let names: Option<Vec<&str>> = items.iter().map(name_of).collect();
            match names {
                // Things with names are stated by them.
                Some(names) if !items.is_empty() && stated.iter().all(Json::is_string) => {
                    let stated: Vec<&str> = stated.iter().filter_map(Json::as_str).collect();
                    if stated != names {
                        found.push(differs(json!(names)));
                    }
                }
                _ if stated.len() == items.len() => {
                    for (number, (part, item)) in stated.iter().zip(items).enumerate() {
                        compare(&format!("{path}[{number}]"), part, Some(item), found);
                    }
                }
                _ => found.push(differs(json!(items))),
            }
        }
        (Json::Number(one), Some(Json::Number(other))) if one.as_f64() == other.as_f64() => {}
        (expected, Some(actual)) if expected == actual => {}
        (_, actual) => found.push(differs(actual.cloned().unwrap_or_default())),
    }
}

/// What is stated of one thing in a list of things with names; several may have the same.
fn by_name(path: &str, name: &str, part: &Json, items: &[Json], found: &mut Vec<Difference>) {
    let path_to = step(path, name);
    let mut best: Option<Vec<Difference>> = None;
    for whole in items.iter().filter_map(|item| called(item, name)) {
        let mut differences = Vec::new();
        compare(&path_to, part, Some(whole), &mut differences);
        if best.as_ref().is_none_or(|best| differences.len() < best.len()) {
            best = Some(differences);
        }
    }
    match (best, part) {
        (Some(differences), _) => found.extend(differences),
        // Fields have dots in their names where configurations have maps.
        (None, Json::Object(inner)) if has_fields(items) && !inner.is_empty() => {
            let inner: Map<String, Json> =
                inner.iter().map(|(key, value)| (format!("{name}.{key}"), value.clone())).collect();
            for (name, part) in &inner {
                by_name(path, name, part, items, found);
            }
        }
        (None, _) => compare(&path_to, part, None, found),
    }
}

/// What a name means for a thing in a list: the thing of that name, or the value of a field, or what lies in it.
fn called<'j>(item: &'j Json, name: &str) -> Option<&'j Json> {
    let Some(field) = item.get("field").and_then(Json::as_str) else {
        return Some(item).filter(|item| name_of(item) == Some(name));
    };
    let rest = name.strip_prefix(field)?;
    let value = item.get("value")?;
    match rest.strip_prefix('.') {
        Some(rest) => rest.split('.').try_fold(value, |value, step| value.get(step)),
        None => Some(value).filter(|_| rest.is_empty()),
    }
}

fn has_fields(items: &[Json]) -> bool {
    items.iter().any(|item| item.get("field").is_some())
}

/// The name of a thing in a list.
fn name_of(item: &Json) -> Option<&str> {
    ["field", "id", "policy"].iter().find_map(|key| item.get(key)).and_then(Json::as_str)
}

fn step(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(expected: &Json, answer: &Json) -> Vec<String> {
        of_answer(expected, answer).into_iter().map(|difference| difference.path).collect()
    }

    #[test]
    fn only_what_is_stated_is_compared() {
        let answer = json!({"decision": "deny", "policy": "a", "priority": 5.0, "default": {"state": "LOST"}});
        assert_eq!(paths(&json!({"decision": "deny", "priority": 5}), &answer), Vec::<String>::new());
        assert_eq!(paths(&json!({"decision": "permit", "policy": "a"}), &answer), ["decision"]);
        assert_eq!(paths(&json!({"default": {"state": "WON"}, "reason": "x"}), &answer), ["default.state", "reason"]);
        assert_eq!(paths(&json!({"reason": null}), &answer), Vec::<String>::new());
    }

    #[test]
    fn lists_of_names_are_exact() {
        let answer = json!({"obligations": [{"id": "log"}, {"id": "mask"}], "policies": ["a", "b"], "advice": []});
        assert_eq!(paths(&json!({"obligations": ["log", "mask"], "policies": ["a", "b"]}), &answer), [""; 0]);
        assert_eq!(paths(&json!({"obligations": ["log"]}), &answer), ["obligations"]);
        assert_eq!(paths(&json!({"policies": ["b", "a"]}), &answer), ["policies[0]", "policies[1]"]);
        assert_eq!(paths(&json!({"advice": ["log"]}), &answer), ["advice"]);
    }

    #[test]
    fn fields_are_stated_by_name_with_or_without_dots() {
        let fields = json!([{"field": "http.timeout", "value": "15s"}, {"field": "backend", "value": "splunk"}]);
        let answer = json!({"fields": fields});
        assert_eq!(paths(&json!({"fields": {"backend": "splunk", "http": {"timeout": "15s"}}}), &answer), [""; 0]);
        assert_eq!(paths(&json!({"fields": {"http.timeout": "1s", "idle": null}}), &answer), ["fields.http.timeout"]);
        assert_eq!(paths(&json!({"fields": {"bakend": "splunk"}}), &answer), ["fields.bakend"]);
        assert_eq!(paths(&json!({"fields": ["http.timeout", "backend"]}), &answer), [""; 0]);
        let answer = json!({"fields": [{"field": "limit.local", "value": {"bucket": {"most": 9}}}]});
        assert_eq!(
            paths(&json!({"fields": {"limit.local.bucket.most": 9, "limit": {"global": null}}}), &answer),
            [""; 0]
        );
        assert_eq!(paths(&json!({"fields": {"limit": {"local": {"bucket": {"most": 8}}}}}), &answer).len(), 1);
    }

    #[test]
    fn several_answers_are_all_compared() {
        let answers = [json!({"kind": "A", "outcome": "decided"}), json!({"kind": "B", "outcome": "default"})];
        let expected = json!({"outcome": "decided"});
        assert_eq!(of_answers(&expected, &answers).len(), 1);
        assert_eq!(of_answers(&json!([{"kind": "A"}, {"kind": "B"}]), &answers), []);
        assert_eq!(of_answers(&json!([{"kind": "A"}]), &answers).len(), 1);
        assert_eq!(of_answers(&expected, &[]).len(), 1);
    }
}
