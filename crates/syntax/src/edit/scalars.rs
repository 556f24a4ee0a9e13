//! Texts as they are written: plain where nobody could take them for something else, else in quotes.

use crate::Format;

/// Words that readers of YAML take for something else than text, in any case of letters.
const WORDS: [&str; 12] = ["true", "false", "null", "yes", "no", "on", "off", "y", "n", "nan", "inf", "infinity"];

/// A text as a scalar.
pub(super) fn scalar(value: &str, format: Format) -> String {
    let begins = value.starts_with(|letter: char| letter.is_ascii_alphabetic());
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-' | '.' | '/');
    let is_word = WORDS.iter().any(|word| word.eq_ignore_ascii_case(value));
    if format == Format::Yaml && begins && value.chars().all(is_plain) && !is_word {
        value.to_owned()
    } else {
        serde_json::Value::from(value).to_string()
    }
}
