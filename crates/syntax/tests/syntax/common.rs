//! What several test files need.

use upheld_model::{Diagnostic, Kind, SourceId, Tree, Value};

/// The documents in one line: lists and maps as in JSON, texts in quotes, other scalars as they are written.
pub(crate) fn shown(tree: &Tree) -> String {
    tree.documents().map(show).collect::<Vec<_>>().join(" | ")
}

/// Reads YAML that must have no problems.
pub(crate) fn yaml(text: &str) -> String {
    let (tree, problems) = upheld_syntax::yaml::read(SourceId::new(0), text.to_owned());
    assert_eq!(problems, [], "{text}");
    shown(&tree)
}

/// Problems in one line each: `line:column code message`.
pub(crate) fn located(tree: &Tree, problems: &[Diagnostic]) -> Vec<String> {
    problems.iter().map(|problem| locate(tree, problem)).collect()
}

fn locate(tree: &Tree, problem: &Diagnostic) -> String {
    let place = problem.label.as_ref().map(|label| tree.position(label.span.start));
    let (line, column) = place.unwrap_or((0, 0));
    format!("{line}:{column} {} {}", problem.fault.code(), problem.message)
}

fn show(value: Value<'_>) -> String {
    match value.kind() {
        Kind::Null => "null".to_owned(),
        Kind::Text => format!("{:?}", value.text()),
        Kind::List => format!("[{}]", value.items().map(show).collect::<Vec<_>>().join(", ")),
        Kind::Map => {
            let entries = value.entries().map(|(key, value)| format!("{:?}: {}", key.text(), show(value)));
            format!("{{{}}}", entries.collect::<Vec<_>>().join(", "))
        }
        _ => value.text().to_owned(),
    }
}
