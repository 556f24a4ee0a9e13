//! How an answer differs from what is expected of it.

use std::collections::BTreeMap;

use serde_json::{Map, Value as Json, json};

use super::written::{self, shown, texts};
use crate::difference;

/// All differences in what is expected; what an answer says beyond that does not matter.
pub(super) fn differences(expected: &Json, answer: &Json) -> Vec<String> {
    let mut lines = Vec::new();
    for (field, wanted) in expected.as_object().into_iter().flatten() {
        let Some(actual) = answer.get(field) else {
            lines.push(format!("{field}: expected {wanted}, got nothing"));
            continue;
        };
        let wanted = match field.as_str() {
            "violations" | "waived" => {
                multisets(field, wanted, actual, &mut lines);
                continue;
            }
            "tags" => tags(wanted),
            "values" => shown(&texts(wanted).unwrap_or_default()),
            _ => wanted.clone(),
        };
        lines.extend(difference::differences(&json!({field: wanted}), &json!({field: actual})));
    }
    lines
}

/// Lists whose order means nothing, but how often something is in them does.
fn multisets(field: &str, expected: &Json, actual: &Json, lines: &mut Vec<String>) {
    let mut counts: BTreeMap<String, i64> = BTreeMap::new();
    for violation in expected.as_array().into_iter().flatten() {
        *counts.entry(violation_of(violation).to_string()).or_default() += 1;
    }
    for violation in actual.as_array().into_iter().flatten() {
        *counts.entry(violation.to_string()).or_default() -= 1;
    }
    for (violation, count) in counts {
        match count {
            0 => {}
            1.. => lines.push(format!("{field}: {violation} is missing")),
            _ => lines.push(format!("{field}: {violation} is not expected")),
        }
    }
}

/// An expected violation with everything that may be left out, in the form of answers.
fn violation_of(expected: &Json) -> Json {
    let field = |name: &str| expected.get(name).unwrap_or(&Json::Null);
    let rule = expected.get("rule").cloned().unwrap_or_else(|| json!(0));
    let values = |name: &str| texts(field(name)).unwrap_or_default();
    let (a, b) = (values("aValues"), values("bValues"));
    written::violation(field("policy"), &rule, [field("a"), field("b")], [&a, &b])
}

/// Tags as they are read everywhere: without those that have no values.
fn tags(expected: &Json) -> Json {
    let tags = written::tags(expected).unwrap_or_default();
    let tags = tags.into_iter().filter(|(_, values)| !values.is_empty());
    Json::Object(tags.map(|(key, values)| (key.to_string(), shown(&values))).collect::<Map<_, _>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn violation(values: &Json) -> Json {
        json!({"policy": "p", "rule": 0, "a": "workspace/w", "b": "project/p", "aValues": values, "bValues": []})
    }

    #[track_caller]
    fn check(expected: &Json, answer: &Json, lines: &[&str]) {
        assert_eq!(differences(expected, answer), lines);
    }

    #[test]
    fn what_is_not_expected_is_not_compared() {
        let answer = json!({"outcome": "soft", "violations": [violation(&json!([]))]});
        check(&json!({"outcome": "soft"}), &answer, &[]);
        check(&json!({"outcome": "allowed"}), &answer, &[r#"outcome: expected "allowed", got "soft""#]);
        check(&json!({"compliant": true}), &answer, &["compliant: expected true, got nothing"]);
    }

    #[test]
    fn violations_count_and_their_order_does_not() {
        let [one, other] = [json!(["dev"]), json!(["5"])].map(|values| violation(&values));
        let short = json!({"policy": "p", "a": "workspace/w", "b": "project/p", "aValues": [5.0]});
        check(&json!({"violations": [one, short]}), &json!({"violations": [other, one]}), &[]);
        let missing = format!("violations: {one} is missing");
        check(&json!({"violations": [one, one]}), &json!({"violations": [one]}), &[&missing]);
        let beyond = format!("waived: {other} is not expected");
        check(&json!({"waived": []}), &json!({"waived": [other]}), &[&beyond]);
    }

    #[test]
    fn tags_without_values_are_absent() {
        check(&json!({"tags": {"a": "x", "b": []}}), &json!({"tags": {"a": ["x"]}}), &[]);
        check(&json!({"tags": {}}), &json!({"tags": {"a": ["x"]}}), &[r#"tags.a: expected nothing, got ["x"]"#]);
    }
}
