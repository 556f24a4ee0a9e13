//! Inputs made to do harm: each gives an error or works, and none takes long.

use upheld_loader::Format;
use upheld_model::{Diagnostic, Fault, File, SourceId};
use upheld_syntax::{limits, parse};

/// Reads a text. What grows with the square of the length would not end: texts here are large enough to notice.
fn read(format: Format, text: impl Into<String>) -> (File, Vec<Diagnostic>) {
    parse("hostile", format, text.into(), SourceId::new(0))
}

/// The codes of the problems.
fn faults(problems: &[Diagnostic]) -> Vec<Fault> {
    problems.iter().map(|problem| problem.fault).collect()
}

fn node_count(format: Format, text: impl Into<String>) -> usize {
    let (file, problems) = read(format, text);
    assert_eq!(problems, []);
    file.tree.node_count()
}

#[test]
fn a_billion_laughs() {
    let mut text = "a0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol]\n".to_owned();
    for level in 1..10 {
        let aliases = vec![format!("*a{}", level - 1); 9].join(", ");
        text.push_str(&format!("a{level}: &a{level} [{aliases}]\n"));
    }
    let limit = limits::repeated_values(text.len());
    let (file, problems) = read(Format::Yaml, text);
    assert_eq!(problems[0].fault, Fault::Limit);
    assert_eq!(problems[0].message, format!("aliases repeat more than {limit} values in this text"));
    assert_eq!(file.tree.documents().len(), 0);
    assert!(file.tree.node_count() <= limit);
}

#[test]
fn a_billion_laughs_by_merging() {
    let mut text = "a0: &a0 {k0: 1}\n".to_owned();
    for level in 1..100 {
        let before = level - 1;
        text.push_str(&format!("a{level}: &a{level} {{k{level}: *a{before}, l{level}: *a{before}, <<: *a{before}}}\n"));
    }
    let (_, problems) = read(Format::Yaml, text);
    assert_eq!(problems[0].fault, Fault::Limit);
}

#[test]
fn aliases_that_nest_deeper_and_deeper() {
    let mut text = "a0: &a0 [1]\n".to_owned();
    for level in 1..1_000 {
        text.push_str(&format!("a{level}: &a{level} [*a{}]\n", level - 1));
    }
    let (_, problems) = read(Format::Yaml, text);
    assert_eq!(problems[0].fault, Fault::Limit);
    assert!(problems[0].message.contains("128"), "{}", problems[0].message);
}

#[test]
fn many_aliases_to_one_long_text() {
    let long = format!("- &a {}\n", "x".repeat(1_000_000));
    let (file, problems) = read(Format::Yaml, long.clone() + &"- *a\n".repeat(100_000));
    assert_eq!(problems, []);
    assert_eq!(file.tree.documents().next().unwrap().items().count(), 100_001);
    let (_, problems) = read(Format::Yaml, long + &"- {*a : 1}\n".repeat(100_000));
    assert_eq!(problems[0].fault, Fault::Limit, "as keys they would be compared");
}

#[test]
fn many_merges_with_anchors_inside() {
    let text = "- {<<: &x {a: &y 1}, b: 2}\n".repeat(50_000);
    assert_eq!(node_count(Format::Yaml, text), 1 + 50_000 * 5);
}

#[test]
fn merges_nested_around_a_large_value() {
    let items = "1, ".repeat(50_000);
    let text = "{<<: {}, a: ".repeat(127) + "[" + &items + "]" + &"}".repeat(127);
    assert_eq!(node_count(Format::Yaml, text), 2 * 127 + 1 + 50_000);
}

#[test]
fn many_anchors() {
    let text: String = (0..100_000).map(|number| format!("- &a{number} x\n- *a{number}\n")).collect();
    assert_eq!(node_count(Format::Yaml, text), 200_001);
}

#[test]
fn scalars_of_ten_megabytes() {
    let long = "x".repeat(10_000_000);
    for (format, text) in [
        (Format::Yaml, format!("a: {long}")),
        (Format::Yaml, format!("a: '{long}'")),
        (Format::Yaml, format!("a: |\n  {long}\n")),
        (Format::Json, format!("{{\"a\": \"{long}\"}}")),
        (Format::JsonLines, format!("{{\"a\": \"{long}\"}}")),
        (Format::Json, format!("{{\"a\": \"{}\"}}", "\\n".repeat(5_000_000))),
        (Format::Json, format!("{{\"a\": {}}}", "1".repeat(10_000_000))),
        (Format::Json, format!("{{\"a\": 0.{}}}", "1".repeat(10_000_000))),
    ] {
        let (file, problems) = read(format, text);
        assert_eq!(problems, []);
        let length = file.tree.documents().next().unwrap().get("a").unwrap().text().len();
        assert!(length >= 5_000_000, "{length}");
    }
}

#[test]
fn depth_of_ten_thousand() {
    let deep = 10_000;
    for (format, text) in [
        (Format::Yaml, "[".repeat(deep) + &"]".repeat(deep)),
        (Format::Yaml, "{a: ".repeat(deep) + &"}".repeat(deep)),
        (Format::Yaml, "- ".repeat(deep) + "a"),
        (Format::Yaml, "? ".repeat(deep) + "a"),
        (Format::Yaml, (0..1_000).map(|level| " ".repeat(level) + "a:\n").collect()),
        (Format::Yaml, "- ".repeat(100) + &"[".repeat(100) + &"]".repeat(100)),
        (Format::Json, "[".repeat(deep) + &"]".repeat(deep)),
        (Format::Json, "{\"a\":".repeat(deep) + "1" + &"}".repeat(deep)),
        (Format::JsonLines, "[".repeat(deep)),
    ] {
        let (file, problems) = read(format, text);
        assert!(problems.iter().any(|problem| problem.fault == Fault::Limit), "{problems:?}");
        assert!(problems.iter().any(|problem| problem.message.contains("128")), "{problems:?}");
        assert_eq!(file.tree.documents().len(), 0);
    }
}

#[test]
fn depth_up_to_the_limit_is_read() {
    let (most, more) = (limits::DEPTH, limits::DEPTH + 1);
    for (format, open, close) in [(Format::Yaml, "[", "]"), (Format::Json, "[", "]"), (Format::Yaml, "- ", "")] {
        let nested = |depth: usize| open.repeat(depth) + "1" + &close.repeat(depth);
        assert_eq!(node_count(format, nested(most)), most + 1);
        assert_eq!(faults(&read(format, nested(more)).1), [Fault::Limit]);
    }
}

#[test]
fn a_document_after_one_that_is_too_deep_is_read() {
    let text = format!("---\n{}\n---\na: 1\n", "[".repeat(10_000));
    let (file, problems) = read(Format::Yaml, text);
    assert_eq!(faults(&problems), [Fault::Limit]);
    assert_eq!(file.tree.documents().len(), 1);
}

#[test]
fn more_values_than_allowed() {
    let (file, problems) = read(Format::Json, format!("[{}1]", "1,".repeat(limits::VALUES)));
    assert_eq!(faults(&problems), [Fault::Limit]);
    assert_eq!(file.tree.documents().len(), 0);
}

#[test]
fn a_million_tiny_documents() {
    assert_eq!(node_count(Format::Yaml, "---\na\n".repeat(1_000_000)), 1_000_000);
    assert_eq!(node_count(Format::JsonLines, "1\n".repeat(1_000_000)), 1_000_000);
    assert_eq!(node_count(Format::Yaml, "---\n".repeat(1_000_000)), 0);
}

#[test]
fn many_broken_documents_among_good_ones() {
    let (file, problems) = read(Format::Yaml, "a\n---\n[\n---\n".repeat(100_000));
    assert_eq!(file.tree.documents().len(), 100_000);
    assert_eq!(problems.len(), 21);
    let (file, problems) = read(Format::JsonLines, "1\n[\n".repeat(500_000));
    assert_eq!(file.tree.documents().len(), 500_000);
    assert_eq!(problems.len(), 21);
}

#[test]
fn a_map_of_two_hundred_thousand_keys() {
    let keys = 0..200_000;
    let block: String = keys.clone().map(|number| format!("key{number}: 1\n")).collect();
    let flow: Vec<String> = keys.map(|number| format!("\"key{number}\": 1")).collect();
    let flow = format!("{{{}}}", flow.join(","));
    assert_eq!(node_count(Format::Yaml, block), 400_001);
    assert_eq!(node_count(Format::Yaml, flow.clone()), 400_001);
    assert_eq!(node_count(Format::Json, flow), 400_001);
}

#[test]
fn two_hundred_thousand_duplicate_keys() {
    for (format, text) in
        [(Format::Yaml, "a: 1\n".repeat(200_000)), (Format::Json, format!("{{{}\"a\":1}}", "\"a\":1,".repeat(199_999)))]
    {
        let (_, problems) = read(format, text);
        assert_eq!(problems.len(), 21);
        assert!(problems.iter().all(|problem| problem.fault == Fault::DuplicateKey));
    }
}

#[test]
fn one_warning_a_million_times() {
    let (_, problems) = read(Format::Yaml, "- yes\n".repeat(1_000_000));
    assert_eq!(problems.len(), 21);
}

#[test]
fn very_long_lines() {
    let items = "item, ".repeat(300_000);
    assert_eq!(node_count(Format::Yaml, format!("[{items}]")), 300_001);
    let (file, problems) = read(Format::Yaml, format!("a: [{items}\nb: c\n"));
    assert_eq!(faults(&problems), [Fault::Syntax]);
    assert!(file.tree.position(problems[0].label.as_ref().unwrap().span.start).0 > 0);
    let (_, problems) = read(Format::Json, format!("[{} x]", "1,".repeat(300_000)));
    assert_eq!(faults(&problems), [Fault::Syntax]);
}

#[test]
fn nul_bytes() {
    for text in ["a: \0b\n", "\0", "a: 'x\0'\n", "\0\0\0\0: \0\n"] {
        assert_eq!(faults(&read(Format::Yaml, text).1), [Fault::Syntax], "{text:?}");
    }
    for text in ["\0", "[\0]", "{\"a\0\": 1}"] {
        assert_eq!(faults(&read(Format::Json, text).1), [Fault::Syntax], "{text:?}");
    }
    let (_, problems) = read(Format::Yaml, "\0".repeat(1_000_000));
    assert!(!problems.is_empty());
}

#[test]
fn byte_order_marks_and_windows_line_ends() {
    for format in [Format::Yaml, Format::Json, Format::JsonLines] {
        assert_eq!(node_count(format, "\u{feff}{\"a\": 1}\r\n"), 3);
    }
    assert_eq!(node_count(Format::Yaml, "a: b\r\n---\r\nc: d\r\n"), 6);
}

#[test]
fn empty_texts() {
    for format in [Format::Yaml, Format::Json, Format::JsonLines, Format::Csv] {
        for text in ["", " ", "\n", "\r\n\r\n", "\u{feff}"] {
            assert_eq!(node_count(format, text), 0);
        }
    }
}

#[test]
fn one_token_over_and_over() {
    let tokens = [
        "[",
        "]",
        "{",
        "}",
        ",",
        ":",
        ": ",
        "?",
        "? ",
        "-",
        "- ",
        "&a ",
        "*a ",
        "!",
        "!a ",
        "!<",
        "%",
        "%YAML 1.2\n",
        "\"",
        "'",
        "|",
        ">",
        "|\n",
        "#",
        "# c\n",
        "@",
        "\t",
        "\n",
        "\r",
        " ",
        "a: ",
        "a\n",
        "- - -\n",
        "[a, ",
        "{a: ",
        "{?",
        "<<: ",
        "--- ",
        "---\n",
        "...\n",
        "\u{feff}",
        "é",
        "\\",
        "\"\\",
        "&a [",
        "!!str ",
        "{\"a\":",
        "[[],",
        "1,",
        "\"\\u",
    ];
    for token in tokens {
        let text = token.repeat(200_000 / token.len());
        let table = format!("ref,a.b[],c\n{text}");
        let texts = [(Format::Yaml, &text), (Format::Json, &text), (Format::JsonLines, &text), (Format::Csv, &table)];
        for (format, text) in texts {
            let (file, problems) = read(format, text.clone());
            assert!(file.tree.node_count() <= text.len() + 1);
            assert!(problems.len() <= 64, "{token:?}: {}", problems.len());
        }
    }
}
