//! `v2-rules-*` and `v3-rules-single`: rules of policies that match already, in their final order.

use anyhow::Context;
use serde_json::{Value as Json, json};
use upheld_dialects::kuma::edition::Edition;
use upheld_dialects::kuma::layered::ROUTE;
use upheld_dialects::kuma::rules::Rules;

use super::scene::{Cast, Scene, compare, refused, text};
use super::shown::confs;
use super::{V2, V3};
use crate::case::Case;
use crate::outcome::Outcome;

/// The one listener that there is.
const LISTENER: &str = "127.0.0.1:80";

/// `v2-rules-from`
pub(super) fn run_from(case: &Case) -> anyhow::Result<Outcome> {
    with_rules(case, V2, |scene, rules, slots| {
        Ok(json!({
            "Rules": {LISTENER: scene.subset_rules(rules, &rules.client_rules(slots).map_err(refused)?)?},
            "InboundRules": {LISTENER: scene.inbound_rules(rules, &rules.inbound_rules(slots))?},
        }))
    })
}

/// `v2-rules-to`
pub(super) fn run_to(case: &Case) -> anyhow::Result<Outcome> {
    with_rules(case, V2, |scene, rules, slots| {
        Ok(json!({
            "Rules": scene.subset_rules(rules, &rules.service_rules(slots).map_err(refused)?)?,
            "ResourceRules": scene.resource_rules(rules, &rules.resource_rules(slots))?,
        }))
    })
}

/// `v2-rules-single`
pub(super) fn run_single_v2(case: &Case) -> anyhow::Result<Outcome> {
    with_rules(case, V2, |scene, rules, slots| {
        let Some((conf, origin)) = single(scene, rules, slots)? else { return Ok(json!({"Rules": []})) };
        Ok(json!({"Rules": [{"Subset": [], "Conf": conf, "Origin": origin, "OriginByMatches": {}}]}))
    })
}

/// `v3-rules-single`
pub(super) fn run_single_v3(case: &Case) -> anyhow::Result<Outcome> {
    with_rules(case, V3, |scene, rules, slots| {
        let single = single(scene, rules, slots)?;
        Ok(single.map_or(Json::Null, |(conf, origin)| json!({"Conf": conf, "Origin": origin})))
    })
}

/// The configuration of the whole proxy and where it comes from.
fn single(scene: &Scene, rules: &Rules<'_>, slots: &[u32]) -> anyhow::Result<Option<(Json, Json)>> {
    let Some(rule) = rules.proxy_rule(slots) else { return Ok(None) };
    let conf = confs(&rule.results)?.get(0).cloned().unwrap_or_default();
    let lowest_first: Vec<_> = rule.entries.iter().rev().copied().collect();
    Ok(Some((conf, scene.origins(rules, &lowest_first)?)))
}

/// Routes are there to be referred to, unless there is nothing else.
fn with_rules(
    case: &Case,
    edition: Edition,
    list: impl Fn(&Scene, &Rules<'_>, &[u32]) -> anyhow::Result<Json>,
) -> anyhow::Result<Outcome> {
    let documents = case.documents("input.yaml")?;
    let kinds = || documents.iter().map(|document| text(document, "type"));
    let kind = kinds().find(|kind| *kind != ROUTE).or_else(|| kinds().next());
    let kind = kind.context("the case has no policies")?.to_owned();
    let mut cast = Cast::default();
    cast.add(documents);
    let scene = cast.read(edition)?;
    let rules = scene.rules(&kind)?.context("the case has no policies")?;
    let actual = list(&scene, &rules, &rules.in_document_order())?;
    Ok(compare(&case.document("golden.yaml")?, &actual))
}
