//! The few expressions that are generated: single tests, two of them joined, or one denied.

use serde_json::{Value as Json, json};

use super::facts::{Fact, Truth};
use super::policies::{Seen, numbers, same, texts};

/// Single tests that random policies write.
pub(super) const TESTS: [&str; 9] = [
    "subject.claims.level >= 2",
    "resource.state == \"draft\"",
    "\"auditor\" in subject.roles",
    "has(subject.claims.level)",
    "action.method == \"GET\"",
    "resource.path.startsWith(\"/public/\")",
    "environment.ip == \"192.0.2.7\"",
    "subject.id == \"bob\"",
    "resource.app == \"a.example\"",
];

pub(super) fn evaluate(text: &str, seen: &Seen<'_>) -> Truth {
    if let Some((one, other)) = text.split_once(" && ") {
        return Truth::all([evaluate(one, seen), evaluate(other, seen)]);
    }
    if let Some((one, other)) = text.split_once(" || ") {
        return Truth::any([evaluate(one, seen), evaluate(other, seen)]);
    }
    if let Some(inner) = text.strip_prefix("!(") {
        return evaluate(inner.strip_suffix(')').unwrap(), seen).not();
    }
    single(text, seen)
}

fn single(text: &str, seen: &Seen<'_>) -> Truth {
    let request = seen.request;
    let equals = |fact: &Fact, wanted: Json| match fact {
        Fact::Is(own) => Truth::of(same(own, &wanted)),
        _ => Truth::Unknown,
    };
    match TESTS.iter().position(|known| *known == text) {
        Some(0) => match request.claims.get("level") {
            Fact::Is(own) => numbers(&own, &json!(2)).map_or(Truth::Unknown, |order| Truth::of(order.is_ge())),
            _ => Truth::Unknown,
        },
        Some(1) => equals(&request.properties.get("state"), json!("draft")),
        Some(2) if request.more_roles => Truth::Unknown,
        Some(2) => match &request.roles {
            // A list without any: whoever has no roles is known to have none.
            Fact::Absent => Truth::No,
            Fact::Is(list) => Truth::of(texts(list).contains(&"auditor")),
            Fact::Unknown => Truth::Unknown,
        },
        Some(3) => match request.claims.get("level") {
            Fact::Is(_) => Truth::Yes,
            Fact::Absent => Truth::No,
            Fact::Unknown => Truth::Unknown,
        },
        Some(4) => equals(&request.method, json!("GET")),
        Some(5) => seen.path.starts_with("/public/"),
        Some(6) => equals(&request.address, json!("192.0.2.7")),
        Some(7) => equals(&request.subject_id, json!("bob")),
        Some(8) => equals(&request.app, json!("a.example")),
        _ => panic!("a test that the model does not know: {text}"),
    }
}
