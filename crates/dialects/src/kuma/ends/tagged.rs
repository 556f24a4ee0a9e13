//! Who was meant, where policies were read but no proxies: policies name them by their tags.

use upheld_engine::Snapshot;
use upheld_model::tree::{Kind, Value};
use upheld_model::{Diagnostic, Policy, PolicyContent, Side};

/// The command that brings the proxies of a cluster.
pub(in crate::kuma) const BRING: &str = "kubectl get dataplanes -A -o yaml | upheld explain -f - -f …";

/// Below which fields policies write tags.
const FIELDS: [&str; 4] = ["tags", "labels", "matchLabels", "match"];

/// Whether there are policies about proxies.
pub(super) fn has_policies(snapshot: &Snapshot) -> bool {
    policies(snapshot).next().is_some()
}

/// Says how to ask without proxies: with a tag of that value that some policy names, if there is one.
pub(super) fn without_proxies(diagnostic: Diagnostic, snapshot: &Snapshot, side: Side, written: &str) -> Diagnostic {
    let flag = if side == Side::Source { "--from" } else { "--to" };
    let documents = policies(snapshot).filter_map(|policy| snapshot.files().value(policy.at));
    let mut keys: Vec<&str> = documents.flat_map(|document| tags_of(document, written)).collect();
    keys.sort_unstable();
    keys.dedup();
    let diagnostic = match keys.first() {
        Some(key) => diagnostic.help(format!(
            "no proxies were read, but policies name that tag: ask for a proxy that has it, `{flag} {key}={written}`"
        )),
        None => diagnostic.help(format!(
            "no proxies were read: ask for one that has certain tags, `{flag} kuma.io/service={written}`"
        )),
    };
    diagnostic.help(format!("or bring the proxies: `{BRING}`"))
}

fn policies(snapshot: &Snapshot) -> impl Iterator<Item = &Policy> {
    let all = snapshot.policies().iter().map(|(_, policy)| policy);
    all.filter(|policy| matches!(policy.says, PolicyContent::Selectors { .. } | PolicyContent::Layers(_)))
}

/// The tags of a document that have a value.
fn tags_of<'v>(document: Value<'v>, wanted: &str) -> Vec<&'v str> {
    let mut found = Vec::new();
    let mut waiting = vec![document];
    while let Some(value) = waiting.pop() {
        waiting.extend(value.items());
        for (key, inner) in value.entries() {
            if FIELDS.contains(&key.text()) && inner.kind() == Kind::Map {
                found.extend(inner.entries().filter(|(_, tag)| tag.text() == wanted).map(|(tag, _)| tag.text()));
            }
            waiting.push(inner);
        }
    }
    found
}
