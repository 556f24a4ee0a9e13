//! Words for a shell.

/// A word as a shell takes it.
pub fn quoted(value: &str) -> String {
    let plain = |character: char| character.is_alphanumeric() || "-_./:=,@%+".contains(character);
    if !value.is_empty() && value.chars().all(plain) {
        return value.to_owned();
    }
    format!("'{}'", value.replace('\'', r"'\''"))
}
