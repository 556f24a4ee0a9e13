//! `legacy-dataplane-policy`: the policy that stands for a whole proxy, and the order of names.

use serde_json::{Value as Json, json};
use upheld_dialects::document::DEFAULT_MESH;
use upheld_dialects::kuma::ends::caller_parts;
use upheld_engine::{Question, Ruling};

use super::world::World;
use super::{FROM_04, documents};
use crate::case::Case;
use crate::outcome::Outcome;

pub(super) fn run(case: &Case) -> anyhow::Result<Outcome> {
    if case.text("function")? == "DataplanePolicyByName" {
        return run_by_name(case);
    }
    let kind = case.text("policyType")?;
    let world = world(case, kind, Json::clone)?;
    let caller = caller_parts(world.dataplane()?.0);
    let standing = world.standing(kind, &Question { source: Some(&caller), destination: None })?;
    let actual = json!({"policy": standing.map(|standing| standing.name)});
    Ok(Outcome::compare(case.expected(), &actual))
}

/// Policies that say nothing but their name match everything alike, so that only the name is left to rank them.
fn run_by_name(case: &Case) -> anyhow::Result<Outcome> {
    let kind = "ProxyTemplate";
    let world = world(case, kind, |policy| json!({"name": policy.get("name")}))?;
    let caller = caller_parts(world.dataplane()?.0);
    let question = Question { source: Some(&caller), destination: None };
    let (id, _) = world.kind(kind)?;
    let mut order = Vec::new();
    if let Some(select) = world.select(id) {
        for candidate in Ruling::matched(select, &question).candidates {
            let policy = select.entry(candidate.entry).and_then(|entry| world.snapshot.policy(entry.policy));
            order.extend(policy.map(|policy| world.name(policy)));
        }
    }
    Ok(Outcome::compare(case.expected(), &json!({"order": order})))
}

/// A proxy and policies, all of one mesh: policies of other meshes were left out before.
fn world(case: &Case, kind: &str, said: impl Fn(&Json) -> Json) -> anyhow::Result<World> {
    let mut all = vec![documents::dataplane(&without_mesh(case.input("dataplane")))?];
    for (position, policy) in case.input_list("policies").iter().enumerate() {
        all.push(documents::policy(kind, &without_mesh(&said(policy)), position, DEFAULT_MESH)?);
    }
    World::new(FROM_04, DEFAULT_MESH, &all)
}

fn without_mesh(written: &Json) -> Json {
    let fields = written.as_object().into_iter().flatten();
    fields.filter(|(field, _)| *field != "mesh").map(|(field, value)| (field.clone(), value.clone())).collect()
}
