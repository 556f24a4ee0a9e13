//! What CSV means, and how its errors are reported.

use proptest::prelude::*;
use upheld_loader::load::load;
use upheld_loader::{Format, Input};
use upheld_model::{Diagnostic, Fault, Kind, Severity, SourceId, Tree, Value};
use upheld_syntax::csv::read;
use upheld_syntax::{limits, parse};

use crate::common::{located, shown};

fn read_text(text: &str) -> (Tree, Vec<Diagnostic>) {
    read(SourceId::new(0), text.to_owned())
}

fn csv(text: &str) -> String {
    let (tree, problems) = read_text(text);
    assert_eq!(problems, [], "{text}");
    shown(&tree)
}

/// The documents that are read all the same, and the problems as `line:column code message`.
fn told(text: &str) -> (String, Vec<String>) {
    let (tree, problems) = read_text(text);
    (shown(&tree), located(&tree, &problems))
}

/// Line, column and bytes of a value.
fn place<'t>(tree: &'t Tree, value: Value<'_>) -> (usize, usize, &'t str) {
    let span = value.span();
    let (line, column) = tree.position(span.start);
    (line, column, tree.text().get(span.start as usize..span.end as usize).unwrap())
}

#[test]
fn each_row_is_a_document_of_texts() {
    assert_eq!(
        csv("ref,type,count\nproject/a,project,1\nproject/b,project,true\n"),
        r#"{"ref": "project/a", "type": "project", "count": "1"} | {"ref": "project/b", "type": "project", "count": "true"}"#
    );
    assert_eq!(csv("a,b\np,u"), r#"{"a": "p", "b": "u"}"#, "a last line without an end");
    assert_eq!(csv("a,b\r\np,u\r\n"), r#"{"a": "p", "b": "u"}"#);
    assert_eq!(csv("a,b\r\np,u\r"), r#"{"a": "p", "b": "u"}"#);
    assert_eq!(csv("\n \r\na,b\n\n\r\n\t\np,u\n\n"), r#"{"a": "p", "b": "u"}"#, "blank lines");
    assert_eq!(csv("ref\nx\n y \n"), r#"{"ref": "x"} | {"ref": " y "}"#, "blanks in a cell are kept");
    for nothing in ["", "\n\r\n", "ref,type", "ref,type\n"] {
        assert_eq!(csv(nothing), "", "{nothing:?}");
    }
}

#[test]
fn quoted_cells() {
    assert_eq!(
        csv("ref,note\n\"a\",\"one, two\r\nthree\"\n\"say \"\"hi\"\"\",\"\"\"\"\r\n"),
        r#"{"ref": "a", "note": "one, two\r\nthree"} | {"ref": "say \"hi\"", "note": "\""}"#
    );
    assert_eq!(csv("ref,size\na,5\" disk\n"), r#"{"ref": "a", "size": "5\" disk"}"#, "a quote inside of a bare cell");
    assert_eq!(csv("\"ref\",\"in \"\"quotes\"\"\"\na,1\nb,2\n"), {
        r#"{"ref": "a", "in \"quotes\"": "1"} | {"ref": "b", "in \"quotes\"": "2"}"#
    });
}

#[test]
fn empty_cells_are_absent_and_quoted_ones_are_empty() {
    assert_eq!(
        csv("ref,a,b\nx,,\ny,\"\",\nz,,1\n"),
        r#"{"ref": "x"} | {"ref": "y", "a": ""} | {"ref": "z", "b": "1"}"#
    );
    assert_eq!(csv("ref,a\n,\nx,\n,\n"), r#"{"ref": "x"}"#, "a row of empty cells is no document");
}

#[test]
fn dots_make_maps() {
    assert_eq!(
        csv("ref,tags.team,type,tags.env,tags.cost.center,\"tags.cost.unit\"\nx,red,t,dev,7,EUR\n"),
        r#"{"ref": "x", "tags": {"team": "red", "env": "dev", "cost": {"center": "7", "unit": "EUR"}}, "type": "t"}"#
    );
    let deep = "ref,m.a.b.c,m.a.b.d,m.a.e,m.f,n.g\n";
    assert_eq!(csv(&format!("{deep}x,,,,,\n")), r#"{"ref": "x"}"#, "a map without values is absent");
    assert_eq!(csv(&format!("{deep}x,,,,1,2\n")), r#"{"ref": "x", "m": {"f": "1"}, "n": {"g": "2"}}"#);
    assert_eq!(csv(&format!("{deep}x,1,,2,,\n")), r#"{"ref": "x", "m": {"a": {"b": {"c": "1"}, "e": "2"}}}"#);
    assert_eq!(csv(&format!("{deep}x,,1,,,2\n")), r#"{"ref": "x", "m": {"a": {"b": {"d": "1"}}}, "n": {"g": "2"}}"#);
}

#[test]
fn brackets_make_lists() {
    assert_eq!(
        csv("ref,tags.env[],list[]\nx,dev; test ;prod,one\ny,,\nz,\"\",a;;\n"),
        r#"{"ref": "x", "tags": {"env": ["dev", " test ", "prod"]}, "list": ["one"]} | {"ref": "y"} | {"ref": "z", "tags": {"env": [""]}, "list": ["a", "", ""]}"#
    );
    assert_eq!(csv("ref,l[]\nx,\"a,b;\"\"c\"\"\"\n"), r#"{"ref": "x", "l": ["a,b", "\"c\""]}"#);
}

#[test]
fn positions_are_those_of_the_cells() {
    let (tree, problems) = read_text("ref,tags.é,list[]\nx,y,z\n\"ö\",\"a\"\"b\",\"ä;b\"\"\"\n");
    assert_eq!(problems, []);
    let document = tree.documents().nth(1).unwrap();
    assert_eq!(place(&tree, document), (3, 1, "\"ö\",\"a\"\"b\",\"ä;b\"\"\""));
    assert_eq!(place(&tree, document.get("ref").unwrap()), (3, 1, "\"ö\""));
    assert_eq!(place(&tree, document.get("tags").unwrap()), (3, 5, "\"a\"\"b\""));
    assert_eq!(place(&tree, document.at_path(&["tags", "é"]).unwrap()), (3, 5, "\"a\"\"b\""));
    let list = document.get("list").unwrap();
    assert_eq!(place(&tree, list), (3, 12, "\"ä;b\"\"\""));
    let items: Vec<_> = list.items().map(|item| (place(&tree, item), item.text())).collect();
    assert_eq!(items, [((3, 13, "ä"), "ä"), ((3, 15, "b\"\""), "b\"")]);
    for (key, value) in document.entries() {
        assert_eq!(key.span().start, value.span().start, "a key is looked for in its row");
    }
}

#[test]
fn a_row_of_another_length_says_both_counts() {
    let (tree, problems) = read_text("ref,type,x\na,b\nc,d,e\nf,g,h,i\n\"j,k,l\"\n");
    assert_eq!(shown(&tree), r#"{"ref": "c", "type": "d", "x": "e"}"#);
    assert_eq!(
        located(&tree, &problems),
        [
            "2:1 UP001 the row has 2 cells, but the header has 3 columns",
            "4:1 UP001 the row has 4 cells, but the header has 3 columns",
            "5:1 UP001 the row has 1 cell, but the header has 3 columns",
        ]
    );
    assert_eq!(problems[0].help, ["leave a cell empty, but not its comma out"]);
    assert_eq!(problems[1].help, ["put a cell that has a comma in double quotes: `\"a, b\"`"]);
    assert_eq!(tree.position(problems[0].related[0].span.start), (1, 1));
}

#[test]
fn a_quote_that_is_not_closed_costs_its_line_only() {
    let (documents, problems) = told("ref,type\na,b\n\"c,d\ne,f\n\"\",g\n");
    assert_eq!(documents, r#"{"ref": "a", "type": "b"} | {"ref": "e", "type": "f"} | {"ref": "", "type": "g"}"#);
    assert_eq!(problems, ["3:1 UP001 the quote is not closed"]);
}

#[test]
fn text_after_a_closing_quote() {
    let (tree, problems) = read_text("ref,type\n\"a\" ,b\n\"c,d\n\"e\",f\ng,h\n\"i\"\"j\"k,\"l\"m\r\nn,\"o\"\r\n");
    assert_eq!(shown(&tree), r#"{"ref": "g", "type": "h"} | {"ref": "n", "type": "o"}"#);
    assert_eq!(
        located(&tree, &problems),
        [
            "2:4 UP001 text after the quote that closes a cell",
            "4:2 UP001 text after the quote that closes a cell",
            "6:7 UP001 text after the quote that closes a cell",
        ]
    );
    assert_eq!(tree.position(problems[1].related[0].span.start), (3, 1), "where the cell is opened");
}

#[test]
fn all_that_is_wrong_with_a_header_is_told_and_the_other_columns_are_read() {
    let (documents, problems) =
        told("ref,,ref,tags.a,tags.a[],tags,ref.x,b..c,\" \",.d,[],e.f.g,e.f\n1,2,3,4,5,6,7,8,9,10,11,12,13\n");
    assert_eq!(documents, r#"{"ref": "1", "tags": {"a": "4"}, "e": {"f": {"g": "12"}}}"#);
    assert_eq!(
        problems,
        [
            "1:5 UP001 column 2 has no name",
            "1:6 UP002 column `ref` appears twice",
            "1:17 UP002 column `a` appears twice",
            "1:26 UP001 `tags` is both a column and a part of the names of other columns",
            "1:31 UP001 `ref` is both a column and a part of the names of other columns",
            "1:37 UP001 column 8 has no name",
            "1:42 UP001 column 9 has no name",
            "1:46 UP001 column 10 has no name",
            "1:49 UP001 column 11 has no name",
            "1:58 UP001 `f` is both a column and a part of the names of other columns",
        ]
    );
}

#[test]
fn a_header_with_broken_quotes_is_told_and_nothing_is_read() {
    assert_eq!(told("ref,\"type\na,b\n"), (String::new(), vec!["1:5 UP001 the quote is not closed".to_owned()]));
    assert_eq!(told("\"ref,type\na,b\n"), (String::new(), vec!["1:1 UP001 the quote is not closed".to_owned()]));
    let after = "1:6 UP001 text after the quote that closes a cell";
    assert_eq!(told("\"ref\"x,type\na\n"), (String::new(), vec![after.to_owned()]));
    assert_eq!(told("id,\"name\na,b\n"), (String::new(), vec![]), "one of others");
}

#[test]
fn tables_of_others_are_passed_over() {
    for text in
        ["id,name\n1\n2,3,4\n", "a,c\n1,2\n", "a\n1\n", "Date,\"Amount\"x\n1\n", "\"", "refs,a.ref\n1,2\n", ",,\n"]
    {
        assert_eq!(told(text), (String::new(), vec![]), "{text}");
    }
    for text in ["ref\n", "x,type\n", "kind,x\n", "b,x,a\n", "\"ref\"\n"] {
        let count = text.matches(',').count();
        assert_eq!(read_text(&format!("{text}v{}\n", ",v".repeat(count))).0.documents().len(), 1, "{text}");
    }
}

#[test]
fn a_table_that_looks_like_ours_is_not_passed_over_in_silence() {
    for text in ["ref|type\na|b\n", "id, ref\n1,2\n", "id; ref\n", "sep=;\nref,type\n"] {
        let (tree, problems) = read_text(text);
        assert_eq!(tree.documents().len(), 0);
        let told: Vec<_> = problems.iter().map(|problem| (problem.severity, problem.message.as_str())).collect();
        let message = "the table is not read: it has no column `ref`, `type` or `kind`, nor `a` and `b`";
        assert_eq!(told, [(Severity::Warning, message)], "{text}");
    }
}

#[test]
fn tables_of_spreadsheets() {
    let expected = r#"{"ref": "project/a", "tags": {"environment": ["dev", "qa"], "budget": "1.5"}}"#;
    for text in [
        "ref;tags.environment[];tags.budget\r\nproject/a;\"dev;qa\";1,5\r\n",
        "sep=;\r\nref;tags.environment[];tags.budget\r\nproject/a;\"dev;qa\";1,5\r\n",
        "\"ref\";\"tags.environment[]\";\"tags.budget\";;\r\n\"project/a\";\"dev;qa\";1,5;;\r\n;;;;\r\n",
        "ref\ttags.environment[]\ttags.budget\nproject/a\tdev;qa\t1,5\n\t\t\n",
        "ref,tags.environment[],tags.budget,,\nproject/a,dev;qa,1.5,,\n,,,,\n",
    ] {
        assert_eq!(told(text), (expected.to_owned(), vec![]), "{text}");
    }
    let marked = Input::bytes("a.csv", b"\xef\xbb\xbfref;tags.x\r\nproject/a;1\r\n".to_vec());
    let (files, problems) = upheld_loader::read(vec![marked]);
    assert_eq!(problems.as_slice(), []);
    assert_eq!(files.iter().map(|(_, file)| file.tree.documents().len()).sum::<usize>(), 1);
}

#[test]
fn a_comma_is_part_of_a_number_only_where_it_does_not_separate() {
    let (documents, problems) = told("ref;x\na;-12,50\nb;\"1,5\"\nc;1,5,2\nd;,5\ne;1,\nf;1.000,5\ng;v1,5\n");
    let values = ["-12.50", "1,5", "1,5,2", ",5", "1,", "1.000,5", "v1,5"];
    let expected = ["a", "b", "c", "d", "e", "f", "g"].iter().zip(values);
    let expected: Vec<String> =
        expected.map(|(name, value)| format!(r#"{{"ref": "{name}", "x": "{value}"}}"#)).collect();
    assert_eq!(documents, expected.join(" | "));
    assert_eq!(problems, [""; 0]);
    assert_eq!(told("ref,x\na,\"1,5\"\n").0, r#"{"ref": "a", "x": "1,5"}"#);
}

#[test]
fn what_is_wrong_with_tables_of_spreadsheets_is_told_in_their_words() {
    let (tree, problems) = read_text("ref;x\na\nb;c;d\ne;f;;\n\"g\"h;i\n");
    assert_eq!(shown(&tree), r#"{"ref": "e", "x": "f"}"#, "empty cells to the right say nothing");
    assert_eq!(
        located(&tree, &problems),
        [
            "2:1 UP001 the row has 1 cell, but the header has 2 columns",
            "3:1 UP001 the row has 3 cells, but the header has 2 columns",
            "5:4 UP001 text after the quote that closes a cell",
        ]
    );
    assert_eq!(problems[0].help, ["leave a cell empty, but not its semicolon out"]);
    assert_eq!(problems[1].help, ["put a cell that has a semicolon in double quotes: `\"a; b\"`"]);
}

#[test]
fn tables_of_others_have_any_encoding() {
    let wide = |text: &str| {
        let units = text.encode_utf16().flat_map(u16::to_le_bytes);
        b"\xff\xfe".iter().copied().chain(units).collect::<Vec<u8>>()
    };
    let cases = [
        (b"id,caf\xe9\n1,2\n".to_vec(), 0),
        (b"ref,caf\xe9\n1,2\n".to_vec(), 1),
        (wide("id,name\n1,2\n"), 0),
        (wide("ref,type\n1,2\n"), 1),
    ];
    for (bytes, count) in cases {
        let (_, problems) = upheld_loader::read(vec![Input::bytes("a.csv", bytes)]);
        assert_eq!(problems.as_slice().len(), count);
    }
    assert_eq!(upheld_loader::read(vec![Input::bytes("-", b"ref,caf\xe9\n".to_vec())]).1.errors(), 1);
}

#[test]
fn tables_lie_beside_manifests() {
    let mesh = Input::text("mesh.yaml", Format::Yaml, "type: Mesh\nname: default\n");
    let table = Input::bytes("costs.csv", b"id,amount\n1,\"2\n".to_vec());
    let loaded = load(vec![mesh, table], &[]).unwrap();
    assert_eq!(loaded.snapshot.objects().len(), 1);
    assert_eq!(loaded.warnings.as_slice(), []);
    assert!(loaded.set_aside.by_type.is_empty());
}

#[test]
fn limits_are_named() {
    let wide = |columns: usize| format!("ref{}\n", ",c".repeat(columns - 1));
    assert_eq!(read_text(&wide(limits::COLUMNS)).1.last().unwrap().fault, Fault::DuplicateKey);
    for columns in [limits::COLUMNS + 1, 1_000_000] {
        let (tree, problems) = read_text(&(wide(columns) + "x\n"));
        assert_eq!(located(&tree, &problems), ["1:1 UP004 the table has more than 16384 columns"]);
    }
    let nested = |levels: usize, end: &str| format!("ref,{}a{end}\n,1\n", "a.".repeat(levels));
    assert_eq!(read_text(&nested(limits::DEPTH - 1, "")).0.documents().len(), 1);
    assert_eq!(read_text(&nested(limits::DEPTH - 2, "[]")).0.documents().len(), 1);
    for text in [nested(limits::DEPTH, ""), nested(limits::DEPTH - 1, "[]"), nested(100_000, "")] {
        let (_, problems) = read_text(&text);
        assert_eq!(problems.iter().map(|problem| problem.fault).collect::<Vec<_>>(), [Fault::Limit]);
    }
}

#[test]
fn more_values_than_allowed() {
    let rows = "x,1\n".repeat(limits::VALUES / 200);
    for text in
        [format!("ref,{}a\n{rows}", "a.".repeat(120)), format!("ref,a[]\nx,1\ny,{}\n", ";".repeat(2 * limits::VALUES))]
    {
        let (tree, problems) = read_text(&text);
        assert_eq!(problems.iter().map(|problem| problem.fault).collect::<Vec<_>>(), [Fault::Limit]);
        assert!(tree.node_count() <= limits::VALUES);
        assert!(tree.documents().len() > 0, "what stands before it is read");
    }
}

#[test]
fn texts_made_to_do_harm() {
    let name = format!("\"\"\"{}\"", "n".repeat(100_000));
    let columns: String = (0..1_000).map(|number| format!(",{}{number}", "a.".repeat(100))).collect();
    let cases = [
        (format!("ref,{name}\n{}", "x,y\n".repeat(1_000_000)), 1_000_000, 0),
        (format!("ref\n{}", "\"\n".repeat(100_001)), 50_000, 1),
        (format!("ref\n{}", "\"a\"b\n".repeat(1_000_000)), 0, 21),
        (format!("ref\n{}", ",".repeat(10_000_000)), 0, 0),
        (format!("ref\n{}x", ",".repeat(10_000_000)), 0, 1),
        (format!("ref{columns}\n{}", format!("x{}\n", ",".repeat(1_000)).repeat(10_000)), 10_000, 0),
        (format!("ref\n\"{}\"\n", "\"\"".repeat(5_000_000)), 1, 0),
        (format!("ref\n{}", "x\n\n \n".repeat(1_000_000)), 1_000_000, 0),
        (format!("ref\n{}", " ".repeat(10_000_000)), 0, 0),
    ];
    for (text, documents, problems) in cases {
        let (tree, found) = read(SourceId::new(0), text);
        assert_eq!((tree.documents().len(), found.len()), (documents, problems), "{:.50}", tree.text());
    }
}

/// Cells with what is special to CSV, and any characters.
fn any_cell() -> impl Strategy<Value = Option<String>> {
    let text =
        prop_oneof!["[a-z]{1,8}", "[\",;. \\[\\]\\r\\n\\ta-c\u{e9}\u{20ac}\u{1f600}\u{feff}]{0,12}", any::<String>()];
    prop::option::weighted(0.8, text)
}

/// A table: how many columns, and the cells of its rows.
fn any_table() -> impl Strategy<Value = (usize, Vec<Vec<Option<String>>>)> {
    (1_usize..6).prop_flat_map(|columns| {
        (Just(columns), prop::collection::vec(prop::collection::vec(any_cell(), columns), 0..8))
    })
}

fn write_cell(cell: Option<&str>, always_quoted: bool, text: &mut String) {
    let Some(cell) = cell else { return };
    if always_quoted || cell.is_empty() || cell.contains(['"', ',', '\n', '\r']) || cell.trim() != cell {
        text.push_str(&format!("\"{}\"", cell.replace('"', "\"\"")));
    } else {
        text.push_str(cell);
    }
}

/// Whether a text stands where its position says: as it is, or in quotes, or with doubled quotes.
fn stands_there(tree: &Tree, value: Value<'_>) -> bool {
    let (_, _, written) = place(tree, value);
    let inner = written.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(written);
    [written, inner].into_iter().any(|written| written == value.text() || written.replace("\"\"", "\"") == value.text())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn any_table_reads_back(
        (columns, rows) in any_table(),
        quoted: bool,
        windows: bool,
        last: bool,
        marked: bool,
        lists: bool,
    ) {
        let line_end = if windows { "\r\n" } else { "\n" };
        // Every other column is in one map.
        let name = |column: usize| match column {
            0 => "ref".to_owned(),
            column if column % 2 == 0 => format!("column{column}"),
            column => format!("map.column{column}"),
        };
        let mark = if lists { "[]" } else { "" };
        let mut lines = vec![(0..columns).map(|column| name(column) + if column == 0 { "" } else { mark }).collect::<Vec<_>>().join(",")];
        for row in &rows {
            let cells = row.iter().map(|cell| {
                let mut written = String::new();
                write_cell(cell.as_deref(), quoted, &mut written);
                written
            });
            lines.push(cells.collect::<Vec<_>>().join(","));
        }
        let mut text = lines.join(line_end);
        text.push_str(if last { line_end } else { "" });
        text.insert_str(0, if marked { "\u{feff}" } else { "" });
        let (file, problems) = parse("table.csv", Format::Csv, text.clone(), SourceId::new(0));
        prop_assert_eq!(problems, [], "{}", text);
        let written: Vec<_> = rows.iter().filter(|row| row.iter().any(Option::is_some)).collect();
        prop_assert_eq!(file.tree.documents().len(), written.len(), "{}", text);
        for (row, document) in written.iter().zip(file.tree.documents()) {
            for (column, cell) in row.iter().enumerate() {
                let found = document.at_path(&name(column).split('.').collect::<Vec<_>>());
                prop_assert_eq!(found.is_some(), cell.is_some());
                let (Some(found), Some(cell)) = (found, cell) else { continue };
                if lists && column > 0 {
                    let items: Vec<&str> = found.items().map(Value::text).collect();
                    prop_assert_eq!(items.join(";"), cell.as_str());
                    prop_assert_eq!(items.len(), cell.split(';').count());
                    prop_assert!(found.items().all(|item| stands_there(&file.tree, item)));
                } else {
                    prop_assert_eq!((found.kind(), found.text()), (Kind::Text, cell.as_str()));
                    prop_assert!(stands_there(&file.tree, found));
                }
            }
        }
    }
}
