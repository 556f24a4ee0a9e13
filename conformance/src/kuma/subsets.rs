//! `unit-subset`, `unit-cliques` and `derived-clique-divergence`: clients in subsets.

use std::sync::Arc;

use anyhow::{Context, bail};
use serde_json::{Value as Json, json};
use upheld_dialects::kuma::subsets::{
    Client, Grouping, Limits, Negations, Rule, Subset, Tag, cells, cells_with, exact_items, folding, lookup, rules,
};
use upheld_engine::merge::Strategy;
use upheld_model::Config;

use super::config;
use crate::case::Case;
use crate::outcome::Outcome;

/// `unit-subset`
pub(super) fn run(case: &Case) -> anyhow::Result<Outcome> {
    let input = |name: &str| subset(case.input(name));
    let actual = match case.text("function")? {
        "Subset.IsSubset" => json!(input("self").has_all_of(&input("other"))),
        "Subset.Intersect" => json!(input("left").meets(&input("right"))),
        "Subset.ContainsElement" => json!(input("subset").has(&client(case.input("element")))),
        "SubsetIter" => {
            let sequence: Vec<Json> = cells(&input("tags").tags).map(|cell| subset_json(&cell)).collect();
            json!({"sequence": sequence})
        }
        "Rules.Compute" => {
            let mut listed = Vec::new();
            for rule in case.input_list("rules") {
                let conf = Some(config(rule.get("conf").unwrap_or(&Json::Null))?);
                let subset = subset(rule.get("subset").unwrap_or(&Json::Null));
                listed.push(Rule { subset, items: Arc::new([]), conf });
            }
            let found = lookup(&listed, &client(case.input("element")));
            found.map_or(Ok(Json::Null), |rule| conf_of(rule).map(|conf| json!({"conf": conf})))?
        }
        other => bail!("there is no function `{other}`"),
    };
    let absent = actual.is_null() && case.expected().get("conf").is_some_and(Json::is_null);
    Ok(if absent { Outcome::Passed } else { Outcome::compare(case.expected(), &actual) })
}

/// `unit-cliques`
pub(super) fn run_cliques(case: &Case) -> anyhow::Result<Outcome> {
    let items = Items::of(case)?;
    let (cliques, components) = (items.listed(Grouping::Cliques)?, items.listed(Grouping::Components)?);
    let mut by_element = Vec::new();
    for expected in case.expected()["byElement"].as_array().into_iter().flatten() {
        let element = expected.get("element").cloned().unwrap_or_default();
        let found = lookup(&cliques, &client(&element));
        by_element.push(json!({"element": element, "conf": found.map_or(Ok(Json::Null), conf_of)?}));
    }
    let actual = json!({
        "byElement": by_element, "ruleCountCliques": cliques.len(), "ruleCountComponents": components.len(),
    });
    Ok(Outcome::compare(case.expected(), &actual))
}

/// `derived-clique-divergence`
pub(super) fn run_divergence(case: &Case) -> anyhow::Result<Outcome> {
    let items = Items::of(case)?;
    let client = client(case.input("client"));
    let action = |conf: &Json| conf.get("action").cloned().unwrap_or_default();
    let last = exact_items(&items.subsets, &client).last().and_then(|number| items.confs.get(*number));
    let exact = last.map_or(Ok(Json::Null), |conf| serde_json::to_value(conf.as_ref()))?;
    let told = |grouping| -> anyhow::Result<Json> {
        let rules = items.listed(grouping)?;
        let first = lookup(&rules, &client).map_or(Ok(Json::Null), conf_of)?;
        let mut allowed = false;
        for rule in cells_with(&rules, &client) {
            let action = action(&conf_of(rule)?);
            allowed |= action == "Allow" || action == "AllowWithShadowDeny";
        }
        Ok(json!({"firstMatch": action(&first), "allowedByUnionOfAllowRules": allowed, "rules": rules.len()}))
    };
    let actual = json!({
        "exact": action(&exact), "cliques": told(Grouping::Cliques)?, "components": told(Grouping::Components)?,
    });
    Ok(Outcome::compare(case.expected(), &actual))
}

/// A rule with what its items fold into.
type Folded = Rule<Option<Arc<Config>>>;

/// The `from` items of a case.
struct Items {
    subsets: Vec<Subset>,
    confs: Vec<Arc<Config>>,
}

impl Items {
    fn of(case: &Case) -> anyhow::Result<Self> {
        let mut items = Self { subsets: Vec::new(), confs: Vec::new() };
        for item in case.input_list("from") {
            let target = item.get("targetRef").context("a `from` item has no targetRef")?;
            items.subsets.push(targeted(target)?);
            items.confs.push(config(item.get("default").unwrap_or(&Json::Null))?);
        }
        Ok(items)
    }

    fn listed(&self, grouping: Grouping) -> anyhow::Result<Vec<Folded>> {
        let strategy = Strategy::patch();
        let resolve = folding(&self.confs, &strategy);
        let listed = rules(&self.subsets, grouping, Negations::On, Limits::default(), resolve);
        listed.map_err(|refused| anyhow::anyhow!("{} cells are too many", refused.cells))
    }
}

fn targeted(target: &Json) -> anyhow::Result<Subset> {
    let text = |name: &str| target.get(name).and_then(Json::as_str);
    let mut tags: Client = client(target.get("tags").unwrap_or(&Json::Null));
    match text("kind") {
        Some("Mesh") => tags.clear(),
        Some("MeshSubset") => {}
        Some("MeshService" | "MeshServiceSubset") => {
            tags.entry("kuma.io/service".to_owned()).or_insert_with(|| text("name").unwrap_or_default().to_owned());
        }
        other => bail!("clients cannot be selected by {other:?}"),
    }
    let tags = tags.into_iter().map(|(key, value)| Tag { key: key.into(), value: value.into(), not: false });
    Ok(Subset { tags: tags.collect() })
}

fn subset(tags: &Json) -> Subset {
    let tag = |tag: &Json| {
        let text = |name: &str| tag.get(name).and_then(Json::as_str).unwrap_or_default().into();
        Tag { key: text("key"), value: text("value"), not: tag.get("not").and_then(Json::as_bool).unwrap_or_default() }
    };
    Subset { tags: tags.as_array().into_iter().flatten().map(tag).collect() }
}

fn subset_json(subset: &Subset) -> Json {
    subset
        .tags
        .iter()
        .map(|tag| json!({"key": tag.key.as_str(), "value": tag.value.as_str(), "not": tag.not}))
        .collect()
}

fn client(tags: &Json) -> Client {
    let pairs = tags.as_object().into_iter().flatten();
    pairs.map(|(key, value)| (key.clone(), value.as_str().unwrap_or_default().to_owned())).collect()
}

fn conf_of(rule: &Folded) -> anyhow::Result<Json> {
    Ok(rule.conf.as_ref().map_or(Ok(Json::Null), |conf| serde_json::to_value(conf.as_ref()))?)
}
