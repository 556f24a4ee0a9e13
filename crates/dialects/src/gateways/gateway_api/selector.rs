//! Label selectors of Kubernetes.

use upheld_model::tree::Value;

use super::resources::{children, text};

/// Whether the labels of something are selected.
pub(crate) fn selects(selector: Value<'_>, labels: &[(&str, &str)]) -> bool {
    let label = |key: &str| labels.iter().find(|(known, _)| *known == key).map(|(_, value)| *value);
    let exact = selector.get("matchLabels").into_iter().flat_map(Value::entries);
    let mut exact = exact.map(|(key, value)| label(key.text()) == Some(value.text()));
    let mut expressions = children(selector, "matchExpressions").map(|expression| {
        let found = label(text(expression, "key").unwrap_or_default());
        let listed = found.is_some_and(|found| children(expression, "values").any(|value| value.text() == found));
        match text(expression, "operator").unwrap_or_default() {
            "In" => listed,
            "NotIn" => !listed,
            "Exists" => found.is_some(),
            "DoesNotExist" => found.is_none(),
            _ => false,
        }
    });
    exact.all(|holds| holds) && expressions.all(|holds| holds)
}
