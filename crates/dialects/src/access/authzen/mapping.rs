//! Entities of the standard as parts of the engine's requests.
//!
//! | standard | request |
//! |---|---|
//! | `subject.type`, `subject.id` | type and id of the subject |
//! | `subject.properties` | claims; `roles`, `role`, `groups`, `group` are its roles and groups as well |
//! | `action.name` | operation, and method if HTTP has such a method |
//! | `action.properties` | facts; `method` is the method where the name is none |
//! | `resource.type`, `resource.id` | type and id; the id of a `route` is its path as well |
//! | `resource.properties` | facts; texts `app` and `path` are its application and path |
//! | `context` | facts; `time` and `ip` are the moment and the address |
//!
//! What the request gives wins over what is stored, property by property. A list of roles that is none, a moment that is none:
//! such things are unknown, which is something else than absent.

use serde_json::Value as Json;
use smol_str::SmolStr;
use upheld_engine::decide::{Action, Environment, Fact, Facts, Maybe, Names, Resource, Subject};
use upheld_model::Timestamp;

use super::parts::{Doing, Entity, Properties};
use crate::access::facts::fact_of_json;

/// The type of resources whose id is a path, or the template of one.
const ROUTE: &str = "route";

/// The methods of HTTP, as it spells them: `delete` is a word of an application.
const METHODS: [&str; 9] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "CONNECT", "TRACE"];

pub(super) fn subject(subject: Entity<'_>, stored: Option<&Facts>) -> Subject {
    let claims = filled(subject.properties, stored);
    Subject {
        kind: is(subject.kind),
        id: is(subject.id),
        roles: names(&claims, ["roles", "role"]),
        groups: names(&claims, ["groups", "group"]),
        claims,
    }
}

pub(super) fn resource(resource: Entity<'_>, stored: Option<&Facts>) -> Resource {
    let facts = filled(resource.properties, stored);
    let path = if resource.kind == ROUTE { is(resource.id) } else { text(&facts, "path") };
    Resource { app: text(&facts, "app"), path, kind: is(resource.kind), id: is(resource.id), facts }
}

pub(super) fn action(action: Doing<'_>, stored: Option<&Facts>) -> Action {
    let facts = filled(action.properties, stored);
    let method = if METHODS.contains(&action.name) { is(action.name) } else { text(&facts, "method") };
    Action { method, operation: is(action.name), facts }
}

pub(super) fn environment(context: Properties<'_>, now: Option<Timestamp>) -> Environment {
    let given = |name: &str| context.and_then(|context| context.get(name)).filter(|value| !value.is_null());
    let time = match given("time") {
        Some(time) => time.as_str().and_then(|text| text.parse().ok()).map_or(Maybe::Unknown, Maybe::Is),
        None => now.into(),
    };
    let ip = match given("ip") {
        Some(ip) => ip.as_str().map_or(Maybe::Unknown, is),
        None => Maybe::Absent,
    };
    let mut facts = filled(context, None);
    facts.0.retain(|(name, _)| name != "time" && name != "ip");
    Environment { ip, time, facts }
}

/// Whether what a search asks for is something else than what is stored.
pub(super) fn contradicts(wanted: Properties<'_>, stored: &Facts) -> bool {
    let other = |(name, value): (&String, &Json)| stored.get(name).is_some_and(|known| *known != fact_of_json(value));
    wanted.into_iter().flatten().any(other)
}

fn filled(given: Properties<'_>, stored: Option<&Facts>) -> Facts {
    let own = given.into_iter().flatten().map(|(name, value)| (SmolStr::new(name), fact_of_json(value)));
    let left_out = |name: &str| given.is_none_or(|given| !given.contains_key(name));
    let stored = stored.into_iter().flat_map(|stored| &stored.0).filter(|(name, _)| left_out(name));
    Facts(own.chain(stored.cloned()).collect())
}

fn is(text: &str) -> Maybe<SmolStr> {
    Maybe::Is(SmolStr::new(text))
}

fn text(facts: &Facts, name: &str) -> Maybe<SmolStr> {
    match facts.get(name) {
        Some(Fact::Text(text)) => Maybe::Is(text.clone()),
        Some(Fact::Unknown) => Maybe::Unknown,
        _ => Maybe::Absent,
    }
}

/// The texts of some properties, each one text or a list of them.
fn names(facts: &Facts, fields: [&str; 2]) -> Names {
    let mut names = Vec::new();
    for fact in fields.into_iter().filter_map(|field| facts.get(field)) {
        let items = match fact {
            Fact::Null => &[],
            Fact::List(items) => items.as_slice(),
            one => std::slice::from_ref(one),
        };
        for item in items {
            let Fact::Text(name) = item else { return Names::Unknown };
            names.push(name.clone());
        }
    }
    Names::Known(names)
}
