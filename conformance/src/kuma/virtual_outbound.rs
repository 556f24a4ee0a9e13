//! `legacy-virtual-outbound`: all policies that match a service, best first.

use serde_json::json;
use upheld_engine::Question;

use super::world::{World, pairs};
use super::{FROM_04, documents};
use crate::case::Case;
use crate::outcome::Outcome;

pub(super) fn run(case: &Case) -> anyhow::Result<Outcome> {
    let kind = case.text("policyType")?;
    let mesh = documents::mesh(case);
    let mut policies = Vec::new();
    for (position, policy) in case.input_list("policies").iter().enumerate() {
        policies.push(documents::policy(kind, policy, position, mesh)?);
    }
    let world = World::new(FROM_04, mesh, &policies)?;
    let tags = [world.tags(pairs(case.input("tags")))];
    let order = world.counting(kind, &Question { source: None, destination: Some(&tags) })?;
    Ok(Outcome::compare(case.expected(), &json!({"order": order})))
}
