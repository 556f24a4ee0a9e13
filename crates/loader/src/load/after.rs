//! What a snapshot becomes when documents change.

use std::collections::BTreeSet;
use std::sync::Arc;

use upheld_dialects::recognise::After;
use upheld_dialects::{Dialect, dialects};
use upheld_model::{Diagnostic, Diagnostics, SourceId};

use super::{Broken, Loaded};
use crate::Input;
use crate::read::read_one;

/// What happens to one document.
#[derive(Debug)]
pub enum Change {
    /// It says something else now.
    Replaced(SourceId, Input),
    /// It is there no more.
    Gone(SourceId),
    /// It was not there; it gets the next id.
    New(Input),
}

impl Loaded {
    /// The snapshot after some changes. Files that are not named stay what they are, under their ids, and so does what was made
    /// of them: only changed files are read, and of every index only that is made anew which they touch. Where what a document
    /// means depends on all others, all of them are recognised. Ids and names that are no longer used are not given back: load
    /// everything from time to time.
    pub fn after(&self, changes: Vec<Change>) -> Result<Self, Box<Broken>> {
        let mut files = self.snapshot.files().clone();
        let mut changed = BTreeSet::new();
        let mut found = Vec::new();
        for change in changes {
            let (source, input) = match change {
                Change::Replaced(source, input) => (source, Some(input)),
                Change::Gone(source) => (source, None),
                Change::New(input) => (files.next(), Some(input)),
            };
            changed.insert(source);
            let file = input.map(|input| {
                let (file, problems) = read_one(source, input);
                found.extend(problems);
                file
            });
            files.put(source, file);
        }
        let mut about_texts = Diagnostics::default();
        let still = |warning: &&Diagnostic| warning.label.as_ref().is_none_or(|at| !changed.contains(&at.source));
        about_texts.extend(self.about_texts.iter().filter(still).chain(&found).cloned());
        let names = self.choices.names();
        if about_texts.errors() == 0
            && let Some(mut after) = self.before().after(self.choices.reading(&names), &files, &changed)
        {
            after.diagnostics.extend(found);
            if let Some(next) = self.next(after, &about_texts) {
                return Ok(next);
            }
        }
        // Also if something is wrong: then all of it is to be reported.
        let next = Arc::clone(&self.choices).recognise(files, self.implied, about_texts, Some(self.before()))?;
        Ok(Self { left_aside: Arc::clone(&self.left_aside), ..next })
    }

    /// The next one; `None` if there is more than an index can hold.
    fn next(&self, after: After, about_texts: &Diagnostics) -> Option<Self> {
        let After { difference, companions, set_aside, diagnostics: mut warnings } = after;
        warnings.sort();
        let changed = difference.changed.clone();
        let next = self.snapshot.after(difference)?.keeping_all(companions);
        let complete = |next, dialect: &dyn Dialect| dialect.complete_after(&self.snapshot, next, &changed);
        Some(Self {
            snapshot: dialects().fold(next, complete),
            warnings,
            set_aside: Arc::new(set_aside),
            left_aside: Arc::clone(&self.left_aside),
            choices: Arc::clone(&self.choices),
            implied: self.implied,
            about_texts: about_texts.as_slice().to_vec(),
        })
    }
}
