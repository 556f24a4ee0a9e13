//! `gwctl`: merges of policies of one level and of two, and effective policies of an object.

use std::collections::BTreeMap;

use anyhow::{Context, anyhow, bail};
use serde_json::{Map, Value as Json, json};
use upheld_dialects::gateways::gateway_api::gwctl::{MergedPolicy, merge, stanzas, whole_spec};
use upheld_dialects::gateways::gateway_api::{Policy, Profile, Statement, effective};

use super::paths::Topology;
use super::policies::{Attached, read};
use super::values::{config, held, text, texts};
use crate::case::Case;
use crate::outcome::Outcome;

pub(super) fn run(case: &Case) -> anyhow::Result<Outcome> {
    match case.text("operation")? {
        "mergeSameLevel" => merged(case, &["policies"]),
        "mergeDifferentLevels" => merged(case, &["parentPolicies", "childPolicies"]),
        "effective" => effective_of(case),
        other => bail!("`{other}` is no operation"),
    }
}

fn merged(case: &Case, fields: &[&str]) -> anyhow::Result<Outcome> {
    let mut policies = Vec::new();
    let mut levels: BTreeMap<String, Vec<Vec<usize>>> = BTreeMap::new();
    for (depth, field) in fields.iter().enumerate() {
        for written in case.field(field).as_array().into_iter().flatten() {
            let empty = json!({});
            let spec = config(written.get("spec").unwrap_or(&empty))?;
            let of_kind =
                levels.entry(text(written, "kind")?.to_owned()).or_insert_with(|| vec![Vec::new(); fields.len()]);
            of_kind.get_mut(depth).context("there is no such level")?.push(policies.len());
            policies.push(read(written, whole_spec(&spec))?);
        }
    }
    let mut actual = Map::new();
    for (kind, levels) in levels {
        let merged = merge(&policies, &levels).context("a kind has no policies")?;
        actual.insert(kind, shown(&policies, &merged)?);
    }
    Ok(Outcome::compare(case.expected(), &Json::Object(actual)))
}

fn shown(policies: &[Policy], merged: &MergedPolicy) -> anyhow::Result<Json> {
    let name = policies.get(merged.identity).map(|policy| policy.name.as_str());
    Ok(json!({"name": name, "spec": held(&merged.spec)?}))
}

fn effective_of(case: &Case) -> anyhow::Result<Outcome> {
    let world = World::read(case)?;
    let object = case.text("object")?;
    let mut actual = Map::new();
    if kind(object) == "Gateway" {
        actual.insert("effective".to_owned(), world.by_kind(&world.levels(object, object))?);
    } else {
        actual.insert("byGateway".to_owned(), world.by_gateway(object)?);
    }
    let mut expected = case.expected_map()?.clone();
    if let Some(listed) = expected.get_mut("inheritedPolicies") {
        *listed = sorted(texts(listed).map(without_namespace));
        actual.insert("inheritedPolicies".to_owned(), world.inherited(object));
    }
    // A gateway under which nothing holds need not be named.
    if let Some(Json::Object(by_gateway)) = expected.get_mut("byGateway") {
        by_gateway.retain(|_, held| held.as_object().is_none_or(|held| !held.is_empty()));
    }
    Ok(Outcome::compare(&Json::Object(expected), &Json::Object(actual)))
}

struct World<'c> {
    topology: Topology<'c>,
    attached: Attached<'c>,
}

impl<'c> World<'c> {
    fn read(case: &'c Case) -> anyhow::Result<Self> {
        // Direct kinds have no effect below their targets and take no part.
        let says = |written: &Json| -> anyhow::Result<Vec<Statement>> {
            let Some(spec) = written.get("spec").filter(|_| written.get("inherited") == Some(&Json::Bool(true))) else {
                return Ok(Vec::new());
            };
            stanzas(&*config(spec)?).map_err(|problem| anyhow!("`{}` of a policy is no map", problem.stanza))
        };
        let attached = Attached::read(case.field("policies"), says)?;
        Ok(Self { topology: Topology::read(case.field("topology"))?, attached })
    }

    /// The nodes that policies reach an object from, through one gateway, least specific level first. Without a class there
    /// is nothing to compute.
    fn levels(&self, gateway: &'c str, object: &'c str) -> Vec<Vec<String>> {
        let paths = self.topology.paths_to(object);
        let through: Vec<&Vec<&str>> = paths.iter().filter(|path| path.contains(&gateway)).collect();
        if !through.iter().any(|path| path.iter().any(|node| tier(node) == Tier::Class)) {
            return Vec::new();
        }
        let mut levels = Vec::new();
        for wanted in Tier::ALL {
            let on_path = through.iter().flat_map(|path| path.iter()).filter(|node| tier(node) == wanted);
            let mut nodes: Vec<String> = on_path.map(|node| (*node).to_owned()).collect();
            nodes.sort_unstable();
            nodes.dedup();
            let mut namespaces: Vec<String> = nodes.iter().filter_map(|node| namespace(node)).collect();
            namespaces.dedup();
            levels.extend([namespaces, nodes]);
        }
        levels
    }

    fn by_kind(&self, levels: &[Vec<String>]) -> anyhow::Result<Json> {
        let policies = &self.attached.policies;
        let mut kinds: Vec<&str> = policies.iter().map(|policy| policy.kind.as_str()).collect();
        kinds.sort_unstable();
        kinds.dedup();
        let mut result = Map::new();
        for kind in kinds {
            let of_kind = |place: &usize| policies.get(*place).is_some_and(|policy| policy.kind == kind);
            let on =
                |nodes: &Vec<String>| nodes.iter().flat_map(|node| self.attached.on(node)).filter(of_kind).collect();
            let levels: Vec<Vec<usize>> = levels.iter().map(on).collect();
            let held = held(&effective(&Profile::gwctl(), policies, &levels, None))?;
            if !held.is_null() {
                result.insert(kind.to_owned(), held);
            }
        }
        Ok(Json::Object(result))
    }

    fn by_gateway(&self, object: &'c str) -> anyhow::Result<Json> {
        let paths = self.topology.paths_to(object);
        let mut gateways: Vec<&str> = paths.iter().flatten().copied().filter(|node| kind(node) == "Gateway").collect();
        gateways.sort_unstable();
        gateways.dedup();
        let mut result = Map::new();
        for gateway in gateways {
            let by_kind = self.by_kind(&self.levels(gateway, object))?;
            if by_kind != json!({}) {
                result.insert(name(gateway).to_owned(), by_kind);
            }
        }
        Ok(Json::Object(result))
    }

    /// Policies of all that is above an object, with what they are attached to.
    fn inherited(&self, object: &'c str) -> Json {
        let paths = self.topology.paths_to(object);
        let above = paths.iter().flatten().filter(|node| **node != object).map(|node| (*node).to_owned());
        let namespaces = paths.iter().flatten().filter_map(|node| namespace(node));
        let nodes: Vec<String> = above.chain(namespaces).collect();
        let places = nodes.iter().flat_map(|node| self.attached.on(node));
        let heard = places.filter_map(|place| {
            let policy = self.attached.policies.get(place).filter(|policy| !policy.says.is_empty())?;
            Some(format!("{} {} ({})", policy.kind, policy.name, self.attached.target(place)))
        });
        sorted(heard)
    }
}

fn sorted(texts: impl Iterator<Item = String>) -> Json {
    let mut texts: Vec<String> = texts.collect();
    texts.sort_unstable();
    texts.dedup();
    json!(texts)
}

/// `Kind namespace/name (target)` as `Kind name (target)`.
fn without_namespace(listed: &str) -> String {
    let mut words: Vec<&str> = listed.split(' ').collect();
    if let Some(name) = words.get_mut(1) {
        *name = name.rsplit('/').next().unwrap_or_default();
    }
    words.join(" ")
}

/// Which objects are as specific as each other.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Tier {
    Class,
    Gateway,
    Route,
    Backend,
}

impl Tier {
    const ALL: [Self; 4] = [Self::Class, Self::Gateway, Self::Route, Self::Backend];
}

fn tier(node: &str) -> Tier {
    match kind(node) {
        "GatewayClass" => Tier::Class,
        "Gateway" => Tier::Gateway,
        route if route.ends_with("Route") => Tier::Route,
        _ => Tier::Backend,
    }
}

fn kind(node: &str) -> &str {
    node.split(' ').next().unwrap_or_default()
}

fn name(node: &str) -> &str {
    node.rsplit(' ').next().unwrap_or_default()
}

fn namespace(node: &str) -> Option<String> {
    name(node).split_once('/').map(|(namespace, _)| format!("Namespace {namespace}"))
}
