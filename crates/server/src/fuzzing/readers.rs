//! Readers of files: no place outside of its text, no kind without its value.

use upheld_loader::{Input, read};
use upheld_model::tree::{Kind, Value};
use upheld_model::{Span, Tree};

/// As YAML.
pub(super) fn yaml(bytes: &[u8]) -> Result<(), String> {
    check("fuzz.yaml", bytes)
}

/// As JSON and as JSON Lines.
pub(super) fn json(bytes: &[u8]) -> Result<(), String> {
    check("fuzz.json", bytes)?;
    check("fuzz.jsonl", bytes)
}

/// As CSV, and as rows and further columns of a table that is read.
pub(super) fn csv(bytes: &[u8]) -> Result<(), String> {
    check("fuzz.csv", bytes)?;
    for header in ["ref,a.b[]\n", "ref,"] {
        check("fuzz.csv", &[header.as_bytes(), bytes].concat())?;
    }
    Ok(())
}

/// Reads bytes as a file of a name would be read, and checks what comes out.
fn check(name: &str, bytes: &[u8]) -> Result<(), String> {
    let (files, problems) = read(vec![Input::bytes(name, bytes.to_vec())]);
    for (_, file) in files.iter() {
        file.tree.documents().try_for_each(|document| check_value(&file.tree, document))?;
    }
    for problem in problems.as_slice() {
        for label in problem.label.iter().chain(&problem.related) {
            let file = files.get(label.source).ok_or("a problem is about a file that was not read")?;
            check_span(&file.tree, label.span)?;
        }
    }
    Ok(())
}

fn check_value(tree: &Tree, value: Value<'_>) -> Result<(), String> {
    check_span(tree, value.span())?;
    let has_value = match value.kind() {
        Kind::List => return value.items().try_for_each(|item| check_value(tree, item)),
        Kind::Map => {
            return value.entries().try_for_each(|(key, value)| {
                if matches!(key.kind(), Kind::List | Kind::Map) {
                    return Err("a key is no scalar".to_owned());
                }
                check_value(tree, key)?;
                check_value(tree, value)
            });
        }
        Kind::Bool => value.as_bool().is_some(),
        Kind::Float => value.as_number().is_some(),
        Kind::Null | Kind::Integer | Kind::Text => true,
    };
    if has_value { Ok(()) } else { Err(format!("`{}` has no value", value.text())) }
}

fn check_span(tree: &Tree, span: Span) -> Result<(), String> {
    let text = tree.text().get(span.start as usize..span.end as usize);
    text.map(drop).ok_or_else(|| format!("{span:?} is outside of the text"))
}
