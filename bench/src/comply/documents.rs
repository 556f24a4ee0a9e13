//! The organisation as people keep it: objects and relationships as YAML or JSON Lines, and one document with rules.

use std::fmt::Write as _;

use upheld_loader::Format;

use super::organisation::{Of, Organisation, Tag, Thing};

/// The edition that knows both ways to compare values.
pub(crate) const SEMANTICS: &str = "meshstack/current";

/// How many files relationships are spread over.
const PARTS: usize = 4;

/// All files in a format: names and texts.
pub(super) fn texts(organisation: &Organisation, format: Format) -> Vec<(String, String)> {
    let ending = if format == Format::JsonLines { "jsonl" } else { "yaml" };
    let mut texts = vec![("rules.yaml".to_owned(), rules(organisation))];
    for of in Of::ALL {
        let mut text = String::new();
        let things = organisation.things.iter().zip(&organisation.owners).filter(|(thing, _)| thing.of == of);
        for (thing, owner) in things {
            let owner = owner.and_then(|owner| organisation.things.get(owner)).map(Thing::reference);
            object(&mut text, format, organisation, thing, owner);
        }
        texts.push((format!("{}s.{ending}", of.word()), text));
    }
    let part = organisation.links.len().div_ceil(PARTS).max(1);
    for (number, links) in organisation.links.chunks(part).enumerate() {
        let mut text = String::new();
        for (a, b) in links {
            if let (Some(a), Some(b)) = (organisation.things.get(*a), organisation.things.get(*b)) {
                link(&mut text, format, &a.reference(), &b.reference());
            }
        }
        texts.push((format!("relationships-{number}.{ending}"), text));
    }
    texts
}

fn object(text: &mut String, format: Format, organisation: &Organisation, thing: &Thing, owner: Option<String>) {
    let reference = thing.reference();
    let tags: Vec<String> = organisation.tags_of(thing).map(|(tag, values)| written(format, tag, values)).collect();
    let _ = match (format, owner) {
        (Format::JsonLines, Some(owner)) => {
            let tags = tags.join(",");
            writeln!(text, "{{\"ref\":\"{reference}\",\"workspace\":\"{owner}\",\"tags\":{{{tags}}}}}")
        }
        (Format::JsonLines, None) => writeln!(text, "{{\"ref\":\"{reference}\",\"tags\":{{{}}}}}", tags.join(",")),
        (_, Some(owner)) => writeln!(text, "---\nref: {reference}\nworkspace: {owner}\ntags:\n{}", tags.join("\n")),
        (_, None) => writeln!(text, "---\nref: {reference}\ntags:\n{}", tags.join("\n")),
    };
}

fn written(format: Format, tag: &Tag, values: &[u32]) -> String {
    let texts = values.iter().map(|value| tag.value(*value));
    if format == Format::JsonLines {
        let values: Vec<String> = texts.map(|value| format!("\"{value}\"")).collect();
        format!("\"{}\":[{}]", tag.key, values.join(","))
    } else {
        format!("  {}: [{}]", tag.key, texts.collect::<Vec<String>>().join(", "))
    }
}

fn link(text: &mut String, format: Format, a: &str, b: &str) {
    let _ = match format {
        Format::JsonLines => writeln!(text, "{{\"a\":\"{a}\",\"b\":\"{b}\"}}"),
        _ => writeln!(text, "---\na: {a}\nb: {b}"),
    };
}

/// Definitions and policies.
fn rules(organisation: &Organisation) -> String {
    let mut text = "kind: Compliance\ntagDefinitions:\n".to_owned();
    for of in Of::ALL {
        for tag in &organisation.tags {
            let (key, numbers) = (&tag.key, 0..u32::try_from(tag.values).unwrap_or(0));
            let options = if tag.open {
                "type: string".to_owned()
            } else {
                let options: Vec<String> = numbers.map(|number| tag.value(number)).collect();
                format!("type: multiSelect, options: [{}]", options.join(", "))
            };
            let _ = writeln!(text, "- {{kind: {}, key: {key}, {options}}}", of.subject());
        }
    }
    text.push_str("policies:\n");
    for rule in &organisation.rules {
        let strategy = if rule.subset { "subset" } else { "intersection" };
        let key = organisation.tags.get(rule.tag).map_or("", |tag| tag.key.as_str());
        let (a, b) = (rule.a.subject(), rule.b.subject());
        let sides = format!("a: {{kind: {a}, tag: {key}}}, b: {{kind: {b}, tag: {key}}}");
        let _ = writeln!(text, "- {{id: {}, {sides}, strategy: {strategy}}}", rule.name);
    }
    text
}
