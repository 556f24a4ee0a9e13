//! `legacy-gateway-destination`: the policy of a gateway's route that leads to several services.

use serde_json::{Value as Json, json};
use upheld_dialects::document::DEFAULT_MESH;
use upheld_dialects::kuma::SERVICE_TAGS;
use upheld_dialects::kuma::gateway::{Destination, policy_of_route};

use super::world::World;
use super::{FROM_04, documents};
use crate::case::Case;
use crate::outcome::Outcome;

pub(super) fn run(case: &Case) -> anyhow::Result<Outcome> {
    let kind = case.text("policyType")?;
    let destinations = case.input_list("destinations");
    let mut policies: Vec<Json> = Vec::new();
    for (position, policy) in destinations.iter().filter_map(|destination| destination.get("policy")).enumerate() {
        // One policy can be that of several destinations.
        if !policies.iter().any(|known| known.get("name") == policy.get("name")) {
            policies.push(documents::policy(kind, policy, position, DEFAULT_MESH)?);
        }
    }
    let world = World::new(FROM_04, DEFAULT_MESH, &policies)?;
    let symbol = |text: Option<&Json>| world.snapshot.symbols().get(text?.as_str()?);
    let [service_tag, _] = SERVICE_TAGS;
    let destinations: Vec<Destination> = destinations
        .iter()
        .map(|destination| {
            let name = symbol(destination.get("policy").and_then(|policy| policy.get("name")));
            let mut policies = world.snapshot.policies().iter();
            Destination {
                service: symbol(destination.get("destination").and_then(|tags| tags.get(service_tag))),
                policy: policies.find(|(_, policy)| Some(policy.name) == name).map(|(id, _)| id),
            }
        })
        .collect();
    let chosen = policy_of_route(&world.snapshot, &destinations).and_then(|id| world.snapshot.policy(id));
    Ok(Outcome::compare(case.expected(), &json!({"policy": chosen.map(|policy| world.name(policy))})))
}
