//! The part of a view that somebody may see: what a server would have that holds nothing else.

use std::collections::HashSet;
use std::sync::Arc;

use upheld_dialects::Identity;
use upheld_loader::load::Broken;
use upheld_store::Key;

use super::View;
use crate::auth::{Access, Operation, Sort, Touched, named};
use crate::documents::flatten;

/// What of a view somebody may see.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Seen {
    stored: HashSet<Key>,
    /// By their places. Whoever may not see something in a file does not see the file.
    files: Vec<bool>,
}

impl View {
    /// What somebody may see of it, for reading or in answers. Every document is decided by itself, which takes a while where
    /// there are many: not for threads that answer.
    pub(crate) fn seen(&self, access: &Access, operation: Operation) -> Seen {
        let policies = self.types_of_policies();
        let may = |document: Touched<'_>| match operation {
            Operation::See => access.may_see(sort(&policies, document.kind), document),
            other => access.may(other, document),
        };
        let may_stored =
            |key: &Key, text: &str| may(key.into()) && named(key, text).iter().all(|other| may(other.into()));
        let stored = self.state.iter().filter(|(key, document)| may_stored(key, &document.text));
        let stored = stored.map(|(key, _)| key).cloned().collect();
        let (files, identities) = (self.loaded.snapshot.files(), self.identities());
        let is_seen = |identity: &Identity| may(identity.into());
        let all_seen = |source: &upheld_model::SourceId| {
            let Some(file) = files.get(*source) else { return false };
            let mut documents = Vec::new();
            file.tree.documents().for_each(|document| flatten(document, &mut documents));
            documents.into_iter().all(|document| identities.identity(document).is_ok_and(|identity| is_seen(&identity)))
        };
        Seen { stored, files: self.sources.of_files().iter().map(all_seen).collect() }
    }

    /// The view of a part of its documents.
    pub(crate) fn part(&self, seen: &Seen) -> Result<Self, Box<Broken>> {
        let state = self.state.part(|key| seen.stored.contains(key));
        let files = self.files.part(|place| seen.files.get(place).copied().unwrap_or_default());
        Self::build(Arc::new(state), files, &self.choices)
    }

    /// What sort of thing a type of documents is.
    pub(crate) fn sort_of(&self, kind: &str) -> Sort {
        sort(&self.types_of_policies(), kind)
    }

    fn types_of_policies(&self) -> HashSet<&str> {
        let snapshot = &self.loaded.snapshot;
        snapshot.kinds().as_slice().iter().map(|kind| snapshot.text(kind.governs)).collect()
    }
}

fn sort(policies: &HashSet<&str>, kind: &str) -> Sort {
    if policies.contains(kind) { Sort::Policy } else { Sort::Object }
}
