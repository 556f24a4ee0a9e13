//! Which of the changed documents make an answer otherwise.

use std::collections::{BTreeMap, BTreeSet};

use upheld_report::{Cause, ChangedDocument};

/// The changed documents, by name.
pub(super) struct Causes<'c> {
    all: &'c [ChangedDocument],
    by_name: BTreeMap<String, Vec<&'c ChangedDocument>>,
    kinds: BTreeSet<&'c str>,
}

impl<'c> Causes<'c> {
    pub(super) fn of(all: &'c [ChangedDocument]) -> Self {
        let mut by_name: BTreeMap<String, Vec<&ChangedDocument>> = BTreeMap::new();
        for document in all {
            // Answers call policies by their name alone, or with the namespace before it.
            for name in [document.name.clone(), format!("{}/{}", document.scope, document.name)] {
                by_name.entry(name).or_default().push(document);
            }
        }
        Self { all, by_name, kinds: all.iter().map(|document| document.kind.as_str()).collect() }
    }

    /// Whether some document of a type is not the same.
    pub(super) fn has_kind(&self, kind: &str) -> bool {
        self.kinds.contains(kind)
    }

    /// Whether a document is not the same.
    pub(super) fn has(&self, kind: &str, scope: &str, name: &str) -> bool {
        let named = self.by_name.get(name).into_iter().flatten();
        named.into_iter().any(|document| document.kind == kind && document.scope == scope)
    }

    /// The changed documents.
    pub(super) fn documents(&self) -> &'c [ChangedDocument] {
        self.all
    }

    /// The types of the changed documents.
    pub(super) fn kinds(&self) -> impl Iterator<Item = &'c str> {
        self.kinds.iter().copied()
    }

    /// Those that make an answer otherwise: the policies that decided before or decide now, if they changed; else whatever did.
    pub(super) fn of_change(&self, kind: &str, before: &[String], after: &[String]) -> Vec<Cause> {
        let deciders = before.iter().chain(after).filter_map(|name| self.by_name.get(name)).flatten();
        let mut causes: Vec<Cause> = deciders.map(|document| cause(document)).collect();
        if causes.is_empty() {
            causes.extend(self.all.iter().filter(|document| document.kind == kind).map(cause));
        }
        if causes.is_empty() {
            causes.extend(self.all.iter().map(cause));
        }
        causes.sort();
        causes.dedup();
        causes
    }
}

fn cause(document: &ChangedDocument) -> Cause {
    let ChangedDocument { change, kind, name, at, .. } = document.clone();
    Cause { change, name, kind, says: None, at }
}
