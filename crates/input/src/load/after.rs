//! What a snapshot becomes when documents of its store change.

use std::collections::BTreeSet;
use std::sync::Arc;

use upheld_dialects::recognise::{Again, Deciding, RelatedAgain};
use upheld_engine::Snapshot;
use upheld_model::{Diagnostic, Diagnostics, Files, SourceId};

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
    /// The snapshot after some changes. Documents that are not named stay what they are, under their ids, and so does most
    /// of what was made of them: texts are not parsed again, policies that decide requests are not read again and keep
    /// their place in the index, and if nothing but such policies changed, all else is shared; if nothing but documents about
    /// related objects changed, so is all that these do not change. Ids and names that are no
    /// longer used are not given back: load everything from time to time.
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
        let (before, reading) = (self.before(), self.choices.reading(&names));
        if about_texts.errors() == 0 {
            if let Some(mut again) = before.again(reading, &files, &changed)
                && again.diagnostics.errors() == 0
            {
                again.diagnostics.extend(found);
                return Ok(self.deciding_otherwise(again, &about_texts, files));
            }
            if let Some(mut again) = before.related_again(reading, &files, &changed) {
                again.diagnostics.extend(found);
                return Ok(self.relating_otherwise(again, &about_texts, files));
            }
        }
        // Also if something is wrong: then all of it is to be told.
        Arc::clone(&self.choices).recognise(files, self.implied, about_texts, Some(self.before()))
    }

    fn deciding_otherwise(&self, again: Again, about_texts: &Diagnostics, files: Files) -> Self {
        let Again { deciding, policies, symbols, diagnostics: warnings } = again;
        let decides = deciding.decides().collect();
        let snapshot = self.snapshot.deciding_otherwise(symbols, policies, decides, files);
        self.otherwise(snapshot, deciding, warnings, about_texts)
    }

    fn relating_otherwise(&self, again: RelatedAgain, about_texts: &Diagnostics, files: Files) -> Self {
        let RelatedAgain { organisations, policies, symbols, diagnostics: warnings } = again;
        let snapshot = self.snapshot.relating_otherwise(symbols, policies, organisations.complies(), files);
        self.otherwise(snapshot.keeping(Arc::new(organisations)), self.deciding.clone(), warnings, about_texts)
    }

    /// Another snapshot, about which nothing else is known.
    fn otherwise(
        &self,
        snapshot: Snapshot,
        deciding: Deciding,
        mut warnings: Diagnostics,
        about_texts: &Diagnostics,
    ) -> Self {
        warnings.sort();
        Self {
            snapshot,
            manifests: deciding.manifests().collect(),
            directory: Arc::clone(&self.directory),
            warnings,
            set_aside: Arc::clone(&self.set_aside),
            choices: Arc::clone(&self.choices),
            implied: self.implied,
            deciding,
            about_texts: about_texts.as_slice().to_vec(),
        }
    }
}
