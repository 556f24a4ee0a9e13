//! Lists as web APIs give them out, page by page: documents lie under `_embedded`, by the name of their list, and `page`
//! says how many pages there are (HAL). Each page may be a file; one that is missing is told.

use std::collections::{BTreeMap, BTreeSet};

use upheld_model::tree::{Kind, Value};
use upheld_model::{Diagnostic, Diagnostics, Fault, SourceId};

/// The most missing pages that are named one by one.
const NAMED: usize = 5;

/// Pages that were read, by the list that they belong to.
#[derive(Debug, Default)]
pub(super) struct Pages<'f> {
    lists: BTreeMap<List<'f>, Read<'f>>,
}

/// A list: its name, and its address without the number of the page.
type List<'f> = (&'f str, String);

#[derive(Debug)]
struct Read<'f> {
    /// Where the first page that was read says how many there are.
    at: (SourceId, Value<'f>),
    of: u64,
    numbers: BTreeSet<u64>,
}

impl<'f> Pages<'f> {
    /// The documents of a page; none if it is none.
    pub(super) fn documents(
        &mut self,
        source: SourceId,
        document: Value<'f>,
        found: &mut Diagnostics,
    ) -> Option<Vec<Value<'f>>> {
        let embedded = document.get("_embedded")?;
        let mut documents = Vec::new();
        if embedded.kind() != Kind::Map {
            found.push(wrong(source, embedded, "`_embedded`", "a map of lists"));
        }
        for (name, list) in embedded.entries() {
            match list.kind() {
                Kind::List => documents.extend(list.items()),
                Kind::Map => documents.push(list),
                Kind::Null => {}
                _ => found.push(wrong(source, list, &format!("`_embedded.{}`", name.text()), "a list of documents")),
            }
        }
        self.count(source, document, embedded, found);
        Some(documents)
    }

    fn count(&mut self, source: SourceId, document: Value<'f>, embedded: Value<'f>, found: &mut Diagnostics) {
        let Some(page) = document.get("page").filter(|page| page.kind() == Kind::Map) else { return };
        let Some((name, _)) = embedded.entries().next() else { return };
        let mut number = |field: &str| {
            let written = page.get(field)?;
            let number = written.as_integer().and_then(|number| u64::try_from(number).ok());
            if number.is_none() {
                found.push(wrong(source, written, &format!("`page.{field}`"), "a number of pages"));
            }
            number
        };
        let (Some(of), Some(own)) = (number("totalPages"), number("number")) else { return };
        let address = document.at_path(&["_links", "self", "href"]).map_or("", Value::text);
        let list = (name.text(), without_page(address));
        let read = self.lists.entry(list).or_insert(Read { at: (source, page), of, numbers: BTreeSet::new() });
        read.of = read.of.max(of);
        read.numbers.insert(own);
    }

    /// Tells of lists of which not all pages were read.
    pub(super) fn finish(self, found: &mut Diagnostics) {
        for ((name, _), Read { at: (source, page), of, numbers }) in self.lists {
            let count = of.saturating_sub(numbers.range(..of).count() as u64);
            if count == 0 {
                continue;
            }
            let missing = (0..of).filter(|number| !numbers.contains(number)).take(NAMED);
            let mut names: Vec<String> = missing.map(|number| number.to_string()).collect();
            if count > names.len() as u64 {
                names.push("…".to_owned());
            }
            let pages = if count == 1 { "page" } else { "pages" };
            let message = format!("{pages} {} of the {of} pages of `{name}` were not read", names.join(", "));
            let message = if count == 1 { message.replace("were not", "was not") } else { message };
            let diagnostic =
                Diagnostic::warning(Fault::NotRead, message).at_value(source, page, "says how many there are");
            found.push(diagnostic.help("pages are numbered from 0; put a file of each beside this one"));
        }
    }
}

fn wrong(source: SourceId, value: Value<'_>, what: &str, expected: &str) -> Diagnostic {
    let message = format!("{what} must be {expected}, not {}", value.kind().noun());
    Diagnostic::error(Fault::WrongType, message).at_value(source, value, format!("expected {expected}"))
}

/// An address without what says which page it is, so that all pages of a list have one.
fn without_page(address: &str) -> String {
    let Some((path, query)) = address.split_once('?') else { return address.to_owned() };
    let of_list = |part: &&str| !part.starts_with("page=") && !part.starts_with("size=");
    format!("{path}?{}", query.split('&').filter(of_list).collect::<Vec<_>>().join("&"))
}

#[cfg(test)]
mod tests {
    use super::without_page;

    #[test]
    fn pages_of_a_list_have_one_address() {
        for (address, list) in [
            ("https://a/projects?page=1&size=50", "https://a/projects?"),
            ("https://a/projects?workspace=x&page=0", "https://a/projects?workspace=x"),
            ("https://a/projects", "https://a/projects"),
        ] {
            assert_eq!(without_page(address), list);
        }
    }
}
