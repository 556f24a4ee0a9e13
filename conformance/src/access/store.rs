//! `buntime-pep/store`: policies that come, are asked for, and go.

use anyhow::{Context, bail};
use serde_json::{Value as Json, json};
use smol_str::SmolStr;
use upheld_dialects::access::PolicyStore;

use crate::case::Case;
use crate::difference::differences;
use crate::outcome::Outcome;

pub(super) fn run(case: &Case) -> anyhow::Result<Outcome> {
    let mut store = PolicyStore::new();
    let mut lines = Vec::new();
    for (step, operation) in (1..).zip(case.field("ops").as_array().into_iter().flatten()) {
        if let Some((expected, actual)) = perform(&mut store, operation)? {
            lines.extend(differences(&expected, &actual).into_iter().map(|line| format!("step {step}: {line}")));
        }
    }
    Ok(if lines.is_empty() { Outcome::Passed } else { Outcome::Failed(lines) })
}

/// Does one step; what is expected of it and what came out, if it says anything.
fn perform(store: &mut PolicyStore<Json>, operation: &Json) -> anyhow::Result<Option<(Json, Json)>> {
    let [word, arguments @ ..] = operation.as_array().map_or(&[][..], Vec::as_slice) else { bail!("a step is empty") };
    let argument = |place: usize| arguments.get(place).cloned().unwrap_or_default();
    let id = || arguments.first().and_then(Json::as_str).context("the step names no policy");
    Ok(match word.as_str().unwrap_or_default() {
        "set" => {
            store.extend([with_id(&argument(0))?]);
            None
        }
        "bulk" => {
            store.extend(all_with_ids(&argument(0))?);
            None
        }
        "clear" => {
            store.clear();
            None
        }
        "get" => Some((argument(1), store.get(id()?).cloned().unwrap_or_default())),
        "delete" => Some((argument(1), json!(store.delete(id()?)))),
        "count" => Some((argument(0), json!(store.len()))),
        "all" => Some((argument(0), store.iter().map(|(_, policy)| policy.clone()).collect())),
        "order" => Some((argument(0), store.ids().collect())),
        other => bail!("`{other}` is no step"),
    })
}

/// A policy with its id.
pub(super) fn with_id(policy: &Json) -> anyhow::Result<(SmolStr, Json)> {
    let id = policy.get("id").and_then(Json::as_str).context("a policy has no id")?;
    Ok((SmolStr::new(id), policy.clone()))
}

/// Policies with their ids.
pub(super) fn all_with_ids(policies: &Json) -> anyhow::Result<Vec<(SmolStr, Json)>> {
    policies.as_array().into_iter().flatten().map(with_id).collect()
}
