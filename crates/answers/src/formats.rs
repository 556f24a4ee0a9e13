//! Reports as text for other tools. What people read on terminals is the business of whoever has one.

pub mod audit;
pub mod tested;
mod xml;

use serde::Serialize;

/// Text of documents in one line: characters that end lines, steer terminals or turn the direction of writing are shown, not obeyed.
pub fn visible(text: &str) -> String {
    let steers = |character: char| {
        let turns = matches!(character, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
        character.is_control() || turns || matches!(character, '\u{2028}' | '\u{2029}')
    };
    if !text.chars().any(steers) {
        return text.to_owned();
    }
    text.chars().fold(String::new(), |mut shown, character| {
        if steers(character) {
            shown.extend(character.escape_default());
        } else {
            shown.push(character);
        }
        shown
    })
}

/// A report as YAML.
pub fn yaml(report: &impl Serialize) -> Option<String> {
    serde_saphyr::to_string(report).ok()
}

/// A report as JSON, on several lines.
pub fn json(report: &impl Serialize) -> String {
    serde_json::to_string_pretty(report).map(|text| text + "\n").unwrap_or_default()
}
