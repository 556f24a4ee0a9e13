//! The fold of the log.

use std::sync::Arc;

use indexmap::IndexMap;

use crate::{Change, Digest, Entry, Key, Revision};

/// All documents at one revision, in the order in which they came. Who is replaced keeps the place; who comes back goes to the end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct State {
    revision: Revision,
    digest: Digest,
    documents: IndexMap<Key, Document>,
}

/// A document as it is now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    /// What it says, as JSON.
    pub text: Arc<str>,
    /// Who changed it last: what `If-Match` is held against.
    pub revision: Revision,
}

impl State {
    /// Of what a store kept: documents in order, with the digest that it noted.
    pub fn of(revision: Revision, digest: Digest, documents: impl IntoIterator<Item = (Key, Document)>) -> Self {
        Self { revision, digest, documents: documents.into_iter().collect() }
    }

    /// The last revision that is in it.
    pub fn revision(&self) -> Revision {
        self.revision
    }

    /// The fingerprint of all documents.
    pub fn digest(&self) -> Digest {
        self.digest
    }

    /// All documents in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&Key, &Document)> {
        self.documents.iter()
    }

    /// One document.
    pub fn get(&self, key: &Key) -> Option<&Document> {
        self.documents.get(key)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.documents.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.documents.is_empty()
    }

    /// Goes on by one entry.
    pub fn apply(&mut self, entry: &Entry) {
        for change in &entry.changes {
            self.change(change, entry.revision);
        }
        self.revision = entry.revision;
    }

    /// As it would be after some changes, under a revision that is not there yet.
    #[must_use]
    pub fn with(&self, changes: &[Change]) -> Self {
        let mut state = self.clone();
        state.revision = self.revision.next();
        for change in changes {
            state.change(change, state.revision);
        }
        state
    }

    fn change(&mut self, change: &Change, revision: Revision) {
        match change {
            Change::Put { key, text } => {
                self.digest = self.digest.with(key, text);
                let document = Document { text: Arc::clone(text), revision };
                if let Some(old) = self.documents.insert(key.clone(), document) {
                    self.digest = self.digest.without(key, &old.text);
                }
            }
            Change::Delete { key } => {
                if let Some(old) = self.documents.shift_remove(key) {
                    self.digest = self.digest.without(key, &old.text);
                }
            }
        }
    }

    /// The digest, counted anew from all documents.
    pub fn recount(&self) -> Digest {
        self.documents.iter().fold(Digest::default(), |digest, (key, document)| digest.with(key, &document.text))
    }
}
