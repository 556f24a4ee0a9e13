//! The values of tags, as they are written: absent, null and empty are one, a scalar is a list of one.

use smol_str::SmolStr;
use upheld_engine::comply::Tags;
use upheld_governance::bare_number;
use upheld_model::Fault;
use upheld_model::tree::{Kind, Value};

use super::reader::Reader;

impl Reader<'_> {
    /// Keys with their values.
    pub(super) fn tags(&mut self, written: Value<'_>) -> Tags {
        if !matches!(written.kind(), Kind::Map | Kind::Null) {
            let message = format!("tags must be a map, not {}", written.kind().noun());
            self.wrong(
                Fault::WrongType,
                written,
                message,
                "expected keys with values",
                "for example `environment: [dev, qa]`",
            );
        }
        written.entries().map(|(key, value)| (SmolStr::new(key.text()), self.values(value))).collect()
    }

    /// The values of one tag; duplicates count once.
    pub(super) fn values(&mut self, written: Value<'_>) -> Vec<SmolStr> {
        let mut values: Vec<SmolStr> = Vec::new();
        let scalar = (written.kind() != Kind::List).then_some(written);
        for value in scalar.into_iter().chain(written.items()) {
            match value.kind() {
                Kind::Null => {}
                Kind::Map | Kind::List => {
                    let message = format!("a value of a tag must be text, not {}", value.kind().noun());
                    self.wrong(Fault::WrongType, value, message, "expected text", "");
                }
                _ => {
                    let text = text_of(value);
                    if !values.contains(&text) {
                        values.push(text);
                    }
                }
            }
        }
        values
    }
}

/// The text that a scalar is kept as.
fn text_of(value: Value<'_>) -> SmolStr {
    match value.kind() {
        Kind::Bool => SmolStr::new_static(if value.as_bool() == Some(true) { "true" } else { "false" }),
        // Another base is a number however it is written.
        Kind::Integer if value.text().starts_with("0x") => {
            value.as_integer().map_or_else(|| SmolStr::new(value.text()), |number| SmolStr::from(number.to_string()))
        }
        Kind::Integer | Kind::Float => bare_number(value.text()),
        _ => SmolStr::new(value.text()),
    }
}
