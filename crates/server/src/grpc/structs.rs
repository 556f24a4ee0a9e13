//! JSON as Envoy writes it in messages.

use prost_types::value::Kind;
use prost_types::{ListValue, Struct, Value};
use serde_json::{Map, Number, Value as Json};

/// What a message says, as JSON.
pub(super) fn json_of(value: &Struct) -> Json {
    Json::Object(value.fields.iter().map(|(name, value)| (name.clone(), json_of_value(value))).collect())
}

fn json_of_value(value: &Value) -> Json {
    match &value.kind {
        None | Some(Kind::NullValue(_)) => Json::Null,
        Some(Kind::BoolValue(value)) => Json::Bool(*value),
        Some(Kind::NumberValue(value)) => number(*value),
        Some(Kind::StringValue(value)) => Json::String(value.clone()),
        Some(Kind::StructValue(value)) => json_of(value),
        Some(Kind::ListValue(list)) => Json::Array(list.values.iter().map(json_of_value).collect()),
    }
}

/// All numbers of a message have a fraction; whole ones are what people wrote without.
fn number(value: f64) -> Json {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    // What was rounded on its way here equals its neighbours; so large a number is not compared.
    const BEYOND: f64 = 1e300;
    if value.abs() >= EXACT {
        return Number::from_f64(BEYOND).map_or(Json::Null, Json::Number);
    }
    if value.fract() == 0.0 && value.abs() < EXACT {
        // The text of a whole number is short and has no exponent.
        if let Ok(whole) = format!("{value:.0}").parse::<i64>() {
            return Json::from(whole);
        }
    }
    Number::from_f64(value).map_or(Json::Null, Json::Number)
}

/// An object of JSON, as a message says it.
pub(super) fn struct_of(fields: Map<String, Json>) -> Struct {
    Struct { fields: fields.into_iter().map(|(name, value)| (name, value_of(value))).collect() }
}

fn value_of(value: Json) -> Value {
    let kind = match value {
        Json::Null => Kind::NullValue(0),
        Json::Bool(value) => Kind::BoolValue(value),
        Json::Number(value) => Kind::NumberValue(value.as_f64().unwrap_or_default()),
        Json::String(value) => Kind::StringValue(value),
        Json::Array(values) => Kind::ListValue(ListValue { values: values.into_iter().map(value_of).collect() }),
        Json::Object(fields) => Kind::StructValue(struct_of(fields)),
    };
    Value { kind: Some(kind) }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value as Json, json};

    use super::{json_of, struct_of};

    #[test]
    fn what_goes_there_comes_back() {
        let given = json!({"sub": "ann", "exp": 1_700_000_000, "share": 0.5, "less": -3, "on": true, "no": null,
            "roles": ["a", {"b": []}]});
        let Json::Object(fields) = given.clone() else { panic!("an object") };
        assert_eq!(json_of(&struct_of(fields)), given);
    }
}
