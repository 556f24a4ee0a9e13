//! Elements of XML.

use super::visible;

/// An element with lines of text.
pub(crate) fn element(name: &str, attributes: &[(&str, impl AsRef<str>)], lines: &[String]) -> String {
    let open = opening(name, attributes);
    let text = lines.iter().map(|line| escaped(line)).collect::<Vec<_>>().join("\n");
    if text.is_empty() { format!("<{open}/>\n") } else { format!("<{open}>{text}</{name}>\n") }
}

/// An element with elements, each on lines of its own.
pub(crate) fn parent(name: &str, attributes: &[(&str, impl AsRef<str>)], inner: &str) -> String {
    let open = opening(name, attributes);
    if inner.is_empty() { format!("<{open}/>\n") } else { format!("<{open}>\n{inner}</{name}>\n") }
}

/// The beginning of an element with elements, for those who write them one after the other.
pub(crate) fn open(name: &str, attributes: &[(&str, impl AsRef<str>)]) -> String {
    format!("<{}>\n", opening(name, attributes))
}

/// The end of such an element.
pub(crate) fn close(name: &str) -> String {
    format!("</{name}>\n")
}

/// Puts an attribute down. There can be millions of them, and most have nothing to escape.
pub(crate) fn put_attribute(text: &mut String, name: &str, value: &str) {
    let is_plain = value.bytes().all(|byte| matches!(byte, b' '..=b'~') && !b"&<>\"".contains(&byte));
    text.extend([" ", name, "=\""]);
    if is_plain {
        text.push_str(value);
    } else {
        text.push_str(&escaped(value));
    }
    text.push('"');
}

fn opening(name: &str, attributes: &[(&str, impl AsRef<str>)]) -> String {
    // Readers turn a line break in an attribute into a space.
    attributes
        .iter()
        .fold(name.to_owned(), |open, (name, value)| format!("{open} {name}=\"{}\"", escaped(value.as_ref())))
}

/// Text in one line in which nothing is markup, and nothing is a character that XML does not have.
fn escaped(text: &str) -> String {
    let mut safe = String::new();
    for character in visible(text).chars() {
        match character {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\u{fffe}' | '\u{ffff}' => safe.push('\u{fffd}'),
            other => safe.push(other),
        }
    }
    safe
}
