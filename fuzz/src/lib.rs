//! What must hold for whatever was read: no place outside of its text, no kind without its value.

use upheld_loader::{Format, Input, read};
use upheld_model::{Kind, Span, Tree, Value};

/// Reads bytes as a file of a format would be read, and checks what comes out.
pub fn check(format: Format, bytes: &[u8]) {
    let name = match format {
        Format::Yaml => "fuzz.yaml",
        Format::Json => "fuzz.json",
        Format::JsonLines => "fuzz.jsonl",
        Format::Csv => "fuzz.csv",
    };
    let (files, problems) = read(vec![Input::bytes(name, bytes.to_vec())]);
    for (_, file) in files.iter() {
        file.tree.documents().for_each(|document| check_value(&file.tree, document));
    }
    for problem in problems.as_slice() {
        for label in problem.label.iter().chain(&problem.related) {
            let file = files.get(label.source).expect("a problem is about a file that was read");
            check_span(&file.tree, label.span);
        }
    }
}

fn check_value(tree: &Tree, value: Value<'_>) {
    check_span(tree, value.span());
    match value.kind() {
        Kind::List => value.items().for_each(|item| check_value(tree, item)),
        Kind::Map => value.entries().for_each(|(key, value)| {
            assert!(!matches!(key.kind(), Kind::List | Kind::Map), "a key is a scalar");
            check_value(tree, key);
            check_value(tree, value);
        }),
        Kind::Bool => assert!(value.as_bool().is_some()),
        Kind::Float => assert!(value.as_number().is_some(), "{}", value.text()),
        Kind::Null | Kind::Integer | Kind::Text => {}
    }
}

fn check_span(tree: &Tree, span: Span) {
    assert!(tree.text().get(span.start as usize..span.end as usize).is_some(), "{span:?} is outside of the text");
}
