//! `legacy-inbound-connection`, and the cases of 0.3 that are about inbounds: the policies of each inbound of a proxy.

use anyhow::Context;
use serde_json::{Map, Value as Json, json};
use upheld_dialects::kuma::SERVICE_TAGS;
use upheld_dialects::kuma::ends::caller_parts;
use upheld_dialects::kuma::routes;
use upheld_engine::{Entry, Question, Resolve};
use upheld_model::{Role, TagSet};

use super::world::{World, counting, pairs};
use super::{FROM_04, OUTBOUND_RATE_LIMIT, documents};
use crate::case::Case;
use crate::outcome::Outcome;

/// `legacy-inbound-connection`
pub(super) fn run(case: &Case) -> anyhow::Result<Outcome> {
    if case.says("splitBySource") {
        return run_split(case);
    }
    let kind = case.text("policyType")?;
    let world = world(case, FROM_04)?;
    let mut actual = Vec::new();
    for Inbound { interface, tags } in inbounds(case, &world)? {
        let policies = policies(&world, kind, &tags)?;
        actual.push(json!({"inbound": interface, "policies": policies}));
    }
    let order = if case.says("orderSignificant") { Order::Counts } else { Order::ByName };
    Ok(Outcome::compare(&canonical(case.expected(), order), &canonical(&json!(actual), order)))
}

/// The policies of each inbound, by what the Dataplane calls its interface. The order of policies is not asserted.
pub(super) fn run_by_interface(case: &Case, edition: &str) -> anyhow::Result<Outcome> {
    let kind = case.text("policyType")?;
    let world = world(case, edition)?;
    let (_, dataplane) = world.dataplane()?;
    let mut actual = Vec::new();
    for (inbound, Inbound { interface, tags }) in dataplane.inbounds().zip(inbounds(case, &world)?) {
        let name = inbound.value.get("interface").map_or_else(|| json!(key(&interface)), |written| json!(written));
        let question = Question { source: None, destination: Some(std::slice::from_ref(&tags)) };
        actual.push(json!({"inbound": name, "policies": world.counting(kind, &question)?}));
    }
    let expected: Vec<Json> = case.expected_map()?.iter().map(as_item).collect();
    Ok(Outcome::compare(&canonical(&json!(expected), Order::ByName), &canonical(&json!(actual), Order::ByName)))
}

/// A row of a map by inbound as an item of a list.
fn as_item((key, row): (&String, &Json)) -> Json {
    let mut item = row.as_object().cloned().unwrap_or_default();
    item.insert("inbound".to_owned(), json!(key));
    Json::Object(item)
}

/// Limits of both halves, each policy taken apart into one for each source selector.
fn run_split(case: &Case) -> anyhow::Result<Outcome> {
    let world = world(case, FROM_04)?;
    let actual = json!({
        "inbound": canonical(&json!(pieces_at_inbounds(case, &world)?), Order::Counts),
        "outbound": canonical(&json!(pieces_at_outbounds(&world)?), Order::Counts),
    });
    let halves = case.expected_map()?.iter();
    let expected: Json = halves.map(|(half, rows)| (half.clone(), canonical(rows, Order::Counts))).collect();
    Ok(Outcome::compare(&expected, &actual))
}

/// For each inbound all pieces that match, best first, each once for every destination selector that does.
fn pieces_at_inbounds(case: &Case, world: &World) -> anyhow::Result<Vec<Json>> {
    let kind = case.text("policyType")?;
    let (by_source, by_destination) = (world.split_by(kind, "sources")?, world.split_by(kind, "destinations")?);
    let mut rows = Vec::new();
    for Inbound { interface, tags } in inbounds(case, world)? {
        let question = Question { source: None, destination: Some(std::slice::from_ref(&tags)) };
        let listed = counting(&by_destination, &question);
        let mut selected = Vec::new();
        for piece in counting(&by_source, &question) {
            let times = listed.iter().filter(|entry| entry.policy == piece.policy).count();
            selected.extend(std::iter::repeat_n(selectors(world, piece)?, times));
        }
        rows.push(json!({"inbound": interface, "selected": selected}));
    }
    Ok(rows)
}

/// For each outbound the one piece that stands.
fn pieces_at_outbounds(world: &World) -> anyhow::Result<Vec<Map<String, Json>>> {
    let (object, dataplane) = world.dataplane()?;
    let by_source = world.split_by(OUTBOUND_RATE_LIMIT, "sources")?;
    let caller = caller_parts(object);
    let [service_tag, _] = SERVICE_TAGS;
    let mut rows = Vec::new();
    for outbound in routes::service_outbounds(dataplane) {
        let destination = [world.tags(routes::service(outbound).map(|service| (service_tag, service)))];
        let question = Question { source: Some(&caller), destination: Some(&destination) };
        for piece in counting(&by_source, &question) {
            let mut row = selectors(world, piece)?;
            row.insert("outbound".to_owned(), json!(outbound.section()));
            rows.push(row);
        }
    }
    Ok(rows)
}

fn world(case: &Case, edition: &str) -> anyhow::Result<World> {
    World::new(edition, documents::mesh(case), &documents::connection(case, case.text("policyType")?)?)
}

/// An inbound as the cases name it, and its tags.
struct Inbound {
    interface: Json,
    tags: TagSet,
}

/// The declared inbounds, and those that the case adds.
fn inbounds(case: &Case, world: &World) -> anyhow::Result<Vec<Inbound>> {
    let (object, dataplane) = world.dataplane()?;
    let parts = object.parts.iter().filter(|part| part.role == Role::Inbound);
    let mut inbounds = Vec::new();
    for (inbound, part) in dataplane.inbounds().zip(parts) {
        let port = |text: &str| text.parse::<u16>().with_context(|| format!("`{text}` is no port"));
        let interface = json!({
            "dataplaneIP": inbound.proxy_address(),
            "dataplanePort": port(inbound.proxy_port())?,
            "workloadIP": inbound.workload_address(),
            "workloadPort": port(inbound.workload_port())?,
        });
        inbounds.push(Inbound { interface, tags: part.tags.clone() });
    }
    for added in case.input_list("additionalInbounds") {
        let (address, port) = (added.get("address"), added.get("port"));
        let interface =
            json!({"dataplaneIP": address, "dataplanePort": port, "workloadIP": address, "workloadPort": port});
        let tags = world.tags(added.get("tags").into_iter().flat_map(pairs));
        inbounds.push(Inbound { interface, tags });
    }
    Ok(inbounds)
}

/// The policies of an inbound. Where all count, one is listed once for each destination selector that matches.
fn policies<'w>(world: &'w World, kind: &str, tags: &TagSet) -> anyhow::Result<Vec<&'w str>> {
    let question = Question { source: None, destination: Some(std::slice::from_ref(tags)) };
    match world.resolve(kind)? {
        Resolve::First => Ok(world.standing(kind, &question)?.map(|standing| standing.name).into_iter().collect()),
        Resolve::All => Ok(world.names(&world.split_by(kind, "destinations")?, &question)),
    }
}

/// The selectors of an entry: of a split list only its own.
fn selectors(world: &World, entry: &Entry) -> anyhow::Result<Map<String, Json>> {
    let policy = world.snapshot.policy(entry.policy).context("an entry has no policy")?;
    let document = world.value(policy.at).context("a policy has no document")?;
    let of = |field: &str| document.get(field).into_iter().flat_map(upheld_model::Value::items);
    let sources: Vec<_> = match entry.split {
        Some(piece) => of("sources").skip(piece).take(1).collect(),
        None => of("sources").collect(),
    };
    let destinations: Vec<_> = of("destinations").collect();
    Ok(Map::from_iter([("sources".to_owned(), json!(sources)), ("destinations".to_owned(), json!(destinations))]))
}

/// Whether the order of the policies of one inbound counts.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Order {
    Counts,
    ByName,
}

/// A list of inbounds or outbounds with their policies, in an order of its own. The cases keep them in a map, where
/// nothing is in order and those without policies do not appear.
fn canonical(list: &Json, order: Order) -> Json {
    let Json::Array(items) = list else { return list.clone() };
    let is_empty = |item: &Json| {
        let policies = item.get("policies").or_else(|| item.get("selected"));
        policies.and_then(Json::as_array).is_some_and(Vec::is_empty)
    };
    let mut items: Vec<Json> = items.iter().filter(|item| !is_empty(item)).cloned().collect();
    items.sort_by_cached_key(|item| item.get("inbound").or_else(|| item.get("outbound")).map(key));
    if order == Order::ByName {
        for policies in items.iter_mut().filter_map(|item| item.get_mut("policies")?.as_array_mut()) {
            policies.sort_by_cached_key(Json::to_string);
        }
    }
    Json::Array(items)
}

/// An interface in one text: what it is, or its parts.
fn key(interface: &Json) -> String {
    let parts = ["dataplaneIP", "dataplanePort", "workloadIP", "workloadPort"];
    let text = |value: &Json| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    if interface.is_object() {
        parts.map(|part| interface.get(part).map(text).unwrap_or_default()).join(":")
    } else {
        text(interface)
    }
}
