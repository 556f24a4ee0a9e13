//! A configuration in a few words, where Kuma's own fields say it best.

use upheld_model::tree::Value;

use super::SERVICE_TAGS;
use super::routes::{Route, Share};

/// How configurations of a type are summed up; none where their fields say it best.
pub fn of(policy_type: &str) -> Option<fn(Value<'_>) -> Option<String>> {
    (policy_type == "TrafficRoute").then_some(route_summary)
}

/// `90% v1, 10% v2` for the conf of a `TrafficRoute`; `None` if it says nothing of the sort.
fn route_summary(conf: Value<'_>) -> Option<String> {
    let route = Route::of(conf);
    let total: i64 = route.split.iter().map(|share| share.weight).sum();
    if total <= 0 {
        return None;
    }
    let mut parts: Vec<String> = route.split.iter().map(|share| part(share, total)).collect();
    match route.http.len() {
        0 => {}
        1 => parts.push("1 http rule".to_owned()),
        count => parts.push(format!("{count} http rules")),
    }
    Some(parts.join(", "))
}

/// A share and what tells it from others: its tags besides the service, or else the service.
fn part(share: &Share<'_>, total: i64) -> String {
    let percent = share.weight.saturating_mul(100) / total;
    let others: Vec<&str> =
        (share.destination.iter()).filter(|(key, _)| !SERVICE_TAGS.contains(key)).map(|(_, value)| *value).collect();
    let service = || SERVICE_TAGS.iter().find_map(|tag| share.destination.get(tag)).copied().unwrap_or_default();
    let target = if others.is_empty() { service().to_owned() } else { others.join(" ") };
    format!("{percent}% {target}")
}
