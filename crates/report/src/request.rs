//! A request, as programs get it back.

use serde_json::{Map, Value as Json, json};
use smol_str::SmolStr;
use upheld_engine::decide::{Fact, Facts, Maybe, Names, Number, Request};

/// The request in the form in which files have it; what is unknown is a question mark.
pub fn asked(request: &Request) -> Json {
    let Request { subject, action, resource, environment } = request;
    let mut document = Map::new();
    let mut part = |name: &str, fields: Vec<(&str, Option<Json>)>, facts: &Facts| {
        let mut map: Map<String, Json> =
            fields.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect();
        map.extend(entries(facts));
        if !map.is_empty() {
            document.insert(name.to_owned(), Json::Object(map));
        }
    };
    let claims = (!subject.claims.is_empty() || !subject.claims.are_all_listed()).then(|| of_facts(&subject.claims));
    let fields = vec![
        ("type", text(&subject.kind)),
        ("id", text(&subject.id)),
        ("roles", names(&subject.roles)),
        ("groups", names(&subject.groups)),
        ("claims", claims),
    ];
    part("subject", fields, &Facts::default());
    part("action", vec![("method", text(&action.method)), ("operation", text(&action.operation))], &action.facts);
    let fields = vec![
        ("app", text(&resource.app)),
        ("path", text(&resource.path)),
        ("type", text(&resource.kind)),
        ("id", text(&resource.id)),
    ];
    part("resource", fields, &resource.facts);
    let fields = vec![("ip", text(&environment.ip)), ("time", text(&environment.time))];
    part("environment", fields, &environment.facts);
    Json::Object(document)
}

fn text<T: ToString>(value: &Maybe<T>) -> Option<Json> {
    match value {
        Maybe::Is(value) => Some(json!(value.to_string())),
        Maybe::Absent => None,
        Maybe::Unknown => Some(json!("?")),
    }
}

fn names(names: &Names) -> Option<Json> {
    match names {
        Names::Known(names) if names.is_empty() => None,
        Names::Known(names) => Some(names.iter().map(SmolStr::as_str).collect()),
        Names::AtLeast(names) => Some(names.iter().map(SmolStr::as_str).chain(["?"]).collect()),
        Names::Unknown => Some(json!("?")),
    }
}

fn of_facts(facts: &Facts) -> Json {
    Json::Object(entries(facts).collect())
}

/// What stands for all facts that are not listed.
pub const OTHERS: &str = "*";

fn entries(facts: &Facts) -> impl Iterator<Item = (String, Json)> {
    let others = (!facts.are_all_listed()).then(|| (OTHERS.to_owned(), json!("?")));
    facts.iter().map(|(name, fact)| (name.to_string(), of_fact(fact))).chain(others)
}

/// A number, as it came.
pub fn of_number(number: Number) -> Json {
    match number {
        Number::Whole(number) => json!(number),
        Number::Large(number) => json!(number),
        Number::Other(number) => json!(number),
    }
}

fn of_fact(fact: &Fact) -> Json {
    match fact {
        Fact::Null => Json::Null,
        Fact::Bool(truth) => json!(truth),
        Fact::Number(number) => of_number(*number),
        Fact::Text(text) => json!(text.as_str()),
        Fact::List(items) => Json::Array(items.iter().map(of_fact).collect()),
        Fact::Map(facts) => of_facts(facts),
        Fact::Unknown => json!("?"),
    }
}
