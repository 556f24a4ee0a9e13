//! Text of documents that is safe to print.

use std::io::{self, Write};

/// Whether a character ends lines, steers terminals or turns the direction of writing.
pub fn steers(character: char) -> bool {
    let turns =
        matches!(character, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    character.is_control() || turns || matches!(character, '\u{2028}' | '\u{2029}')
}

/// Text of documents in one line: characters that end lines, steer terminals or turn the direction of writing are shown, not obeyed.
pub fn visible(text: &str) -> String {
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

/// The same of a text in lines, which stay lines.
pub fn visible_lines(text: &str) -> String {
    if !text.chars().any(|character| character != '\n' && steers(character)) {
        return text.to_owned();
    }
    text.split('\n').map(visible).collect::<Vec<_>>().join("\n")
}

/// JSON in which characters that steer are escapes. Between texts JSON has no such character but the end of a line.
pub fn visible_json(json: &str) -> String {
    json.chars().fold(String::with_capacity(json.len()), |mut safe, character| {
        if character != '\n' && steers(character) {
            // All of them are in the first plane.
            safe.push_str(&format!("\\u{:04x}", u32::from(character)));
        } else {
            safe.push(character);
        }
        safe
    })
}

/// Takes text in pieces and passes it on with what steers shown. A piece is a text: who writes here cuts no character.
#[derive(Debug)]
pub struct Visible<W> {
    out: W,
    shown: fn(&str) -> String,
}

impl<W: Write> Visible<W> {
    /// For JSON, as [`visible_json`].
    pub fn json(out: W) -> Self {
        Self { out, shown: visible_json }
    }

    /// For other text, as [`visible_lines`].
    pub fn lines(out: W) -> Self {
        Self { out, shown: visible_lines }
    }
}

impl<W: Write> Write for Visible<W> {
    fn write(&mut self, piece: &[u8]) -> io::Result<usize> {
        self.write_all(piece)?;
        Ok(piece.len())
    }

    fn write_all(&mut self, piece: &[u8]) -> io::Result<()> {
        if piece.iter().all(|byte| matches!(byte, b'\n' | b' '..=b'~')) {
            return self.out.write_all(piece);
        }
        let text = std::str::from_utf8(piece).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
        self.out.write_all((self.shown)(text).as_bytes())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOSTILE: &str = "a\u{1b}]0;x\u{7}\u{7f}\u{9b}2J\u{202e}\u{2066}\u{200f}\u{61c}\r\n\u{2028}z";

    #[test]
    fn text_of_documents_is_one_line_that_steers_nothing() {
        assert_eq!(visible("plain → ok"), "plain → ok");
        assert_eq!(visible(HOSTILE), r"a\u{1b}]0;x\u{7}\u{7f}\u{9b}2J\u{202e}\u{2066}\u{200f}\u{61c}\r\n\u{2028}z");
        assert_eq!(visible_lines("a\r\nb\u{1b}"), "a\\r\nb\\u{1b}");
    }

    #[test]
    fn json_says_the_same_and_steers_nothing() {
        let value = serde_json::json!({ HOSTILE: [HOSTILE, "plain"] });
        let mut written = Vec::new();
        serde_json::to_writer_pretty(Visible::json(&mut written), &value).unwrap();
        let text = String::from_utf8(written).unwrap();
        assert!(text.chars().all(|character| character == '\n' || !steers(character)), "{text}");
        assert_eq!(text, visible_json(&serde_json::to_string_pretty(&value).unwrap()));
        assert_eq!(serde_json::from_str::<serde_json::Value>(&text).unwrap(), value);
    }
}
