//! Items of lists and whole documents that go, with the lines that they stand in. Remarks in lines of their own stay.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value as Json;
use upheld_model::tree::{Kind, Value};

use super::{Edited, Replacement};
use crate::{Format, json};

/// All documents as programs see them, without some values: documents, or items of lists in documents. What says nothing is no document.
pub fn remaining<'t>(documents: impl Iterator<Item = Value<'t>>, gone: &BTreeSet<u32>) -> Option<Vec<Json>> {
    let kept = documents.filter(|document| !gone.contains(&document.number()));
    let all: Option<Vec<Json>> = kept.map(|document| kept_of(document, gone)).collect();
    Some(all?.into_iter().filter(|document| !document.is_null()).collect())
}

fn kept_of(value: Value<'_>, gone: &BTreeSet<u32>) -> Option<Json> {
    match value.kind() {
        Kind::Map => {
            let entries = value.entries().map(|(key, value)| Some((key.text().to_owned(), kept_of(value, gone)?)));
            Some(Json::Object(entries.collect::<Option<_>>()?))
        }
        Kind::List => {
            let items = value.items().filter(|item| !gone.contains(&item.number()));
            Some(Json::Array(items.map(|item| kept_of(item, gone)).collect::<Option<_>>()?))
        }
        _ => serde_json::from_str(&json::write(value)).ok(),
    }
}

/// The list in which a value stands.
#[derive(Clone, Copy)]
struct ListOf<'t> {
    /// The key that the list is under, if it is in a map.
    name: Option<Value<'t>>,
    list: Value<'t>,
    /// The place of the value in it.
    place: usize,
}

impl<'t> ListOf<'t> {
    /// Looks for a value, by its number.
    fn below(name: Option<Value<'t>>, within: Value<'t>, number: u32) -> Option<Self> {
        match within.kind() {
            Kind::Map => within.entries().find_map(|(key, value)| Self::below(Some(key), value, number)),
            Kind::List => match within.items().position(|item| item.number() == number) {
                Some(place) => Some(Self { name, list: within, place }),
                None => within.items().find_map(|item| Self::below(None, item, number)),
            },
            _ => None,
        }
    }
}

impl<'t> Edited<'t> {
    /// What it takes that some values are there no more, by their numbers: documents, or items of lists in documents.
    pub fn without(self, documents: &[Value<'t>], gone: &BTreeSet<u32>) -> Option<Vec<Replacement>> {
        let mut replacements = Vec::new();
        let mut lists: BTreeMap<u32, (ListOf<'t>, Vec<usize>)> = BTreeMap::new();
        for number in gone {
            let root = *documents.iter().rev().find(|root| root.number() <= *number)?;
            if root.number() == *number {
                replacements.extend(self.without_document(root)?);
                continue;
            }
            let found = ListOf::below(None, root, *number)?;
            lists.entry(found.list.number()).or_insert((found, Vec::new())).1.push(found.place);
        }
        for (ListOf { name, list, .. }, places) in lists.values() {
            replacements.extend(self.without_items(*name, *list, places)?);
        }
        // Two documents beside each other go with the one mark between them.
        replacements.sort();
        replacements.dedup();
        Some(replacements)
    }

    /// What it takes that a list has some of its items no more, by their places; `name` is the key that it stands under, if it is in a map.
    pub fn without_items(self, name: Option<Value<'t>>, list: Value<'t>, gone: &[usize]) -> Option<Vec<Replacement>> {
        let items: Vec<Value<'t>> = list.items().collect();
        // A list begins where its first item does, which may be a map in brackets.
        if self.text.get(list.span().start as usize..).is_some_and(|rest| rest.starts_with('[')) {
            return self.without_between_commas(&items, gone);
        }
        let mut replacements = Vec::new();
        for item in gone.iter().filter_map(|place| items.get(*place)) {
            let (start, end) = self.lines_of(*item)?;
            let dash = self.text.get(start..item.span().start as usize)?;
            if dash.trim() != "-" {
                return None;
            }
            replacements.push(Replacement::new(start, end, ""));
        }
        // Nothing at all is no list.
        if gone.len() == items.len() {
            let after = self.colon(name?)? + 1;
            replacements.push(Replacement::new(after, after, " []"));
        }
        Some(replacements)
    }

    /// What goes at the beginning goes with the comma after it, all else with the comma before it.
    fn without_between_commas(self, items: &[Value<'t>], gone: &[usize]) -> Option<Vec<Replacement>> {
        let starts = |own: &Value<'_>| own.span().start as usize;
        let ends = |own: &Value<'_>| own.span().end as usize;
        let goes = |place: &usize| gone.contains(place);
        let kept = (0..items.len()).find(|place| !goes(place));
        let mut cuts: Vec<(usize, usize)> = Vec::new();
        let first = items.first().map(starts)?;
        match kept.and_then(|place| items.get(place)) {
            None => cuts.push((first, items.last().map(ends)?)),
            Some(kept) if starts(kept) > first => cuts.push((first, starts(kept))),
            Some(_) => {}
        }
        for place in (kept.unwrap_or(items.len()) + 1..items.len()).filter(goes) {
            cuts.push((items.get(place - 1).map(ends)?, items.get(place).map(ends)?));
        }
        let mut replacements = Vec::new();
        for (start, end) in cuts {
            // A remark that would go with it is somebody's.
            if self.text.get(start..end)?.contains('#') {
                return None;
            }
            replacements.push(Replacement::new(start, end, ""));
        }
        Some(replacements)
    }

    /// What it takes that a whole document is there no more.
    pub fn without_document(self, document: Value<'t>) -> Option<Vec<Replacement>> {
        if self.format == Format::Json {
            // There is no other one: nothing is left of the text.
            return Some(vec![Replacement::new(0, self.text.len(), "")]);
        }
        let (start, end) = self.lines_of(document)?;
        if !self.text.get(start..document.span().start as usize)?.trim().is_empty() {
            return None;
        }
        let own = Replacement::new(start, end, "");
        match self.format {
            Format::Json | Format::JsonLines | Format::Csv => Some(vec![own]),
            Format::Yaml => {
                let mark = match self.mark_before(start) {
                    Beside::Mark(from, to) => Some((from, to)),
                    Beside::Nothing => match self.mark_after(end) {
                        Beside::Mark(from, to) => Some((from, to)),
                        Beside::Nothing => None,
                        Beside::Other => return None,
                    },
                    Beside::Other => return None,
                };
                let mark = mark.map(|(from, to)| Replacement::new(from, to, ""));
                Some(mark.into_iter().chain([own]).collect())
            }
        }
    }

    /// The lines that a value stands in; nothing if it shares them, or somebody remarks on it between them.
    fn lines_of(self, value: Value<'t>) -> Option<(usize, usize)> {
        let (at, last) = (value.span().start as usize, self.end_of(value));
        let (start, end) = (self.line_start(at), self.line_end(last));
        let (inside, after) = (self.text.get(at..last)?, self.text.get(last..end)?.trim_start());
        let is_remark = |line: &str| line.trim_start().starts_with('#');
        let is_alone = match self.format {
            Format::Csv | Format::Json | Format::JsonLines => !inside.contains('\n'),
            Format::Yaml => (after.is_empty() || after.starts_with('#')) && !inside.lines().any(is_remark),
        };
        if !is_alone {
            return None;
        }
        Some((start, self.after_break(end)))
    }

    /// Where the next line begins.
    fn after_break(self, end: usize) -> usize {
        let rest = self.text.get(end..).unwrap_or_default();
        let rest = rest.strip_prefix('\r').unwrap_or(rest);
        let rest = rest.strip_prefix('\n').unwrap_or(rest);
        self.text.len() - rest.len()
    }

    /// What parts a document from the one before it.
    fn mark_before(self, start: usize) -> Beside {
        let mut at = start;
        while at > 0 {
            let line = self.line_start(at - 1);
            match self.beside(line, at) {
                Beside::Nothing => at = line,
                found => return found,
            }
        }
        Beside::Nothing
    }

    /// What parts a document from the one after it.
    fn mark_after(self, end: usize) -> Beside {
        let mut at = end;
        while at < self.text.len() {
            let next = self.after_break(self.line_end(at));
            match self.beside(at, next) {
                Beside::Nothing => at = next,
                found => return found,
            }
        }
        Beside::Nothing
    }

    fn beside(self, from: usize, to: usize) -> Beside {
        match self.text.get(from..to).unwrap_or_default().trim_end() {
            "---" => Beside::Mark(from, to),
            line if line.trim().is_empty() || line.trim_start().starts_with('#') => Beside::Nothing,
            _ => Beside::Other,
        }
    }
}

/// What stands beside a document.
enum Beside {
    /// A line that parts it from another one.
    Mark(usize, usize),
    /// Nothing but blanks and remarks.
    Nothing,
    /// Something else.
    Other,
}
