//! What JSON means, and how its errors are reported.

use upheld_model::{Diagnostic, Fault, SourceId, Tree};
use upheld_syntax::json::{read, read_lines};

use crate::common::{located, shown};

fn read_text(text: &str) -> (Tree, Vec<Diagnostic>) {
    read(SourceId::new(0), text.to_owned())
}

fn json(text: &str) -> String {
    let (tree, problems) = read_text(text);
    assert_eq!(problems, [], "{text}");
    shown(&tree)
}

/// The only problem, as `line:column message / help`; a document with a syntax error is left out.
fn told(text: &str) -> String {
    let (tree, problems) = read_text(text);
    assert_eq!(problems.len(), 1, "{text} {problems:?}");
    assert_eq!(problems[0].fault, Fault::Syntax);
    assert_eq!(tree.documents().len(), 0);
    let message = located(&tree, &problems).swap_remove(0).replace(" UP001", "");
    format!("{message} / {}", problems[0].help.join(" / "))
}

#[test]
fn values_of_all_kinds() {
    assert_eq!(
        json(
            r#" {"a": [1, -0, 1.5, -2e-3, 0E+1], "b": {"c": true, "d": false}, "e": null, "f": "", "": {}, "g": []} "#
        ),
        r#"{"a": [1, -0, 1.5, -2e-3, 0E+1], "b": {"c": true, "d": false}, "e": null, "f": "", "": {}, "g": []}"#
    );
    for scalar in ["1", "-1.0", "true", "null", "\"a\"", "[]", "{}"] {
        assert_eq!(json(scalar), scalar);
    }
    assert_eq!(json(" \r\n\t"), "", "an empty text has no documents");
}

#[test]
fn escapes() {
    assert_eq!(json(r#""\"\\\/\b\f\n\r\t""#), format!("{:?}", "\"\\/\u{8}\u{c}\n\r\t"));
    assert_eq!(json(r#""\u0041\u00e9\u20AC\ud83d\ude00""#), "\"Aé€😀\"");
    assert_eq!(json(r#"{"\u0061": "x\u0000y"}"#), format!("{{\"a\": {:?}}}", "x\0y"));
    assert_eq!(json("\"é😀\u{7f}\u{2028}\""), format!("{:?}", "é😀\u{7f}\u{2028}"));
}

#[test]
fn positions_are_those_of_the_source() {
    let (tree, _) = read_text("{\n  \"é\": [\"ö\", 12],\n  \"x\": {\"y\": true}\n}");
    let document = tree.documents().next().unwrap();
    let place = |value: upheld_model::Value<'_>| {
        let span = value.span();
        let (line, column) = tree.position(span.start);
        (line, column, tree.text().get(span.start as usize..span.end as usize).unwrap())
    };
    assert_eq!(place(document).0, 1);
    let list = document.get("é").unwrap();
    assert_eq!(place(list), (2, 8, "[\"ö\", 12]"));
    assert_eq!(place(list.items().next().unwrap()), (2, 9, "\"ö\""));
    assert_eq!(place(list.items().nth(1).unwrap()), (2, 14, "12"));
    assert_eq!(place(document.at_path(&["x", "y"]).unwrap()), (3, 14, "true"));
}

#[test]
fn a_duplicate_key_shows_both_places() {
    let (tree, problems) = read_text("{\"a\": 1, \"b\": {\"a\": 1}, \"\\u0061\": 2}");
    assert_eq!(located(&tree, &problems), ["1:25 UP002 key `a` appears twice in one map"]);
    assert_eq!(tree.position(problems[0].related[0].span.start), (1, 2));
    assert_eq!(tree.documents().len(), 1);
}

#[test]
fn what_was_expected_and_what_was_found() {
    let examples = [
        ("{\"a\": 1 \"name\": 2}", "1:9 expected a comma or `}`, found `\"name\"` / put a comma between entries"),
        ("[1 2]", "1:4 expected a comma or `]`, found `2` / "),
        ("[1}", "1:3 expected a comma or `]`, found `}` / "),
        ("{\"a\" 1}", "1:6 expected `:` after the key, found `1` / "),
        ("{\"a\": }", "1:7 expected a value, found `}` / "),
        ("{\"a\"", "1:5 expected `:` after the key, found the end of the text / "),
        ("{\"a\": [1", "1:9 expected a comma or `]`, found the end of the text / close what is open"),
        ("{name: 1}", "1:2 expected a key in double quotes, found `name` / put it in double quotes: `\"name\"`"),
        ("{1: 1}", "1:2 expected a key in double quotes, found `1` / "),
        ("[,]", "1:2 expected a value, found `,` / "),
        ("]", "1:1 expected a value, found `]` / "),
        (
            "{}\n{}",
            "2:1 expected nothing more after the value, found `{` / a JSON file has one value; name a file with one value a line `.jsonl`",
        ),
        ("kind: Mesh", "1:1 expected a value, found `kind` / put it in double quotes: `\"kind\"`"),
        ("[True]", "1:2 expected a value, found `True` / write `true`"),
        ("[nulls]", "1:2 expected a value, found `nulls` / put it in double quotes: `\"nulls\"`"),
        ("[tru]", "1:2 expected a value, found `tru` / put it in double quotes: `\"tru\"`"),
        ("[é]", "1:2 expected a value, found `é` / "),
        ("[\u{0}]", "1:2 expected a value, found ` ` / "),
    ];
    for (text, message) in examples {
        assert_eq!(told(text), message, "{text}");
    }
}

#[test]
fn common_mistakes_are_explained() {
    let comma = "a comma after the last entry / remove it: JSON allows none before a closing bracket";
    assert_eq!(told("{\"a\": 1,}"), format!("1:8 {comma}"));
    assert_eq!(told("[1,\n]"), format!("1:3 {comma}"));
    assert_eq!(told("['a']"), "1:2 expected a value, found `'a'` / put JSON texts in double quotes: `\"`");
    assert!(told("{'a': 1}").ends_with("put JSON texts in double quotes: `\"`"));
    for comment in ["// c\n{}", "{} /* c */", "# c\n{}", "[1, // one\n2]", "{\"a\": 1 // c\n}"] {
        assert!(told(comment).contains("JSON has no comments"), "{comment}");
    }
}

#[test]
fn broken_texts() {
    assert!(told("[\"a\n\"]").starts_with("1:2 the text is not closed"));
    assert!(told("{\"a\": \"b").starts_with("1:7 the text is not closed"));
    assert!(told("[\"a\\").starts_with("1:4 unknown escape"));
    assert!(told("[\"a\\x41\"]").starts_with("1:4 unknown escape"));
    assert!(told("[\"\\u12g4\"]").starts_with("1:3 unknown escape"));
    assert!(told("[\"\\u12").starts_with("1:3 unknown escape"));
    assert!(told("[\"\\ud83d\"]").starts_with("1:3 half of a surrogate pair"));
    assert!(told("[\"\\ude00\"]").starts_with("1:3 half of a surrogate pair"));
    assert!(told("[\"\\ud83d\\u0041\"]").starts_with("1:3 half of a surrogate pair"));
    assert_eq!(told("[\"a\tb\"]"), "1:4 control character U+0009 in a text / write it as `\\u0009`");
    assert_eq!(told("[\"a\u{1}b\"]"), "1:4 control character U+0001 in a text / write it as `\\u0001`");
}

#[test]
fn broken_numbers() {
    for number in ["01", "-", "1.", "1.e3", "1e", "1e+", "-a", "1x", "0x1f", "1_000", "--1", "1.2.3", "1+1"] {
        let message = told(&format!("[{number}]"));
        assert!(message.starts_with(&format!("1:2 `{number}` is not a JSON number")), "{number}: {message}");
    }
    assert!(told("[+1]").starts_with("1:2 expected a value, found `+1`"));
    assert!(told("[.5]").starts_with("1:2 expected a value, found `.5`"));
}

#[test]
fn json_lines_are_read_one_by_one() {
    let text = "{\"a\": 1}\r\n\n   \n[2]\n{\"a\": \n\"unclosed\n{\"b\": 3} x\n4";
    let (tree, problems) = read_lines(SourceId::new(0), text.to_owned());
    assert_eq!(shown(&tree), r#"{"a": 1} | [2] | 4"#);
    assert_eq!(
        located(&tree, &problems),
        [
            "5:7 UP001 expected a value, found the end of the line",
            "6:1 UP001 the text is not closed",
            "7:10 UP001 expected nothing more after the value, found `x`",
        ]
    );
}

#[test]
fn at_most_twenty_broken_lines_are_shown() {
    let (tree, problems) = read_lines(SourceId::new(0), "{\n".repeat(100) + "{}\n");
    assert_eq!(problems.len(), 21);
    assert_eq!(problems[20].message, "80 more problems of this kind are not shown");
    assert_eq!(tree.documents().len(), 1);
}
