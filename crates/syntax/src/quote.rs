//! Pieces of a text as messages show them: short, on one line.

use upheld_model::Span;

/// So much of a text stands in a message.
const CHARACTERS: usize = 40;

/// The text, cut if it is long, without line breaks and control characters.
pub(crate) fn short(text: &str) -> String {
    let mut shown: String = text.chars().take(CHARACTERS).map(|c| if c.is_control() { ' ' } else { c }).collect();
    if text.chars().nth(CHARACTERS).is_some() {
        shown.push('…');
    }
    shown
}

/// The word that begins at a byte, cut if it is long: at least one character, but nothing at the end of the text.
pub(crate) fn word(text: &str, at: usize) -> &str {
    let rest = text.get(at..).unwrap_or_default();
    let characters = rest.chars().take(CHARACTERS).take_while(|character| !character.is_whitespace());
    let length: usize = characters.map(char::len_utf8).sum();
    let first = rest.chars().next().map_or(0, char::len_utf8);
    rest.get(..length.max(first)).unwrap_or_default()
}

/// The line around a byte, without its line break, and where it begins.
pub(crate) fn line(text: &str, at: usize) -> (usize, &str) {
    let bytes = text.as_bytes();
    let before = bytes.get(..at).unwrap_or(bytes);
    let start = memchr::memrchr(b'\n', before).map_or(0, |end| end + 1);
    let rest = text.get(start..).unwrap_or_default();
    let line = rest.split('\n').next().unwrap_or_default();
    (start, line.strip_suffix('\r').unwrap_or(line))
}

/// The bytes from a place on.
pub(crate) fn span(start: usize, length: usize) -> Span {
    let narrow = |byte: usize| u32::try_from(byte).unwrap_or(u32::MAX);
    Span { start: narrow(start), end: narrow(start + length) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_and_broken_texts_stay_on_one_line() {
        assert_eq!(short("a\nb"), "a b");
        assert_eq!(short(&"é".repeat(100)).chars().count(), CHARACTERS + 1);
    }

    #[test]
    fn words_and_lines_are_found_anywhere() {
        assert_eq!(word("one two", 4), "two");
        assert_eq!(word("one two", 3), " ");
        assert_eq!(word("one", 3), "");
        assert_eq!(line("one\r\ntwo\n", 5), (5, "two"));
        assert_eq!(line("one\r\ntwo\n", 0), (0, "one"));
        assert_eq!(line("one\n", 4), (4, ""));
    }
}
