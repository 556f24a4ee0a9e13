//! Entities of the standard as parts of the engine's requests.
//!
//! | standard | request |
//! |---|---|
//! | `subject.type`, `subject.id` | type and id of the subject |
//! | `subject.properties` | claims; `roles`, `role`, `groups`, `group` are its roles and groups as well |
//! | `action.name` | operation, and method if HTTP has such a method, in any case |
//! | `action.properties` | facts; `method` is the method where the name is none |
//! | `resource.type`, `resource.id` | type and id; the id of a `route` is its path as well |
//! | `resource.properties` | facts; `app` and `path` are its application and path |
//! | `context` | facts; `time` and `ip` are the moment and the address |
//!
//! A list of roles that is none, a path that is no text, a moment that is none, `Path` in place of `path`: such things are unknown, which is
//! something else than absent.

use smol_str::SmolStr;
use upheld_engine::decide::{Action, Environment, Fact, Facts, Maybe, Names, Resource, Subject};
use upheld_model::Timestamp;

use super::directory::names_of;
use super::parts::{Entity, Properties};
use crate::access::decider::{ROUTE, method_of, text_of};
use crate::access::facts::facts_of_json;

pub(super) fn subject(subject: Entity<'_>) -> Subject {
    let claims = facts(subject.properties);
    let names = |fields: [&str; 2]| {
        let other = fields.into_iter().any(|field| is_misspelt(&claims, field));
        if other { Names::Unknown } else { names_of(&claims, fields) }
    };
    Subject {
        kind: is(subject.kind),
        id: is(subject.id),
        roles: names(["roles", "role"]),
        groups: names(["groups", "group"]),
        claims,
    }
}

pub(super) fn resource(resource: Entity<'_>) -> Resource {
    let mut facts = facts(resource.properties);
    // Of a route, the id is the path, whatever else is said.
    let path = if resource.kind == ROUTE { Maybe::Absent } else { text(&facts, "path") };
    let app = text(&facts, "app");
    for name in ["host", "headers", "owner", "ownerId"] {
        if is_misspelt(&facts, name) {
            facts.set(name, Fact::Unknown);
        }
    }
    Resource { app, path, kind: is(resource.kind), id: is(resource.id), facts }
}

/// An action by its name, with what is said of it.
pub(in crate::access) fn action(name: &str, facts: Facts) -> Action {
    let method = match method_of(name) {
        Some(method) => is(method),
        None => text(&facts, "method"),
    };
    Action { method, operation: is(name), facts }
}

pub(super) fn environment(context: Properties<'_>, now: Option<Timestamp>) -> Environment {
    let mut facts = facts(context);
    let time = match text(&facts, "time") {
        Maybe::Is(time) => time.parse().map_or(Maybe::Unknown, Maybe::Is),
        Maybe::Unknown => Maybe::Unknown,
        Maybe::Absent => now.into(),
    };
    let ip = text(&facts, "ip");
    facts.retain(|name| name != "time" && name != "ip");
    Environment { ip, time, facts }
}

/// The properties of something.
pub(super) fn facts(properties: Properties<'_>) -> Facts {
    properties.map_or_else(Facts::default, facts_of_json)
}

/// Whether what a search asks for is something else than what is stored.
pub(in crate::access) fn contradicts(wanted: &Facts, stored: &Facts) -> bool {
    let known = wanted.iter().filter(|(_, value)| *value != Fact::Unknown);
    known.into_iter().any(|(name, value)| stored.get(name).is_some_and(|known| known != value))
}

fn is(text: &str) -> Maybe<SmolStr> {
    Maybe::Is(SmolStr::new(text))
}

fn text(facts: &Facts, name: &str) -> Maybe<SmolStr> {
    if is_misspelt(facts, name) { Maybe::Unknown } else { text_of(facts.get(name)) }
}

/// Whether a property is there in capital letters only: a policy that looks for it would pass it by.
fn is_misspelt(facts: &Facts, name: &str) -> bool {
    facts.get(name).is_none() && facts.iter().any(|(known, _)| known.eq_ignore_ascii_case(name))
}
