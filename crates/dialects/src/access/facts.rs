//! Facts as documents have them.

use serde_json::{Map, Value as Json};
use smol_str::SmolStr;
use upheld_engine::decide::{Fact, Facts};
use upheld_model::tree::{Kind, Value};

/// A fact of a document.
pub fn fact_of(value: Value<'_>) -> Fact {
    match value.kind() {
        Kind::Null => Fact::Null,
        Kind::Bool => Fact::Bool(value.as_bool().unwrap_or_default()),
        Kind::Integer | Kind::Float => {
            value.as_number().map_or_else(|| Fact::Text(SmolStr::new(value.text())), Fact::Number)
        }
        Kind::Text => Fact::Text(SmolStr::new(value.text())),
        Kind::List => Fact::List(value.items().map(fact_of).collect()),
        Kind::Map => Fact::Map(facts_of(value)),
    }
}

/// The facts of a map.
pub fn facts_of(map: Value<'_>) -> Facts {
    Facts(map.entries().map(|(key, value)| (SmolStr::new(key.text()), fact_of(value))).collect())
}

/// A fact of JSON.
pub fn fact_of_json(value: &Json) -> Fact {
    match value {
        Json::Null => Fact::Null,
        Json::Bool(truth) => Fact::Bool(*truth),
        Json::Number(number) => {
            number.as_f64().map_or_else(|| Fact::Text(SmolStr::new(number.to_string())), Fact::Number)
        }
        Json::String(text) => Fact::Text(SmolStr::new(text)),
        Json::Array(items) => Fact::List(items.iter().map(fact_of_json).collect()),
        Json::Object(fields) => Fact::Map(facts_of_json(fields)),
    }
}

/// The facts of an object of JSON.
pub fn facts_of_json(fields: &Map<String, Json>) -> Facts {
    Facts(fields.iter().map(|(name, value)| (SmolStr::new(name), fact_of_json(value))).collect())
}

/// A fact as JSON; what is not known is null.
pub fn json_of(fact: &Fact) -> Json {
    match fact {
        Fact::Null | Fact::Unknown => Json::Null,
        Fact::Bool(truth) => Json::Bool(*truth),
        // Whole numbers are written without a fraction, as they came.
        Fact::Number(number) => match number.to_string().parse::<i64>() {
            Ok(whole) => Json::from(whole),
            Err(_) => Json::from(*number),
        },
        Fact::Text(text) => Json::from(text.as_str()),
        Fact::List(items) => items.iter().map(json_of).collect(),
        Fact::Map(facts) => Json::Object(json_of_facts(facts)),
    }
}

/// Facts as an object of JSON.
pub fn json_of_facts(facts: &Facts) -> Map<String, Json> {
    facts.0.iter().map(|(name, fact)| (name.to_string(), json_of(fact))).collect()
}
