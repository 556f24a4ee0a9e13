//! `legacy-outbound-connection` and `legacy-v03-alphabetical`: the policy that stands for each thing that a proxy calls.

use serde_json::{Map, Value as Json, json};
use upheld_dialects::kuma::SERVICE_TAGS;
use upheld_dialects::kuma::ends::caller_parts;
use upheld_dialects::kuma::resources::{Dataplane, Outbound};
use upheld_dialects::kuma::routes::{self, Route, Share};
use upheld_engine::Question;

use super::world::{Standing, World};
use super::{FROM_04, OUTBOUND_RATE_LIMIT, UP_TO_03, documents, inbound};
use crate::case::Case;
use crate::outcome::Outcome;

/// `legacy-outbound-connection`
pub(super) fn run(case: &Case) -> anyhow::Result<Outcome> {
    Ok(Outcome::compare(&without_nulls(case.expected_map()?), &winners(case, FROM_04)?))
}

/// `legacy-v03-alphabetical`, where some cases are about inbounds.
pub(super) fn run_up_to_03(case: &Case) -> anyhow::Result<Outcome> {
    if case.text("keyedBy")? == "inbound" {
        return inbound::run_by_interface(case, UP_TO_03);
    }
    Ok(Outcome::compare(&without_nulls(case.expected_map()?), &winners(case, UP_TO_03)?))
}

/// By outbound or service, what stands for it; what has nothing is left out.
pub(super) fn winners(case: &Case, edition: &str) -> anyhow::Result<Json> {
    let policy_type = case.text("policyType")?;
    let world = World::new(edition, documents::mesh(case), &documents::connection(case, policy_type)?)?;
    let kind = if policy_type == "RateLimit" && edition == FROM_04 { OUTBOUND_RATE_LIMIT } else { policy_type };
    let (object, dataplane) = world.dataplane()?;
    let caller = caller_parts(object);
    let [default_tag, _] = SERVICE_TAGS;
    let service_tag = case.field("serviceTag").as_str().unwrap_or(default_tag);
    let mut rows = Map::new();
    for Called { key, service, outbound } in called(case, edition, dataplane)? {
        let destination = [world.tags([(service_tag, service)])];
        let question = Question { source: Some(&caller), destination: Some(&destination) };
        if let Some(standing) = world.standing(kind, &question)? {
            let mut row = Map::from_iter([("policy".to_owned(), json!(standing.name))]);
            let split = case.expected().get(&key).and_then(|row| row.get("resolvedSplit"));
            if let (Some(split), Some(outbound)) = (split, outbound) {
                row.insert("resolvedSplit".to_owned(), resolved_split(&world, standing, outbound, split));
            }
            rows.insert(key, Json::Object(row));
        }
    }
    Ok(Json::Object(rows))
}

/// Something that is called, under the key by which the case expects it.
struct Called<'w> {
    key: String,
    service: &'w str,
    outbound: Option<Outbound<'w>>,
}

fn called<'w>(case: &'w Case, edition: &str, dataplane: Dataplane<'w>) -> anyhow::Result<Vec<Called<'w>>> {
    if case.text("keyedBy")? == "outbound" {
        let outbounds = routes::service_outbounds(dataplane);
        return Ok(outbounds
            .filter_map(|outbound| {
                let service = routes::service(outbound)?;
                Some(Called { key: outbound.section(), service, outbound: Some(outbound) })
            })
            .collect());
    }
    let services: Vec<&str> = match case.input("destinations") {
        Json::Array(services) => services.iter().filter_map(Json::as_str).collect(),
        _ => routes::outbound_services(dataplane),
    };
    // Passing through came after 0.3.
    let known = services.into_iter().filter(|service| edition != UP_TO_03 || *service != routes::PASS_THROUGH);
    Ok(known.map(|service| Called { key: service.to_owned(), service, outbound: None }).collect())
}

/// Where the route that stands leads from an outbound, as detailed as the case expects it.
fn resolved_split(world: &World, standing: Standing<'_>, outbound: Outbound<'_>, expected: &Json) -> Json {
    let conf = standing.policy.and_then(|policy| policy.payload).and_then(|payload| world.value(payload));
    let route = conf.map(Route::of).unwrap_or_default();
    let route = route.resolved(&routes::outbound_tags(outbound));
    let expects =
        |field: &str| expected.as_array().is_some_and(|items| items.iter().any(|item| item.get(field).is_some()));
    let (weight, destination) = (expects("weight"), expects("destination"));
    let print = |share: &Share<'_>| match (weight, destination) {
        (true, _) => json!({"weight": share.weight, "destination": share.destination}),
        (false, true) => json!({"destination": share.destination}),
        (false, false) => json!(share.destination),
    };
    route.split.iter().map(print).collect()
}

/// Expecting null is expecting nothing.
fn without_nulls(expected: &Map<String, Json>) -> Json {
    let expects_nothing = |row: &Json| row.get("policy").unwrap_or(row).is_null();
    let rows = expected.iter().filter(|(_, row)| !expects_nothing(row));
    rows.map(|(key, row)| (key.clone(), row.clone())).collect()
}
