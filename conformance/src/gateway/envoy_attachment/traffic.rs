//! What a `BackendTrafficPolicy` comes to, in words that both the policy and the representation of cases have: which features
//! there are, and the values that keep their form.

use serde_json::{Map, Value as Json, json};
use upheld_dialects::gateways::gateway_api::Asked;
use upheld_engine::hierarchy::Effective;
use upheld_engine::merge::Merged;
use upheld_model::LayerContent;

/// Fields of the spec that are not features of routes.
const ELSEWHERE: [&str; 2] = ["routingType", "useClientProtocol"];

/// Load balancers under the names of the representation.
const BALANCERS: [&str; 4] = ["consistentHash", "leastRequest", "random", "roundRobin"];

/// What a case expects.
pub(super) fn wanted(traffic: &Json) -> Json {
    let features = traffic.as_object().into_iter().flatten().map(|(key, value)| {
        let shown = match key.as_str() {
            "loadBalancer" => json!(BALANCERS.iter().find(|name| value.get(**name).is_some())),
            "rateLimit" => limits(value, |rule, _| rule.get("name").cloned().unwrap_or_default()),
            _ => kept(key, value),
        };
        (key.clone(), shown)
    });
    Json::Object(features.collect())
}

/// What holds, from a spec with its origins.
pub(super) fn found(spec: &Json, asked: &Asked<'_>, answer: &Effective) -> Map<String, Json> {
    let mut features = Map::new();
    let fields = spec.as_object().into_iter().flatten();
    for (key, value) in fields.filter(|(key, value)| says_something(value) && !ELSEWHERE.contains(&key.as_str())) {
        match key.as_str() {
            // The newer field replaces the older one.
            "compression" if spec.get("compressor").is_some_and(says_something) => {}
            "compressor" => {
                let enabled = enabled(value);
                if says_something(&enabled) {
                    features.insert("compression".to_owned(), kept("compression", &enabled));
                }
            }
            "connection" => drop(features.insert("backendConnection".to_owned(), json!({}))),
            "loadBalancer" => {
                let name = value.get("type").and_then(Json::as_str).unwrap_or_default();
                let known = BALANCERS.iter().find(|known| known.eq_ignore_ascii_case(name));
                features.insert(key.clone(), json!(known));
            }
            "rateLimit" => {
                let owners = owners(asked, answer);
                features.insert(key.clone(), limits(value, |_, place| json!(owners.get(place))));
            }
            _ => drop(features.insert(key.clone(), kept(key, value))),
        }
    }
    features
}

/// Whether a field has any effect.
pub(super) fn says_something(value: &Json) -> bool {
    !value.is_null() && value.as_array().is_none_or(|items| !items.is_empty())
}

/// The compressors whose own settings are there, even if empty; without them one is switched off.
fn enabled(compressors: &Json) -> Json {
    let items = compressors.as_array().into_iter().flatten();
    let on = items.filter(|item| {
        let name = item.get("type").and_then(Json::as_str).unwrap_or_default().to_ascii_lowercase();
        item.get(name).is_some_and(|settings| !settings.is_null())
    });
    Json::Array(on.cloned().collect())
}

/// The part of a value that is the same in the spec and in the representation.
fn kept(key: &str, value: &Json) -> Json {
    match key {
        "compression" | "httpUpgrade" => {
            let items = value.as_array().into_iter().flatten();
            items.map(|item| item.get("type").cloned().unwrap_or_default()).collect()
        }
        "timeout" => durations(value),
        _ => json!({}),
    }
}

/// Which limits there are; of global ones, how much they allow and what they are called.
fn limits(value: &Json, name: impl Fn(&Json, usize) -> Json) -> Json {
    let local = value.get("local").is_some_and(|local| !local.is_null());
    let rules = value.pointer("/global/rules").and_then(Json::as_array).into_iter().flatten().enumerate();
    let rules = rules.map(|(place, rule)| {
        let part = |key: &str| rule.get("limit").and_then(|limit| limit.get(key)).cloned().unwrap_or_default();
        json!({"requests": part("requests"), "unit": part("unit"), "name": name(rule, place)})
    });
    json!({"local": local, "global": rules.collect::<Vec<_>>()})
}

/// The names of global limits: the policy that has each, and its place there.
fn owners(asked: &Asked<'_>, answer: &Effective) -> Vec<String> {
    let entry = |place: usize| asked.kind().policies.entry(answer.order.get(place)?.entry);
    let rules = |place: usize| {
        let said = entry(place).and_then(|entry| entry.says());
        let Some(LayerContent::Whole { config, .. }) = said.map(|layer| &layer.says) else { return 0 };
        let found = config.get("rateLimit").and_then(|limit| limit.get("global")?.get("rules"));
        found.map_or(0, |rules| rules.items().len())
    };
    let leaves = answer.merged.as_ref().map(Merged::leaves).unwrap_or_default();
    // Who speaks last about a limit is its owner, and each has all of its limits or none.
    let has_any =
        |place: &usize| leaves.iter().any(|leaf| leaf.by == *place && leaf.path.starts_with("rateLimit.global.rules"));
    let named = (0..answer.order.len()).filter(has_any).flat_map(|place| {
        let text = |symbol| asked.network().snapshot.text(symbol);
        let path = entry(place).map(|entry| format!("{}/{}", text(entry.namespace), text(entry.name)));
        let path = path.unwrap_or_default();
        (0..rules(place)).map(move |rule| format!("{path}/rule/{rule}"))
    });
    named.collect()
}

/// All durations in milliseconds: `1m` and `60s` are the same.
fn durations(value: &Json) -> Json {
    match value {
        Json::Object(fields) => {
            let said = fields.iter().filter(|(_, value)| says_something(value));
            Json::Object(said.map(|(key, value)| (key.clone(), durations(value))).collect())
        }
        Json::String(text) => milliseconds(text).map_or_else(|| value.clone(), |sum| json!(sum)),
        other => other.clone(),
    }
}

fn milliseconds(text: &str) -> Option<u64> {
    let (mut rest, mut sum) = (text, 0);
    while !rest.is_empty() {
        let digits = rest.find(|letter: char| !letter.is_ascii_digit())?;
        let (number, after) = rest.split_at_checked(digits)?;
        let unit_end = after.find(|letter: char| letter.is_ascii_digit()).unwrap_or(after.len());
        let (unit, after) = after.split_at_checked(unit_end)?;
        let factor = match unit {
            "ms" => 1,
            "s" => 1000,
            "m" => 60_000,
            "h" => 3_600_000,
            _ => return None,
        };
        sum += number.parse::<u64>().ok()?.checked_mul(factor)?;
        rest = after;
    }
    Some(sum)
}
