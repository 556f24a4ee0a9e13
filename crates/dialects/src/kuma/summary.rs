//! A configuration in a few words, where its kind says that there are better ones than its fields.

use upheld_engine::{KindId, Snapshot};
use upheld_model::tree::Value;

use super::SERVICE_TAGS;
use super::routes::{Route, Share};
use crate::policy_kind::{SHARES, SUMMARY};

/// How configurations of a kind are summed up, as its document says; none where their fields say it best.
pub fn of(snapshot: &Snapshot, kind: KindId) -> Option<fn(Value<'_>) -> Option<String>> {
    let document = snapshot.files().value(snapshot.kind(kind)?.at)?;
    (document.get(SUMMARY)?.text() == SHARES).then_some(route_summary)
}

/// `90% backend v1, 10% backend v2` for a configuration that splits requests; `None` if it has no weights.
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

/// A share and where it goes: the service, which may be another than the called one, and its other tags.
fn part(share: &Share<'_>, total: i64) -> String {
    let percent = share.weight.saturating_mul(100) / total;
    let others: Vec<&str> =
        (share.destination.iter()).filter(|(key, _)| !SERVICE_TAGS.contains(key)).map(|(_, value)| *value).collect();
    let service = SERVICE_TAGS.iter().find_map(|tag| share.destination.get(tag)).copied().filter(|name| *name != "*");
    let target: Vec<&str> = service.into_iter().chain(others).collect();
    let target = if target.is_empty() { "the called service".to_owned() } else { target.join(" ") };
    format!("{percent}% {target}")
}
