//! Reading many inputs: in parallel, in their order, and across those that cannot be read.

use std::fs;

use upheld_dialects::{builtin, editions, recognise};
use upheld_loader::{Format, Input, read};
use upheld_model::{Fault, SourceId};
use upheld_syntax::limits;

#[test]
fn files_come_in_the_order_of_the_inputs() {
    let inputs = (0..500).map(|number| {
        let text = format!("number: {number}\n{}", "# filler\n".repeat((500 - number) * 5));
        Input::text(format!("{number}.yaml"), Format::Yaml, text)
    });
    let (files, problems) = read(inputs.collect());
    assert_eq!(problems.as_slice(), []);
    for (source, file) in files.iter() {
        assert_eq!(file.name, format!("{}.yaml", source.index()));
        let number = file.tree.documents().next().unwrap().get("number").unwrap();
        assert_eq!(number.as_integer(), Some(i64::try_from(source.index()).unwrap()));
    }
}

#[test]
fn the_format_is_told_by_the_name_or_by_the_text() {
    let inputs = [
        ("a.yaml", "a: 1"),
        ("a.json", "{\"a\": 1}"),
        ("a.jsonl", "1\n2"),
        ("a.txt", "{\"a\": 1}"),
        ("b.txt", "a: 1"),
        ("a.csv", "ref\n1\n2"),
        ("-", "ref\n1\n2"),
    ];
    let (files, problems) = read(inputs.map(|(name, text)| Input::bytes(name, text.into())).into());
    assert_eq!(problems.as_slice(), []);
    let documents: Vec<_> = files.iter().map(|(_, file)| file.tree.documents().len()).collect();
    assert_eq!(documents, [1, 1, 2, 1, 1, 2, 1]);
}

#[test]
fn a_file_that_cannot_be_read_hides_no_other_and_keeps_its_place() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("good.yaml"), "\u{feff}a: 1").unwrap();
    fs::write(folder.path().join("latin.yaml"), b"a: 1\nb: caf\xe9\n").unwrap();
    let names = ["missing.yaml", "latin.yaml", "good.yaml"];
    let (files, problems) = read(names.map(|name| Input::file(name, folder.path().join(name))).into());
    assert_eq!(problems.as_slice().len(), 2);
    assert_eq!(problems.as_slice()[0].message, "cannot read `missing.yaml`: it does not exist");
    let not_utf8 = &problems.as_slice()[1];
    assert_eq!((not_utf8.fault, not_utf8.message.as_str()), (Fault::NotUtf8, "byte 0xe9 is not UTF-8"));
    let label = not_utf8.label.as_ref().unwrap();
    let place = files.locate_span(label.source, label.span).unwrap();
    assert_eq!((place.file, place.line, place.column), ("latin.yaml", 2, 7));
    assert_eq!(files.get(SourceId::new(1)).unwrap().tree.documents().len(), 0);
    assert_eq!(files.get(SourceId::new(2)).unwrap().tree.documents().len(), 1);
}

#[test]
fn a_file_that_is_too_large_is_not_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("large.yaml");
    // It has a length and no content: this takes no space.
    fs::File::create(&path).unwrap().set_len(limits::BYTES + 1).unwrap();
    let (files, problems) = read(vec![Input::file("large.yaml", path)]);
    assert_eq!(problems.as_slice()[0].fault, Fault::Limit);
    assert_eq!(problems.as_slice()[0].message, "`large.yaml` is larger than 256 MiB");
    assert_eq!(files.iter().count(), 1);
}

#[test]
fn dialects_name_the_editions_of_their_kinds() {
    let kinds = builtin().map(|document| Input::text(document.name, Format::Yaml, document.text));
    let (files, _) = read(kinds.collect());
    assert_eq!(recognise(&files, &[]).editions, Vec::from_iter(editions()));
}
