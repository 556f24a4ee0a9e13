//! Facts as documents have them.

use serde_json::{Map, Value as Json};
use smol_str::SmolStr;
use upheld_engine::decide::{Fact, Facts, Number};
use upheld_model::tree::{Kind, Value};
use upheld_report::of_number;

/// A fact of a document; a number beyond 64 bits is not known, since it would equal its neighbours.
pub fn fact_of(value: Value<'_>) -> Fact {
    match value.kind() {
        Kind::Null => Fact::Null,
        Kind::Bool => Fact::Bool(value.as_bool().unwrap_or_default()),
        Kind::Integer | Kind::Float => number_of(value).map_or(Fact::Unknown, Fact::Number),
        Kind::Text => Fact::Text(SmolStr::new(value.text())),
        Kind::List => Fact::List(value.items().map(fact_of).collect()),
        Kind::Map => Fact::Map(facts_of(value)),
    }
}

/// The number of a document, if it is one that can be compared exactly.
pub fn number_of(value: Value<'_>) -> Option<Number> {
    if !matches!(value.kind(), Kind::Integer | Kind::Float) {
        return None;
    }
    let whole = value.as_integer().map(Number::from);
    let other = || Number::parse(value.text()).or_else(|| value.as_number().map(Number::from));
    whole.or_else(other).filter(|number| number.is_exact())
}

/// The facts of a map.
pub fn facts_of(map: Value<'_>) -> Facts {
    map.entries().map(|(key, value)| (SmolStr::new(key.text()), fact_of(value))).collect()
}

/// From here on a floating number stands for several whole ones.
const MANY_IN_ONE: f64 = 9_007_199_254_740_992.0;

/// A fact of JSON.
pub fn fact_of_json(value: &Json) -> Fact {
    match value {
        Json::Null => Fact::Null,
        Json::Bool(truth) => Fact::Bool(*truth),
        Json::Number(number) => {
            let whole = number.as_i64().map(Number::from).or_else(|| number.as_u64().map(Number::from));
            // Of a number with a fraction or an exponent the digits are gone: from here on it could be one of several whole ones.
            let other = || number.as_f64().filter(|number| number.abs() < MANY_IN_ONE).map(Number::from);
            let number = whole.or_else(other);
            number.filter(|number| number.is_exact()).map_or(Fact::Unknown, Fact::Number)
        }
        Json::String(text) => Fact::Text(SmolStr::new(text)),
        Json::Array(items) => Fact::List(items.iter().map(fact_of_json).collect()),
        Json::Object(fields) => Fact::Map(facts_of_json(fields)),
    }
}

/// The facts of an object of JSON.
pub fn facts_of_json(fields: &Map<String, Json>) -> Facts {
    fields.iter().map(|(name, value)| (SmolStr::new(name), fact_of_json(value))).collect()
}

/// A fact as JSON; what is not known is null.
pub fn json_of(fact: &Fact) -> Json {
    match fact {
        Fact::Null | Fact::Unknown => Json::Null,
        Fact::Bool(truth) => Json::Bool(*truth),
        Fact::Number(number) => of_number(*number),
        Fact::Text(text) => Json::from(text.as_str()),
        Fact::List(items) => items.iter().map(json_of).collect(),
        Fact::Map(facts) => Json::Object(json_of_facts(facts)),
    }
}

/// Facts as an object of JSON.
pub fn json_of_facts(facts: &Facts) -> Map<String, Json> {
    facts.iter().map(|(name, fact)| (name.to_string(), json_of(fact))).collect()
}
