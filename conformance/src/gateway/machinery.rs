//! Kuadrant's policy machinery: two policies with named rules, and effective policies along paths with the origin of each rule.

use serde_json::{Map, Value as Json, json};
use upheld_dialects::gateways::gateway_api::effective::Inherited;
use upheld_dialects::gateways::gateway_api::{Profile, Statement, effective};
use upheld_engine::merge::Merged;

use super::paths::{Topology, shown};
use super::policies::{Attached, read, stanzas};
use super::values::{config, held, json};
use crate::case::Case;
use crate::outcome::Outcome;

pub(super) fn run(case: &Case) -> anyhow::Result<Outcome> {
    // The same documents with strategies that patch: the operation says so, or the example that the case comes from.
    let example = case.field("source").get("path").and_then(Json::as_str).unwrap_or_default();
    let patches = case.text("operation")?.contains("RFC 7386") || example.split('/').any(|part| part == "json_patch");
    let profile = if patches { Profile::kuadrant_patch() } else { Profile::kuadrant() };
    if case.says("topology") { along_paths(case, &profile) } else { of_two(case, &profile) }
}

fn of_two(case: &Case, profile: &Profile) -> anyhow::Result<Outcome> {
    let mut policies = Vec::new();
    for name in ["source", "target"] {
        let written = case.field(name);
        policies.push(read(&json!({"name": name}), says(written)?)?);
    }
    let inherited = effective(profile, &policies, &[vec![0], vec![1]], None);
    let actual = match held(&inherited)? {
        Json::Null => json!({}),
        rules => rules,
    };
    Ok(Outcome::compare(case.field("expectedRules"), &actual))
}

fn along_paths(case: &Case, profile: &Profile) -> anyhow::Result<Outcome> {
    let topology = Topology::read(case.field("topology"))?;
    let attached = Attached::read(case.field("policies"), says)?;
    let mut actual = Map::new();
    for path in topology.paths() {
        let inherited = effective(profile, &attached.policies, &attached.levels(&path), None);
        actual.insert(shown(&path), rules(&attached, &inherited)?);
    }
    Ok(Outcome::compare(case.expected(), &Json::Object(actual)))
}

/// What a policy says: its rules, in a stanza or not.
fn says(written: &Json) -> anyhow::Result<Vec<Statement>> {
    let rules = |stanza: &Json| stanza.get("rules").cloned().unwrap_or_else(|| json!({}));
    let mut says = stanzas(written, rules)?;
    if says.is_empty() {
        says.push(Statement::bare(config(&rules(written))?));
    }
    Ok(says)
}

/// Each rule with the policy that declared it.
fn rules(attached: &Attached<'_>, inherited: &Inherited) -> anyhow::Result<Json> {
    let mut all = Map::new();
    let mut add = |name: &str, colour: Json, by: &[usize]| {
        let by: Vec<usize> = by.iter().map(|place| inherited.speaker(*place)).collect();
        let from = attached.names(&by);
        all.insert(name.to_owned(), json!({"color": colour, "from": from.first()}));
    };
    match inherited.merged() {
        Some(Merged::Map { fields, .. }) => {
            for (name, rule) in fields {
                // A patch with a null removes a rule.
                if let Some(colour) = rule.config() {
                    add(name, json(&colour)?, &rule.contributors());
                }
            }
        }
        Some(Merged::Whole { value, by, .. }) => {
            for (name, colour) in value.entries() {
                add(name, json(colour)?, &[*by]);
            }
        }
        _ => {}
    }
    Ok(Json::Object(all))
}
