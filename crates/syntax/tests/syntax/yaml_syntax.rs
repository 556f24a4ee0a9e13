//! How YAML errors are reported: in plain words, at the place that is wrong, with what to do, and all of them.

use crate::common::{located, shown};
use upheld_model::{Fault, SourceId};
use upheld_syntax::yaml::read;

/// The first problem, as `line:column message / help`.
fn first(text: &str) -> String {
    let (tree, problems) = read(SourceId::new(0), text.to_owned());
    let problem = problems.first().unwrap_or_else(|| panic!("no problem in {text:?}"));
    assert_eq!(problem.fault, Fault::Syntax, "{problem:?}");
    let message = located(&tree, &problems).swap_remove(0).replace(" UP001", "");
    assert!(!message.ends_with('.') && !message.contains("while "), "{message}");
    format!("{message} / {}", problem.help.join(" / "))
}

#[test]
fn tabs_in_the_indentation() {
    let told = "a tab is used for indentation / indent with spaces; YAML allows no tabs there";
    assert_eq!(first("a:\n\tb: c\n"), format!("2:1 {told}"));
    assert_eq!(first("a:\n  b: c\n  \td: e\n"), format!("3:3 {told}"));
    assert_eq!(first("a: b\n\tc: d\n"), format!("2:1 {told}"));
    assert_eq!(first("a: |\n\tx\n"), format!("2:1 {told}"));
    assert_eq!(first("a: b\n  c\n\td: e\n"), format!("3:1 {told}"));
}

#[test]
fn a_missing_space_after_a_colon() {
    assert_eq!(first("kind: x\nname:web\n"), "2:1 a space is missing after `:` / write `name: web`");
    assert_eq!(first("name:web\nkind: x\n"), "1:1 a space is missing after `:` / write `name: web`");
    assert_eq!(first("- a: b\n  c:d\n"), "2:3 a space is missing after `:` / write `c: d`");
}

#[test]
fn quotes() {
    let told =
        "the quote is not closed / close it at the end of the text; more lines of the same text must be indented";
    assert_eq!(first("a: \"unclosed\nb: c\n"), format!("1:4 {told}"));
    assert_eq!(first("a: # it's\n  'unclosed"), format!("2:3 {told}"));
    assert_eq!(first("x: y\na: [1, 'un\n---\nb: c\n"), format!("2:8 {told}"));
    assert_eq!(
        first("a: 'it's'\n"),
        "1:8 unexpected text after the closing quote / inside single quotes, write a single quote twice: `'it''s'`"
    );
    assert_eq!(
        first("a: \"C:\\tools\\dir\"\n"),
        "1:13 unknown escape in double quotes / write a backslash as `\\\\`, or use single quotes, where it means itself"
    );
}

#[test]
fn indentation() {
    let told = "wrong indentation / give all entries of one list or map the same indentation";
    assert_eq!(first("a:\n    b: c\n  d: e\n"), format!("3:3 {told}"));
    assert_eq!(first("- - a\n - b\n"), format!("2:2 {told}"));
    assert_eq!(
        first("a: b\n  c: d\n"),
        "2:4 a key is not allowed here / align keys of one map; a key with a value on its line has no keys below it"
    );
    assert_eq!(
        first("a: b\n- c\n"),
        "2:3 a list item is not allowed among the keys of a map / indent it below its key, or make it a key"
    );
}

#[test]
fn brackets() {
    assert_eq!(first("a: [1, 2\n---\nb: c\n"), "1:4 `[` is not closed / ");
    assert_eq!(first("a: [1, 2}\n"), "1:4 `[` is closed by `}` / ");
    assert_eq!(first("a: ]\n"), "1:4 this bracket closes nothing / ");
    assert_eq!(
        first("a: {x: 1\nb: c\n"),
        "2:2 expected `,` or `}` / put a comma between entries, and `}` after the last one"
    );
}

#[test]
fn other_common_mistakes() {
    assert_eq!(first("a: b: c\n"), "1:5 a second `:` in one line / put the value in quotes if the `:` belongs to it");
    assert_eq!(first("a: @b\n"), "1:4 text cannot begin with `@` / put it in quotes");
    assert_eq!(first("a: - b\n"), "1:4 a list cannot begin here / put `- ` on its own line, below the key");
    assert_eq!(
        first("a: b\nc\n"),
        "2:1 expected `:` after `c` / write `key: value`; more lines of a text must be indented deeper than its key"
    );
    assert_eq!(
        first("a: \u{7}\n"),
        "1:4 control character U+0007 is not allowed / remove it, or write it as an escape in double quotes"
    );
    assert!(first("{{- if .x }}\na: b\n").contains("helm template"));
    assert!(first("<<<<<<< HEAD\na: b\n=======\na: c\n>>>>>>> main\n").contains("merge conflict"));
}

#[test]
fn all_broken_documents_are_reported_and_the_others_are_read() {
    let text = "a: 1\n---\nb: [1\n---\nc: 2\n---\nd: 'x\n---\ne: 3\n---\nf: g: h\n";
    let (tree, problems) = read(SourceId::new(0), text.to_owned());
    assert_eq!(shown(&tree), r#"{"a": 1} | {"c": 2} | {"e": 3}"#);
    let lines: Vec<_> =
        problems.iter().map(|problem| tree.position(problem.label.as_ref().unwrap().span.start).0).collect();
    assert_eq!(lines, [3, 7, 11]);
}

#[test]
fn an_error_before_a_document_begins_is_not_about_the_one_before_it() {
    let (tree, problems) = read(SourceId::new(0), "a: 1\n...\n%YAML 3.0\n---\nb: 2\n---\nc: 3\n".to_owned());
    assert_eq!(located(&tree, &problems), ["3:1 UP001 only YAML 1 can be read"]);
    assert_eq!(shown(&tree), r#"{"a": 1} | {"c": 3}"#);
}

#[test]
fn at_most_twenty_syntax_errors_are_shown() {
    let (tree, problems) = read(SourceId::new(0), "a: b: c\n---\n".repeat(50) + "good: 1\n");
    assert_eq!(problems.len(), 21);
    assert_eq!(problems[20].message, "30 more problems of this kind are not shown");
    assert_eq!(shown(&tree), r#"{"good": 1}"#);
}
