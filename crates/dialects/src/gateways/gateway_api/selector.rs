//! Label selectors of Kubernetes.

use upheld_model::tree::Value;

use super::resources::{children, text};

/// Whether the labels of something are selected.
pub(crate) fn selects(selector: Value<'_>, labels: &[(&str, &str)]) -> bool {
    selects_known(selector, labels, |_| true) == Some(true)
}

/// Whether labels are selected of which only some are known; `None` if that depends on the others.
pub(crate) fn selects_known(
    selector: Value<'_>,
    labels: &[(&str, &str)],
    is_known: impl Fn(&str) -> bool,
) -> Option<bool> {
    let label = |key: &str| labels.iter().find(|(known, _)| *known == key).map(|(_, value)| *value);
    let exact = selector.get("matchLabels").into_iter().flat_map(Value::entries);
    let exact = exact.map(|(key, value)| is_known(key.text()).then(|| label(key.text()) == Some(value.text())));
    let expressions = children(selector, "matchExpressions").map(|expression| {
        let key = text(expression, "key").unwrap_or_default();
        let found = label(key);
        let listed = found.is_some_and(|found| children(expression, "values").any(|value| value.text() == found));
        is_known(key).then(|| match text(expression, "operator").unwrap_or_default() {
            "In" => listed,
            "NotIn" => !listed,
            "Exists" => found.is_some(),
            "DoesNotExist" => found.is_none(),
            _ => false,
        })
    });
    let mut all = Some(true);
    for one in exact.chain(expressions) {
        match one {
            // One that certainly fails is enough, whatever the others are.
            Some(false) => return Some(false),
            Some(true) => {}
            None => all = None,
        }
    }
    all
}
