//! Policies as they are written in cases.

use anyhow::{Context, bail};
use serde_json::Value as Json;
use upheld_dialects::gateways::gateway_api::policy::{Extent, Side};
use upheld_dialects::gateways::gateway_api::{Policy, Statement};
use upheld_model::Timestamp;

use super::values::config;

/// Policies with the targets they are attached to.
#[derive(Debug, Default)]
pub(super) struct Attached<'c> {
    pub(super) policies: Vec<Policy>,
    targets: Vec<&'c str>,
}

impl<'c> Attached<'c> {
    /// Reads policies; `says` is what each of them says.
    pub(super) fn read(
        written: &'c Json,
        says: impl Fn(&Json) -> anyhow::Result<Vec<Statement>>,
    ) -> anyhow::Result<Self> {
        let mut attached = Self::default();
        for policy in written.as_array().into_iter().flatten() {
            attached.policies.push(read(policy, says(policy)?)?);
            attached.targets.push(policy.get("target").and_then(Json::as_str).unwrap_or_default());
        }
        Ok(attached)
    }

    /// The policies of each node of a path.
    pub(super) fn levels(&self, path: &[&str]) -> Vec<Vec<usize>> {
        path.iter().map(|node| self.on(node)).collect()
    }

    /// The policies of one node.
    pub(super) fn on(&self, node: &str) -> Vec<usize> {
        let places = self.targets.iter().enumerate().filter(|(_, target)| **target == node);
        places.map(|(place, _)| place).collect()
    }

    /// The names of policies.
    pub(super) fn names(&self, places: &[usize]) -> Vec<&str> {
        places.iter().filter_map(|place| self.policies.get(*place)).map(|policy| policy.name.as_str()).collect()
    }

    /// What a policy is attached to.
    pub(super) fn target(&self, place: usize) -> &'c str {
        self.targets.get(place).copied().unwrap_or_default()
    }
}

/// One policy: its identity from `metadata` or beside what it says.
pub(super) fn read(written: &Json, says: Vec<Statement>) -> anyhow::Result<Policy> {
    let field = |name: &str| written.get("metadata").unwrap_or(written).get(name).and_then(Json::as_str);
    Ok(Policy {
        kind: written.get("kind").and_then(Json::as_str).unwrap_or_default().into(),
        namespace: field("namespace").unwrap_or_default().into(),
        name: field("name").context("a policy of the case has no name")?.into(),
        created: field("creationTimestamp").map(moment).transpose()?,
        says,
    })
}

/// A time, or `t`, `t+1` and so on.
fn moment(text: &str) -> anyhow::Result<Timestamp> {
    let relative = text.strip_prefix('t').map(|rest| rest.strip_prefix('+').unwrap_or("0").trim());
    match relative {
        Some(steps) => Ok(Timestamp(steps.parse().with_context(|| format!("`{text}` is no time"))?)),
        None => text.parse().ok().with_context(|| format!("`{text}` is no time")),
    }
}

/// The stanzas `defaults` and `overrides`, each with its strategy, and what stands beside them. `part` picks what counts.
pub(super) fn stanzas(written: &Json, part: fn(&Json) -> Json) -> anyhow::Result<Vec<Statement>> {
    let mut says = Vec::new();
    for (name, side) in [("defaults", Side::Defaults), ("overrides", Side::Overrides)] {
        let Some(stanza) = written.get(name) else { continue };
        let extent = extent(stanza)?.or(extent(written)?);
        says.push(Statement { side: Some(side), extent, config: config(&part(stanza))? });
    }
    Ok(says)
}

/// Whether something is won as a whole or by field, if it says so.
pub(super) fn extent(written: &Json) -> anyhow::Result<Option<Extent>> {
    Ok(match written.get("strategy").and_then(Json::as_str) {
        None => None,
        Some("atomic") => Some(Extent::Whole),
        Some("patch" | "merge") => Some(Extent::Fields),
        Some(other) => bail!("`{other}` is no strategy"),
    })
}
