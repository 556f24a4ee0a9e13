//! A reader of HTML that is as strict as no browser is: what it reads has no mistakes that a browser would mend.

use std::collections::BTreeSet;

/// An element.
#[derive(Debug, Default)]
pub(crate) struct Element {
    pub(crate) name: String,
    pub(crate) attributes: Vec<(String, String)>,
    pub(crate) inside: Vec<Inside>,
}

/// What is in an element.
#[derive(Debug)]
pub(crate) enum Inside {
    Text(String),
    Element(Element),
}

/// Elements without an end.
const VOID: [&str; 6] = ["meta", "link", "input", "img", "br", "hr"];

impl Element {
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    pub(crate) fn is(&self, class: &str) -> bool {
        self.get("class").is_some_and(|all| all.split(' ').any(|known| known == class))
    }

    /// All text, as it is read.
    pub(crate) fn text(&self) -> String {
        let mut all = String::new();
        for inside in &self.inside {
            match inside {
                Inside::Text(text) => all.push_str(text),
                Inside::Element(element) => all.push_str(&element.text()),
            }
        }
        all
    }

    /// It and everything in it, in order.
    pub(crate) fn all(&self) -> Vec<&Self> {
        let inner = self.inside.iter().filter_map(|inside| match inside {
            Inside::Element(element) => Some(element.all()),
            Inside::Text(_) => None,
        });
        std::iter::once(self).chain(inner.flatten()).collect()
    }

    pub(crate) fn named(&self, name: &str) -> Vec<&Self> {
        self.all().into_iter().filter(|element| element.name == name).collect()
    }

    pub(crate) fn with(&self, attribute: &str, value: &str) -> Vec<&Self> {
        self.all().into_iter().filter(|element| element.get(attribute) == Some(value)).collect()
    }
}

/// Reads a whole document, and holds it against what every page must keep.
pub(crate) fn page(text: &str) -> Element {
    let root = read(text);
    let all = root.all();
    assert_eq!(root.named("h1").len(), 1, "one h1");
    assert_eq!(root.named("main").len(), 1);
    assert!(!root.named("title")[0].text().is_empty());
    let ids: Vec<&str> = all.iter().filter_map(|element| element.get("id")).collect();
    let known: BTreeSet<&str> = ids.iter().copied().collect();
    assert_eq!(ids.len(), known.len(), "ids are unique: {ids:?}");
    for element in &all {
        for (name, value) in &element.attributes {
            assert!(name != "style" && !name.starts_with("on"), "{name} in {}", element.name);
            let leads = ["href", "src", "action", "formaction"].contains(&name.as_str());
            assert!(!leads || value.starts_with(['/', '#']), "{name}={value}");
        }
        if let Some(fragment) = element.get("href").and_then(|href| href.strip_prefix('#')) {
            assert!(known.contains(fragment), "#{fragment} leads nowhere");
        }
        match element.name.as_str() {
            "label" => assert!(known.contains(element.get("for").expect("labels are for something"))),
            "script" => assert!(element.get("src").is_some() && element.text().is_empty(), "no code in pages"),
            "style" => panic!("no style in pages"),
            "img" => assert!(element.get("alt").is_some()),
            "a" => assert!(element.get("href").is_some()),
            "input" if element.get("type") != Some("hidden") => {
                let id = element.get("id").expect("inputs have labels");
                assert_eq!(root.with("for", id).len(), 1, "a label for {id}");
            }
            "th" => assert!(element.get("scope").is_some()),
            _ => {}
        }
    }
    root
}

fn read(text: &str) -> Element {
    let mut rest = text.strip_prefix("<!DOCTYPE html>").expect("begins with its type");
    let mut open: Vec<Element> = vec![Element::default()];
    while !rest.is_empty() {
        if let Some(inner) = rest.strip_prefix("</") {
            let (name, after) = inner.split_once('>').expect("tags end");
            let done = open.pop().unwrap();
            assert_eq!(done.name, name, "ends what was begun last");
            open.last_mut().expect("nothing ends that did not begin").inside.push(Inside::Element(done));
            rest = after;
        } else if let Some(inner) = rest.strip_prefix('<') {
            let (element, after) = begun(inner);
            rest = after;
            if VOID.contains(&element.name.as_str()) {
                open.last_mut().unwrap().inside.push(Inside::Element(element));
            } else {
                open.push(element);
            }
        } else {
            let end = rest.find('<').unwrap_or(rest.len());
            let (words, after) = rest.split_at(end);
            open.last_mut().unwrap().inside.push(Inside::Text(plain(words)));
            rest = after;
        }
    }
    assert_eq!(open.len(), 1, "everything ends: {:?}", open.iter().map(|one| &one.name).collect::<Vec<_>>());
    open.pop().unwrap()
}

/// A tag: its name, then attributes in double quotes.
fn begun(text: &str) -> (Element, &str) {
    let end = text.find([' ', '>']).expect("tags end");
    let (name, mut rest) = text.split_at(end);
    assert!(name.chars().all(|letter| letter.is_ascii_alphanumeric()) && !name.is_empty(), "<{name}");
    let mut attributes: Vec<(String, String)> = Vec::new();
    loop {
        if let Some(after) = rest.strip_prefix('>') {
            return (Element { name: name.to_owned(), attributes, inside: Vec::new() }, after);
        }
        rest = rest.strip_prefix(' ').expect("a space before attributes");
        let end = rest.find(['=', ' ', '>']).expect("attributes end");
        let (attribute, after) = rest.split_at(end);
        assert!(attribute.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '-'), "{attribute}");
        assert!(attributes.iter().all(|(known, _)| known != attribute), "{attribute} once");
        let (value, after) = match after.strip_prefix("=\"") {
            Some(value) => value.split_once('"').expect("values end"),
            None => ("", after),
        };
        assert!(!value.contains(['<', '>']), "{value}");
        attributes.push((attribute.to_owned(), plain(value)));
        rest = after;
    }
}

/// Text without what stands for other letters.
fn plain(text: &str) -> String {
    let mut all = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('&') {
        all.push_str(before);
        let (name, after) = after.split_once(';').expect("entities end");
        all.push(match name {
            "lt" => '<',
            "gt" => '>',
            "amp" => '&',
            "quot" => '"',
            other => panic!("&{other};"),
        });
        rest = after;
    }
    assert!(!rest.contains('<'));
    all + rest
}
