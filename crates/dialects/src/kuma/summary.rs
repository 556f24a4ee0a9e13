//! A configuration in a few words, where Kuma's own fields say it best.

use upheld_model::tree::Value;

use super::SERVICE_TAGS;

/// `90% v1, 10% v2` for the split of a `TrafficRoute`; `None` where the leaves say enough.
pub fn summary(payload: Value<'_>) -> Option<String> {
    let items: Vec<Value<'_>> = match payload.get("split") {
        Some(split) => split.items().collect(),
        None => payload.items().filter(|item| item.get("destination").is_some()).collect(),
    };
    let parts: Vec<String> = items
        .iter()
        .filter_map(|item| {
            let weight = item.get("weight").map_or("100", Value::text);
            Some(format!("{weight}% {}", target(item.get("destination")?)))
        })
        .collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// What tells one destination from another: its tags besides the service, or else the service.
fn target(destination: Value<'_>) -> String {
    let others: Vec<&str> = (destination.entries())
        .filter(|(key, _)| !SERVICE_TAGS.contains(&key.text()))
        .map(|(_, value)| value.text())
        .collect();
    if others.is_empty() {
        SERVICE_TAGS.iter().find_map(|tag| destination.get(tag)).map_or("", Value::text).to_owned()
    } else {
        others.join(" ")
    }
}
