//! Reports as text for other tools. What people read on terminals is the business of whoever has one.

pub mod audit;
mod baseline;
mod findings;
mod shifts;
pub mod tested;
mod xml;

use std::io::{self, Write};

use serde::{Serialize, Serializer};
use serde_json::Value as Json;
use serde_saphyr::DoubleQuoted;
use upheld_report::{Visible, steers};
pub use upheld_report::{visible, visible_json, visible_lines};

pub use self::findings::{Findings, FindingsBaseline};
pub use self::shifts::shifts_markdown;

/// A report as YAML, in which characters that steer are escapes.
pub fn yaml(report: &impl Serialize) -> Option<String> {
    let text = serde_saphyr::to_string(report).ok()?;
    if visible_lines(&text) == text {
        return Some(text);
    }
    // YAML has escapes in double quotes only, and JSON, which is YAML, has nothing else.
    let document = serde_json::to_value(report).ok()?;
    if has_steering_key(&document) { Some(json(report)) } else { yaml_in_quotes(&document) }
}

fn yaml_in_quotes(document: &Json) -> Option<String> {
    serde_saphyr::to_string(&Quoting(document)).ok().map(|text| visible_json(&text))
}

fn has_steering_key(document: &Json) -> bool {
    match document {
        Json::Object(fields) => fields.iter().any(|(key, value)| key.contains(steers) || has_steering_key(value)),
        Json::Array(items) => items.iter().any(has_steering_key),
        _ => false,
    }
}

/// A document that puts every text with a character that steers into double quotes.
struct Quoting<'d>(&'d Json);

impl Serialize for Quoting<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Json::String(text) if text.contains(steers) => DoubleQuoted(text).serialize(serializer),
            Json::Array(items) => serializer.collect_seq(items.iter().map(Quoting)),
            Json::Object(fields) => serializer.collect_map(fields.iter().map(|(key, value)| (key, Quoting(value)))),
            other => other.serialize(serializer),
        }
    }
}

/// Writes a report as [`json`] has it, without holding the text.
pub(crate) fn write_json(report: &impl Serialize, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer_pretty(Visible::json(&mut *out), report)?;
    out.write_all(b"\n")
}

/// Writes a report as [`json_line`] has it.
pub(crate) fn write_json_line(report: &impl Serialize, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer(Visible::json(&mut *out), report)?;
    out.write_all(b"\n")
}

/// A report as JSON, on several lines.
pub fn json(report: &impl Serialize) -> String {
    serde_json::to_string_pretty(report).map(|text| visible_json(&text) + "\n").unwrap_or_default()
}

/// A report as JSON in one line.
pub fn json_line(report: &impl Serialize) -> String {
    serde_json::to_string(report).map(|text| visible_json(&text) + "\n").unwrap_or_default()
}

/// Text in one line in which nothing is markup, a link, or a call to somebody.
pub(crate) fn markdown_text(text: &str) -> String {
    let mut safe = String::new();
    for character in visible(text).chars() {
        if "&<>\"'`*_[]\\|~@#$!".contains(character) {
            safe.push_str(&format!("&#{};", u32::from(character)));
        } else {
            safe.push(character);
        }
    }
    // Forges make links of addresses, too.
    safe.replace("://", ":&#47;&#47;").replace("www.", "www&#46;")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn yaml_says_what_a_document_says_and_steers_nothing() {
        let plain = json!({"a": [1, {"b": "x\n y"}], "c": "it's"});
        let hostile = "a\u{202e}b: 'c' \"d\" \\u202e\u{1b}[2J\u{9b}\r\n\u{2028}";
        for document in
            [plain.clone(), json!({"name": hostile, "list": [hostile, plain]}), json!({hostile: {"deeper": [hostile]}})]
        {
            let text = yaml(&document).unwrap();
            assert!(text.chars().all(|character| character == '\n' || !steers(character)), "{text:?}");
            assert_eq!(serde_saphyr::from_str::<Json>(&text).unwrap(), document, "{text}");
        }
        assert_eq!(yaml(&json!({"name": "x\u{202e}", "to": ["z1"]})).unwrap(), "name: \"x\\u202e\"\nto:\n- z1\n");
    }
}
