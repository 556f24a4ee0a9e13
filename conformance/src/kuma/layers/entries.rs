//! `*-sort` and `*-inboundrules`: entries of policies that match already, in their order.

use anyhow::Context;
use serde_json::{Value as Json, json};
use upheld_dialects::kuma::edition::Edition;

use super::scene::{Cast, Scene, compare, origin, text};
use super::written::forget;
use crate::case::Case;
use crate::outcome::Outcome;

/// Policies of a case that count have names with this beginning; the others are there to be referred to.
pub(super) const COUNTS: &str = "matched-for-rules-";

/// `*-inboundrules`
pub(super) fn run_inbound(case: &Case, edition: Edition) -> anyhow::Result<Outcome> {
    let (scene, kind) = scene(case, edition)?;
    let listed = match scene.rules(&kind)? {
        Some(rules) => {
            let slots = scene.slots(&rules, |name| name.starts_with(COUNTS));
            scene.inbound_rules(&rules, &rules.inbound_rules(&slots))?
        }
        None => json!([]),
    };
    Ok(compare(&case.document("golden.yaml")?, &json!({"rules": listed})))
}

/// `*-sort`
pub(super) fn run_sort(case: &Case, edition: Edition) -> anyhow::Result<Outcome> {
    let (scene, kind) = scene(case, edition)?;
    let mut listed = Vec::new();
    if let Some(rules) = scene.rules(&kind)? {
        let slots = scene.slots(&rules, |name| name.starts_with(COUNTS));
        for id in rules.sorted_destinations(&slots) {
            let entry = rules.merge.entry(id).context("there is no such entry")?;
            let (policy, number) = origin(&rules, id)?;
            let item = scene.item(&rules, entry)?;
            let top = scene.resource(policy.at)?.spec().and_then(|spec| spec.get("targetRef"));
            let mut top = top.map_or_else(|| Ok(json!({"kind": "Mesh"})), serde_json::to_value)?;
            if edition == Edition::V3 {
                forget(&mut top);
            }
            let meta = scene.meta(policy.at)?;
            listed.push(json!({"Entry": item, "Meta": meta, "TopLevel": top, "RuleIndex": number}));
        }
    }
    Ok(compare(&case.document("golden.yaml")?, &Json::Array(listed)))
}

/// The documents, and the type of the policies that count.
fn scene(case: &Case, edition: Edition) -> anyhow::Result<(Scene, String)> {
    let documents = case.documents("input.yaml")?;
    let counting = documents.iter().find(|document| text(document, "name").starts_with(COUNTS));
    let kind = text(counting.context("the case has no policy that counts")?, "type").to_owned();
    let mut cast = Cast::default();
    cast.add(documents);
    Ok((cast.read(edition)?, kind))
}
