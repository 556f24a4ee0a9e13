//! Which of the formats a text has: by the name of its file, or by what it looks like.

use upheld_model::File;

/// How a text is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// YAML 1.2, many documents.
    Yaml,
    /// One JSON value.
    Json,
    /// One JSON value a line.
    JsonLines,
    /// A table with named columns, one document a row.
    Csv,
}

impl Format {
    /// By the ending of a name; nothing if it is not a known one.
    ///
    /// ```
    /// use upheld_syntax::Format;
    ///
    /// assert_eq!(Format::of_name("policies/logging.yml"), Some(Format::Yaml));
    /// assert_eq!(Format::of_name("README.md"), None);
    /// ```
    pub fn of_name(name: &str) -> Option<Self> {
        let file = name.rsplit(['/', '\\']).next().unwrap_or(name);
        let (_, extension) = file.rsplit_once('.')?;
        let known = |extensions: &[&str]| extensions.iter().any(|known| known.eq_ignore_ascii_case(extension));
        if known(&["yaml", "yml"]) {
            Some(Self::Yaml)
        } else if known(&["json"]) {
            Some(Self::Json)
        } else if known(&["jsonl", "ndjson"]) {
            Some(Self::JsonLines)
        } else if known(&["csv"]) {
            Some(Self::Csv)
        } else {
            None
        }
    }

    /// Of a file that was read: by its name, or else by what it looks like.
    pub fn of_file(file: &File) -> Self {
        Self::of_name(&file.name).unwrap_or_else(|| Self::of_text(file.tree.text()))
    }

    /// By what the text looks like. In doubt it is YAML, which almost every JSON text is too; it is never CSV,
    /// which almost every text is.
    ///
    /// ```
    /// use upheld_syntax::Format;
    ///
    /// assert_eq!(Format::of_text("{\"kind\": \"Mesh\"}"), Format::Json);
    /// assert_eq!(Format::of_text("{\"a\": 1}\n{\"a\": 2}\n"), Format::JsonLines);
    /// assert_eq!(Format::of_text("{kind: Mesh}"), Format::Yaml);
    /// ```
    pub fn of_text(text: &str) -> Self {
        if !begins_like_json(text) {
            return Self::Yaml;
        }
        let mut lines = text.lines().filter(|line| !line.trim().is_empty());
        match after_first_value(text) {
            None => Self::Json,
            Some(rest) if rest.trim().is_empty() => Self::Json,
            Some(_) if lines.all(|line| line.trim_start().starts_with('{')) => Self::JsonLines,
            Some(_) => Self::Yaml,
        }
    }
}

/// What files are looked for, in words.
pub const EXTENSIONS: &str = "`.yaml`, `.yml`, `.json`, `.jsonl`, `.ndjson` and `.csv`";

/// A bracket, and inside of it what JSON can have there: `{kind: Mesh}` is YAML only.
fn begins_like_json(text: &str) -> bool {
    let mut tokens = text.bytes().filter(|byte| !byte.is_ascii_whitespace());
    match tokens.next() {
        Some(b'{') => matches!(tokens.next(), Some(b'"' | b'}')),
        Some(b'[') => {
            matches!(tokens.next(), Some(b'"' | b'{' | b'[' | b']' | b'-' | b'0'..=b'9' | b't' | b'f' | b'n'))
        }
        _ => false,
    }
}

/// What follows the first value; nothing if that does not end.
fn after_first_value(text: &str) -> Option<&str> {
    let mut depth = 0_usize;
    let mut in_text = false;
    let mut bytes = text.bytes().enumerate();
    while let Some((at, byte)) = bytes.next() {
        match byte {
            b'\\' if in_text => {
                bytes.next();
            }
            b'"' => in_text = !in_text,
            b'{' | b'[' if !in_text => depth += 1,
            b'}' | b']' if !in_text => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return text.get(at + 1..);
                }
            }
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        let examples = [
            ("a.yaml", Some(Format::Yaml)),
            ("a.b/c.YML", Some(Format::Yaml)),
            ("a.json", Some(Format::Json)),
            ("a.jsonl", Some(Format::JsonLines)),
            ("a.ndjson", Some(Format::JsonLines)),
            ("a.csv", Some(Format::Csv)),
            ("a.yaml/b", None),
            ("yaml", None),
            ("a.yaml.tmpl", None),
            ("-", None),
        ];
        for (name, format) in examples {
            assert_eq!(Format::of_name(name), format, "{name}");
        }
    }

    #[test]
    fn texts() {
        let examples = [
            ("", Format::Yaml),
            ("kind: Mesh", Format::Yaml),
            ("\n {\"a\": \"}\"}\n", Format::Json),
            ("[1, 2]", Format::Json),
            ("{}", Format::Json),
            ("{\n  \"a\": {\n", Format::Json),
            ("{\"a\": \"\\\"}\"}", Format::Json),
            ("{\"a\": 1}\n\n{\"b\": 2}", Format::JsonLines),
            ("{\"a\": 1}\nb: 2", Format::Yaml),
            ("{a: 1}", Format::Yaml),
            ("{{ .Values.all }}", Format::Yaml),
            ("[a, b]", Format::Yaml),
            ("- a", Format::Yaml),
            ("ref,type\nproject/a,project\n", Format::Yaml),
            ("{\"a\": 1}\n---\n{\"a\": 2}", Format::Yaml),
        ];
        for (text, format) in examples {
            assert_eq!(Format::of_text(text), format, "{text}");
        }
    }
}
