//! Durations in one form: goldens have them as Go writes them, documents as people do.

use serde_json::Value as Json;

/// The value with every duration in nanoseconds.
pub(in crate::kuma) fn counted(value: &Json) -> Json {
    match value {
        Json::String(text) => {
            nanoseconds(text).map_or_else(|| value.clone(), |count| Json::String(format!("{count}ns")))
        }
        Json::Array(items) => items.iter().map(counted).collect(),
        Json::Object(fields) => fields.iter().map(|(key, value)| (key.clone(), counted(value))).collect(),
        _ => value.clone(),
    }
}

const UNITS: [(&str, f64); 7] =
    [("ns", 1.0), ("us", 1e3), ("µs", 1e3), ("ms", 1e6), ("s", 1e9), ("m", 60e9), ("h", 3600e9)];

/// How long a text such as `1m30s` is; `None` if it is not a duration.
fn nanoseconds(text: &str) -> Option<f64> {
    let (sign, mut rest) = text.strip_prefix('-').map_or((1.0, text), |rest| (-1.0, rest));
    let mut sum = 0.0;
    if rest.is_empty() {
        return None;
    }
    while !rest.is_empty() {
        let digits = rest.find(|character: char| !character.is_ascii_digit() && character != '.')?;
        let (number, after) = rest.split_at_checked(digits)?;
        let unit = after.find(|character: char| character.is_ascii_digit()).unwrap_or(after.len());
        let (unit, after) = after.split_at_checked(unit)?;
        let (_, length) = UNITS.iter().find(|(name, _)| *name == unit)?;
        sum += number.parse::<f64>().ok()? * length;
        rest = after;
    }
    Some(sign * sum)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn forms_of_one_duration_are_equal() {
        assert_eq!(counted(&json!(["101s", "1h", "0s"])), counted(&json!(["1m41s", "1h0m0s", "0ms"])));
        assert_ne!(counted(&json!("1s")), counted(&json!("1m")));
    }

    #[test]
    fn other_texts_stay() {
        for text in ["", "-", "5", "5xx", "s", "1.1.1.1", "a1s", "1s-"] {
            assert_eq!(counted(&json!(text)), json!(text));
        }
    }
}
