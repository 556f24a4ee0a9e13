//! Texts with other values: what is to change changes, all else stays.

use proptest::prelude::*;
use upheld_model::SourceId;
use upheld_model::tree::Value;
use upheld_syntax::edit::{Edited, applied};
use upheld_syntax::{Format, parse};

/// The text after the tag `env` of the first document has these values.
fn edited(format: Format, text: &str, values: &[&str]) -> Option<String> {
    let (file, problems) = parse("file", format, text.to_owned(), SourceId::new(0));
    assert!(problems.is_empty(), "{problems:?}");
    let document = file.tree.documents().next().expect("a document");
    let edited = Edited { text, format };
    let replacements = match document.get("tags") {
        Some(tags) => edited.set(tags, "env", values),
        None => edited.set_within(document, "tags", "env", values),
    };
    applied(text, &replacements?)
}

fn yaml(text: &str, values: &[&str]) -> Option<String> {
    edited(Format::Yaml, text, values)
}

#[test]
fn what_stands_in_a_line_stays_in_a_line() {
    let line = "{ref: project/p, tags: {env: [dev, qa], unit: x}} # all of it\n";
    let of = |values: &[&str]| yaml(line, values).expect("simple");
    assert_eq!(of(&["dev", "prod"]), line.replace("qa", "prod"));
    assert_eq!(of(&["dev", "qa", "prod"]), line.replace("qa", "qa, prod"));
    assert_eq!(of(&["qa"]), line.replace("dev, ", ""));
    assert_eq!(of(&["dev"]), line.replace(", qa", ""));
    assert_eq!(of(&[]), line.replace("dev, qa", ""));
}

#[test]
fn a_line_for_each_item_keeps_its_remarks() {
    let block = "tags:\n  env:\n  # first\n  - dev # one\n  - qa # two\n  unit: x\n";
    let of = |values: &[&str]| yaml(block, values).expect("simple");
    assert_eq!(of(&["dev", "prod"]), block.replace("- qa", "- prod"));
    assert_eq!(of(&["dev", "qa", "prod"]), block.replace("- qa # two\n", "- qa # two\n  - prod\n"));
    assert_eq!(of(&["dev"]), block.replace("  - qa # two\n", ""));
    assert_eq!(of(&["qa"]), block.replace("  - dev # one\n", ""));
}

#[test]
fn bare_values_become_lists_where_there_are_several() {
    let bare = "tags:\n  env: dev   # now\n";
    assert_eq!(yaml(bare, &["prod"]).as_deref(), Some("tags:\n  env: prod   # now\n"));
    assert_eq!(yaml(bare, &["dev", "prod"]).as_deref(), Some("tags:\n  env: [dev, prod]   # now\n"));
    let nothing = "tags:\n  env:   # later\n  unit: x\n";
    assert_eq!(yaml(nothing, &["prod"]).as_deref(), Some("tags:\n  env: prod   # later\n  unit: x\n"));
}

#[test]
fn what_is_not_there_comes_after_the_rest() {
    let block = "ref: project/p\ntags:\n  unit: x # stays\nname: p\n";
    let added = yaml(block, &["prod"]);
    assert_eq!(added.as_deref(), Some("ref: project/p\ntags:\n  unit: x # stays\n  env: prod\nname: p\n"));
    assert_eq!(yaml("{ref: a, tags: {}}", &["prod"]).as_deref(), Some("{ref: a, tags: {env: prod}}"));
    assert_eq!(yaml("{ref: a}", &["prod"]).as_deref(), Some("{ref: a, tags: {env: prod}}"));
    assert_eq!(yaml("ref: a # p\n", &["prod"]).as_deref(), Some("ref: a # p\ntags: {env: prod}\n"));
    assert_eq!(yaml("ref: a\r\nname: b\r\n", &["x"]).as_deref(), Some("ref: a\r\nname: b\r\ntags: {env: x}\r\n"));
}

#[test]
fn json_and_tables_have_their_own_way_of_writing() {
    let json = "{\"tags\": {\"env\": [\n  \"dev\"\n]}}";
    assert_eq!(edited(Format::Json, json, &["p"]).as_deref(), Some("{\"tags\": {\"env\": [\n  \"p\"\n]}}"));
    assert_eq!(
        edited(Format::Json, "{\"ref\": 1}", &["p"]).as_deref(),
        Some("{\"ref\": 1, \"tags\": {\"env\": \"p\"}}")
    );
    let table = "ref,tags.env[],x\na,dev;qa,1\nb,dev,2\n";
    assert_eq!(
        edited(Format::Csv, table, &["qa", "prod"]).as_deref(),
        Some("ref,tags.env[],x\na,qa;prod,1\nb,dev,2\n")
    );
    assert_eq!(edited(Format::Csv, table, &["a,b"]), None, "would need quotes");
}

#[test]
fn what_is_not_simple_is_left_to_people() {
    assert_eq!(yaml("tags:\n  env: |\n    dev\n", &["prod"]), None);
    assert_eq!(yaml("tags:\n  env: {a: b}\n", &["prod"]), None);
    assert_eq!(yaml("tags: {env: [dev, # why\n qa]}\n", &["dev"]), None, "a remark would go");
}

/// The values of the tag in the first document.
fn values(format: Format, text: &str) -> Vec<String> {
    let (file, problems) = parse("file", format, text.to_owned(), SourceId::new(0));
    assert!(problems.is_empty(), "{text} {problems:?}");
    let document = file.tree.documents().next().expect("a document");
    let own = document.at_path(&["tags", "env"]);
    let listed = own.into_iter().flat_map(Value::items);
    let alone = own.filter(|own| own.items().next().is_none() && !own.text().is_empty());
    let mut values: Vec<String> = listed.chain(alone).map(|value| value.text().to_owned()).collect();
    values.sort();
    values
}

proptest! {
    #[test]
    fn a_text_says_then_what_it_was_told_to(
        before in proptest::collection::btree_set("[a-z ]{1,3}|true|7|é#: ", 0..4),
        after in proptest::collection::btree_set("[a-z ]{1,3}|true|7|é#: ", 0..4),
        form in 0..4_usize,
    ) {
        let quoted: Vec<String> = before.iter().map(|value| format!("{value:?}")).collect();
        let lines: String = quoted.iter().map(|value| format!("\n    - {value} # why")).collect();
        let (format, text) = match form {
            0 => (Format::Yaml, format!("{{a: 1, tags: {{env: [{}]}}}} # end", quoted.join(", "))),
            1 if !before.is_empty() => (Format::Yaml, format!("a: 1\ntags:\n  env: # what{lines}\n  z: 2 # end\n")),
            2 => (Format::Json, format!("{{\"a\": 1, \"tags\": {{\"env\": [{}]}}}}", quoted.join(","))),
            _ => (Format::Yaml, "a: 1\ntags:\n  z: 2 # end\n".to_owned()),
        };
        let wanted: Vec<&str> = after.iter().map(String::as_str).collect();
        let Some(changed) = edited(format, &text, &wanted) else { return Ok(()) };
        prop_assert_eq!(values(format, &changed), after.iter().cloned().collect::<Vec<_>>(), "{}\n{}", text, changed);
        for word in ["# end", "z: 2"] {
            prop_assert_eq!(changed.contains(word), text.contains(word), "{}", changed);
        }
    }
}

/// The text without some items of the list `links` of the first document.
fn without(text: &str, gone: &[usize]) -> Option<String> {
    let (file, problems) = parse("file", Format::Yaml, text.to_owned(), SourceId::new(0));
    assert!(problems.is_empty(), "{problems:?}");
    let document = file.tree.documents().next().expect("a document");
    let (name, list) = document.entries().find(|(key, _)| key.text() == "links").expect("a list");
    let edited = Edited { text, format: Format::Yaml };
    applied(text, &edited.without_items(Some(name), list, gone)?)
}

#[test]
fn items_go_with_their_lines_and_remarks_of_others_stay() {
    let block = "links:\n# first\n- {a: x}   # one\n- a: y\n  b: z\n# last\n- {a: w}\nmore: 1\n";
    assert_eq!(without(block, &[1]).as_deref(), Some("links:\n# first\n- {a: x}   # one\n# last\n- {a: w}\nmore: 1\n"));
    assert_eq!(without(block, &[0, 2]).as_deref(), Some("links:\n# first\n- a: y\n  b: z\n# last\nmore: 1\n"));
    assert_eq!(without(block, &[0, 1, 2]).as_deref(), Some("links: []\n# first\n# last\nmore: 1\n"));
    let flow = "links: [{a: x}, {a: y}, {a: z}] # all\n";
    assert_eq!(without(flow, &[0]).as_deref(), Some("links: [{a: y}, {a: z}] # all\n"));
    assert_eq!(without(flow, &[1]).as_deref(), Some("links: [{a: x}, {a: z}] # all\n"));
    assert_eq!(without(flow, &[0, 2]).as_deref(), Some("links: [{a: y}] # all\n"));
    assert_eq!(without(flow, &[0, 1, 2]).as_deref(), Some("links: [] # all\n"));
    // Somebody says something about a part of it.
    assert_eq!(without("links:\n- a: y\n  # why\n  b: z\n- {a: w}\n", &[0]), None);
}

#[test]
fn documents_go_with_one_of_the_marks_beside_them() {
    let text = "# all\na: 1\n---\n# second\na: 2\nb: 2\n---\n{a: 3}\n";
    let gone = |places: &[usize]| {
        let (file, problems) = parse("file", Format::Yaml, text.to_owned(), SourceId::new(0));
        assert!(problems.is_empty(), "{problems:?}");
        let edited = Edited { text, format: Format::Yaml };
        let documents: Vec<Value<'_>> = file.tree.documents().collect();
        let mut replacements = Vec::new();
        for place in places {
            replacements.extend(edited.without_document(documents[*place])?);
        }
        replacements.sort();
        replacements.dedup();
        applied(text, &replacements)
    };
    assert_eq!(gone(&[0]).as_deref(), Some("# all\n# second\na: 2\nb: 2\n---\n{a: 3}\n"));
    assert_eq!(gone(&[1]).as_deref(), Some("# all\na: 1\n# second\n---\n{a: 3}\n"));
    assert_eq!(gone(&[2]).as_deref(), Some("# all\na: 1\n---\n# second\na: 2\nb: 2\n"));
    assert_eq!(gone(&[0, 1]).as_deref(), Some("# all\n# second\n---\n{a: 3}\n"));
    assert_eq!(gone(&[0, 1, 2]).as_deref(), Some("# all\n# second\n"));
}
