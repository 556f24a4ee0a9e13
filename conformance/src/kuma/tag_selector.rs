//! `legacy-tagselector`: whether a selector matches, which of two is more specific, and how specificities add up.

use anyhow::{Context, bail};
use serde_json::{Map, Value as Json, json};
use upheld_dialects::document::DEFAULT_MESH;
use upheld_dialects::kuma::ends::caller_parts;
use upheld_engine::{Question, Ruling, Specificity};
use upheld_model::{Param, State};

use super::world::World;
use super::{FROM_04, documents};
use crate::case::Case;
use crate::outcome::Outcome;

/// A kind that looks at one proxy, where a policy without selectors matches and ranks lowest.
const KIND: &str = "ProxyTemplate";

pub(super) fn run(case: &Case) -> anyhow::Result<Outcome> {
    let actual = match case.text("function")? {
        "TagSelector.Matches" => matches(case)?,
        "TagSelectorRank.CompareTo" => compare(case)?,
        "TagSelectorRank.CombinedWith" => combine(case)?,
        other => return Ok(Outcome::Skipped(format!("the function `{other}` is not part of the format"))),
    };
    Ok(Outcome::compare(case.expected(), &actual))
}

/// Whether a policy with the selector stands for a proxy with the tags.
fn matches(case: &Case) -> anyhow::Result<Json> {
    let (tags, selector) = (case.input("inboundTags"), case.input("selector"));
    let world = world(tags, &[("policy", selector)])?;
    let caller = caller_parts(world.dataplane()?.0);
    let standing = world.standing(KIND, &Question { source: Some(&caller), destination: None })?;
    Ok(json!(standing.is_some()))
}

/// Which of two policies stands for a proxy that both match, and by how much.
fn compare(case: &Case) -> anyhow::Result<Json> {
    let (left, right) = (selector(case, "left")?, selector(case, "right")?);
    let tags = without_wildcards(&left).chain(without_wildcards(&right)).collect();
    let world = world(&Json::Object(tags), &[("left", &Json::Object(left)), ("right", &Json::Object(right))])?;
    let caller = caller_parts(world.dataplane()?.0);
    let (id, _) = world.kind(KIND)?;
    let select = world.select(id).context("there are no policies")?;
    let ruling = Ruling::matched(select, &Question { source: Some(&caller), destination: None });
    let winner = ruling.in_state(State::Won).next().context("neither of the two matches")?;
    let rung = ruling.decided.and_then(|rung| select.ladder().rungs().get(rung)).context("no rung decided")?;
    let margin = match winner.reason.params {
        // Further rungs read what has nothing to do with the selectors.
        [Param::Number(mine), Param::Number(theirs), ..] if rung.column.of_match() => mine - theirs,
        _ => 0,
    };
    let name = select.entry(winner.entry).and_then(|entry| world.snapshot.policy(entry.policy));
    let value = if name.is_some_and(|policy| world.name(policy) == "left") { margin } else { -margin };
    Ok(json!({"sign": value.signum(), "value": value}))
}

/// How specific two selectors are together.
fn combine(case: &Case) -> anyhow::Result<Json> {
    let sum = specificity(case, "left")?.plus(specificity(case, "right")?);
    Ok(json!({"exact": sum.exact, "wildcard": sum.wild}))
}

fn specificity(case: &Case, side: &str) -> anyhow::Result<Specificity> {
    let count =
        |field: &str| case.input(side).get(field).and_then(Json::as_u64).and_then(|count| u16::try_from(count).ok());
    match (count("exact"), count("wildcard")) {
        (Some(exact), Some(wild)) => Ok(Specificity { exact, wild }),
        _ => bail!("`{side}` has no counts of tags"),
    }
}

/// A selector with as many tags as the case counts.
fn selector(case: &Case, side: &str) -> anyhow::Result<Map<String, Json>> {
    let Specificity { exact, wild } = specificity(case, side)?;
    let exact = (0..exact).map(|number| (format!("exact-{number}"), json!("value")));
    let wild = (0..wild).map(|number| (format!("wild-{number}"), json!("*")));
    Ok(exact.chain(wild).collect())
}

fn without_wildcards(selector: &Map<String, Json>) -> impl Iterator<Item = (String, Json)> {
    selector.keys().map(|key| (key.clone(), json!("value")))
}

/// A proxy with tags, and policies with one selector each.
fn world(tags: &Json, policies: &[(&str, &Json)]) -> anyhow::Result<World> {
    let mut all = vec![documents::dataplane(&json!({"networking": {"inbound": [{"tags": tags}]}}))?];
    for (position, (name, selector)) in policies.iter().enumerate() {
        let policy = json!({"name": name, "selectors": [{"match": selector}]});
        all.push(documents::policy(KIND, &policy, position, DEFAULT_MESH)?);
    }
    World::new(FROM_04, DEFAULT_MESH, &all)
}
