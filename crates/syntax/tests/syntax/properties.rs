//! What holds for any value: written out as JSON, it reads back the same, and every position points at its text.

use proptest::prelude::*;
use upheld_loader::Format;
use upheld_model::{Kind, SourceId, Tree, Value};
use upheld_syntax::parse;

/// Any JSON value.
#[derive(Clone, Debug)]
enum Json {
    Null,
    Bool(bool),
    Integer(i64),
    Float(f64),
    Text(String),
    List(Vec<Json>),
    Map(Vec<(String, Json)>),
}

fn any_json() -> impl Strategy<Value = Json> {
    let scalar = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::Bool),
        any::<i64>().prop_map(Json::Integer),
        (-1.0e300..1.0e300).prop_map(Json::Float),
        any_text().prop_map(Json::Text),
    ];
    scalar.prop_recursive(5, 60, 8, |inner| {
        let entries = prop::collection::btree_map(any_text(), inner.clone(), 0..8);
        prop_oneof![
            prop::collection::vec(inner, 0..8).prop_map(Json::List),
            entries.prop_map(|entries| Json::Map(entries.into_iter().collect())),
        ]
    })
}

/// Texts with what is special to JSON and YAML, and any characters.
fn any_text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z]{0,8}",
        "[-?:,\\[\\]{}#&*!|>'\"%@`~ \\\\./\\t\\n\\r0-9a-c\u{e9}\u{20ac}\u{1f600}\u{7f}\u{feff}]{0,12}",
        any::<String>(),
        prop::sample::select(vec!["null", "true", "yes", "1", "1.0", "---", "<<", "=", "", " ", "- a", "a: b"])
            .prop_map(str::to_owned),
    ]
}

impl Json {
    /// Writes it out, with line breaks and blanks if pretty.
    fn write(&self, text: &mut String, pretty: bool) {
        match self {
            Self::Null => text.push_str("null"),
            Self::Bool(value) => text.push_str(&value.to_string()),
            Self::Integer(value) => text.push_str(&value.to_string()),
            Self::Float(value) => text.push_str(&format!("{value:e}")),
            Self::Text(value) => write_text(value, text),
            Self::List(items) => {
                text.push('[');
                for (index, item) in items.iter().enumerate() {
                    separate(index, text, pretty);
                    item.write(text, pretty);
                }
                text.push(']');
            }
            Self::Map(entries) => {
                text.push('{');
                for (index, (key, value)) in entries.iter().enumerate() {
                    separate(index, text, pretty);
                    write_text(key, text);
                    text.push_str(if pretty { " : " } else { ":" });
                    value.write(text, pretty);
                }
                text.push('}');
            }
        }
    }

    fn is(&self, value: Value<'_>) -> bool {
        match self {
            Self::Null => value.kind() == Kind::Null,
            Self::Bool(expected) => value.as_bool() == Some(*expected),
            Self::Integer(expected) => value.as_integer() == Some(*expected),
            Self::Float(expected) => value.kind() == Kind::Float && value.as_number() == Some(*expected),
            Self::Text(expected) => value.as_text() == Some(expected),
            Self::List(items) => {
                value.kind() == Kind::List
                    && value.items().count() == items.len()
                    && items.iter().zip(value.items()).all(|(item, value)| item.is(value))
            }
            Self::Map(entries) => {
                value.kind() == Kind::Map
                    && value.entries().count() == entries.len()
                    && entries
                        .iter()
                        .zip(value.entries())
                        .all(|((key, expected), (name, value))| name.as_text() == Some(key) && expected.is(value))
            }
        }
    }
}

fn separate(index: usize, text: &mut String, pretty: bool) {
    if index > 0 {
        text.push(',');
    }
    if pretty {
        text.push_str("\n  ");
    }
}

/// Escapes what JSON requires, and what YAML does not allow as it is.
fn write_text(value: &str, text: &mut String) {
    text.push('"');
    for character in value.chars() {
        let code = u32::from(character);
        match character {
            '"' | '\\' => text.extend(['\\', character]),
            '\n' => text.push_str("\\n"),
            _ if character.is_control() || (0xfff0..=0xffff).contains(&code) || character == '\u{feff}' => {
                text.push_str(&format!("\\u{code:04x}"));
            }
            _ => text.push(character),
        }
    }
    text.push('"');
}

fn read(format: Format, text: &str) -> Tree {
    let (file, problems) = parse("text", format, text.to_owned(), SourceId::new(0));
    assert_eq!(problems, [], "{text}");
    file.tree
}

/// Line and column of a byte, counted in another way than the tree does it.
fn position(text: &str, byte: u32) -> (usize, usize) {
    let before = text.get(..byte as usize).unwrap();
    (before.matches('\n').count() + 1, before.chars().rev().take_while(|character| *character != '\n').count() + 1)
}

/// Every scalar stands where its position says: as it is, or in quotes, or escaped in quotes.
fn check_positions(tree: &Tree, value: Value<'_>) {
    let span = value.span();
    let written = tree.text().get(span.start as usize..span.end as usize).unwrap();
    assert_eq!(tree.position(span.start), position(tree.text(), span.start));
    match value.kind() {
        Kind::List => value.items().for_each(|item| check_positions(tree, item)),
        Kind::Map => value.entries().for_each(|(key, value)| {
            check_positions(tree, key);
            check_positions(tree, value);
        }),
        Kind::Text => {
            let inner = written.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap();
            assert!(inner == value.text() || inner.contains('\\'), "{written}");
        }
        _ => assert_eq!(written, value.text()),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn any_json_value_reads_back_from_json_and_from_yaml(json in any_json(), pretty: bool) {
        let mut text = String::new();
        json.write(&mut text, pretty);
        for format in [Format::Json, Format::Yaml] {
            let tree = read(format, &text);
            let mut documents = tree.documents();
            let document = documents.next().unwrap();
            prop_assert!(json.is(document), "{:?} of {}", format, text);
            prop_assert_eq!(documents.len(), 0);
            check_positions(&tree, document);
        }
    }

    #[test]
    fn any_json_values_read_back_from_json_lines(values in prop::collection::vec(any_json(), 0..5)) {
        let mut text = String::new();
        for value in &values {
            value.write(&mut text, false);
            text.push('\n');
        }
        let tree = read(Format::JsonLines, &text);
        prop_assert_eq!(tree.documents().len(), values.len());
        for (value, document) in values.iter().zip(tree.documents()) {
            prop_assert!(value.is(document));
            check_positions(&tree, document);
        }
    }
}
