//! Facts as documents have them.

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
