//! Text of documents that is safe to print.

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
