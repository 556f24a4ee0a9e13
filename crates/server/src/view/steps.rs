//! From one view to the next: which documents changed, and where they stand in a snapshot.

use std::collections::HashSet;

use upheld_dialects::access::claim::STORED;
use upheld_input::load::{Change, Loaded};
use upheld_input::{Format, Input};
use upheld_model::SourceId;
use upheld_store::{Document, Key, State};

use super::View;
use crate::folders::Contents;

/// Where documents stand in a snapshot, each list in the order of its documents.
#[derive(Clone, Debug)]
pub(super) struct Sources {
    files: Vec<SourceId>,
    stored: Vec<SourceId>,
}

impl Sources {
    /// As they are when everything was loaded.
    pub(super) fn of(loaded: &Loaded, state: &State, files: &Contents) -> Self {
        let first = loaded.first_stored().index();
        Self {
            files: (0..files.inputs().len()).map(SourceId::new).collect(),
            stored: (first..first + state.len()).map(SourceId::new).collect(),
        }
    }
}

/// What leads from one view to the next.
#[derive(Debug)]
pub(super) struct Steps {
    pub(super) changes: Vec<Change>,
    pub(super) sources: Sources,
}

impl Steps {
    /// From a view to other documents; `None` if the order of documents would be another one than if all were loaded.
    pub(super) fn between(before: &View, state: &State, files: &Contents) -> Option<Self> {
        let mut steps = Self { changes: Vec::new(), sources: Sources { files: Vec::new(), stored: Vec::new() } };
        steps.files(before, files)?;
        steps.stored(before, state)?;
        Some(steps)
    }

    fn files(&mut self, before: &View, files: &Contents) -> Option<()> {
        if before.files.are(files) {
            self.sources.files.clone_from(&before.sources.files);
            return Some(());
        }
        let mut old = before.files.all().iter().zip(&before.sources.files).peekable();
        let names: HashSet<&str> = files.all().iter().map(|(name, _)| name.as_str()).collect();
        let gone = |name: &String| !names.contains(name.as_str());
        for (name, bytes) in files.all() {
            while let Some((_, source)) = old.next_if(|((known, _), _)| known != name && gone(known)) {
                self.changes.push(Change::Gone(*source));
            }
            let ((_, was), source) = old.next_if(|((known, _), _)| known == name)?;
            if was != bytes {
                self.changes.push(Change::Replaced(*source, Input::bytes(name.clone(), bytes.clone())));
            }
            self.sources.files.push(*source);
        }
        self.changes.extend(old.map(|(_, source)| Change::Gone(*source)));
        Some(())
    }

    fn stored(&mut self, before: &View, state: &State) -> Option<()> {
        let mut next = before.loaded.snapshot.files().next().index();
        let mut old = before.state.iter().zip(&before.sources.stored).peekable();
        for (key, document) in state.iter() {
            while let Some((_, source)) = old.next_if(|((known, _), _)| *known != key && state.get(known).is_none()) {
                self.changes.push(Change::Gone(*source));
            }
            let source = match old.next_if(|((known, _), _)| *known == key) {
                Some(((_, was), source)) => {
                    if was.text != document.text {
                        self.changes.push(Change::Replaced(*source, input(key, document)));
                    }
                    *source
                }
                // Somebody came back, who was in another place before.
                None if old.peek().is_some() => return None,
                None => {
                    self.changes.push(Change::New(input(key, document)));
                    next += 1;
                    SourceId::new(next - 1)
                }
            };
            self.sources.stored.push(source);
        }
        self.changes.extend(old.map(|(_, source)| Change::Gone(*source)));
        Some(())
    }
}

/// A document of the store, as a snapshot reads it.
pub(super) fn input(key: &Key, document: &Document) -> Input {
    Input::text(format!("{STORED}{key}"), Format::Json, document.text.to_string())
}
