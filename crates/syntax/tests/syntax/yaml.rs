//! What YAML means: values, documents, anchors, merge keys, duplicate keys, tags.

use crate::common::{located, shown, yaml};
use upheld_model::{Diagnostic, Fault, Severity, SourceId, Tree};
use upheld_syntax::yaml::read;

fn read_text(text: &str) -> (Tree, Vec<Diagnostic>) {
    read(SourceId::new(0), text.to_owned())
}

fn problems(text: &str) -> Vec<String> {
    let (tree, problems) = read_text(text);
    located(&tree, &problems)
}

#[test]
fn scalars_follow_the_core_schema() {
    assert_eq!(
        yaml("[a, 1, 0x1f, 0o17, 1.5, .inf, true, False, null, ~, '1', \"true\", 12:30, 1_000]"),
        r#"["a", 1, 0x1f, 0o17, 1.5, .inf, true, False, null, null, "1", "true", "12:30", "1_000"]"#
    );
}

#[test]
fn values_may_be_left_out() {
    assert_eq!(yaml("a:\nb: {c, d: }\ne:\n-\n- f"), r#"{"a": null, "b": {"c": null, "d": null}, "e": [null, "f"]}"#);
}

#[test]
fn texts_in_all_styles() {
    let text = "plain: two\n  lines\nsingle: 'it''s'\ndouble: \"a\\tb\\u00e9\"\nliteral: |\n  one\n  two\nfolded: >-\n  one\n  two\n";
    assert_eq!(
        yaml(text),
        r#"{"plain": "two lines", "single": "it's", "double": "a\tbé", "literal": "one\ntwo\n", "folded": "one two"}"#
    );
}

#[test]
fn keys_are_text() {
    assert_eq!(yaml("1: a\ntrue: b\n~: c\n'': d"), r#"{"1": "a", "true": "b", "~": "c", "": "d"}"#);
}

#[test]
fn empty_texts_and_documents_are_no_documents() {
    for text in
        ["", "\n\n", "# only a comment\n", "---\n", "---\n---\n# nothing\n---\n", "...\n", "\r\n", "--- # c\n..."]
    {
        assert_eq!(yaml(text), "", "{text:?}");
    }
    assert_eq!(yaml("a\n---\n---\n# c\n---\nb\n...\n---\n~\n"), r#""a" | "b" | null"#);
}

#[test]
fn directives_and_explicit_ends() {
    assert_eq!(yaml("%YAML 1.2\n---\na: 1\n...\n%TAG !e! tag:yaml.org,2002:\n---\n!e!str 1\n"), r#"{"a": 1} | "1""#);
}

#[test]
fn windows_line_ends() {
    assert_eq!(yaml("a: b\r\nc:\r\n  - d\r\n---\r\ne: |\r\n  f\r\n"), r#"{"a": "b", "c": ["d"]} | {"e": "f\n"}"#);
}

#[test]
fn positions_are_those_of_the_source() {
    let (tree, _) = read_text("kind: Mesh\nspec:\n  - é: \"ö\"\n    plain: text # comment\n\n# end\n");
    let text = |path: &str| -> (usize, usize, String) {
        let document = tree.documents().next().unwrap();
        let value = path.split('.').fold(document, |value, part| {
            part.parse().map_or_else(|_| value.get(part).unwrap(), |index| value.items().nth(index).unwrap())
        });
        let span = value.span();
        let (line, column) = tree.position(span.start);
        (line, column, tree.text().get(span.start as usize..span.end as usize).unwrap().to_owned())
    };
    assert_eq!(text("kind"), (1, 7, "Mesh".to_owned()));
    assert_eq!(text("spec.0.é"), (3, 8, "\"ö\"".to_owned()));
    assert_eq!(text("spec.0.plain"), (4, 12, "text".to_owned()));
    assert_eq!(text("spec.0"), (3, 5, "é: \"ö\"\n    plain: text".to_owned()));
    assert_eq!(text("spec"), (3, 3, "- é: \"ö\"\n    plain: text".to_owned()));
}

#[test]
fn an_alias_repeats_its_value_where_it_stands() {
    let (tree, found) = read_text("a: &x {b: [1, 2]}\nc: *x\nd: &y 5\n*y : e\n");
    assert_eq!(found, []);
    assert_eq!(shown(&tree), r#"{"a": {"b": [1, 2]}, "c": {"b": [1, 2]}, "d": 5, "5": "e"}"#);
    let document = tree.documents().next().unwrap();
    assert_eq!(tree.position(document.get("c").unwrap().span().start), (2, 4));
    assert_eq!(tree.position(document.at_path(&["c", "b"]).unwrap().span().start), (1, 11));
}

#[test]
fn an_anchor_can_be_defined_again_and_ends_with_its_document() {
    assert_eq!(yaml("[&a 1, *a, &a 2, *a]"), "[1, 1, 2, 2]");
    assert_eq!(problems("&a 1\n---\n*a\n"), ["3:1 UP001 there is no anchor `&a` before `*a`"]);
}

#[test]
fn an_alias_inside_of_its_value_is_an_error() {
    let (tree, found) = read_text("a: &a [1, *a]\n---\nb: 1\n");
    assert_eq!(located(&tree, &found), ["1:11 UP001 `*a` is inside the value that it repeats"]);
    assert_eq!(shown(&tree), r#"{"b": 1}"#, "only the broken document is left out");
}

#[test]
fn merge_keys_take_effect() {
    let base = "base: &base {a: 1, b: 2}\nmore: &more {b: 3, c: 4}\n";
    let of = |entry: &str| {
        let (tree, found) = read_text(&format!("{base}{entry}"));
        assert_eq!(found, [], "{entry}");
        shown(&tree).split(r#", "c": 4}, "#).nth(1).unwrap().to_owned()
    };
    assert_eq!(of("x: {<<: *base}"), r#""x": {"a": 1, "b": 2}}"#);
    assert_eq!(of("x: {<<: *base, b: 9}"), r#""x": {"b": 9, "a": 1}}"#);
    assert_eq!(of("x: {b: 9, <<: *base}"), r#""x": {"b": 9, "a": 1}}"#);
    assert_eq!(of("x: {<<: [*base, *more]}"), r#""x": {"a": 1, "b": 2, "c": 4}}"#);
    assert_eq!(of("x: {<<: [*more, *base]}"), r#""x": {"b": 3, "c": 4, "a": 1}}"#);
    assert_eq!(of("x: {<<: {z: 1}}"), r#""x": {"z": 1}}"#);
    assert_eq!(of("x: {'<<': *base}"), r#""x": {"<<": {"a": 1, "b": 2}}}"#, "only the plain key merges");
}

#[test]
fn anchors_follow_values_that_a_merge_moves() {
    // `<<` comes first and goes away, so everything in the map moves: scalars, lists, and what was merged already.
    let text = "base: &base {z: {y: 0}}\nx:\n  <<: *base\n  a: &a 1\n  b: &b [2, &c 3]\n  d:\n    <<: {e: &e 4}\n    f: &f 5\nuse: [*a, *b, *c, *e, *f]\n";
    assert!(yaml(text).ends_with(r#""use": [1, [2, 3], 3, 4, 5]}"#), "{}", yaml(text));
    assert_eq!(yaml("x: {<<: {a: &a 1}, b: *a}\ny: *a"), r#"{"x": {"b": 1, "a": 1}, "y": 1}"#);
    assert_eq!(yaml("x: &x {<<: {a: 1}, b: 2}\ny: *x"), r#"{"x": {"b": 2, "a": 1}, "y": {"b": 2, "a": 1}}"#);
}

#[test]
fn an_alias_to_what_a_merge_dissolved_is_explained() {
    assert_eq!(problems("x: {<<: &m {a: 1}}\ny: *m"), ["2:4 UP001 the value of `&m` was merged into a map by `<<`"]);
}

#[test]
fn only_maps_can_be_merged() {
    assert_eq!(problems("x: {<<: 1}"), ["1:9 UP012 `<<` takes a map or a list of maps"]);
    assert_eq!(problems("x: {<<: [{}, [1]]}"), ["1:14 UP012 `<<` takes a map or a list of maps"]);
}

#[test]
fn a_duplicate_key_shows_both_places() {
    let (tree, found) = read_text("a: 1\nb: {c: 1}\n'a': 2\n");
    assert_eq!(located(&tree, &found), ["3:1 UP002 key `a` appears twice in one map"]);
    assert_eq!(tree.position(found[0].related[0].span.start), (1, 1));
    assert_eq!(found[0].help, ["keep one of them"]);
    assert_eq!(problems("{a: 1, b: 2, <<: {a: 3}}"), Vec::<String>::new(), "a merged key is not written twice");
    assert_eq!(problems("<<: {a: 1}\n<<: {b: 1}\n").len(), 1);
}

#[test]
fn lists_and_maps_cannot_be_keys() {
    assert_eq!(problems("? [a]\n: b\n"), ["1:3 UP001 a list or a map cannot be a key"]);
    assert_eq!(problems("{a: 1}: b\n"), ["1:1 UP001 a list or a map cannot be a key"]);
    assert_eq!(problems("a: &a [1]\n*a : b\n"), ["2:1 UP001 a list or a map cannot be a key"]);
    let (tree, found) = read_text("name: {{ .Values.name }}\n---\na: 1\n");
    assert!(found[0].help[0].contains("helm template"), "{found:?}");
    assert_eq!(shown(&tree), r#"{"a": 1}"#);
}

#[test]
fn booleans_of_yaml_1_1_are_text_with_a_warning() {
    for word in ["yes", "No", "ON", "off"] {
        let (tree, found) = read_text(&format!("{word}: {word}"));
        assert_eq!(shown(&tree), format!("{{{word:?}: {word:?}}}"));
        assert_eq!(found.len(), 1, "a key is no value");
        assert_eq!((found[0].fault, found[0].severity), (Fault::AmbiguousBoolean, Severity::Warning));
        assert!(found[0].help[0].contains(&format!("`\"{word}\"`")), "{found:?}");
    }
    assert_eq!(yaml("[y, n, 'yes', \"no\", !!str on, yes please]"), r#"["y", "n", "yes", "no", "on", "yes please"]"#);
}

#[test]
fn tags_of_the_core_schema_are_honoured() {
    assert_eq!(
        yaml(
            "[!!str 1, !!str , !!int '1', !!float 1, !!bool \"true\", !!null '', !!map {a: 1}, !!seq [1], !<tag:yaml.org,2002:str> ~]"
        ),
        r#"["1", "", 1, 1, true, null, {"a": 1}, [1], "~"]"#
    );
}

#[test]
fn other_tags_and_tags_that_do_not_fit_are_errors() {
    assert_eq!(problems("a: !secret b"), ["1:4 UP007 tag `!secret` is not valid here"]);
    assert_eq!(problems("a: !!set {b}"), ["1:4 UP007 tag `!!set` is not valid here"]);
    assert_eq!(problems("- !e!a b"), ["1:3 UP007 unknown tag"]);
    assert_eq!(problems("a: !!int b"), ["1:4 UP012 tag `!!int` does not fit `b`"]);
    assert_eq!(problems("a: !!seq {b: 1}"), ["1:4 UP012 tag `!!seq` does not fit a map"]);
    assert_eq!(problems("a: !!map b"), ["1:4 UP012 tag `!!map` does not fit `b`"]);
}
