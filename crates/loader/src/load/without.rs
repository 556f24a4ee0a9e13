//! What would be read if a document were not there, or said something else.

use std::collections::BTreeSet;

use upheld_model::tree::Value;
use upheld_model::{File, NodeRef, SourceId};
use upheld_syntax::edit::{Edited, applied};

use super::{Broken, Change, Loaded};
use crate::{Format, Input};

/// Where documents stand that were edited to try something.
const EDITED: &str = "(edited)";

impl Loaded {
    /// The snapshot without one document; nothing if it cannot be taken out of its file by itself.
    pub fn without(&self, document: NodeRef) -> Option<Result<Self, Box<Broken>>> {
        let file = self.snapshot.files().get(document.source)?;
        Some(self.after(vec![change(document.source, file, document.node)?]))
    }

    /// The snapshot with another document, as JSON on one line, in place of one: where it stands may count.
    pub fn instead(&self, document: NodeRef, text: &str) -> Option<Result<Self, Box<Broken>>> {
        let file = self.snapshot.files().get(document.source)?;
        if let Some(value) = self.snapshot.files().value(document).filter(|_| Format::of_file(file) != Format::Csv) {
            let replaced = put(file.tree.text(), value, text)?;
            return Some(self.after(vec![Change::Replaced(document.source, input(file, replaced))]));
        }
        let gone = change(document.source, file, document.node)?;
        let new = Input::text(EDITED, Format::Json, text.to_owned());
        Some(self.after(vec![gone, Change::New(new)]))
    }

    /// The snapshot with another text in the place of a document. It stands where the document stood, so that its lines are those of the file.
    pub fn rewritten(&self, document: NodeRef, text: &str) -> Option<Result<Self, Box<Broken>>> {
        let files = self.snapshot.files();
        let (file, value) = (files.get(document.source)?, files.value(document)?);
        let (whole, column) = (file.tree.text(), file.tree.position(value.span().start).1);
        let (start, end) = (value.span().start as usize, value.span().end as usize);
        let (before, own, after) = (whole.get(..start)?, whole.get(start..end)?, whole.get(end..)?);
        // What stands within a list begins further to the right.
        let margin = format!("\n{}", " ".repeat(column.saturating_sub(1)));
        let (text, rest) = (text.trim_end().replace('\n', &margin), own.get(own.trim_end().len()..)?);
        let alone = before.trim().is_empty() && after.trim().is_empty();
        let text = format!("{before}{text}{rest}{after}");
        let known = Format::of_name(&file.name);
        let format = known.unwrap_or_else(|| if alone { Format::of_text(&text) } else { Format::of_file(file) });
        Some(self.after(vec![Change::Replaced(document.source, Input::text(file.name.clone(), format, text))]))
    }
}

fn change(source: SourceId, file: &File, node: u32) -> Option<Change> {
    let roots: Vec<Value<'_>> = file.tree.documents().collect();
    let root = *roots.iter().rev().find(|root| root.number() <= node)?;
    let text = file.tree.text();
    if root.number() == node {
        if roots.len() == 1 {
            return Some(Change::Gone(source));
        }
        return Some(Change::Replaced(source, input(file, blank(text, root)?)));
    }
    let replacements = Edited { text, format: Format::of_file(file) }.without(&roots, &BTreeSet::from([node]))?;
    Some(Change::Replaced(source, input(file, applied(text, &replacements)?)))
}

/// JSON is YAML, too, so that it can stand where a document or an item of a list stood.
fn put(text: &str, document: Value<'_>, instead: &str) -> Option<String> {
    let (start, end) = (document.span().start as usize, document.span().end as usize);
    let (before, own, after) = (text.get(..start)?, text.get(start..end)?, text.get(end..)?);
    let ending = if own.ends_with('\n') { "\n" } else { "" };
    Some(format!("{before}{instead}{ending}{after}"))
}

/// Spaces in place of a document, so that everything else stays where it is.
fn blank(text: &str, document: Value<'_>) -> Option<String> {
    let (start, end) = (document.span().start as usize, document.span().end as usize);
    let (before, own, after) = (text.get(..start)?, text.get(start..end)?, text.get(end..)?);
    let blanks: String = own.chars().map(|character| if character == '\n' { '\n' } else { ' ' }).collect();
    Some(format!("{before}{blanks}{after}"))
}

fn input(file: &File, text: String) -> Input {
    Input::text(file.name.clone(), Format::of_file(file), text)
}
