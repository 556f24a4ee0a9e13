//! What would be read if a document were not there.

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

    /// The snapshot with another document, as JSON, in place of one.
    pub fn instead(&self, document: NodeRef, text: &str) -> Option<Result<Self, Box<Broken>>> {
        let file = self.snapshot.files().get(document.source)?;
        let gone = change(document.source, file, document.node)?;
        let new = Input::text(EDITED, Format::Json, text.to_owned());
        Some(self.after(vec![gone, Change::New(new)]))
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
