//! From one view to the next: which documents changed, and where they stand in a snapshot.

use std::collections::HashSet;
use std::sync::Arc;

use upheld_dialects::access::claim::STORED;
use upheld_loader::load::{Change, Loaded};
use upheld_loader::{Format, Input};
use upheld_model::{Pages, SourceId};
use upheld_store::{Document, Key, State};

use super::View;
use crate::folders::Contents;

/// Where documents stand in a snapshot.
#[derive(Clone, Debug, Default)]
pub(super) struct Sources {
    /// In the order of files.
    files: Arc<[SourceId]>,
    /// By place in the store.
    stored: Pages<SourceId>,
}

impl Sources {
    /// As they are when everything was loaded.
    pub(super) fn of(loaded: &Loaded, state: &State, files: &Contents) -> Self {
        let mut next = loaded.first_stored().index();
        let stored = state.places().map(|place| {
            let source = SourceId::new(next);
            next += usize::from(place.is_some());
            source
        });
        Self { files: (0..files.inputs().len()).map(SourceId::new).collect(), stored: stored.collect() }
    }

    /// Where files stand, in their order.
    pub(super) fn of_files(&self) -> &[SourceId] {
        &self.files
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
        let mut steps = Self { changes: Vec::new(), sources: before.sources.clone() };
        steps.files(before, files)?;
        steps.stored(before, state)?;
        Some(steps)
    }

    fn files(&mut self, before: &View, files: &Contents) -> Option<()> {
        if before.files.are(files) {
            return Some(());
        }
        let mut sources = Vec::with_capacity(files.all().len());
        let mut old = before.files.all().iter().zip(before.sources.files.iter()).peekable();
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
            sources.push(*source);
        }
        self.changes.extend(old.map(|(_, source)| Change::Gone(*source)));
        self.sources.files = sources.into();
        Some(())
    }

    /// Whoever comes stands behind all others, there and here.
    fn stored(&mut self, before: &View, state: &State) -> Option<()> {
        let mut next = before.loaded.snapshot.files().next();
        for difference in state.since(&before.state) {
            let known = self.sources.stored.get(difference.place).copied();
            match (difference.before, difference.after, known) {
                (Some((was, _)), Some((key, _)), _) if was != key => return None,
                (Some((_, was)), Some((key, document)), Some(source)) => {
                    if was.text != document.text {
                        self.changes.push(Change::Replaced(source, input(key, document)));
                    }
                }
                (Some(_), None, Some(source)) => self.changes.push(Change::Gone(source)),
                (None, Some((key, document)), None) => {
                    self.changes.push(Change::New(input(key, document)));
                    self.sources.stored.put(difference.place, next, || next);
                    next = SourceId::new(next.index() + 1);
                }
                (None, None, _) => {}
                // Places were given to others.
                (None, Some(_), Some(_)) | (Some(_), _, None) => return None,
            }
        }
        // Whoever came and went again leaves a place.
        self.sources.stored.reach(state.room(), || next);
        Some(())
    }
}

/// A document of the store, as a snapshot reads it.
pub(super) fn input(key: &Key, document: &Document) -> Input {
    Input::text(format!("{STORED}{key}"), Format::Json, document.text.to_string())
}
