//! Values of policies, compared leaf by leaf.

use std::collections::BTreeMap;

use serde_json::Value as Json;
use upheld_report::is_within;

/// So many fields are named; the others are counted.
const NAMED: usize = 3;

/// The leaves of a value by their paths. A list is a leaf: what its places mean is not known.
pub(super) fn leaves(value: Json) -> BTreeMap<String, Json> {
    let mut all = BTreeMap::new();
    walk(String::new(), value, &mut all);
    all
}

fn walk(path: String, value: Json, all: &mut BTreeMap<String, Json>) {
    match value {
        Json::Object(fields) => {
            for (key, value) in fields {
                let path = if path.is_empty() { key } else { format!("{path}.{key}") };
                walk(path, value, all);
            }
        }
        // What says nothing sets nothing.
        Json::Null => {}
        other => drop(all.insert(path, other)),
    }
}

/// Whether something is said at a path, above it or below it.
pub(super) fn is_set(leaves: &BTreeMap<String, Json>, path: &str) -> bool {
    leaves.keys().any(|own| is_within(own, path) || is_within(path, own))
}

/// Names in a sentence.
pub(super) fn quoted(names: &[String]) -> String {
    let shown: Vec<String> = names.iter().take(NAMED).map(|name| format!("`{name}`")).collect();
    match names.len().checked_sub(NAMED) {
        Some(more @ 1..) => format!("{} and {more} more", shown.join(", ")),
        _ => shown.join(", "),
    }
}
