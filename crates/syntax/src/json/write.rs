//! A value as JSON.

use upheld_model::tree::{Kind, Value};

/// The value as JSON on one line, keys in the order of the document. Numbers stay as they were written where JSON has them.
///
/// ```
/// use upheld_syntax::{json, yaml};
/// use upheld_model::SourceId;
///
/// let (tree, _) = yaml::read(SourceId::new(0), "{name: all, port: 0x50, tags: [a, ~]}".to_owned());
/// let text = json::write(tree.documents().next().unwrap());
/// assert_eq!(text, r#"{"name":"all","port":80,"tags":["a",null]}"#);
/// ```
pub fn write(value: Value<'_>) -> String {
    let mut text = String::new();
    put(value, &mut text);
    text
}

fn put(value: Value<'_>, out: &mut String) {
    match value.kind() {
        Kind::Null => out.push_str("null"),
        Kind::Bool => out.push_str(if value.as_bool() == Some(true) { "true" } else { "false" }),
        Kind::Integer | Kind::Float => number(value, out),
        Kind::Text => quoted(value.text(), out),
        Kind::List => {
            out.push('[');
            for (place, item) in value.items().enumerate() {
                if place > 0 {
                    out.push(',');
                }
                put(item, out);
            }
            out.push(']');
        }
        Kind::Map => {
            out.push('{');
            for (place, (key, value)) in value.entries().enumerate() {
                if place > 0 {
                    out.push(',');
                }
                quoted(key.text(), out);
                out.push(':');
                put(value, out);
            }
            out.push('}');
        }
    }
}

/// YAML has numbers that JSON has not.
fn number(value: Value<'_>, out: &mut String) {
    let text = value.text();
    if serde_json::from_str::<serde_json::Number>(text).is_ok() {
        out.push_str(text);
    } else if let Some(whole) = value.as_integer() {
        out.push_str(&whole.to_string());
    } else {
        match value.as_number().and_then(serde_json::Number::from_f64) {
            Some(number) => out.push_str(&number.to_string()),
            None => quoted(text, out),
        }
    }
}

fn quoted(text: &str, out: &mut String) {
    out.push_str(&serde_json::Value::from(text).to_string());
}
