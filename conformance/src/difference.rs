//! How two values differ, in lines that name the place: `items[0].name: expected "a", got "b"`.

use serde_json::{Map, Value as Json};

/// All differences; none if the values are equal. The order of keys means nothing, the order of lists does.
pub(crate) fn differences(expected: &Json, actual: &Json) -> Vec<String> {
    let mut lines = Vec::new();
    compare("", Some(expected), Some(actual), &mut lines);
    lines
}

fn compare(path: &str, expected: Option<&Json>, actual: Option<&Json>, lines: &mut Vec<String>) {
    match (expected, actual) {
        (Some(Json::Object(expected)), Some(Json::Object(actual))) => {
            for key in keys(expected, actual) {
                let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                compare(&path, expected.get(key), actual.get(key), lines);
            }
        }
        (Some(Json::Array(expected)), Some(Json::Array(actual))) => {
            for index in 0..expected.len().max(actual.len()) {
                compare(&format!("{path}[{index}]"), expected.get(index), actual.get(index), lines);
            }
        }
        (Some(Json::Number(expected)), Some(Json::Number(actual))) if expected.as_f64() == actual.as_f64() => {}
        (expected, actual) if expected == actual => {}
        (expected, actual) => {
            let place = if path.is_empty() { "everything" } else { path };
            lines.push(format!("{place}: expected {}, got {}", shown(expected), shown(actual)));
        }
    }
}

fn keys<'j>(expected: &'j Map<String, Json>, actual: &'j Map<String, Json>) -> impl Iterator<Item = &'j String> {
    expected.keys().chain(actual.keys().filter(|key| !expected.contains_key(*key)))
}

fn shown(value: Option<&Json>) -> String {
    value.map_or_else(|| "nothing".to_owned(), Json::to_string)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(expected: &Json, actual: &Json, lines: &[&str]) {
        assert_eq!(differences(expected, actual), lines);
    }

    #[test]
    fn equal_values_do_not_differ() {
        check(&json!({"a": 1, "b": [null]}), &json!({"b": [null], "a": 1.0}), &[]);
    }

    #[test]
    fn places_are_named() {
        let actual = json!({"items": [{"name": "b"}, 2], "more": true});
        let lines = [
            r#"items[0].name: expected "a", got "b""#,
            "items[1]: expected nothing, got 2",
            "less: expected null, got nothing",
            "more: expected nothing, got true",
        ];
        check(&json!({"items": [{"name": "a"}], "less": null}), &actual, &lines);
    }

    #[test]
    fn the_order_of_lists_counts() {
        check(&json!([1, 2]), &json!([2, 1]), &["[0]: expected 1, got 2", "[1]: expected 2, got 1"]);
    }

    #[test]
    fn whole_values_differ_too() {
        check(&json!(true), &json!(false), &["everything: expected true, got false"]);
    }
}
