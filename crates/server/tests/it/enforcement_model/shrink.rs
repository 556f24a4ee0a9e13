//! The smallest world in which a difference stays.

use serde_json::Value as Json;
use tokio::runtime::Runtime;

use super::Difference;
use super::model;
use super::product::{Product, documents};
use super::worlds::{Ask, World};

/// Takes out whatever can go, and shows what is left.
pub(super) fn smallest(difference: &Difference, runtime: &Runtime) -> String {
    let (mut world, mut ask) = (difference.world.clone(), difference.ask.clone());
    // What is left of a policy may be none: then no server starts.
    let differs = |world: &World, ask: &Ask| {
        let said = quietly(|| Product::start(world, runtime).ask(ask, runtime).word.opens());
        said == Some(difference.product.opens()) && model::answer(world, ask).opens() == difference.model.opens()
    };
    let mut again = true;
    while again {
        again = false;
        for smaller in smaller_worlds(&world) {
            if differs(&smaller, &ask) {
                (world, again) = (smaller, true);
                break;
            }
        }
        if again {
            continue;
        }
        for smaller in smaller_asks(&ask) {
            if differs(&world, &smaller) {
                (ask, again) = (smaller, true);
                break;
            }
        }
    }
    let said = Product::start(&world, runtime).ask(&ask, runtime);
    format!(
        "product {:?}, model {:?}\n{}\n{:?}\n{ask:?}\nproduct: {}\nfirst: {}\n",
        said.word,
        model::answer(&world, &ask),
        documents(&world),
        world.trust.settings(),
        said.reason,
        difference.reason,
    )
}

/// What something comes to, unless it panics.
fn quietly<T>(what: impl FnOnce() -> T) -> Option<T> {
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(what));
    std::panic::set_hook(hook);
    outcome.ok()
}

fn smaller_worlds(world: &World) -> Vec<World> {
    let mut smaller = Vec::new();
    if world.directory.is_some() {
        smaller.push(World { directory: None, ..world.clone() });
    }
    for position in 0..world.policies.len() {
        let mut policies = world.policies.clone();
        policies.remove(position);
        smaller.push(World { policies, ..world.clone() });
    }
    for (position, policy) in world.policies.iter().enumerate() {
        let members = ["policies", "sets"].into_iter().filter_map(|name| policy.get(name).and_then(Json::as_array));
        for member in members.flatten() {
            let mut policies = world.policies.clone();
            policies[position] = member.clone();
            if member.get("algorithm").is_some() {
                policies[position]["kind"] = Json::from("PolicySet");
            }
            smaller.push(World { policies, ..world.clone() });
        }
        for less in less(policy) {
            let mut policies = world.policies.clone();
            policies[position] = less;
            smaller.push(World { policies, ..world.clone() });
        }
    }
    smaller.extend(less(&world.manifest).into_iter().map(|manifest| World { manifest, ..world.clone() }));
    let directories = world.directory.iter().flat_map(less);
    smaller.extend(directories.map(|directory| World { directory: Some(directory), ..world.clone() }));
    smaller
}

/// What documents cannot do without.
const NEEDED: [&str; 17] = [
    "id",
    "kind",
    "effect",
    "algorithm",
    "subjects",
    "resources",
    "actions",
    "type",
    "name",
    "subject",
    "action",
    "resource",
    "on",
    "operator",
    "expression",
    "policies",
    "value",
];

/// A document with one thing less, in all ways.
fn less(value: &Json) -> Vec<Json> {
    match value {
        Json::Object(map) => {
            let without = map.keys().filter(|name| !NEEDED.contains(&name.as_str())).map(|name| {
                let mut map = map.clone();
                map.remove(name);
                Json::from(map)
            });
            let inner = map.iter().flat_map(|(name, value)| {
                less(value).into_iter().map(|value| {
                    let mut map = map.clone();
                    map.insert(name.clone(), value);
                    Json::from(map)
                })
            });
            without.chain(inner).collect()
        }
        Json::Array(list) => {
            let without = (0..list.len()).map(|position| {
                let mut list = list.clone();
                list.remove(position);
                Json::from(list)
            });
            let inner = list.iter().enumerate().flat_map(|(position, value)| {
                less(value).into_iter().map(move |value| {
                    let mut list = list.clone();
                    list[position] = value;
                    Json::from(list)
                })
            });
            without.chain(inner).collect()
        }
        _ => Vec::new(),
    }
}

fn smaller_asks(ask: &Ask) -> Vec<Ask> {
    let without = |headers: &Vec<(String, String)>| {
        let headers = headers.clone();
        (0..headers.len()).map(move |position| {
            let mut headers = headers.clone();
            headers.remove(position);
            headers
        })
    };
    match ask {
        Ask::Forward(http) => without(&http.headers)
            .map(|headers| Ask::Forward(super::worlds::Http { headers, ..http.clone() }))
            .collect(),
        Ask::Check(check) => {
            let mut smaller: Vec<Ask> = without(&check.headers)
                .map(|headers| Ask::Check(super::worlds::Check { headers, ..check.clone() }))
                .collect();
            let mut plain = check.clone();
            plain.context.clear();
            smaller.extend((!check.context.is_empty()).then_some(Ask::Check(plain)));
            smaller.extend(
                check.token.is_some().then(|| Ask::Check(super::worlds::Check { token: None, ..check.clone() })),
            );
            smaller
        }
        Ask::Decide(body) => less(body).into_iter().map(Ask::Decide).collect(),
        Ask::Evaluation(body) => less(body).into_iter().map(Ask::Evaluation).collect(),
    }
}
