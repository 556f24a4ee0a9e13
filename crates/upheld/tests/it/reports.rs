//! Every report that some test asks for: it has the one shape, and its sentences say nothing that its parameters do not.

use std::sync::LazyLock;

use serde_json::Value as Json;
use upheld_answers::report::Phrase;
use upheld_answers::schema;

static SCHEMA: LazyLock<jsonschema::Validator> =
    LazyLock::new(|| jsonschema::draft202012::new(&schema::explanation().schema()).expect("is a schema"));

/// Looks at all reports of a document.
pub(crate) fn look_at(document: &Json) {
    let wrong: Vec<String> =
        SCHEMA.iter_errors(document).map(|error| format!("{}: {error}", error.instance_path())).collect();
    assert!(wrong.is_empty(), "{}\n{document:#}", wrong.join("\n"));
    for report in document["answers"].as_array().expect("there are answers") {
        let names = names(report);
        phrases(report, &mut |phrase| {
            let phrase: Phrase = serde_json::from_value(phrase.clone()).expect("is a phrase");
            is_made_of_its_parameters(&phrase, &names);
        });
    }
}

/// Names that a sentence could use: of policies, and of what was asked about.
fn names(report: &Json) -> Vec<String> {
    let texts = |list: &Json, field: &str| -> Vec<String> {
        let items = list.as_array().into_iter().flatten();
        items.filter_map(|item| item.get(field)?.as_str()).map(str::to_owned).collect()
    };
    let mut names = texts(&report["candidates"], "policy");
    names.extend(["from", "to"].iter().filter_map(|end| report["about"][*end].as_str()).map(str::to_owned));
    names.extend(report["kind"].as_str().map(str::to_owned));
    names.retain(|name| name.len() > 2);
    names
}

/// All phrases of a report, also those inside parameters.
fn phrases(value: &Json, see: &mut impl FnMut(&Json)) {
    match value {
        Json::Object(fields) => {
            if ["code", "parameters", "text"].iter().all(|name| fields.contains_key(*name)) {
                see(value);
            }
            fields.values().for_each(|field| phrases(field, see));
        }
        Json::Array(items) => items.iter().for_each(|item| phrases(item, see)),
        _ => {}
    }
}

fn is_made_of_its_parameters(phrase: &Phrase, names: &[String]) {
    if let Some(again) = phrase.again() {
        assert_eq!(again, phrase.text, "{phrase:?}");
        return;
    }
    let mut said = String::new();
    flatten(&Json::Object(phrase.parameters.clone()), &mut said);
    for number in phrase.text.split(|character: char| !character.is_ascii_digit()).filter(|number| !number.is_empty()) {
        // A flag in a hint may have a number in it.
        let is_named = said.contains(number)
            || phrase.text.contains(&format!("kuma/{number}"))
            || phrase.text.contains(&format!("Kuma {number}"));
        assert!(is_named, "{number} is not among the parameters of {phrase:?}");
    }
    for name in names.iter().filter(|name| mentions(&phrase.text, name)) {
        assert!(said.contains(name.as_str()), "{name} is not among the parameters of {phrase:?}");
    }
}

fn mentions(text: &str, name: &str) -> bool {
    let part = |character: char| character.is_alphanumeric() || "-_/".contains(character);
    text.match_indices(name).any(|(at, _)| {
        let before = text.get(..at).and_then(|before| before.chars().next_back());
        let after = text.get(at + name.len()..).and_then(|after| after.chars().next());
        !before.is_some_and(part) && !after.is_some_and(part)
    })
}

fn flatten(value: &Json, text: &mut String) {
    match value {
        Json::Object(fields) => fields.values().for_each(|field| flatten(field, text)),
        Json::Array(items) => {
            text.push_str(&format!(" {} ", items.len()));
            for item in items {
                flatten(item, text);
            }
        }
        Json::String(own) => text.push_str(&format!(" {own} ")),
        Json::Null => {}
        other => text.push_str(&format!(" {other} ")),
    }
}

#[test]
fn a_sentence_that_says_more_than_its_parameters_is_found() {
    let phrase = |text: &str| Phrase {
        code: "select.more-tags".into(),
        parameters: [("mine".to_owned(), Json::from(4)), ("theirs".to_owned(), Json::from(2))].into_iter().collect(),
        text: text.to_owned(),
    };
    let is_found = |text: &str| {
        std::panic::catch_unwind(|| is_made_of_its_parameters(&phrase(text), &["catch-all".to_owned()])).is_err()
    };
    assert!(!is_found("most tags (4 against 2)"));
    assert!(is_found("most tags (4 against 3)"));
    assert!(is_found("more tags than catch-all (4 against 2)"));
}
